// SPDX-License-Identifier: Apache-2.0
// Tests of base/number.h: what is a number, what is not, and the edges of the ranges.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/number.h"

#include <locale.h>

static void integers_reach_the_edges(void **state)
{
    (void)state;
    int64_t i = 5;
    uint64_t u = 5;
    assert_int_equal(number_parse_int("-9223372036854775808", &i), 0);
    assert_true(i == INT64_MIN);
    assert_int_equal(number_parse_int("+9223372036854775807", &i), 0);
    assert_true(i == INT64_MAX);
    assert_int_equal(number_parse_uint("18446744073709551615", &u), 0);
    assert_true(u == UINT64_MAX);
    assert_int_equal(number_parse_hex("ffffFFFFffffFFFF", &u), 0);
    assert_true(u == UINT64_MAX);
    assert_int_equal(number_parse_int("-0", &i), 0);
    assert_true(i == 0);
}

static void refuses_what_is_no_integer(void **state)
{
    (void)state;
    static const char *const cases[] = {"", "-", "+", " 1", "1 ", "1x", "0x10", "1.0", "--1", "1e3",
        "9223372036854775808", "-9223372036854775809", "99999999999999999999999"};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        int64_t i = 77;
        assert_int_equal(number_parse_int(cases[c], &i), -1);
        assert_true(i == 77);
    }
    uint64_t u = 77;
    assert_int_equal(number_parse_uint("18446744073709551616", &u), -1);
    assert_int_equal(number_parse_uint("-1", &u), -1);
    assert_int_equal(number_parse_uint("+1", &u), -1);
    assert_int_equal(number_parse_hex("10000000000000000", &u), -1);
    assert_int_equal(number_parse_hex("g", &u), -1);
    assert_true(u == 77);
}

static void reads_reals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1.5", 1.5}, {"-.25", -0.25}, {"3.", 3}, {"1e3", 1000}, {"2E-2", 0.02}, {"+7", 7}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double value = 0;
        assert_int_equal(number_parse_real(cases[c].text, &value), 0);
        assert_true(value == cases[c].value);
    }
}

static void refuses_what_is_no_real(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "", ".", "-", "e5", "1e", "1e+", "nan", "inf", "-inf", "0x1p3", " 1", "1 ", "1,5", "1e999"};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double value = 77;
        assert_int_equal(number_parse_real(cases[c], &value), -1);
        assert_true(value == 77);
    }
}

static void reads_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {{"0", 0}, {"1500000", 1500000}, {"7B", 7}, {"512M", 512ull << 20},
        {"2GiB", 2ull << 30}, {"2gib", 2ull << 30}, {"1.5k", 1536}, {"3kB", 3000}, {"3KB", 3000},
        {"1TB", 1000000000000ull}, {"1T", 1ull << 40}, {"18446744073709551615", UINT64_MAX}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint64_t value = 1;
        assert_int_equal(number_parse_bytes(cases[c].text, &value), 0);
        assert_true(value == cases[c].value);
    }
}

static void refuses_what_is_no_size(void **state)
{
    (void)state;
    static const char *const cases[] = {"", "M", "-1", "+1", "1X", "1MiBs", "1 M", "1iB", "12Q",
        "1bb", "18446744073709551616", "99999999T", "1e30", "nan"};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint64_t value = 77;
        assert_int_equal(number_parse_bytes(cases[c], &value), -1);
        assert_true(value == 77);
    }
}

static void reads_times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value_ns;
    } cases[] = {{"0", 0}, {"60", 60000000000}, {"60s", 60000000000}, {"1.5m", 90000000000},
        {"2min", 120000000000}, {"1h", 3600000000000}, {"250ms", 250000000}};
    static const char *const wrong[] = {"", "s", "-1s", "+1", "1d", "1 s", "1S", "1e30h", "nan"};
    uint64_t value_ns;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        assert_int_equal(number_parse_time(cases[c].text, &value_ns), 0);
        assert_true(value_ns == cases[c].value_ns);
    }
    value_ns = 77;
    for (size_t c = 0; c < sizeof wrong / sizeof *wrong; c++)
        assert_int_equal(number_parse_time(wrong[c], &value_ns), -1);
    assert_true(value_ns == 77);
}

static void decimal_commas_of_a_locale_stay_out(void **state)
{
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
        skip();
    double value = 0;
    assert_int_equal(number_parse_real("1.5", &value), 0);
    assert_true(value == 1.5);
    assert_int_equal(number_parse_real("1,5", &value), -1);
    setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_reach_the_edges),
        cmocka_unit_test(refuses_what_is_no_integer),
        cmocka_unit_test(reads_reals),
        cmocka_unit_test(refuses_what_is_no_real),
        cmocka_unit_test(reads_sizes),
        cmocka_unit_test(refuses_what_is_no_size),
        cmocka_unit_test(reads_times),
        cmocka_unit_test(decimal_commas_of_a_locale_stay_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
