// SPDX-License-Identifier: Apache-2.0
// The scheduler's own account of waiting, beside that of the hooks: by state in the steady window,
// over the whole life for the comparison of the two, and who woke each thread most. Called by
// facts.c when the threads are known. Threads: one owner.
#include "analyze/build.h"

// Shorter lives are told by too few samples, and wait for too little.
#define LIFE_LEAST_NS 50000000

static const enum trace_metric metrics[FACTS_SCHEDULER_COUNT] = {
    [FACTS_SCHEDULER_SLEEP] = TRACE_METRIC_THREAD_SLEEP_NS,
    [FACTS_SCHEDULER_DISK] = TRACE_METRIC_THREAD_DISK_NS,
    [FACTS_SCHEDULER_RUNNABLE] = TRACE_METRIC_THREAD_RUNNABLE_NS,
};

// Growth between two moments; 0 when the thread was never in that state.
static uint64_t growth(const struct build *b, const struct model_thread *t,
    enum trace_metric metric, int64_t from_ns, int64_t to_ns)
{
    const struct series s = build_series_of_thread(b, metric, t);
    const int64_t zero_ns = build_zero_ns(b, t->start_ns);
    if (!s.count || (s.count < 2 && zero_ns < 0))
        return 0;
    const double from = build_series_value(&s, from_ns, zero_ns);
    const double to = build_series_value(&s, to_ns, zero_ns);
    return to > from ? (uint64_t)(to - from) : 0;
}

static void fill_waker(const struct build *b, struct facts_thread *f, const struct model_thread *t)
{
    const struct series s = build_series_of_thread(b, TRACE_METRIC_THREAD_WOKEN_BY, t);
    for (size_t i = 0; i < s.count; i++) {
        const uint32_t count = (uint32_t)(s.at[i].value >> 32);
        f->wakings += count;
        if (count <= f->waker_count)
            continue;
        f->waker_count = count;
        f->waker_tid = (uint32_t)s.at[i].value;
    }
}

// 0 when the scheduler's events tell nothing of the thread.
static int fill_thread(const struct build *b, struct facts_thread *f, uint64_t *whole_ns)
{
    const struct model_thread *t = &b->m->threads.at[f->thread];
    size_t known = 0;
    *whole_ns = 0;
    for (int state = 0; state < FACTS_SCHEDULER_COUNT; state++)
        known += build_series_of_thread(b, metrics[state], t).count;
    f->has_scheduler = known > 0;
    for (int state = 0; known && state < FACTS_SCHEDULER_COUNT; state++) {
        *whole_ns += growth(b, t, metrics[state], t->start_ns, t->end_ns);
        f->scheduler_ns[state] =
            growth(b, t, metrics[state], b->from_ns > t->start_ns ? b->from_ns : t->start_ns,
                b->to_ns < t->end_ns ? b->to_ns : t->end_ns);
    }
    if (known)
        fill_waker(b, f, t);
    return known > 0;
}

void build_scheduler(struct build *b)
{
    double apart_ns = 0, wall_ns = 0;
    b->f->scheduler_residual_ratio = -1;
    if (build_series_find(b, TRACE_METRIC_THREAD_SLEEP_NS, 0).count)
        return; // given up under way
    for (size_t i = 0; i < b->f->threads.count; i++) {
        struct facts_thread *f = &b->f->threads.at[i];
        uint64_t whole_ns;
        if (!fill_thread(b, f, &whole_ns) || f->whole.wall_ns < LIFE_LEAST_NS)
            continue;
        uint64_t ours_ns = f->whole.runq_ns;
        for (int cause = 0; cause < TRACE_CAUSE_COUNT; cause++)
            ours_ns += f->whole.cause_ns[cause];
        apart_ns +=
            ours_ns > whole_ns ? (double)(ours_ns - whole_ns) : (double)(whole_ns - ours_ns);
        wall_ns += (double)f->whole.wall_ns;
    }
    b->f->scheduler_residual_ratio = wall_ns > 0 ? apart_ns / wall_ns : -1;
}
