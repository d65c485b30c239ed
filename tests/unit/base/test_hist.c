// SPDX-License-Identifier: Apache-2.0
// Tests of base/hist.h: the error bound against sorted values, edges of the range, merging.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

// Values spread evenly over all magnitudes up to 2^bits.
static uint64_t spread(uint64_t *state, unsigned bits)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    unsigned shift = (unsigned)(*state >> 58) % bits;
    return (*state >> 1) >> (63 - bits + shift);
}

static void quantiles_keep_the_bound_at_every_rank(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    static uint64_t values[COUNT];
    uint64_t random = 42;
    struct hist *h = hist_new();
    for (size_t i = 0; i < COUNT; i++) {
        values[i] = spread(&random, 63);
        hist_add(h, values[i]);
    }
    qsort(values, COUNT, sizeof *values, compare);
    assert_true(values[0] < 256 && values[COUNT - 1] > (uint64_t)1 << 60);
    for (size_t rank = 1; rank <= COUNT; rank++) {
        uint64_t exact = values[rank - 1];
        uint64_t got = hist_quantile(h, (double)rank / COUNT);
        uint64_t error = got > exact ? got - exact : exact - got;
        assert_true(error <= exact / 128);
    }
    hist_free(&h);
    assert_null(h);
}

static void small_values_are_exact(void **state)
{
    (void)state;
    struct hist *h = hist_new();
    for (uint64_t value = 0; value < 256; value++)
        hist_add(h, value);
    for (uint64_t rank = 1; rank <= 256; rank++)
        assert_int_equal(hist_quantile(h, (double)rank / 256), rank - 1);
    hist_free(&h);
}

static void ranks_are_nearest(void **state)
{
    (void)state;
    struct hist *h = hist_new();
    for (uint64_t value = 1; value <= 100; value++)
        hist_add(h, value);
    assert_int_equal(hist_quantile(h, 0.07), 7);
    assert_int_equal(hist_quantile(h, 0.29), 29);
    assert_int_equal(hist_quantile(h, 0.5), 50);
    assert_int_equal(hist_quantile(h, 0.501), 51);
    assert_int_equal(hist_quantile(h, 0.99), 99);
    assert_int_equal(hist_quantile(h, 0), 1);
    assert_int_equal(hist_quantile(h, -3), 1);
    assert_int_equal(hist_quantile(h, 1), 100);
    assert_int_equal(hist_quantile(h, 7), 100);
    assert_int_equal(hist_quantile(h, NAN), 1);
    hist_free(&h);
}

static void knows_the_edges_of_the_range(void **state)
{
    (void)state;
    struct hist *h = hist_new();
    assert_int_equal(hist_count(h) + hist_min(h) + hist_max(h) + hist_quantile(h, 0.5), 0);
    hist_add(h, UINT64_MAX);
    assert_true(hist_quantile(h, 0.5) == UINT64_MAX && hist_min(h) == UINT64_MAX);
    hist_add(h, 0);
    assert_int_equal(hist_min(h), 0);
    assert_int_equal(hist_quantile(h, 0.5), 0);
    assert_true(hist_max(h) == UINT64_MAX);
    assert_int_equal(hist_count(h), 2);
    hist_free(&h);
    hist_free(&h);
}

static void single_value_is_exact(void **state)
{
    (void)state;
    struct hist *h = hist_new();
    for (int i = 0; i < 3; i++)
        hist_add(h, 1234567);
    assert_int_equal(hist_quantile(h, 0.5), 1234567);
    hist_free(&h);
}

static void adding_many_equals_adding_each(void **state)
{
    (void)state;
    struct hist *many = hist_new(), *each = hist_new();
    hist_add_many(many, 5000, 3);
    hist_add_many(many, 70, 2);
    hist_add_many(many, 1, 0); // none: not even the minimum moves
    for (int i = 0; i < 5; i++)
        hist_add(each, i < 3 ? 5000 : 70);
    assert_int_equal(hist_count(many), 5);
    assert_int_equal(hist_min(many), 70);
    for (int rank = 1; rank <= 5; rank++)
        assert_int_equal(hist_quantile(many, rank / 5.0), hist_quantile(each, rank / 5.0));
    hist_free(&many);
    hist_free(&each);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_keep_the_bound_at_every_rank),
        cmocka_unit_test(small_values_are_exact),
        cmocka_unit_test(ranks_are_nearest),
        cmocka_unit_test(knows_the_edges_of_the_range),
        cmocka_unit_test(single_value_is_exact),
        cmocka_unit_test(adding_many_equals_adding_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
