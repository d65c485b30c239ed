// SPDX-License-Identifier: Apache-2.0
// Sums of the scheduler's events: by state, up to the waking and from there on, while a wait goes
// on, for many threads, and who woke whom.
#include "collect/switches_threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TID 77u

struct fixture {
    struct switches_threads threads;
    struct procs procs;
    struct sampler *sampler;
};

static struct fixture x;

static int set_up(void **state)
{
    (void)state;
    x = (struct fixture){0};
    procs_init(&x.procs, -1, "", 0);
    x.sampler = sampler_new(&x.procs, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    switches_threads_fini(&x.threads);
    sampler_free(&x.sampler);
    procs_fini(&x.procs);
    return 0;
}

static void out(uint32_t tid, uint64_t at_ns, enum switches_state why)
{
    const struct switches_event e = {
        .at_ns = at_ns, .tid = tid, .kind = SWITCHES_OUT, .state = why};
    switches_threads_take(&x.threads, &e);
}

static void in(uint32_t tid, uint64_t at_ns)
{
    const struct switches_event e = {.at_ns = at_ns, .tid = tid, .kind = SWITCHES_IN};
    switches_threads_take(&x.threads, &e);
}

static void wake(uint32_t tid, uint64_t at_ns, uint32_t by)
{
    const struct switches_event e = {
        .at_ns = at_ns, .tid = tid, .other = by, .kind = SWITCHES_WAKING};
    switches_threads_take(&x.threads, &e);
}

// The last value that was put; UINT64_MAX: none was.
static uint64_t value_of(enum trace_metric metric, uint32_t tid)
{
    const struct trace_sample *all = sampler_records(x.sampler);
    uint64_t value = UINT64_MAX;
    for (size_t i = 0; i < sampler_pending(x.sampler); i++)
        if (all[i].metric == metric && all[i].subject == tid)
            value = all[i].value;
    return value;
}

static void check_sums(uint64_t now_ns, uint64_t sleep_ns, uint64_t disk_ns, uint64_t runnable_ns)
{
    sampler_clear(x.sampler);
    switches_threads_put(&x.threads, now_ns, x.sampler);
    assert_true(value_of(TRACE_METRIC_THREAD_SLEEP_NS, TID) == sleep_ns);
    assert_true(value_of(TRACE_METRIC_THREAD_DISK_NS, TID) == disk_ns);
    assert_true(value_of(TRACE_METRIC_THREAD_RUNNABLE_NS, TID) == runnable_ns);
}

static void sums_are_by_state(void **state)
{
    (void)state;
    out(TID, 1000, SWITCHES_SLEEP);
    in(TID, 1100);
    out(TID, 2000, SWITCHES_DISK);
    in(TID, 2030);
    out(TID, 3000, SWITCHES_RUNNABLE);
    in(TID, 3005);
    out(TID, 4000, SWITCHES_SLEEP);
    in(TID, 4001);
    check_sums(9999, 101, 30, 5);
    // What has not changed is not put again.
    check_sums(99999, UINT64_MAX, UINT64_MAX, UINT64_MAX);
}

static void once_woken_it_is_runnable(void **state)
{
    (void)state;
    out(TID, 1000, SWITCHES_DISK);
    wake(TID, 1070, 5);
    wake(TID, 1090, 5); // the first one counts
    in(TID, 1100);
    check_sums(2000, UINT64_MAX, 70, 30);
}

static void events_out_of_order_make_no_time(void **state)
{
    (void)state;
    wake(TID, 500, 5); // not known yet: no thread of the target
    in(TID, 600);
    assert_int_equal(x.threads.used, 0);
    out(0, 700, SWITCHES_SLEEP); // the idle task
    assert_int_equal(x.threads.used, 0);
    out(TID, 1000, SWITCHES_SLEEP);
    wake(TID, 900, 5); // by another CPU's clock
    in(TID, 950);
    check_sums(2000, UINT64_MAX, UINT64_MAX, UINT64_MAX);
    in(TID, 3000); // it is there already
    check_sums(4000, UINT64_MAX, UINT64_MAX, UINT64_MAX);
}

static void a_wait_counts_while_it_lasts(void **state)
{
    (void)state;
    out(TID, 1000, SWITCHES_SLEEP);
    check_sums(1500, 500, UINT64_MAX, UINT64_MAX);
    wake(TID, 1600, 5);
    check_sums(1700, 600, UINT64_MAX, 100);
    in(TID, 1800);
    check_sums(5000, UINT64_MAX, UINT64_MAX, 200); // asleep: as put before
    assert_true(x.threads.used == 1);
}

static void many_threads_are_kept_apart(void **state)
{
    (void)state;
    for (uint32_t tid = 1; tid <= 1000; tid++)
        out(tid, 1000, SWITCHES_SLEEP);
    for (uint32_t tid = 1; tid <= 1000; tid++)
        in(tid, 1000 + tid);
    switches_threads_put(&x.threads, 9999, x.sampler);
    assert_int_equal(x.threads.used, 1000);
    assert_int_equal(sampler_pending(x.sampler), 1000);
    for (uint32_t tid = 1; tid <= 1000; tid++)
        assert_true(value_of(TRACE_METRIC_THREAD_SLEEP_NS, tid) == tid);
}

static unsigned wakes_by(uint32_t by)
{
    const struct trace_sample *all = sampler_records(x.sampler);
    for (size_t i = 0; i < sampler_pending(x.sampler); i++)
        if (all[i].metric == TRACE_METRIC_THREAD_WOKEN_BY && (uint32_t)all[i].value == by)
            return (unsigned)(all[i].value >> 32);
    return 0;
}

static void the_most_frequent_wakers_are_kept(void **state)
{
    (void)state;
    out(TID, 1000, SWITCHES_SLEEP);
    for (uint32_t by = 1; by <= SWITCHES_WAKERS; by++)
        for (uint32_t n = 0; n < 10 * by; n++)
            wake(TID, 2000, by);
    wake(TID, 2000, 99); // takes the place of the rarest
    switches_threads_put_wakers(&x.threads, x.sampler);
    assert_int_equal(sampler_pending(x.sampler), SWITCHES_WAKERS);
    assert_int_equal(wakes_by(1), 0);
    assert_int_equal(wakes_by(99), 1);
    for (uint32_t by = 2; by <= SWITCHES_WAKERS; by++)
        assert_int_equal(wakes_by(by), 10 * by);
}

static void end(uint32_t tid, uint64_t at_ns, enum switches_kind kind)
{
    const struct switches_event e = {.at_ns = at_ns, .tid = tid, .kind = kind};
    switches_threads_take(&x.threads, &e);
}

static void a_number_used_again_begins_anew(void **state)
{
    (void)state;
    out(TID, 1000, SWITCHES_SLEEP);
    wake(TID, 1400, 5);
    in(TID, 1400);
    end(TID, 1500, SWITCHES_END);
    check_sums(2000, 400, UINT64_MAX, UINT64_MAX);
    assert_int_equal(wakes_by(5), 1); // told with its sums: later they would be the next one's
    check_sums(2500, UINT64_MAX, UINT64_MAX, UINT64_MAX);
    assert_int_equal(wakes_by(5), 0);
    end(TID, 3000, SWITCHES_THREAD);
    assert_int_equal(x.threads.ended, 0);
    out(TID, 3100, SWITCHES_SLEEP);
    wake(TID, 3130, 6);
    in(TID, 3130);
    check_sums(4000, 30, UINT64_MAX, UINT64_MAX);
    switches_threads_put_wakers(&x.threads, x.sampler);
    assert_int_equal(wakes_by(5), 0);
    assert_int_equal(wakes_by(6), 1);
    // Its beginning is not told where a thread that calls exec takes the first one's number.
    end(TID, 5000, SWITCHES_END);
    check_sums(5000, UINT64_MAX, UINT64_MAX, UINT64_MAX);
    out(TID, 5100, SWITCHES_DISK);
    in(TID, 5107);
    check_sums(6000, UINT64_MAX, 7, UINT64_MAX);
    assert_int_equal(x.threads.ended, 0);
}

// Those that have ended are forgotten when they are most, and the others kept.
static void what_has_ended_is_forgotten(void **state)
{
    (void)state;
    for (uint32_t tid = 1; tid <= 10000; tid++) {
        out(tid, 1000, SWITCHES_SLEEP);
        in(tid, 1000 + tid);
        if (tid > 3)
            end(tid, 20000, SWITCHES_END);
        if (tid % 100 == 0)
            switches_threads_put(&x.threads, 30000, x.sampler);
    }
    assert_in_range(x.threads.slots, 64, 2048);
    for (uint32_t tid = 1; tid <= 10000; tid++)
        assert_true(value_of(TRACE_METRIC_THREAD_SLEEP_NS, tid) == tid);
    out(2, 50000, SWITCHES_SLEEP);
    in(2, 50001);
    sampler_clear(x.sampler);
    switches_threads_put(&x.threads, 60000, x.sampler);
    assert_true(value_of(TRACE_METRIC_THREAD_SLEEP_NS, 2) == 3);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sums_are_by_state),
        TEST(once_woken_it_is_runnable),
        TEST(events_out_of_order_make_no_time),
        TEST(a_wait_counts_while_it_lasts),
        TEST(many_threads_are_kept_apart),
        TEST(the_most_frequent_wakers_are_kept),
        TEST(a_number_used_again_begins_anew),
        TEST(what_has_ended_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
