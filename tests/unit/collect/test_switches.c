// SPDX-License-Identifier: Apache-2.0
// The sums of the scheduler's events: waits by state, and that threads which have ended are put
// once more and then forgotten, so that a program may start any number of them.
#include "collect/switches_threads.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MANY 100000u

struct fixture {
    struct procs procs;
    struct sampler *sampler;
    struct switches_threads threads;
};

static void open_fixture(struct fixture *f)
{
    *f = (struct fixture){.sampler = NULL};
    procs_init(&f->procs, -1, "", 0);
    f->sampler = sampler_new(&f->procs, 0);
}

static void close_fixture(struct fixture *f)
{
    switches_threads_fini(&f->threads);
    sampler_free(&f->sampler);
    procs_fini(&f->procs);
}

static void take(struct fixture *f, enum switches_kind kind, uint32_t tid, uint64_t at_ns)
{
    const struct switches_event event = {
        .at_ns = at_ns, .tid = tid, .other = 1, .kind = kind, .state = SWITCHES_SLEEP};
    switches_threads_take(&f->threads, &event);
}

static uint64_t last_of(const struct fixture *f, enum trace_metric metric, uint32_t tid)
{
    uint64_t value = 0;
    const struct trace_sample *all = sampler_records(f->sampler);
    for (size_t i = 0; i < sampler_pending(f->sampler); i++)
        if (all[i].metric == metric && all[i].subject == tid)
            value = all[i].value;
    return value;
}

static void a_wait_has_its_state_until_the_waking(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    take(&f, SWITCHES_OUT, 7, 1000);
    take(&f, SWITCHES_WAKING, 7, 4000);
    take(&f, SWITCHES_IN, 7, 5000);
    switches_threads_put(&f.threads, 6000, f.sampler);
    assert_int_equal(last_of(&f, TRACE_METRIC_THREAD_SLEEP_NS, 7), 3000);
    assert_int_equal(last_of(&f, TRACE_METRIC_THREAD_RUNNABLE_NS, 7), 1000);
    close_fixture(&f);
}

static void ended_threads_are_forgotten(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    take(&f, SWITCHES_OUT, 7, 1000);
    for (uint32_t i = 0; i < MANY; i++) {
        const uint64_t at_ns = 2000 + i * 10;
        take(&f, i % 2 ? SWITCHES_THREAD : SWITCHES_PROCESS, 1000 + i, at_ns);
        take(&f, SWITCHES_OUT, 1000 + i, at_ns + 1);
        take(&f, SWITCHES_WAKING, 1000 + i, at_ns + 4);
        take(&f, SWITCHES_IN, 1000 + i, at_ns + 5);
        take(&f, SWITCHES_END, 1000 + i, at_ns + 6);
        if (i % 1000 == 0)
            switches_threads_put(&f.threads, at_ns + 7, f.sampler);
    }
    assert_true(f.threads.slots <= 4096);
    switches_threads_put(&f.threads, 2000 + MANY * 10, f.sampler);
    switches_threads_put_wakers(&f.threads, f.sampler);
    // Each was put, with its waker, and the living one goes on.
    for (uint32_t i = 0; i < MANY; i += 9973) {
        assert_int_equal(last_of(&f, TRACE_METRIC_THREAD_SLEEP_NS, 1000 + i), 3);
        assert_int_equal(
            last_of(&f, TRACE_METRIC_THREAD_WOKEN_BY, 1000 + i), 1 | (uint64_t)1 << 32);
    }
    assert_int_equal(last_of(&f, TRACE_METRIC_THREAD_SLEEP_NS, 7), 1000 + MANY * 10);
    close_fixture(&f);
}

static void a_number_may_be_used_again(void **state)
{
    (void)state;
    struct fixture f;
    open_fixture(&f);
    take(&f, SWITCHES_END, 7, 1000);
    take(&f, SWITCHES_THREAD, 7, 2000);
    assert_int_equal(f.threads.ended, 0);
    take(&f, SWITCHES_OUT, 7, 3000);
    take(&f, SWITCHES_IN, 7, 3500);
    switches_threads_put(&f.threads, 4000, f.sampler);
    assert_int_equal(last_of(&f, TRACE_METRIC_THREAD_SLEEP_NS, 7), 500);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_has_its_state_until_the_waking),
        cmocka_unit_test(ended_threads_are_forgotten),
        cmocka_unit_test(a_number_may_be_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
