// SPDX-License-Identifier: Apache-2.0
// The waiting for a CPU of waits after which the kernel was not asked.
#include "agent/runq.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

// A thread that waits, and a kernel that knows how much of that was for a CPU.
struct sketch {
    struct agent_runq r;
    uint64_t cpu_ns, told_ns; // what the kernel knows
    uint64_t charged_ns;
    unsigned asked;
};

// Works, then waits, `runq_ns` of it for a CPU; what the wait is charged.
static uint64_t sketch_wait(struct sketch *s, uint64_t work_ns, uint64_t off_ns, uint64_t runq_ns)
{
    s->cpu_ns += work_ns;
    s->told_ns += runq_ns;
    const int is_due = runq_is_due(&s->r, off_ns, s->cpu_ns);
    s->asked += (unsigned)is_due;
    const uint64_t part =
        is_due ? runq_settle(&s->r, off_ns, s->cpu_ns, s->told_ns) : runq_guess(&s->r, off_ns);
    assert_true(part <= off_ns);
    s->charged_ns += part;
    return part;
}

static void test_what_is_asked_is_told_exactly(void **state)
{
    (void)state;
    struct sketch s = {0};
    for (unsigned i = 0; i < RUNQ_FIRST; i++)
        assert_int_equal(sketch_wait(&s, 1000, 100000, i * 1000), i * 1000);
    for (unsigned i = 0; i < 100; i++) // long ones, and such as follow work
        assert_int_equal(
            sketch_wait(&s, i % 2 ? RUNQ_WORK_NS : 1, i % 2 ? 80000 : RUNQ_LONG_NS, 70000), 70000);
    assert_int_equal(s.asked, RUNQ_FIRST + 100);
    // Waits too short to be charged had some: that is no later wait's.
    s.told_ns += 900000;
    assert_int_equal(sketch_wait(&s, RUNQ_WORK_NS, 100000, 50000), 100000);
    assert_int_equal(sketch_wait(&s, RUNQ_WORK_NS, 100000, 50000), 50000);
}

// Ten thousand short waits, a machine that is crowded at times: sums are the kernel's, and it is
// asked after every twentieth.
static void test_sums_are_kept(void **state)
{
    (void)state;
    struct sketch s = {0};
    uint64_t seed = 7;
    for (unsigned i = 0; i < 10000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const uint64_t off_ns = 100000 + (seed >> 33) % 400000;
        const uint64_t runq_ns = i / 1000 % 2 ? off_ns / 2 : off_ns / 50;
        sketch_wait(&s, RUNQ_WORK_NS / 20, off_ns, runq_ns);
    }
    assert_in_range(s.asked, 450, 550);
    assert_in_range(s.charged_ns, s.told_ns * 99 / 100, s.told_ns * 101 / 100);
}

// From one moment on nothing waits for a CPU any more: what was guessed beforehand is given back.
static void test_a_guess_is_taken_back(void **state)
{
    (void)state;
    struct sketch s = {0};
    for (unsigned i = 0; i < 1000; i++)
        sketch_wait(&s, RUNQ_WORK_NS / 10, 200000, 150000);
    const uint64_t before_ns = s.charged_ns;
    for (unsigned i = 0; i < 100; i++)
        sketch_wait(&s, RUNQ_WORK_NS / 10, 200000, 0);
    assert_in_range(s.charged_ns - before_ns, 0, 10 * 150000);
    for (unsigned i = 0; i < 1000; i++)
        sketch_wait(&s, RUNQ_WORK_NS / 10, 200000, 100000);
    assert_in_range(s.charged_ns, s.told_ns * 99 / 100, s.told_ns * 101 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_asked_is_told_exactly),
        cmocka_unit_test(test_sums_are_kept),
        cmocka_unit_test(test_a_guess_is_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
