// SPDX-License-Identifier: Apache-2.0
// See stacks.h. Threads: one owner.
#include "export/stacks.h"

#include <stdlib.h>

struct sorted {
    VEC(struct model_sample) samples; // by the thread's number, then time
};

static int sample_compare(const void *a, const void *b)
{
    const struct model_sample *x = a, *y = b;
    if (x->subject != y->subject)
        return x->subject < y->subject ? -1 : 1;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static void sort_samples(struct sorted *sorted, const struct model *m)
{
    for (size_t i = 0; i < m->samples.count; i++)
        if (m->samples.at[i].metric == TRACE_METRIC_PYTHON_STACK)
            *vec_push(&sorted->samples) = m->samples.at[i];
    if (sorted->samples.count)
        qsort(
            sorted->samples.at, sorted->samples.count, sizeof *sorted->samples.at, sample_compare);
}

// The first sample of the thread, or what comes behind.
static size_t first_of(const struct sorted *sorted, const struct model_thread *t)
{
    const struct model_sample start = {.subject = t->tid, .at_ns = t->start_ns};
    size_t low = 0, high = sorted->samples.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sample_compare(&sorted->samples.at[middle], &start) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void take_thread(
    struct stacks *s, const struct model *m, const struct sorted *sorted, uint32_t thread)
{
    const struct model_thread *t = &m->threads.at[thread];
    size_t next = 0;
    for (size_t i = first_of(sorted, t); i < sorted->samples.count; i++) {
        const struct model_sample *sample = &sorted->samples.at[i];
        if (sample->subject != t->tid || sample->at_ns > t->end_ns)
            break;
        const struct model_stack *stack = model_stack_find(m, sample->value);
        const uint32_t name = model_name_at(t, sample->at_ns, &next);
        const uint32_t stage = name == MODEL_NONE ? MODEL_NONE : m->names.at[name].stage;
        if (stack)
            *vec_push(&s->samples) = (struct stacks_sample){stack, thread, stage, sample->at_ns};
    }
}

int stacks_collect(struct stacks *s, const struct model *m, struct err *e)
{
    struct sorted sorted = {0};
    sort_samples(&sorted, m);
    for (uint32_t i = 0; i < m->threads.count; i++)
        take_thread(s, m, &sorted, i);
    vec_fini(&sorted.samples);
    if (s->samples.count)
        return 0;
    return err_set(e, "the trace has no sampled stacks: they are those of Python code (CPython 3.8 "
                      "to 3.13), of some 10 ms and more");
}

void stacks_fini(struct stacks *s)
{
    vec_fini(&s->samples);
}
