// SPDX-License-Identifier: Apache-2.0
// Tests of the tick conversion against 128-bit division, of calibration, and of the clock in META.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above first.
#include <cmocka.h>

#include "trace/meta.h"
#include "trace/ticks.h"

#include <string.h>

__extension__ typedef __int128 wide_int;

// The true value, rounded down.
static int64_t divide(struct ticks_pair a, struct ticks_pair b, int64_t ticks)
{
    const wide_int up = (wide_int)ticks * (wide_int)(b.mono_ns - a.mono_ns);
    const wide_int down = (wide_int)(b.ticks - a.ticks);
    return (int64_t)(up / down - (up % down < 0));
}

static void test_is_exact(void **state)
{
    (void)state;
    static const uint64_t rates_hz[] = {
        25000000, 999999999, 1000000000, 1000000007, 2100000000, 2899998000, 5000000003};
    const int64_t day_ns = INT64_C(86400000000000);
    for (size_t i = 0; i < sizeof rates_hz / sizeof rates_hz[0]; i++) {
        const struct ticks_pair a = {.ticks = UINT64_C(77777777777), .mono_ns = 123456789};
        const struct ticks_pair b = {
            .ticks = a.ticks + rates_hz[i] * 7 + 13, .mono_ns = a.mono_ns + 7000000000u};
        struct ticks_scale scale;
        assert_int_equal(ticks_scale_init(&scale, a, b, NULL), 0);
        assert_int_equal(ticks_scale_ns(&scale, a.ticks), 0);
        for (int64_t ns = 1; ns < 30 * day_ns; ns = ns * 3 + 1) {
            const int64_t ticks = (int64_t)((double)ns * (double)rates_hz[i] / 1e9);
            const int64_t after = ticks_scale_ns(&scale, a.ticks + (uint64_t)ticks);
            const int64_t before = ticks_scale_ns(&scale, a.ticks - (uint64_t)ticks);
            assert_in_range((uint64_t)(divide(a, b, ticks) - after), 0, 1);
            assert_in_range((uint64_t)(before - divide(a, b, -ticks)), 0, 1);
        }
    }
}

static void test_is_monotonic_across_the_start(void **state)
{
    (void)state;
    struct ticks_scale scale;
    const struct ticks_pair a = {.ticks = 1000, .mono_ns = 1000},
                            b = {.ticks = 4000, .mono_ns = 2001};
    assert_int_equal(ticks_scale_init(&scale, a, b, NULL), 0);
    for (uint64_t ticks = 1; ticks < 2000; ticks++)
        assert_true(ticks_scale_ns(&scale, ticks) <= ticks_scale_ns(&scale, ticks + 1));
    assert_true(ticks_scale_ns(&scale, 999) < 0);
}

static void test_refuses_bad_pairs(void **state)
{
    (void)state;
    struct err e = {0};
    struct ticks_scale scale;
    const struct ticks_pair a = {.ticks = 1000, .mono_ns = 1000};
    const struct ticks_pair bad[] = {{1000, 2000}, {2000, 1000}, {999, 2000}, {0, 0},
        {1001, UINT64_C(90000000000)}, {UINT64_C(90000000000), 1002}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        e.text[0] = 0;
        assert_int_equal(ticks_scale_init(&scale, a, bad[i], &e), -1);
        assert_non_null(strstr(err_text(&e), "record the run again"));
    }
}

static void test_calibration_is_ordered(void **state)
{
    (void)state;
    for (int is_tsc = 0; is_tsc < 2; is_tsc++) {
        const uint64_t ticks = ticks_now(is_tsc), ns = clock_mono_ns();
        const struct ticks_pair pair = ticks_calibrate(is_tsc);
        assert_true(pair.ticks >= ticks && pair.ticks <= ticks_now(is_tsc));
        assert_true(pair.mono_ns >= ns && pair.mono_ns <= clock_mono_ns());
    }
}

static void check_clock(const struct trace_clock *a, const struct trace_clock *b)
{
    assert_int_equal(a->is_tsc, b->is_tsc);
    assert_int_equal(a->start.ticks, b->start.ticks);
    assert_int_equal(a->start.mono_ns, b->start.mono_ns);
    assert_int_equal(a->later.ticks, b->later.ticks);
    assert_int_equal(a->later.mono_ns, b->later.mono_ns);
    assert_int_equal(a->start_unix_ns, b->start_unix_ns);
}

static void test_clock_goes_through_json(void **state)
{
    (void)state;
    struct trace_clock in = {.is_tsc = 1,
        .start = {.ticks = 500, .mono_ns = 600},
        .later = {.ticks = 1500, .mono_ns = 1600},
        .start_unix_ns = UINT64_C(1700000000123456789)};
    struct trace_clock out;
    struct json *meta = json_object(), *summary = json_object();
    trace_clock_put_meta(&in, meta);
    assert_int_equal(trace_clock_get(&out, meta, NULL, NULL), 0);
    check_clock(&in, &out);
    in.later = (struct ticks_pair){.ticks = 9500, .mono_ns = 9700};
    trace_clock_put_summary(&in, summary);
    assert_int_equal(trace_clock_get(&out, meta, summary, NULL), 0);
    check_clock(&in, &out);
    json_free(&meta);
    assert_int_equal(trace_clock_get(&out, NULL, summary, NULL), -1);
    json_free(&summary);
}

static void test_repeated_meta_adds_up(void **state)
{
    (void)state;
    struct json *meta = NULL;
    struct err e = {0};
    const char first[] = "{\"command\":[\"a\"],\"clock\":{\"is_tsc\":false}}";
    const char second[] = "{\"clock\":{\"is_tsc\":true},\"host\":1}";
    assert_int_equal(trace_meta_merge(&meta, first, strlen(first), NULL), 0);
    assert_int_equal(trace_meta_merge(&meta, second, strlen(second), NULL), 0);
    assert_int_equal(json_count(json_get(meta, "command")), 1);
    assert_int_equal(json_get_bool(json_get(meta, "clock"), "is_tsc", 0), 1);
    assert_int_equal(json_get_int(meta, "host", 0), 1);
    assert_int_equal(trace_meta_merge(&meta, "[1]", 3, &e), -1);
    assert_int_equal(trace_meta_merge(&meta, "{", 1, &e), -1);
    assert_int_equal(json_count(meta), 3);
    json_free(&meta);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_exact),
        cmocka_unit_test(test_is_monotonic_across_the_start),
        cmocka_unit_test(test_refuses_bad_pairs),
        cmocka_unit_test(test_calibration_is_ordered),
        cmocka_unit_test(test_clock_goes_through_json),
        cmocka_unit_test(test_repeated_meta_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
