// SPDX-License-Identifier: Apache-2.0
// Numbers of threads and processes that are used again: each one's samples are its own. A process
// that becomes another program stays one.
#include "analyze/facts.h"
#include "sketch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS SKETCH_MS
#define TID 500u

// A counter that grows from 0 at the start of the use to `end` at its end.
static void use_of(struct sketch *s, enum trace_metric metric, uint32_t subject, uint64_t start_ms,
    uint64_t end_ms, uint64_t end)
{
    for (uint64_t i = 0; i <= 4; i++)
        sketch_sample(
            s, metric, subject, (start_ms + (end_ms - start_ms) * i / 4) * MS, end * i / 4);
}

static void near(uint64_t value, uint64_t wanted)
{
    assert_in_range(value, wanted - wanted / 100, wanted + wanted / 100);
}

static void a_thread_number_used_again(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    for (uint64_t i = 0; i < 3; i++) {
        sketch_thread(&s, TID, "", (1000 + 2000 * i) * MS);
        sketch_call(&s, "work", NULL, 100 * MS);
        sketch_blocked(&s, TRACE_CAUSE_SLEEP, 900 * MS);
        use_of(&s, TRACE_METRIC_THREAD_SLEEP_NS, TID, 1000 + 2000 * i, 2000 + 2000 * i,
            (900 - 200 * i) * MS);
        // Told a little after its end.
        sketch_sample(&s, TRACE_METRIC_THREAD_WOKEN_BY, TID, (2300 + 2000 * i) * MS,
            (7 + i) | (uint64_t)(10 + i) << 32);
    }
    struct model *m = sketch_finish(&s);
    struct facts *f = facts_new(m, NULL);
    assert_int_equal(f->threads.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        near(f->threads.at[i].scheduler_ns[FACTS_SCHEDULER_SLEEP], (900 - 200 * i) * MS);
        assert_int_equal(f->threads.at[i].wakings, 10 + i);
        assert_int_equal(f->threads.at[i].waker_tid, 7 + i);
    }
    facts_free(&f);
    model_free(&m);
}

static void add_process(struct sketch *s, uint32_t pid, uint64_t start_ms, uint64_t end_ms)
{
    struct model_process *p = vec_push(&s->m->processes);
    *p = (struct model_process){.pid = pid,
        .command = "again",
        .has_agent = 1,
        .start_ns = (int64_t)(start_ms * MS),
        .agent_ns = (int64_t)(start_ms * MS),
        .end_ns = (int64_t)(end_ms * MS),
        .end_is_exact = 1};
}

static void a_process_number_used_again(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    s.m->processes.at[0].end_ns = (int64_t)(20000 * MS);
    sketch_thread(&s, 100, "", 0);
    sketch_call(&s, "work", NULL, 20000 * MS);
    add_process(&s, TID, 1000, 3000);
    add_process(&s, TID, 10000, 12000);
    use_of(&s, TRACE_METRIC_PROCESS_MINFLT, TID, 1000, 3000, 4000);
    use_of(&s, TRACE_METRIC_PROCESS_MINFLT, TID, 10000, 12000, 8000);
    struct model *m = sketch_finish(&s);
    struct facts *f = facts_new(m, NULL);
    assert_int_equal(f->machine.minor_faults, 12000);
    facts_free(&f);
    model_free(&m);
}

static void another_program_in_the_same_process(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    s.m->processes.at[0].end_ns = (int64_t)(20000 * MS);
    sketch_thread(&s, 100, "", 0);
    sketch_call(&s, "work", NULL, 20000 * MS);
    add_process(&s, TID, 1000, 2000);
    add_process(&s, TID, 2020, 3000);
    use_of(&s, TRACE_METRIC_PROCESS_MINFLT, TID, 1000, 3000, 4000);
    // The kernel counts its first thread on.
    for (uint32_t i = 1; i <= 2; i++) {
        sketch_thread(&s, TID, "", (i == 1 ? 1000 : 2020) * MS);
        sketch_cpu(&s, (i == 1 ? 1000 : 980) * MS);
        s.m->threads.at[i].process = i;
        sketch_thread_end(&s);
        s.m->threads.at[i].cpu_ns = UINT64_MAX;
    }
    use_of(&s, TRACE_METRIC_THREAD_CPU_NS, TID, 1000, 3000, 400 * MS);
    struct model *m = sketch_finish(&s);
    struct facts *f = facts_new(m, NULL);
    assert_int_equal(f->machine.minor_faults, 4000);
    near(f->threads.at[1].kernel_cpu_ns, 200 * MS);
    near(f->threads.at[2].kernel_cpu_ns, 196 * MS);
    facts_free(&f);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_number_used_again),
        cmocka_unit_test(a_process_number_used_again),
        cmocka_unit_test(another_program_in_the_same_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
