// SPDX-License-Identifier: Apache-2.0
// Spans and folds: nesting, parents, own times. Records come in the order in which things ended, so
// that what waits on `open` above a span's depth and lies inside it are its children. Called once
// per block; side records are in feed_side.c. Threads: one owner.
#include "model/feed.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_BYTES ((uintptr_t)4096)
#define HUGE_WORTH_BYTES ((size_t)36 << 20)
#define RESERVE_LEAST_BYTES 4096u // of records; room for fewer spans is made as they come

// Folds of the same enclosing span that may lie among a span's children on `open`.
#define FOLDS_BESIDE 8u

void feed_init(struct feed *f, struct model *m, struct load_process *process,
    const struct ticks_scale *scale, uint32_t thread)
{
    memset(f, 0, sizeof *f);
    f->m = m;
    f->process = process;
    f->scale = scale;
    f->thread = thread;
    f->root_split = MODEL_NONE;
    f->first_ns = INT64_MAX;
}

void feed_fini(struct feed *f)
{
    vec_fini(&f->open);
    free(f->side);
    f->side = NULL;
}

static struct model_thread *thread_of(const struct feed *f)
{
    return &f->m->threads.at[f->thread];
}

// A fold of the span's own parent, which may lie among the span's children on `open`.
static inline int is_beside(const struct feed_open *o, unsigned depth)
{
    return o->is_fold && o->depth <= depth;
}

// Where the children of a span at `depth` that begins at *start_ns begin on `open`; they reach to
// its end, with folds of the same parent among them. Moves the start behind a sibling that ends
// later, so that spans always nest.
static size_t find_children(const struct feed *f, unsigned depth, int64_t *start_ns)
{
    size_t i = f->open.count, first = i;
    unsigned beside = 0;
    for (; i > 0; i--) {
        const struct feed_open *o = &f->open.at[i - 1];
        if (o->depth > depth && o->start_ns >= *start_ns)
            first = i - 1;
        else if (!is_beside(o, depth) || ++beside > FOLDS_BESIDE)
            break;
    }
    if (i > 0 && !f->open.at[i - 1].is_fold && f->open.at[i - 1].end_ns > *start_ns)
        *start_ns = f->open.at[i - 1].end_ns;
    return first;
}

// The calls of folds below a parent cannot have taken more than the parent: rounding (or a damaged
// trace) is taken out of their own time.
static void shrink_folds(struct feed *f, size_t first, unsigned depth, uint64_t excess_ns)
{
    struct model_thread *t = thread_of(f);
    for (size_t i = first; i < f->open.count && excess_ns; i++) {
        if (!f->open.at[i].is_fold || is_beside(&f->open.at[i], depth))
            continue;
        struct model_span *fold = &t->spans.at[f->open.at[i].span];
        uint64_t less_ns = fold->self_ns < excess_ns ? fold->self_ns : excess_ns;
        fold->self_ns -= less_ns;
        excess_ns -= less_ns;
        if (fold->split != MODEL_NONE)
            feed_split_limit(&t->splits.at[fold->split], fold->self_ns);
    }
}

// A call that only waits belongs to the stage that it is in.
static void join_stage(struct model *m, struct model_span *child, const struct model_span *parent)
{
    const struct model_name *n = &m->names.at[child->name], *p = &m->names.at[parent->name];
    if (__builtin_expect(n->is_wait, 0) && n->stage != p->stage && !p->is_wait)
        child->name = model_name_within(m, child->name, p->stage);
}

// Makes open[first..] children of the span `index`, and takes them off. What they own of its time.
static uint64_t adopt(struct feed *f, size_t first, unsigned depth, uint32_t index)
{
    struct model_thread *t = thread_of(f);
    const uint64_t dur_ns = t->spans.at[index].dur_ns;
    uint64_t sum_ns = 0;
    for (size_t i = first; i < f->open.count; i++)
        if (!is_beside(&f->open.at[i], depth)) {
            struct model_span *child = &t->spans.at[f->open.at[i].span];
            child->parent = index;
            join_stage(f->m, child, &t->spans.at[index]);
            sum_ns += f->open.at[i].total_ns;
        }
    if (__builtin_expect(sum_ns > dur_ns, 0)) {
        shrink_folds(f, first, depth, sum_ns - dur_ns);
        sum_ns = dur_ns;
    }
    size_t kept = first;
    for (size_t i = first; i < f->open.count; i++)
        if (is_beside(&f->open.at[i], depth))
            f->open.at[kept++] = f->open.at[i];
    f->open.count = kept;
    return sum_ns;
}

