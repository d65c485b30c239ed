// SPDX-License-Identifier: Apache-2.0
// Values over time: depths as they are, running sums, gauges, and rates of growing counters.
// Threads: none.
#include "export/counter.h"
#include "sample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000

struct seen {
    struct series {
        const char *name;
        struct counter counter;
        size_t count;
        int64_t at_ns[8];
        struct counter_value values[8];
    } series[16];
    size_t count;
};

static void begin(void *context, const struct counter *c)
{
    struct seen *seen = context;
    assert_true(seen->count < 16);
    seen->series[seen->count++] = (struct series){.name = c->name, .counter = *c};
}

static void take(void *context, const struct counter *c, int64_t at_ns, struct counter_value value)
{
    struct seen *seen = context;
    struct series *s = &seen->series[seen->count - 1];
    assert_string_equal(s->name, c->name);
    assert_true(s->count < 8);
    s->at_ns[s->count] = at_ns;
    s->values[s->count++] = value;
}

static const struct series *find(const struct seen *seen, const char *name)
{
    for (size_t i = 0; i < seen->count; i++)
        if (strcmp(seen->series[i].name, name) == 0)
            return &seen->series[i];
    fail_msg("no series %s", name);
    return NULL;
}

static void visit(const struct model *m, struct seen *seen)
{
    const struct counter_visitor v = {seen, begin, take};
    counter_visit(m, &v);
}

static void test_queues_and_counts(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct model *m = sample_pipeline();
    visit(m, &seen);
    const struct series *queue = find(&seen, "queue \"q\"");
    assert_int_equal(queue->count, 3);
    assert_int_equal(queue->values[1].integer, 2);
    assert_int_equal(queue->values[2].integer, 0);
    assert_int_equal(queue->at_ns[2], 39 * MS);
    assert_int_equal(queue->counter.process, 0);
    const struct series *faces = find(&seen, "faces");
    assert_int_equal(faces->count, 2);
    assert_int_equal(faces->values[0].integer, 3);
    assert_int_equal(faces->values[1].integer, -2);
    model_free(&m);
}

static void test_samples(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct model *m = sample_pipeline();
    visit(m, &seen);
    const struct series *cpu = find(&seen, "CPU use");
    assert_int_equal(cpu->counter.unit, COUNTER_CORES);
    assert_int_equal(cpu->counter.process, 0);
    assert_int_equal(cpu->count, 3); // one less than samples: each holds from one to the next
    assert_int_equal(cpu->at_ns[0], 0);
    assert_true(fabs(cpu->values[0].real - 0.5) < 1e-9);
    const struct series *memory = find(&seen, "resident memory");
    assert_int_equal(memory->count, 4);
    assert_int_equal(memory->values[3].integer, 16384);
    const struct series *machine = find(&seen, "runnable threads");
    assert_int_equal(machine->counter.process, MODEL_NONE);
    assert_int_equal(machine->counter.thread, MODEL_NONE);
    assert_int_equal(find(&seen, "run-queue wait")->counter.thread, 1);
    for (size_t i = 0; i < seen.count; i++) // of a process that is not in the model
        assert_string_not_equal(seen.series[i].name, "threads");
    model_free(&m);
}

// A counter that jumps back, two samples at one time, a metric of a later version.
static void test_odd_samples(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct model *m = sample_pipeline();
    m->samples.count = 0;
    const uint64_t values[] = {100, 50, 50, 150};
    const int64_t times[] = {0, 1000, 1000, 2000};
    for (size_t i = 0; i < 4; i++)
        *vec_push(&m->samples) =
            (struct model_sample){times[i], values[i], 0, TRACE_METRIC_MACHINE_BUSY_NS};
    *vec_push(&m->samples) = (struct model_sample){2000, 1, 0, (enum trace_metric)200};
    visit(m, &seen);
    const struct series *busy = find(&seen, "machine busy");
    assert_int_equal(busy->count, 1);
    assert_int_equal(busy->at_ns[0], 1000);
    assert_true(fabs(busy->values[0].real - 0.1) < 1e-9);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queues_and_counts),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_odd_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
