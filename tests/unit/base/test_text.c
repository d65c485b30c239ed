// SPDX-License-Identifier: Apache-2.0
// Tests of base/text.h: rounding at unit borders, columns (libc as the oracle), wrapping, quoting.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "base/text_columns.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

struct number_case {
    double value;
    const char *text;
};

#define CHECK(function, cases)                                                                     \
    for (size_t i = 0; i < sizeof(cases) / sizeof *(cases); i++) {                                 \
        char out[TEXT_NUMBER_BYTES];                                                               \
        assert_string_equal(function(out, (cases)[i].value), (cases)[i].text);                     \
    }

static void durations(void **state)
{
    (void)state;
    static const struct number_case cases[] = {{0, "0 ns"}, {850, "850 ns"}, {2.4, "2.40 ns"},
        {999, "999 ns"}, {999.4, "999 ns"}, {999.6, "1.00 us"}, {1000, "1.00 us"},
        {2400, "2.40 us"}, {12300000, "12.3 ms"}, {999499, "999 us"}, {999500, "1.00 ms"},
        {99949, "99.9 us"}, {99951, "100 us"}, {999600000, "1.00 s"}, {59.9e9, "59.9 s"},
        {59.96e9, "1 m 00 s"}, {64e9, "1 m 04 s"}, {3599.4e9, "59 m 59 s"}, {3599.6e9, "1 h 00 m"},
        {7500e9, "2 h 05 m"}, {172800e9, "2 d 00 h"}, {273600e9, "3 d 04 h"}, {-1.5e6, "-1.50 ms"},
        {NAN, "n/a"}, {INFINITY, "n/a"}, {1e300, "n/a"}};
    CHECK(text_duration, cases);
}

static void bytes(void **state)
{
    (void)state;
    static const struct number_case cases[] = {{0, "0 B"}, {512, "512 B"}, {1023, "1023 B"},
        {1023.7, "1.00 KiB"}, {1024, "1.00 KiB"}, {1536, "1.50 KiB"}, {12.3 * 1048576, "12.3 MiB"},
        {1048575, "1.00 MiB"}, {1022 * 1024., "1022 KiB"}, {2147483648., "2.00 GiB"},
        {18446744073709551615., "16.0 EiB"}, {-2048, "-2.00 KiB"}, {NAN, "n/a"}};
    CHECK(text_bytes, cases);
}

static void percentages(void **state)
{
    (void)state;
    static const struct number_case cases[] = {{0, "0 %"}, {0.71, "71 %"}, {0.034, "3.4 %"},
        {0.0004, "<0.1 %"}, {0.0006, "0.1 %"}, {0.0994, "9.9 %"}, {0.0996, "10 %"}, {1, "100 %"},
        {0.996, "99.6 %"}, {0.9996, "100 %"}, {1.5, "150 %"}, {-0.25, "-25 %"}, {NAN, "n/a"}};
    CHECK(text_percent, cases);
}

static void counts(void **state)
{
    (void)state;
    char out[TEXT_NUMBER_BYTES];
    assert_string_equal(text_count(out, 0), "0");
    assert_string_equal(text_count(out, 999), "999");
    assert_string_equal(text_count(out, 1000), "1,000");
    assert_string_equal(text_count(out, -1234567), "-1,234,567");
    assert_string_equal(text_count(out, -100), "-100");
    assert_string_equal(text_count(out, INT64_MIN), "-9,223,372,036,854,775,808");
}

static void plain_numbers(void **state)
{
    (void)state;
    static const struct number_case cases[] = {{0, "0"}, {0.0123, "0.0123"}, {41.2, "41.2"},
        {1234, "1,234"}, {99.96, "100"}, {9.996, "10.0"}, {0.09996, "0.100"}, {1, "1.00"},
        {999.4, "999"}, {999.6, "1,000"}, {2.5e20, "2.50e+20"}, {0.00001, "1.00e-05"},
        {-41.25, "-41.2"}, {NAN, "n/a"}};
    CHECK(text_number, cases);
}

