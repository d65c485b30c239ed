// SPDX-License-Identifier: Apache-2.0
// Tests of the buckets of durations in trace/format.h: they lie in order without gaps, and the
// middle of each is near all that is in it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above first.
#include <cmocka.h>

#include "trace/format.h"

static void test_the_middle_of_a_bucket_is_in_it(void **state)
{
    (void)state;
    for (unsigned bucket = 0; bucket < TRACE_BUCKETS; bucket++)
        assert_int_equal(trace_bucket_of(trace_bucket_ns(bucket)), bucket);
}

static void test_buckets_follow_each_other(void **state)
{
    (void)state;
    for (uint64_t ns = 0; ns < 100000; ns++) {
        const unsigned here = trace_bucket_of(ns), next = trace_bucket_of(ns + 1);
        assert_true(next == here || next == here + 1);
    }
    for (unsigned power = 17; power < 63; power++) {
        const uint64_t ns = UINT64_C(1) << power;
        const unsigned before = trace_bucket_of(ns - 1), here = trace_bucket_of(ns);
        assert_true(here == before + 1 || here == TRACE_BUCKETS - 1);
    }
}

static void test_short_times_are_exact_and_others_near(void **state)
{
    (void)state;
    for (uint64_t ns = 0; ns < 16; ns++)
        assert_true(trace_bucket_ns(trace_bucket_of(ns)) == ns);
    uint64_t ns = 16;
    for (; ns < UINT64_C(70000000000); ns += 1 + ns / 97) {
        const uint64_t middle_ns = trace_bucket_ns(trace_bucket_of(ns));
        const uint64_t error_ns = middle_ns > ns ? middle_ns - ns : ns - middle_ns;
        assert_true(error_ns <= ns / 16);
    }
}

static void test_the_last_bucket_has_no_end(void **state)
{
    (void)state;
    assert_int_equal(trace_bucket_of(UINT64_MAX), TRACE_BUCKETS - 1);
    assert_int_equal(trace_bucket_of(UINT64_C(1) << 40), TRACE_BUCKETS - 1);
    assert_true(trace_bucket_of(UINT64_C(60000000000)) < TRACE_BUCKETS - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_middle_of_a_bucket_is_in_it),
        cmocka_unit_test(test_buckets_follow_each_other),
        cmocka_unit_test(test_short_times_are_exact_and_others_near),
        cmocka_unit_test(test_the_last_bucket_has_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
