// SPDX-License-Identifier: Apache-2.0
// Series of values over time. Called by the exporters; needs 4 bytes an event while it sorts them
// into series. Threads: one owner.
#include "export/counter.h"

#include "base/heap.h"

#include <stdlib.h>

// What becomes of a metric; those without a name are left out (totals that say nothing over time).
static const struct metric {
    const char *name;
    enum counter_unit unit;
    double scale; // of a rate: units per counted unit and second; 0: the value as it is
} metrics[TRACE_METRIC_COUNT] = {
    [TRACE_METRIC_PROCESS_CPU_NS] = {"CPU use", COUNTER_CORES, 1e-9},
    [TRACE_METRIC_PROCESS_RSS_BYTES] = {"resident memory", COUNTER_BYTES, 0},
    [TRACE_METRIC_PROCESS_THREADS] = {"threads", COUNTER_PLAIN, 0},
    [TRACE_METRIC_PROCESS_MINFLT] = {"minor page faults", COUNTER_PER_S, 1},
    [TRACE_METRIC_PROCESS_MAJFLT] = {"major page faults", COUNTER_PER_S, 1},
    [TRACE_METRIC_PROCESS_READ_BYTES] = {"read from storage", COUNTER_BYTES_PER_S, 1},
    [TRACE_METRIC_PROCESS_RCHAR_BYTES] = {"read by calls", COUNTER_BYTES_PER_S, 1},
    [TRACE_METRIC_PROCESS_WRITE_BYTES] = {"written to storage", COUNTER_BYTES_PER_S, 1},
    [TRACE_METRIC_PROCESS_WCHAR_BYTES] = {"written by calls", COUNTER_BYTES_PER_S, 1},
    [TRACE_METRIC_THREAD_CPU_NS] = {"CPU use", COUNTER_CORES, 1e-9},
    [TRACE_METRIC_THREAD_RUNQ_NS] = {"run-queue wait", COUNTER_CORES, 1e-9},
    [TRACE_METRIC_CGROUP_PERIODS] = {"quota periods", COUNTER_PER_S, 1},
    [TRACE_METRIC_CGROUP_THROTTLED] = {"throttled periods", COUNTER_PER_S, 1},
    [TRACE_METRIC_CGROUP_THROTTLED_NS] = {"throttled", COUNTER_CORES, 1e-9},
    [TRACE_METRIC_PSI_CPU_SOME_US] = {"PSI cpu, some stalled", COUNTER_CORES, 1e-6},
    [TRACE_METRIC_PSI_IO_SOME_US] = {"PSI io, some stalled", COUNTER_CORES, 1e-6},
    [TRACE_METRIC_PSI_IO_FULL_US] = {"PSI io, all stalled", COUNTER_CORES, 1e-6},
    [TRACE_METRIC_PSI_MEMORY_SOME_US] = {"PSI memory, some stalled", COUNTER_CORES, 1e-6},
    [TRACE_METRIC_STEAL_NS] = {"steal", COUNTER_CORES, 1e-9},
    [TRACE_METRIC_MACHINE_BUSY_NS] = {"machine busy", COUNTER_CORES, 1e-9},
    [TRACE_METRIC_RUNNABLE] = {"runnable threads", COUNTER_PLAIN, 0},
};

const char *counter_unit_text(enum counter_unit unit)
{
    static const char *const texts[] = {"", "bytes", "cores", "1/s", "bytes/s"};
    return texts[unit];
}

static uint32_t find_process(const struct model *m, uint32_t pid)
{
    for (size_t i = 0; i < m->processes.count; i++)
        if (m->processes.at[i].pid == pid)
            return (uint32_t)i;
    return MODEL_NONE;
}

static uint32_t find_thread(const struct model *m, uint32_t tid)
{
    for (size_t i = 0; i < m->threads.count; i++)
        if (m->threads.at[i].tid == tid)
            return (uint32_t)i;
    return MODEL_NONE;
}

// ---- Samples. -----------------------------------------------------------------------------------

static int compare_samples(const void *a, const void *b, void *context)
{
    const struct model_sample *samples = context;
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    if (samples[i].metric != samples[k].metric)
        return samples[i].metric < samples[k].metric ? -1 : 1;
    if (samples[i].subject != samples[k].subject)
        return samples[i].subject < samples[k].subject ? -1 : 1;
    return i < k ? -1 : i > k;
}