static void no_number_overflows_or_loses_its_unit(void **state)
{
    (void)state;
    char out[TEXT_NUMBER_BYTES];
    for (double value = 1e-6; value < 1e26; value *= 1.0007) {
        assert_true(strlen(text_duration(out, value)) < 24);
        if (value < 1e15)
            assert_null(strstr(out, "1000"));
        assert_true(strlen(text_bytes(out, value < 1e20 ? value : 0)) < 12);
        assert_true(strlen(text_number(out, -value)) < TEXT_NUMBER_BYTES);
    }
}

static void widths_agree_with_libc(void **state)
{
    (void)state;
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    if (!utf8)
        skip();
    locale_t before = uselocale(utf8);
    unsigned assigned = 0, differing = 0;
    for (uint32_t point = 0x20; point < 0x30000; point++) {
        int theirs = wcwidth((wchar_t)point);
        if (theirs < 0)
            continue;
        assigned++;
        differing += text_columns_of(point) != theirs;
    }
    uselocale(before);
    freelocale(utf8);
    assert_true(assigned > 100000);
    // Newer characters, and marks that reorder text, which are no column there and refused here.
    assert_true(differing < assigned / 500);
}

static void knows_widths(void **state)
{
    (void)state;
    assert_int_equal(text_width(""), 0);
    assert_int_equal(text_width("abc"), 3);
    assert_int_equal(text_width("\xe7\x94\xbb\xe5\x83\x8f"), 4); // two CJK characters
    assert_int_equal(text_width("e\xcc\x81"), 1);                // e and a combining acute
    assert_int_equal(text_width("\xf0\x9f\x93\xb7"), 2);         // a camera
    assert_int_equal(text_width("\xe2\x96\x88\xe2\x96\x8f"), 2); // parts of a bar
    assert_int_equal(text_width("\xef\xbd\xb1"), 1);             // half-width kana
    assert_int_equal(text_width("a\x1b\xff"), 3);
    assert_int_equal(text_columns_of(0x202e), -1);
}

static void cuts_and_pads_to_columns(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int columns;
        enum text_align align;
        const char *expected;
    } cases[] = {{"abc", 5, TEXT_LEFT, "abc  "}, {"abc", 5, TEXT_RIGHT, "  abc"},
        {"abcdef", 6, TEXT_LEFT, "abcdef"}, {"abcdefg", 6, TEXT_LEFT, "abcde\xe2\x80\xa6"},
        {"\xe7\x94\xbb\xe5\x83\x8f", 3, TEXT_LEFT, "\xe7\x94\xbb\xe2\x80\xa6"},
        {"\xe7\x94\xbb\xe5\x83\x8f", 2, TEXT_LEFT, "\xe2\x80\xa6 "},
        {"ae\xcc\x81zz", 3, TEXT_LEFT, "ae\xcc\x81\xe2\x80\xa6"}, {"abc", 0, TEXT_LEFT, ""},
        {"abc", 1, TEXT_RIGHT, "\xe2\x80\xa6"}, {"a\x1b[31m\xff", 8, TEXT_LEFT, "a?[31m? "},
        {"a\nb", 3, TEXT_LEFT, "a?b"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf out = {0};
        text_add_padded(&out, cases[i].text, cases[i].columns, cases[i].align);
        assert_string_equal(buf_text(&out), cases[i].expected);
        assert_int_equal(text_width(buf_text(&out)), cases[i].columns);
        buf_fini(&out);
    }
}

static void assert_wraps(const char *prefix, const char *text, int columns, const char *expected)
{
    struct buf out = {0};
    text_add_wrapped(&out, prefix, text, columns);
    assert_string_equal(buf_text(&out), expected);
    buf_fini(&out);
}

