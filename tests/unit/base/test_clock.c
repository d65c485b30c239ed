// SPDX-License-Identifier: Apache-2.0
// Tests of base/clock.h: units and order, and that the counter is only called usable where it runs.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

static void monotonic_time_is_in_nanoseconds(void **state)
{
    (void)state;
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    uint64_t now_ns = clock_mono_ns();
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_in_range(now_ns / 1000000000u, (uint64_t)before.tv_sec, (uint64_t)after.tv_sec);
    assert_true(now_ns >= (uint64_t)before.tv_sec * 1000000000u + (uint64_t)before.tv_nsec);
    assert_true(now_ns <= (uint64_t)after.tv_sec * 1000000000u + (uint64_t)after.tv_nsec);
}

static void thread_time_does_not_pass_in_sleep(void **state)
{
    (void)state;
    uint64_t cpu_ns = clock_thread_cpu_ns(), wall_ns = clock_mono_ns();
    struct timespec nap = {.tv_nsec = 20000000};
    nanosleep(&nap, NULL);
    cpu_ns = clock_thread_cpu_ns() - cpu_ns;
    wall_ns = clock_mono_ns() - wall_ns;
    assert_true(wall_ns >= 20000000u);
    assert_true(cpu_ns < wall_ns);
}

static void usable_counter_never_runs_back(void **state)
{
    (void)state;
    int usable = clock_tsc_is_usable();
    assert_in_range(usable, 0, 1);
    assert_int_equal(clock_tsc_is_usable(), usable);
    uint64_t last = clock_tsc(), first = last;
    for (int i = 0; usable && i < 100000; i++) {
        uint64_t next = clock_tsc();
        assert_true(next >= last);
        last = next;
    }
    assert_true(!usable || last > first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(monotonic_time_is_in_nanoseconds),
        cmocka_unit_test(thread_time_does_not_pass_in_sleep),
        cmocka_unit_test(usable_counter_never_runs_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
