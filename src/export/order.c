// SPDX-License-Identifier: Apache-2.0
// Sorting a thread's spans by their beginning and giving each a lane. Called per thread by the
// exporters and by flow.c; needs 28 bytes a span while it works. Threads: one owner.
#include "export/order.h"

#include "base/heap.h"

#include <stdlib.h>

static int compare(const void *a, const void *b, void *context)
{
    const struct order_entry *x = a, *y = b;
    const struct model_span *spans = context;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->dur_ns != y->dur_ns)
        return x->dur_ns > y->dur_ns ? -1 : 1;
    if (spans[x->span].depth != spans[y->span].depth)
        return spans[x->span].depth < spans[y->span].depth ? -1 : 1;
    return x->span < y->span ? -1 : x->span > y->span;
}

// What is open on lane 0 while the entries are walked, and how far the other lanes are taken.
struct lanes {
    const struct model_thread *t;
    VEC(const struct order_entry *) open;
    VEC(int64_t) taken_ns; // of lane 1, 2, ...
};

static void close_ended(struct lanes *l, const struct order_entry *e)
{
    while (l->open.count && !order_encloses(*vec_last(&l->open), e, l->t))
        l->open.count--;
}

static int nests(const struct lanes *l, const struct order_entry *e)
{
    return !l->open.count || order_end_ns(e) <= order_end_ns(*vec_last(&l->open));
}

// A fold may stand among the spans only inside its own parent and where no span begins before it
// ends.
static int fold_nests(const struct lanes *l, const struct order_entry *e, int64_t next_span_ns)
{
    const uint32_t parent = l->t->spans.at[e->span].parent;
    const uint32_t innermost = l->open.count ? (*vec_last(&l->open))->span : MODEL_NONE;
    return innermost == parent && next_span_ns >= order_end_ns(e) && nests(l, e);
}

static uint32_t free_lane(struct lanes *l, const struct order_entry *e)
{
    for (size_t i = 0; i < l->taken_ns.count; i++)
        if (l->taken_ns.at[i] <= e->start_ns) {
            l->taken_ns.at[i] = order_end_ns(e);
            return (uint32_t)i + 1;
        }
    *vec_push(&l->taken_ns) = order_end_ns(e);
    return (uint32_t)l->taken_ns.count;
}

// For each entry, when the next span that is no fold begins.
static int64_t *find_next_spans(const struct order *o, const struct model_thread *t)
{
    int64_t *next_ns = heap_alloc(o->count, sizeof *next_ns), next = INT64_MAX;
    for (size_t i = o->count; i-- > 0;) {
        next_ns[i] = next;
        if (!t->spans.at[o->at[i].span].is_fold)
            next = o->at[i].start_ns;
    }
    return next_ns;
}

static void give_lanes(struct order *o, const struct model_thread *t)
{
    struct lanes l = {.t = t};
    int64_t *next_span_ns = find_next_spans(o, t);
    for (size_t i = 0; i < o->count; i++) {
        struct order_entry *e = &o->at[i];
        close_ended(&l, e);
        const int fits =
            t->spans.at[e->span].is_fold ? fold_nests(&l, e, next_span_ns[i]) : nests(&l, e);
        e->lane = fits ? 0 : free_lane(&l, e);
        if (fits)
            *vec_push(&l.open) = e;
    }
    o->lanes = 1 + (uint32_t)l.taken_ns.count;
    vec_fini(&l.open);
    vec_fini(&l.taken_ns);
    free(next_span_ns);
}

void order_init(struct order *o, const struct model_thread *t)
{
    *o = (struct order){.at = heap_alloc(t->spans.count, sizeof *o->at), .count = t->spans.count};
    for (size_t i = 0; i < o->count; i++)
        o->at[i] =
            (struct order_entry){t->spans.at[i].start_ns, t->spans.at[i].dur_ns, (uint32_t)i, 0};
    qsort_r(o->at, o->count, sizeof *o->at, compare, t->spans.at);
    give_lanes(o, t);
}

void order_fini(struct order *o)
{
    free(o->at);
    *o = (struct order){0};
}

int64_t order_base_ns(const struct model *m)
{
    int64_t base_ns = 0;
    for (size_t i = 0; i < m->processes.count; i++)
        if (m->processes.at[i].start_ns < base_ns)
            base_ns = m->processes.at[i].start_ns;
    for (size_t i = 0; i < m->threads.count; i++) {
        const struct model_thread *t = &m->threads.at[i];
        if (t->start_ns < base_ns)
            base_ns = t->start_ns;
        for (size_t k = 0; k < t->spans.count; k++)
            if (t->spans.at[k].start_ns < base_ns)
                base_ns = t->spans.at[k].start_ns;
    }
    // Events are in the order of time.
    if (m->samples.count && m->samples.at[0].at_ns < base_ns)
        base_ns = m->samples.at[0].at_ns;
    if (m->queues.count && m->queues.at[0].at_ns < base_ns)
        base_ns = m->queues.at[0].at_ns;
    if (m->counts.count && m->counts.at[0].at_ns < base_ns)
        base_ns = m->counts.at[0].at_ns;
    return base_ns;
}
