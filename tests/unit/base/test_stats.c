// SPDX-License-Identifier: Apache-2.0
// Tests of base/stats.h against published and independently computed values.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/stats.h"

#include <math.h>

static void tail_sizes_match_the_table(void **state)
{
    (void)state;
    static const struct {
        double p;
        unsigned over;
        size_t n;
    } cases[] = {{0.99, 0, 459}, {0.99, 1, 662}, {0.99, 2, 838}, {0.99, 5, 1307}, {0.9, 0, 44},
        {0.9, 1, 64}, {0.9, 2, 81}, {0.999, 0, 4603}, {0.999, 1, 6636}, {0.5, 0, 7}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(stats_tail_min_n(cases[i].p, cases[i].over), cases[i].n);
}

static void tail_sizes_know_their_limits(void **state)
{
    (void)state;
    assert_true(stats_tail_min_n(1, 0) == SIZE_MAX);
    assert_true(stats_tail_min_n(NAN, 0) == SIZE_MAX);
    assert_int_equal(stats_tail_min_n(0, 3), 4);
    assert_int_equal(stats_tail_min_n(-1, 0), 1);
    // 0.99 of the way, a thousand over: near 1,000 / 0.01, plus about 2.33 deviations.
    assert_in_range(stats_tail_min_n(0.99, 1000), 105000, 109000);
    assert_int_equal(stats_tail_is_valid(0.99, 458), 0);
    assert_int_equal(stats_tail_is_valid(0.99, 459), 1);
    assert_int_equal(stats_tail_is_valid(0.9, 44), 1);
    assert_int_equal(stats_tail_is_valid(0.999, 4602), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tail_sizes_match_the_table),
        cmocka_unit_test(tail_sizes_know_their_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
