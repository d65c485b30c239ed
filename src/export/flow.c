// SPDX-License-Identifier: Apache-2.0
// Which spans worked on which item. Walks each thread that has items twice: first for what was
// taken up directly within a span, then to decide. Called by the exporters. Threads: one owner.
#include "export/flow.h"

#include "base/heap.h"
#include "export/flow_ids.h"
#include "export/order.h"

#include <stdlib.h>

// The thread takes up an item, or (number 0) lets go of it.
struct use {
    int64_t at_ns;
    uint64_t number;
    int is_end;
};

// What was taken up directly within a span.
struct taken {
    uint64_t number;
    int is_many; // different items
};

// A span that is open while the thread is walked, and the item that it or one around it belongs to.
struct level {
    const struct order_entry *entry;
    uint64_t number;
};

struct walk {
    const struct model *m;
    const struct model_thread *t;
    uint32_t thread;
    struct flow *flow;
    struct flow_ids *ids;
    struct order order;
    VEC(struct use) uses;
    VEC(struct level) open;
    struct taken *taken; // by span
};

static void add_step(struct walk *w, const struct order_entry *e, uint64_t number)
{
    *vec_push(&w->flow->steps) = (struct flow_step){number, e->start_ns, w->thread, e->span, 0, 0};
}

static void add_steps(struct walk *w, const struct order_entry *e, uint64_t number)
{
    size_t count;
    const struct flow_ids_member *members = flow_ids_members(w->ids, number, &count);
    if (!members)
        add_step(w, e, number);
    for (size_t i = 0; i < count; i++)
        add_step(w, e, members[i].member);
}

static int is_drawn(const struct walk *w, const struct order_entry *e)
{
    return e->lane == 0 && !w->t->spans.at[e->span].is_fold;
}

// Takes spans off that ended before `at_ns`.
static void close_before(struct walk *w, int64_t at_ns)
{
    while (w->open.count && order_end_ns(vec_last(&w->open)->entry) < at_ns)
        w->open.count--;
}

static void note_use(struct walk *w, const struct use *use)
{
    close_before(w, use->at_ns);
    if (use->is_end || !w->open.count)
        return;
    struct taken *taken = &w->taken[vec_last(&w->open)->entry->span];
    taken->is_many |= taken->number && taken->number != use->number;
    taken->number = use->number;
}

static void close_for(struct walk *w, const struct order_entry *e)
{
    while (w->open.count && !order_encloses(vec_last(&w->open)->entry, e, w->t))
        w->open.count--;
}

static void find_taken(struct walk *w)
{
    size_t use = 0;
    for (size_t i = 0; i < w->order.count; i++) {
        const struct order_entry *e = &w->order.at[i];
        if (!is_drawn(w, e))
            continue;
        for (; use < w->uses.count && w->uses.at[use].at_ns < e->start_ns; use++)
            note_use(w, &w->uses.at[use]);
        close_for(w, e);
        *vec_push(&w->open) = (struct level){e, 0};
    }
    for (; use < w->uses.count; use++)
        note_use(w, &w->uses.at[use]);
    w->open.count = 0;
}

static uint64_t item_of(struct walk *w, const struct order_entry *e, uint64_t active)
{
    const struct model_span *s = &w->t->spans.at[e->span];
    if (s->attrs != MODEL_NONE && w->t->attrs.at[s->attrs].has_item)
        return flow_ids_at(w->ids, w->t->process, w->t->attrs.at[s->attrs].item, order_end_ns(e));
    const struct taken *taken = &w->taken[e->span];
    return taken->number && !taken->is_many ? taken->number : taken->number ? 0 : active;
}

static void decide(struct walk *w)
{
    size_t use = 0;
    uint64_t active = 0;
    for (size_t i = 0; i < w->order.count; i++) {
        const struct order_entry *e = &w->order.at[i];
        if (!is_drawn(w, e))
            continue;
        for (; use < w->uses.count && w->uses.at[use].at_ns <= e->start_ns; use++) {
            const struct use *u = &w->uses.at[use];
            active = !u->is_end ? u->number : active == u->number ? 0 : active;
        }
        close_for(w, e);
        const uint64_t around = w->open.count ? vec_last(&w->open)->number : 0;
        const uint64_t number = item_of(w, e, active);
        if (number && number != around)
            add_steps(w, e, number);
        *vec_push(&w->open) = (struct level){e, number ? number : around};
    }
    w->open.count = 0;
}