static void wraps_at_blanks(void **state)
{
    (void)state;
    assert_wraps("", "one two three", 7, "one two\nthree\n");
    assert_wraps("", "one two three", 8, "one two\nthree\n");
    assert_wraps("", "one two three", 13, "one two three\n");
    assert_wraps("- ", "one two three", 7, "- one\n  two\n  three\n");
    assert_wraps("", "/a/long/path and more", 6, "/a/long/path\nand\nmore\n");
    assert_wraps("", "  one   two  ", 20, "one two\n");
    assert_wraps("> ", "one\n\ntwo\n", 20, "> one\n\n  two\n");
    assert_wraps("> ", "", 20, "> \n");
    assert_wraps("", "\xe7\x94\xbb \xe5\x83\x8f", 4, "\xe7\x94\xbb\n\xe5\x83\x8f\n");
    assert_wraps("", "a\tb\x1b", 10, "a?b?\n");
}

static void assert_quotes(const char *word, const char *expected)
{
    struct buf out = {0};
    text_add_shell_word(&out, word);
    assert_string_equal(buf_text(&out), expected);
    buf_fini(&out);
}

static void quotes_only_what_needs_it(void **state)
{
    (void)state;
    assert_quotes("--size=640x480", "--size=640x480");
    assert_quotes("/tmp/a.jpg", "/tmp/a.jpg");
    assert_quotes("", "''");
    assert_quotes("a b", "'a b'");
    assert_quotes("it's", "'it'\\''s'");
    assert_quotes("~", "'~'");
    assert_quotes("\x7f", "$'\\177'");
    assert_quotes("\xe7\x94\xbb", "'\xe7\x94\xbb'");
    assert_quotes("a\nb'\x1b\xff", "$'a\\nb\\'\\033\\377'");
    struct buf out = {0};
    text_add_command(&out, (const char *const[]){"A=1", "B=2", "x y", NULL});
    assert_string_equal(buf_text(&out), "'A=1' B=2 'x y'");
    buf_fini(&out);
}

static void a_shell_reads_quoted_words_back(void **state)
{
    (void)state;
    if (system("bash -c : 2>/dev/null") != 0)
        skip();
    static const char *const words[] = {"", "a b", "it's", "$HOME", "`ls`", "a\\b", "*?[x]",
        "~root", "a\"b", "#c", "!!", "a;b|c&d", "new\nline", "tab\t", "\x01\x7f\xff\xc3\xa9", "\\n",
        "-n", "{a,b}", "a'\n'b",
        "\x1b"
        "7",
        NULL};
    struct buf script = {0};
    buf_puts(&script, "printf '%s\\001' ");
    text_add_command(&script, words);
    setenv("LIGHTMETER_TEST_SCRIPT", buf_text(&script), 1);
    FILE *shell = popen("exec bash -c \"$LIGHTMETER_TEST_SCRIPT\"", "r");
    assert_non_null(shell);
    char got[1024];
    size_t length = fread(got, 1, sizeof got, shell);
    assert_int_equal(pclose(shell), 0);
    char *at = got;
    for (const char *const *word = words; *word; word++) {
        assert_true(at + strlen(*word) + 1 <= got + length);
        assert_memory_equal(at, *word, strlen(*word));
        at += strlen(*word);
        assert_int_equal(*at++, 1);
    }
    assert_ptr_equal(at, got + length);
    buf_fini(&script);
}

static void decimal_commas_of_a_locale_stay_out(void **state)
{
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
        skip();
    char out[TEXT_NUMBER_BYTES];
    assert_string_equal(text_duration(out, 2400), "2.40 us");
    assert_string_equal(text_bytes(out, 1536), "1.50 KiB");
    assert_string_equal(text_percent(out, 0.034), "3.4 %");
    assert_string_equal(text_number(out, 0.25), "0.250");
    setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations),
        cmocka_unit_test(bytes),
        cmocka_unit_test(percentages),
        cmocka_unit_test(counts),
        cmocka_unit_test(plain_numbers),
        cmocka_unit_test(no_number_overflows_or_loses_its_unit),
        cmocka_unit_test(widths_agree_with_libc),
        cmocka_unit_test(knows_widths),
        cmocka_unit_test(cuts_and_pads_to_columns),
        cmocka_unit_test(wraps_at_blanks),
        cmocka_unit_test(quotes_only_what_needs_it),
        cmocka_unit_test(a_shell_reads_quoted_words_back),
        cmocka_unit_test(decimal_commas_of_a_locale_stay_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
