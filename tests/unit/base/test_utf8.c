// SPDX-License-Identifier: Apache-2.0
// Tests of base/utf8.h: the edges of RFC 3629, and repair.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/utf8.h"

#include <string.h>

static void decodes_the_edges(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length;
        uint32_t point;
    } cases[] = {
        {"A", 1, 'A'},
        {"\x7f", 1, 0x7f},
        {"\xc2\x80", 2, 0x80},
        {"\xdf\xbf", 2, 0x7ff},
        {"\xe0\xa0\x80", 3, 0x800},
        {"\xed\x9f\xbf", 3, 0xd7ff},
        {"\xee\x80\x80", 3, 0xe000},
        {"\xef\xbf\xbf", 3, 0xffff},
        {"\xf0\x90\x80\x80", 4, 0x10000},
        {"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t point = 1;
        assert_int_equal(
            utf8_decode(cases[i].text, strlen(cases[i].text), &point), cases[i].length);
        assert_int_equal(point, cases[i].point);
        assert_true(utf8_is_valid(cases[i].text, strlen(cases[i].text)));
    }
}

static void refuses_what_is_not_utf8(void **state)
{
    (void)state;
    static const char *const cases[] = {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf",
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xff", "\xc2",
        "\xc2"
        "A",
        "\xe2\x82", "\xf0\x9f\x98",
        "\xe2\x82"
        "A"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t point;
        assert_int_equal(utf8_decode(cases[i], strlen(cases[i]), &point), 0);
        assert_false(utf8_is_valid(cases[i], strlen(cases[i])));
    }
    assert_true(utf8_is_valid("", 0));
}

static void repairs_byte_by_byte(void **state)
{
    (void)state;
    struct buf out = {0};
    static const char text[] = "a\xff\xe2\x82\xac\xe2\x82";
    utf8_repair(text, strlen(text), &out);
    assert_string_equal(buf_text(&out), "a\xef\xbf\xbd\xe2\x82\xac\xef\xbf\xbd\xef\xbf\xbd");
    buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_the_edges),
        cmocka_unit_test(refuses_what_is_not_utf8),
        cmocka_unit_test(repairs_byte_by_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
