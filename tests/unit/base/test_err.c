// SPDX-License-Identifier: Apache-2.0
// Tests of base/err.h: the text of messages, cutting, and what a hostile name can put into one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/err.h"

#include <errno.h>
#include <string.h>

static void writes_the_message_and_gives_minus_one(void **state)
{
    (void)state;
    struct err e = {0};
    assert_string_equal(err_text(&e), "");
    assert_int_equal(err_set(&e, "%s:%d: bad", "a.lmt", 7), -1);
    assert_string_equal(err_text(&e), "a.lmt:7: bad");
    assert_int_equal(err_set(&e, "second"), -1);
    assert_string_equal(err_text(&e), "second");
}

static void accepts_no_struct(void **state)
{
    (void)state;
    assert_int_equal(err_set(NULL, "dropped %d", 1), -1);
    assert_int_equal(err_set_errno(NULL, ENOENT, "dropped"), -1);
    assert_string_equal(err_text(NULL), "");
}

static void appends_the_reason(void **state)
{
    (void)state;
    struct err e = {0};
    assert_int_equal(err_set_errno(&e, ENOENT, "%s: cannot open", "x"), -1);
    assert_string_equal(err_text(&e), "x: cannot open: No such file or directory");
    err_set_errno(&e, 123456, "odd");
    assert_string_equal(err_text(&e), "odd: error number 123456");
}

static void may_quote_the_message_it_replaces(void **state)
{
    (void)state;
    struct err e = {0};
    err_set(&e, "inner");
    err_set(&e, "outer: %s", e.text);
    assert_string_equal(err_text(&e), "outer: inner");
}

static void cuts_long_messages(void **state)
{
    (void)state;
    struct err e = {0};
    char longest[sizeof e.text], longer[2 * sizeof e.text];
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = 0;
    err_set(&e, "%s", longest);
    assert_string_equal(err_text(&e), longest);
    err_set(&e, "%s%s", longest, "z"); // one byte too many
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    assert_string_equal(e.text + sizeof e.text - 5, "a...");
    memset(longer, 'b', sizeof longer);
    longer[sizeof longer - 1] = 0;
    err_set(&e, "%s", longer);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    assert_string_equal(e.text + sizeof e.text - 5, "b...");
    err_set_errno(&e, EIO, "%s", longest);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
    assert_string_equal(e.text + sizeof e.text - 5, "a...");
}

static void never_cuts_inside_a_character(void **state)
{
    (void)state;
    for (size_t shift = 0; shift < 4; shift++) {
        struct err e = {0};
        char text[700] = "xyz";
        text[shift] = 0;
        for (size_t i = shift; i + 4 < sizeof text; i += 4)
            memcpy(text + i, "\xf0\x9f\x98\x80", 5);
        err_set(&e, "%s", text);
        size_t length = strlen(e.text);
        assert_string_equal(e.text + length - 3, "...");
        assert_int_equal((length - 3 - shift) % 4, 0);
        assert_true(length > sizeof e.text - 5);
    }
}

static void takes_the_sting_out_of_control_bytes(void **state)
{
    (void)state;
    struct err e = {0};
    err_set(&e, "bad\x1b[31m\x7f name\r\nnext\tline");
    assert_string_equal(err_text(&e), "bad?[31m? name?\nnext\tline");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_the_message_and_gives_minus_one),
        cmocka_unit_test(accepts_no_struct),
        cmocka_unit_test(appends_the_reason),
        cmocka_unit_test(may_quote_the_message_it_replaces),
        cmocka_unit_test(cuts_long_messages),
        cmocka_unit_test(never_cuts_inside_a_character),
        cmocka_unit_test(takes_the_sting_out_of_control_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
