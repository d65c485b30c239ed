// SPDX-License-Identifier: Apache-2.0
// Queues in the steady window, from the marks' put and get events: how deep on average and at most,
// and how much of the time something was in them. Called by facts.c. Threads: one owner.
#include "analyze/build.h"
#include "base/heap.h"

#include <stdlib.h>

struct queue_sum {
    struct facts_queue q;
    int64_t since_ns; // the depth holds since
    uint32_t depth;
    int is_seen;
    double depth_ns, filled_ns;
};

static void hold(struct build *b, struct queue_sum *s, int64_t until_ns)
{
    const double length_ns = (double)build_overlap_ns(b, s->since_ns, until_ns);
    s->depth_ns += length_ns * s->depth;
    s->filled_ns += s->depth ? length_ns : 0;
}

static void take_event(struct build *b, struct queue_sum *s, const struct model_queue_event *e)
{
    // What was in the queue before the first event follows from it.
    if (!s->is_seen) {
        s->since_ns = b->from_ns;
        s->depth = e->op == TRACE_QUEUE_PUT ? (e->depth ? e->depth - 1 : 0) : e->depth + 1;
        s->is_seen = 1;
        s->q.name = e->name;
    }
    hold(b, s, e->at_ns);
    s->since_ns = e->at_ns;
    s->depth = e->depth;
    if (e->at_ns < b->from_ns || e->at_ns > b->to_ns)
        return;
    s->q.puts += e->op == TRACE_QUEUE_PUT;
    s->q.gets += e->op == TRACE_QUEUE_GET;
    if (e->depth > s->q.max_depth)
        s->q.max_depth = e->depth;
}

void build_queues(struct build *b)
{
    const struct model *m = b->m;
    if (!m->queues.count)
        return;
    struct queue_sum *sums = heap_alloc(m->names.count, sizeof *sums);
    for (size_t i = 0; i < m->queues.count; i++)
        take_event(b, &sums[m->queues.at[i].name], &m->queues.at[i]);
    const double steady_ns = b->f->steady_ns > 0 ? (double)b->f->steady_ns : 1;
    for (size_t i = 0; i < m->names.count; i++) {
        if (!sums[i].is_seen)
            continue;
        hold(b, &sums[i], b->to_ns);
        sums[i].q.mean_depth = sums[i].depth_ns / steady_ns;
        sums[i].q.occupancy_ratio = sums[i].filled_ns / steady_ns;
        *vec_push(&b->f->queues) = sums[i].q;
    }
    free(sums);
}
