// SPDX-License-Identifier: Apache-2.0
// Tests of base/buf.h: content and termination after every kind of addition.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"

#include <string.h>

static void is_a_string_at_every_length(void **state)
{
    (void)state;
    struct buf b = {0};
    assert_string_equal(buf_text(&b), "");
    for (size_t i = 0; i < 1000; i++) {
        buf_putc(&b, (char)('a' + i % 26));
        assert_int_equal(b.length_bytes, i + 1);
        assert_int_equal(strlen(buf_text(&b)), i + 1);
        assert_int_equal(b.at[i], 'a' + i % 26);
    }
    buf_fini(&b);
    assert_null(b.at);
    assert_string_equal(buf_text(&b), "");
}

static void prints_over_the_edge_of_its_room(void **state)
{
    (void)state;
    for (int width = 0; width < 40; width++) {
        struct buf b = {0};
        buf_puts(&b, "ab");
        buf_printf(&b, "%0*d;", width, 5);
        buf_printf(&b, "%s", "end");
        size_t digits = width > 1 ? (size_t)width : 1;
        assert_int_equal(b.length_bytes, 2 + digits + 1 + 3);
        assert_int_equal(strlen(b.at), b.length_bytes);
        assert_memory_equal(b.at + b.length_bytes - 5, "5;end", 5);
        buf_fini(&b);
    }
}

static void holds_any_bytes(void **state)
{
    (void)state;
    struct buf b = {0};
    buf_add(&b, "a\0b", 3);
    buf_add(&b, NULL, 0);
    buf_puts(&b, "");
    assert_int_equal(b.length_bytes, 3);
    assert_memory_equal(b.at, "a\0b", 4);
    buf_fini(&b);
    buf_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_a_string_at_every_length),
        cmocka_unit_test(prints_over_the_edge_of_its_room),
        cmocka_unit_test(holds_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