// The sampled series of one metric and subject: samples[order[0 .. count)].
static void visit_samples(
    const struct model *m, const uint32_t *order, size_t count, const struct counter_visitor *v)
{
    const struct model_sample *first = &m->samples.at[order[0]];
    if ((unsigned)first->metric >= TRACE_METRIC_COUNT || !metrics[first->metric].name)
        return;
    const struct metric *metric = &metrics[first->metric];
    struct counter c = {metric->name, metric->unit, MODEL_NONE, MODEL_NONE, metric->scale != 0};
    if (first->metric == TRACE_METRIC_THREAD_CPU_NS || first->metric == TRACE_METRIC_THREAD_RUNQ_NS)
        c.thread = find_thread(m, first->subject);
    else if (first->subject)
        c.process = find_process(m, first->subject);
    if (first->subject && c.thread == MODEL_NONE && c.process == MODEL_NONE)
        return;
    v->begin_fn(v->context, &c);
    for (size_t i = 0; i < count; i++) {
        const struct model_sample *s = &m->samples.at[order[i]];
        struct counter_value value = {.integer = (int64_t)s->value};
        if (c.is_real) {
            if (i + 1 == count)
                break;
            const struct model_sample *next = &m->samples.at[order[i + 1]];
            if (next->at_ns <= s->at_ns || next->value < s->value)
                continue;
            value.real = (double)(next->value - s->value) * metric->scale /
                         ((double)(next->at_ns - s->at_ns) / 1e9);
        }
        v->value_fn(v->context, &c, s->at_ns, value);
    }
}

static void visit_all_samples(const struct model *m, const struct counter_visitor *v)
{
    const struct model_sample *at = m->samples.at;
    const size_t count = m->samples.count;
    uint32_t *order = heap_alloc(count, sizeof *order);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, count, sizeof *order, compare_samples, m->samples.at);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && at[order[end]].metric == at[order[first]].metric &&
                              at[order[end]].subject == at[order[first]].subject;)
            end++;
        visit_samples(m, order + first, end - first, v);
    }
    free(order);
}

// ---- Queues and the program's counters: by process, then name. ----------------------------------

struct named {
    uint32_t process, name, event;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

// Gives each event of a list a row, sorted into series; `count` rows.
static void visit_named(const struct model *m, struct named *rows, size_t count, int is_queue,
    const struct counter_visitor *v)
{
    struct counter c = {.unit = COUNTER_PLAIN, .thread = MODEL_NONE};
    struct counter_value value = {0};
    qsort(rows, count, sizeof *rows, compare_named);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || rows[i - 1].process != rows[i].process || rows[i - 1].name != rows[i].name) {
            c.name = m->names.at[rows[i].name].text;
            c.process = rows[i].process;
            value.integer = 0;
            v->begin_fn(v->context, &c);
        }
        int64_t at_ns;
        if (is_queue) {
            at_ns = m->queues.at[rows[i].event].at_ns;
            value.integer = m->queues.at[rows[i].event].depth;
        } else {
            at_ns = m->counts.at[rows[i].event].at_ns;
            value.integer = (int64_t)((uint64_t)value.integer +
                                      (uint64_t)m->counts.at[rows[i].event]
                                          .delta); // wraps, as the program's own would
        }
        v->value_fn(v->context, &c, at_ns, value);
    }
}

static void visit_queues(const struct model *m, const struct counter_visitor *v)
{
    struct named *rows = heap_alloc(m->queues.count, sizeof *rows);
    for (size_t i = 0; i < m->queues.count; i++) {
        const struct model_queue_event *e = &m->queues.at[i];
        rows[i] = (struct named){m->threads.at[e->thread].process, e->name, (uint32_t)i};
    }
    visit_named(m, rows, m->queues.count, 1, v);
    free(rows);
}

static void visit_counts(const struct model *m, const struct counter_visitor *v)
{
    struct named *rows = heap_alloc(m->counts.count, sizeof *rows);
    for (size_t i = 0; i < m->counts.count; i++) {
        const struct model_counter_event *e = &m->counts.at[i];
        rows[i] = (struct named){m->threads.at[e->thread].process, e->name, (uint32_t)i};
    }
    visit_named(m, rows, m->counts.count, 0, v);
    free(rows);
}

void counter_visit(const struct model *m, const struct counter_visitor *v)
{
    visit_queues(m, v);
    visit_counts(m, v);
    visit_all_samples(m, v);
}
