// SPDX-License-Identifier: Apache-2.0
// Cleaning, measuring, cutting and wrapping of text from anywhere. Threads: none.
#include "report/typeset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define REPLACED "\xEF\xBF\xBD"

static void check_clean(const char *text, const char *utf8, const char *ascii)
{
    struct buf out = {0};
    typeset_clean(text, 1, &out);
    assert_string_equal(buf_text(&out), utf8);
    buf_fini(&out);
    typeset_clean(text, 0, &out);
    assert_string_equal(buf_text(&out), ascii);
    buf_fini(&out);
}

static void test_clean(void **state)
{
    (void)state;
    check_clean("plain", "plain", "plain");
    check_clean("a\nb\tc\rd", "a b c d", "a b c d");
    check_clean("\033[31mred\a\x7F", REPLACED "[31mred" REPLACED REPLACED, "?[31mred??");
    check_clean("\xC2\x9B"
                "31m",
        REPLACED "31m", "?31m"); // the one-byte control sequence introducer
    check_clean("\xFF"
                "a\xC3",
        REPLACED "a" REPLACED, "?a?");
    check_clean("\xE2\x80\xAE"
                "x",
        REPLACED "x", "?x"); // reordering
    check_clean("a\xE2\x80\x8E"
                "b",
        "a" REPLACED "b", "a?b"); // direction marks and what hides
    check_clean("a\xE2\x80\x8B"
                "b",
        "a" REPLACED "b", "a?b");
    check_clean("\xEF\xBB\xBF"
                "b",
        REPLACED "b", "?b");
    check_clean("\xF3\xA0\x81\x81"
                "b",
        REPLACED "b", "?b"); // an invisible tag
    check_clean("5 µs × 3 … a·b – ≥", "5 µs × 3 … a·b – ≥", "5 us x 3 ... a-b - >=");
    check_clean("é紫", "é紫", "??");
    check_clean("", "", "");
}

static void test_columns(void **state)
{
    (void)state;
    assert_int_equal(typeset_columns(""), 0);
    assert_int_equal(typeset_columns("abc"), 3);
    assert_int_equal(typeset_columns("紫禁城"), 6);
    assert_int_equal(typeset_columns("e\xCC\x81"), 1);
    assert_int_equal(typeset_columns("█▒≡╳"), 4);
}

static void check_fit(
    const char *text, int columns, int is_right, int has_utf8, const char *expected)
{
    struct buf out = {0};
    typeset_fit(text, columns, is_right, has_utf8, &out);
    assert_string_equal(buf_text(&out), expected);
    assert_int_equal(typeset_columns(buf_text(&out)), columns);
    buf_fini(&out);
}

static void test_fit(void **state)
{
    (void)state;
    check_fit("abc", 5, 0, 1, "abc  ");
    check_fit("abc", 5, 1, 1, "  abc");
    check_fit("abcde", 5, 1, 1, "abcde");
    check_fit("abcdef", 5, 0, 1, "abcd…");
    check_fit("abcdefgh", 7, 0, 0, "abcd...");
    check_fit("abcdef", 5, 0, 0, "abcd.");
    check_fit("紫禁城", 4, 0, 1, "紫… "); // a wide character does not fit into one column
    check_fit("abc", 1, 0, 1, "…");
    check_fit("abc", 0, 0, 1, "");
}

static void check_wrap(const char *text, int column, int indent, int width, const char *expected)
{
    struct buf out = {0};
    typeset_wrap(text, column, indent, width, &out);
    assert_string_equal(buf_text(&out), expected);
    buf_fini(&out);
}

static void test_wrap(void **state)
{
    (void)state;
    check_wrap("", 0, 0, 10, "\n");
    check_wrap("one two three", 0, 0, 8, "one two\nthree\n");
    check_wrap("one two three", 2, 2, 10, "one two\n  three\n");
    check_wrap("  one   two  ", 0, 0, 80, "one two\n");
    check_wrap("abcdefghijkl", 0, 2, 6, "abcdef\n  ghij\n  kl\n");
    check_wrap("ab abcdefghijkl", 0, 0, 6, "ab\nabcdef\nghijkl\n");
    check_wrap("took 71 % of it", 0, 0, 8, "took\n71 % of\nit\n");
    check_wrap("max 301 ms; rest", 0, 0, 8, "max\n301 ms;\nrest\n");
    check_wrap("紫禁城紫", 0, 0, 5, "紫禁\n城紫\n");
    check_wrap("紫禁", 9, 9, 3, "紫\n         禁\n"); // narrower than one character: still ends
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
