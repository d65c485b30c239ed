// SPDX-License-Identifier: Apache-2.0
// Numbers as the report writes them, also in a locale with a decimal comma. Threads: none.
#include "report/figure.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void check_scaled(struct arena *a, uint64_t largest_ns, uint64_t ns, const char *expected)
{
    const struct figure_scale s = figure_scale_for(largest_ns);
    assert_string_equal(figure_scaled(a, &s, ns), expected);
}

static void check_all(void)
{
    struct arena *a = arena_new();
    check_scaled(a, 3428000000, 3428000000, "3.428 s");
    check_scaled(a, 3428000000, 5000000, "0.005 s");
    check_scaled(a, 34280000000, 5000000, "0.01 s");
    check_scaled(a, 342800000000, 342849999999, "342.8 s");
    check_scaled(a, 999999999, 1500, "0.0 ms");
    check_scaled(a, 9999999, 1500, "0.002 ms");
    check_scaled(a, 999999, 1500, "1.5 us");
    check_scaled(a, 0, 0, "0.000 us");
    assert_string_equal(figure_scaled_percent(a, 0.7123), "71.2 %");
    assert_string_equal(figure_scaled_percent(a, 1), "100.0 %");
    assert_string_equal(figure_scaled_percent(a, 0), "0.0 %");
    assert_string_equal(figure_scaled_percent(a, NAN), "n/a");
    assert_string_equal(figure_scaled_percent(a, -0.1), "n/a");
    assert_string_equal(figure_cores(a, 2), "2");
    assert_string_equal(figure_cores(a, 1.234), "1.23");
    assert_string_equal(figure_cores(a, 0.02), "0.02");
    assert_string_equal(figure_cores(a, -1), "n/a");
    assert_string_equal(figure_count(a, 1234567), "1,234,567");
    assert_string_equal(figure_duration(a, 41200000), "41.2 ms");
    arena_free(&a);
}

static void test_figures(void **state)
{
    (void)state;
    check_all();
}

// Skips where no such locale is installed; the code under test has no other way to see one.
static void test_figures_with_decimal_comma(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR", NULL};
    for (size_t i = 0; names[i]; i++)
        if (setlocale(LC_ALL, names[i])) {
            check_all();
            setlocale(LC_ALL, "C");
            return;
        }
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_figures_with_decimal_comma),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
