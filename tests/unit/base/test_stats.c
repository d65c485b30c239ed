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

static void means(void **state)
{
    (void)state;
    double x[] = {1e16, 1, -1e16, 1};
    assert_true(stats_mean(x, 4) == 0.5);
    assert_true(isnan(stats_mean(x, 0)));
    assert_true(stats_mean(x + 1, 1) == 1);
}

static void quantiles_are_of_type_7(void **state)
{
    (void)state;
    double x[] = {7, 1, 3, 9, 5, 2}; // sorted 1 2 3 5 7 9
    assert_true(stats_median(x, 6) == 4);
    assert_true(x[0] == 1 && x[5] == 9);
    assert_true(fabs(stats_quantile(x, 6, 0.25) - 2.25) < 1e-12);
    assert_true(fabs(stats_quantile(x, 6, 0.9) - 8) < 1e-12);
    assert_true(stats_quantile(x, 6, 0) == 1 && stats_quantile(x, 6, -2) == 1);
    assert_true(stats_quantile(x, 6, 1) == 9 && stats_quantile(x, 6, 2) == 9);
    assert_true(isnan(stats_quantile(x, 6, NAN)));
    assert_true(isnan(stats_median(x, 0)));
    assert_true(stats_quantile(x, 1, 0.7) == 1);
    assert_true(stats_median(x, 5) == 3);
}

// For the median of n values of rank statistics, the bootstrap's quantiles follow from the
// binomial: P[median* <= x_k] = P[Bin(n, k/n) >= (n+1)/2] for odd n.
static double chance_at_or_below(int n, int k)
{
    double p = (double)k / n, sum = 0;
    for (int j = (n + 1) / 2; j <= n; j++)
        sum += exp(lgamma(n + 1.) - lgamma(j + 1.) - lgamma(n - j + 1.) + j * log(p) +
                   (n - j) * log1p(-p));
    return sum;
}

static void bootstrap_agrees_with_its_exact_distribution(void **state)
{
    (void)state;
    enum { N = 201 };
    double x[N];
    for (int i = 0; i < N; i++)
        x[i] = (i * 11) % N + 1; // 1..201 in another order
    int low = 1, high = 1;
    while (chance_at_or_below(N, low) < 0.025)
        low++;
    while (chance_at_or_below(N, high) < 0.975)
        high++;
    struct stats_interval got = stats_bootstrap_median(x, N, 1);
    assert_true(got.mid == 101);
    assert_true(fabs(got.low - low) <= 1.5);
    assert_true(fabs(got.high - high) <= 1.5);
    assert_true(x[1] == 12); // the caller's order is kept
}

static void bootstrap_repeats_with_its_seed(void **state)
{
    (void)state;
    double x[] = {3.25, 1.5, 4.75, 1.125, 5.5, 9.25, 2.75, 6.5};
    struct stats_interval a = stats_bootstrap_median(x, 8, 5), b = stats_bootstrap_median(x, 8, 5);
    assert_true(a.low == b.low && a.mid == b.mid && a.high == b.high);
    assert_true(a.low < a.mid && a.mid < a.high);
    assert_true(a.mid == 4.0);
    // Of six values with one 1: three drawn 1s give 0.5 (in 5 % of samples), more are rarer (0.9
    // %).
    double single[] = {0, 0, 0, 0, 0, 1};
    assert_true(stats_bootstrap_median(single, 6, 5).high == 0.5);
    struct stats_interval one = stats_bootstrap_median(x, 1, 5);
    assert_true(one.low == 3.25 && one.mid == 3.25 && one.high == 3.25);
    struct stats_interval none = stats_bootstrap_median(NULL, 0, 5);
    assert_true(isnan(none.low) && isnan(none.mid) && isnan(none.high));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tail_sizes_match_the_table),
        cmocka_unit_test(tail_sizes_know_their_limits),
        cmocka_unit_test(means),
        cmocka_unit_test(quantiles_are_of_type_7),
        cmocka_unit_test(bootstrap_agrees_with_its_exact_distribution),
        cmocka_unit_test(bootstrap_repeats_with_its_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