static int has_items(const struct model_thread *t)
{
    for (size_t i = 0; i < t->attrs.count; i++)
        if (t->attrs.at[i].has_item)
            return 1;
    return 0;
}

static void walk_thread(struct walk *w)
{
    if (!w->uses.count && !has_items(w->t))
        return;
    order_init(&w->order, w->t);
    w->taken = heap_alloc(w->t->spans.count, sizeof *w->taken);
    find_taken(w);
    decide(w);
    free(w->taken);
    order_fini(&w->order);
}

// The events' indices by thread: those of thread i are sorted[first[i] .. first[i + 1]).
static void sort_by_thread(const struct model *m, size_t *first, uint32_t *sorted)
{
    for (size_t i = 0; i < m->items.count; i++)
        first[m->items.at[i].thread + 1]++;
    for (size_t i = 0; i < m->threads.count; i++)
        first[i + 1] += first[i];
    size_t *next = heap_alloc(m->threads.count, sizeof *next);
    for (size_t i = 0; i < m->threads.count; i++)
        next[i] = first[i];
    for (size_t i = 0; i < m->items.count; i++)
        sorted[next[m->items.at[i].thread]++] = (uint32_t)i;
    free(next);
}

static int compare_by_span(const void *a, const void *b)
{
    const struct flow_step *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->span != y->span)
        return x->span < y->span ? -1 : 1;
    return x->flow < y->flow ? -1 : x->flow > y->flow;
}

static int compare_by_time(const void *a, const void *b)
{
    const struct flow_step *x = a, *y = b;
    if (x->flow != y->flow)
        return x->flow < y->flow ? -1 : 1;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return compare_by_span(a, b);
}

void flow_sort_by_time(struct flow *f)
{
    if (f->steps.count)
        qsort(f->steps.at, f->steps.count, sizeof *f->steps.at, compare_by_time);
}

static void mark_ends(struct flow *f)
{
    flow_sort_by_time(f);
    for (size_t i = 0; i < f->steps.count; i++) {
        struct flow_step *s = &f->steps.at[i];
        s->is_first = i == 0 || s[-1].flow != s->flow;
        s->is_last = i + 1 == f->steps.count || s[1].flow != s->flow;
    }
    if (f->steps.count)
        qsort(f->steps.at, f->steps.count, sizeof *f->steps.at, compare_by_span);
}

void flow_init(struct flow *f, const struct model *m)
{
    *f = (struct flow){0};
    struct flow_ids ids = {0};
    struct walk w = {.m = m, .flow = f, .ids = &ids};
    uint64_t *numbers = heap_alloc(m->items.count, sizeof *numbers);
    size_t *first = heap_alloc(m->threads.count + 1, sizeof *first);
    uint32_t *sorted = heap_alloc(m->items.count, sizeof *sorted);
    for (size_t i = 0; i < m->items.count; i++)
        numbers[i] =
            flow_ids_take(&ids, m->threads.at[m->items.at[i].thread].process, &m->items.at[i]);
    flow_ids_sort(&ids);
    sort_by_thread(m, first, sorted);
    for (uint32_t i = 0; i < m->threads.count; i++) {
        w.thread = i;
        w.t = &m->threads.at[i];
        w.uses.count = 0;
        for (size_t k = first[i]; k < first[i + 1]; k++) {
            const struct model_item_event *e = &m->items.at[sorted[k]];
            if (e->op != TRACE_ITEM_JOIN)
                *vec_push(&w.uses) =
                    (struct use){e->at_ns, numbers[sorted[k]], e->op == TRACE_ITEM_END};
        }
        walk_thread(&w);
    }
    mark_ends(f);
    free(numbers);
    free(first);
    free(sorted);
    vec_fini(&w.uses);
    vec_fini(&w.open);
    flow_ids_fini(&ids);
}

void flow_fini(struct flow *f)
{
    vec_fini(&f->steps);
}

const struct flow_step *flow_steps_of(
    const struct flow *f, uint32_t thread, uint32_t span, size_t *count)
{
    const struct flow_step wanted = {.thread = thread, .span = span};
    size_t low = 0, high = f->steps.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_by_span(&f->steps.at[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct flow_step *s = f->steps.at ? &f->steps.at[low] : NULL;
    for (*count = 0;
         low + *count < f->steps.count && s[*count].thread == thread && s[*count].span == span;)
        ++*count;
    return *count ? s : NULL;
}