static void open_push(struct feed *f, const struct model_span *s, uint32_t index, uint64_t total_ns)
{
    struct feed_open *o =
        f->open.count < f->open.capacity ? &f->open.at[f->open.count++] : vec_push(&f->open);
    *o = (struct feed_open){.start_ns = s->start_ns,
        .end_ns = s->start_ns + (int64_t)s->dur_ns,
        .total_ns = total_ns,
        .span = index,
        .depth = s->depth,
        .is_fold = s->is_fold};
}

// When the thread's time outside spans that is not yet dated ended.
static void date_root_split(struct feed *f, int64_t start_ns, unsigned depth)
{
    struct model_thread *t = thread_of(f);
    struct model_root_split *r = &t->root_splits.at[f->root_split];
    if (start_ns < r->until_ns)
        r->until_ns = start_ns;
    if (depth == 0)
        f->root_split = MODEL_NONE;
}

static inline struct model_span *add_span(
    struct feed *f, unsigned depth, uint16_t name, uint32_t *index)
{
    struct model_thread *t = thread_of(f);
    struct model_span *s =
        t->spans.count < t->spans.capacity ? &t->spans.at[t->spans.count++] : vec_push(&t->spans);
    uint32_t id = load_process_name(f->process, name);
    if (__builtin_expect(id == MODEL_NONE, 0))
        id = model_name_id(f->m, "?", "?", TRACE_CAUSE_OTHER);
    *index = (uint32_t)(s - t->spans.at);
    s->name = id;
    s->calls = 1;
    s->split = s->attrs = s->parent = MODEL_NONE;
    s->depth = (uint8_t)depth;
    s->is_fold = 0;
    return s;
}

// A span or fold that ended before what the trace keeps.
static void pass_over(struct feed *f, unsigned depth)
{
    feed_side_forget(f, depth);
    thread_of(f)->root_splits.count = 0;
    f->root_split = MODEL_NONE;
}

static inline void take_span(
    struct feed *f, unsigned depth, uint16_t name, uint64_t end_ticks, uint64_t dur_ticks)
{
    if (feed_is_before(f, end_ticks)) {
        pass_over(f, depth);
        return;
    }
    int64_t end_ns = feed_ns(f, end_ticks);
    int64_t start_ns = feed_ns(f, dur_ticks < end_ticks ? end_ticks - dur_ticks : 0);
    if (__builtin_expect(end_ns < f->last_ns, 0))
        end_ns = f->last_ns;
    if (f->root_ns > start_ns)
        start_ns = f->root_ns;
    const size_t open = f->open.count;
    size_t first = open;
    if (open) {
        const struct feed_open *top = &f->open.at[open - 1];
        if (top->is_fold || top->depth > depth || top->end_ns > start_ns)
            first = find_children(f, depth, &start_ns);
    }
    if (__builtin_expect(start_ns > end_ns, 0))
        start_ns = end_ns;
    uint32_t index;
    struct model_span *s = add_span(f, depth, name, &index);
    s->start_ns = start_ns;
    s->dur_ns = s->self_ns = (uint64_t)(end_ns - start_ns);
    if (first != open)
        s->self_ns -= adopt(f, first, depth, index);
    if (__builtin_expect(f->side_count, 0))
        feed_side_take(f, s);
    if (__builtin_expect(f->root_split != MODEL_NONE, 0))
        date_root_split(f, start_ns, depth);
    f->last_ns = end_ns;
    if (start_ns < f->first_ns)
        f->first_ns = start_ns;
    if (depth) {
        open_push(f, s, index, s->dur_ns);
    } else {
        f->root_ns = end_ns;
        f->open.count = 0;
    }
}

static uint64_t interval_ns(const struct feed *f, uint64_t ticks)
{
    return (uint64_t)feed_ns(f, f->scale->origin_ticks + ticks);
}

// The spans that the folded calls made: those that lie within the fold.
static uint64_t adopt_by_fold(struct feed *f, uint32_t index, const struct model_span *s)
{
    const int64_t end_ns = s->start_ns + (int64_t)s->dur_ns;
    size_t first = f->open.count;
    while (first > 0) {
        const struct feed_open *o = &f->open.at[first - 1];
        if (o->depth <= s->depth || o->start_ns < s->start_ns || o->end_ns > end_ns)
            break;
        first--;
    }
    return first == f->open.count ? 0 : adopt(f, first, s->depth, index);
}

static void take_fold(struct feed *f, const struct trace_fold *r)
{
    if (feed_is_before(f, r->last_end_ticks)) {
        pass_over(f, r->depth);
        return;
    }
    const int64_t end_ns = feed_ns(f, r->last_end_ticks);
    int64_t start_ns = feed_ns(f, r->first_start_ticks);
    if (start_ns > end_ns)
        start_ns = end_ns;
    uint32_t index;
    struct model_span *s = add_span(f, r->depth, r->name, &index);
    s->is_fold = 1;
    s->calls = r->calls ? r->calls : 1;
    s->start_ns = start_ns;
    s->dur_ns = (uint64_t)(end_ns - start_ns);
    const uint64_t children_ns = adopt_by_fold(f, index, s);
    s->self_ns = interval_ns(f, r->self_ticks);
    if (s->self_ns > s->dur_ns - children_ns)
        s->self_ns = s->dur_ns - children_ns;
    if (r->off_ns && s->self_ns) {
        struct model_thread *t = thread_of(f);
        struct model_split *split = vec_push(&t->splits);
        *split = (struct model_split){r->off_ns, r->runq_ns, 1, f->m->names.at[s->name].cause};
        feed_split_limit(split, s->self_ns);
        s->split = (uint32_t)(t->splits.count - 1);
    }
    if (f->side_count)
        feed_side_take_durations(f, s);
    struct model_attrs *attrs = feed_attrs_of(f, s);
    attrs->bytes = r->bytes;
    attrs->max_ns = interval_ns(f, r->max_ticks);
    if (f->root_split != MODEL_NONE)
        date_root_split(f, start_ns, s->depth);
    if (s->depth)
        open_push(f, s, index, s->self_ns + children_ns);
    if (start_ns < f->first_ns)
        f->first_ns = start_ns;
    if (end_ns > f->fold_ns)
        f->fold_ns = end_ns;
}

// Room for `count` more spans. Touching fresh memory page by page would take as long as the
// decoding.
static void spans_reserve(struct model_thread *t, size_t count)
{
    const size_t capacity = t->spans.capacity;
    vec_reserve(&t->spans, t->spans.count + count);
    if (t->spans.capacity == capacity || t->spans.capacity * sizeof *t->spans.at < HUGE_WORTH_BYTES)
        return;
    // Whole pages around the array: an allocation of this length is a mapping by itself, and a hint
    // for a part of it would keep it from growing in place.
    const uintptr_t begin = (uintptr_t)t->spans.at & ~(PAGE_BYTES - 1);
    const uintptr_t end =
        ((uintptr_t)(t->spans.at + t->spans.capacity) + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
    (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

int feed_records(
    struct feed *f, const void *records, size_t length_bytes, size_t *fault_offset_bytes)
{
    struct trace_cursor c = {records, length_bytes, 0};
    struct trace_record r;
    int more;
    struct model_thread *t = thread_of(f);
    if (length_bytes >= RESERVE_LEAST_BYTES)
        spans_reserve(t, length_bytes / TRACE_UNIT_BYTES);
    while ((more = trace_records_next(&c, &r)) > 0) {
        if (__builtin_expect(r.kind == TRACE_SPAN, 1))
            take_span(f, r.span->depth, r.span->name, r.span->end_ticks, r.span->dur_ticks);
        else if (r.kind == TRACE_SPAN_LONG)
            take_span(f, r.span_long->depth, r.span_long->name, r.span_long->end_ticks,
                r.span_long->dur_ticks);
        else if (r.kind == TRACE_FOLD)
            take_fold(f, r.fold);
        else
            feed_side_record(f, &r);
    }
    *fault_offset_bytes = c.offset_bytes;
    feed_side_rest(f);
    return more < 0 ? -1 : 0;
}

// A thread that is older than what the trace keeps was there from the first moment on, and what the
// kernel counted of it over its life is not that of the rest.
static void start_settle(struct feed *f)
{
    struct model_thread *t = thread_of(f);
    if (!f->m->kept_from_ns || (f->start_seen && t->start_ns > 0))
        return;
    f->start_seen = 1;
    t->start_ns = 0;
    t->start_is_exact = 0;
    t->cpu_ns = t->runq_ns = UINT64_MAX;
}

void feed_end(struct feed *f)
{
    struct model_thread *t = thread_of(f);
    start_settle(f);
    const int64_t seen_ns = f->last_ns > f->fold_ns ? f->last_ns : f->fold_ns;
    // What was recorded lies within the thread's life, whatever the clock of its ends said.
    if (f->first_ns < t->start_ns || (!f->start_seen && f->first_ns != INT64_MAX))
        t->start_ns = f->first_ns;
    if (t->end_ns < seen_ns)
        t->end_ns = seen_ns;
    if (t->end_ns < t->start_ns)
        t->end_ns = t->start_ns;
    for (size_t i = 0; i < t->root_splits.count; i++)
        if (t->root_splits.at[i].until_ns > t->end_ns)
            t->root_splits.at[i].until_ns = t->end_ns;
    f->m->span_count += t->spans.count;
}
