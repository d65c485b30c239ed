// SPDX-License-Identifier: Apache-2.0
// The records beside spans: splits and attributes that wait for their span, items, queues,
// counters, the thread's beginning and end, drops. Called by feed.c for everything that is not a
// span or fold. Threads: one owner.
#include "model/feed.h"

#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

static struct model_thread *thread_of(const struct feed *f)
{
    return &f->m->threads.at[f->thread];
}

void feed_split_limit(struct model_split *split, uint64_t self_ns)
{
    if (split->off_ns > self_ns)
        split->off_ns = self_ns;
    if (split->runq_ns > split->off_ns)
        split->runq_ns = split->off_ns;
}

static struct model_split split_of(const struct trace_split *r)
{
    enum trace_cause cause =
        r->cause < TRACE_CAUSE_COUNT ? (enum trace_cause)r->cause : TRACE_CAUSE_OTHER;
    struct model_split s = {r->off_ns, r->runq_ns, r->switches, cause};
    feed_split_limit(&s, (uint64_t)FEED_LIMIT_NS);
    return s;
}

static void merge_split(struct model_split *into, const struct model_split *more)
{
    if (more->off_ns - more->runq_ns > into->off_ns - into->runq_ns)
        into->cause = more->cause;
    into->off_ns += more->off_ns;
    into->runq_ns += more->runq_ns;
    into->switches += more->switches;
    feed_split_limit(into, (uint64_t)FEED_LIMIT_NS);
}

static struct feed_side *side_of(struct feed *f)
{
    if (!f->side) {
        f->side = heap_alloc(1, sizeof *f->side);
        memset(f->side, 0xff, sizeof *f->side); // MODEL_NONE everywhere
    }
    return f->side;
}

void feed_side_rest(struct feed *f)
{
    if (f->side_count || !f->side)
        return;
    free(f->side);
    f->side = NULL;
    f->side_deepest = 0;
}

static void wait_at(struct feed *f, uint32_t *slot, unsigned depth, size_t index)
{
    *slot = (uint32_t)index;
    f->side_count++;
    if (depth > f->side_deepest)
        f->side_deepest = depth;
}

// Time outside all spans, "up to now": dated by what comes next.
static void take_root_split(struct feed *f, const struct model_split *s)
{
    struct model_thread *t = thread_of(f);
    if (f->root_split != MODEL_NONE) {
        merge_split(&t->root_splits.at[f->root_split].split, s);
        return;
    }
    struct model_root_split *r = vec_push(&t->root_splits);
    r->split = *s;
    r->until_ns = INT64_MAX;
    f->root_split = (uint32_t)(t->root_splits.count - 1);
}

static void take_split(struct feed *f, const struct trace_split *r)
{
    struct model_split s = split_of(r);
    if (r->depth == TRACE_DEPTH_ROOT) {
        take_root_split(f, &s);
        return;
    }
    struct model_thread *t = thread_of(f);
    uint32_t *slot = &side_of(f)->split_at[r->depth];
    if (*slot != MODEL_NONE) {
        merge_split(&t->splits.at[*slot], &s);
        return;
    }
    *vec_push(&t->splits) = s;
    wait_at(f, slot, r->depth, t->splits.count - 1);
}

// Attributes that few ask for; of a repeated one the last counts.
static void take_value(struct model_thread *t, struct model_attrs *a, const struct trace_attr *r)
{
    *vec_push(&t->values) =
        (struct model_value){r->value, r->aux, a->values, (enum trace_attr_key)r->key};
    a->values = (uint32_t)t->values.count;
}

static void take_attr(struct feed *f, const struct trace_attr *r)
{
    struct model_thread *t = thread_of(f);
    uint32_t *slot = &side_of(f)->attrs_at[r->depth];
    if (*slot == MODEL_NONE) {
        vec_push(&t->attrs);
        wait_at(f, slot, r->depth, t->attrs.count - 1);
    }
    struct model_attrs *a = &t->attrs.at[*slot];
    const uint32_t low = (uint32_t)r->value, high = (uint32_t)(r->value >> 32);
    if (r->key == TRACE_ATTR_BYTES) {
        a->bytes = r->value;
    } else if (r->key == TRACE_ATTR_SHAPE) {
        a->width_px = low;
        a->height_px = high;
        a->channels = r->aux & 0xffff;
        a->batch = r->aux >> 16;
    } else if (r->key == TRACE_ATTR_SCALE) {
        a->scale_num = low;
        a->scale_den = high;
    } else if (r->key == TRACE_ATTR_ITEM) {
        a->item = r->value;
        a->has_item = 1;
    } else if (r->key == TRACE_ATTR_SOURCE) {
        a->source_width_px = low;
        a->source_height_px = high;
    } else if (r->key == TRACE_ATTR_OPEN) {
        a->is_open = r->value != 0;
    } else if (r->key >= TRACE_ATTR_FILE && r->key < TRACE_ATTR_KEY_COUNT) {
        take_value(t, a, r);
    }
}

struct model_attrs *feed_attrs_of(struct feed *f, struct model_span *span)
{
    struct model_thread *t = thread_of(f);
    if (span->attrs == MODEL_NONE) {
        vec_push(&t->attrs);
        span->attrs = (uint32_t)(t->attrs.count - 1);
    }
    return &t->attrs.at[span->attrs];
}

static void forget_deeper(struct feed *f, unsigned depth)
{
    for (unsigned d = depth + 1; d <= f->side_deepest; d++) {
        f->side_count -=
            (f->side->split_at[d] != MODEL_NONE) + (uint32_t)(f->side->attrs_at[d] != MODEL_NONE);
        f->side->split_at[d] = f->side->attrs_at[d] = MODEL_NONE;
    }
    if (f->side_deepest > depth)
        f->side_deepest = depth;
}

// A call that only waits, cut short by the death of its process: nobody could measure its split.
static void split_open(struct feed *f, struct model_span *span)
{
    struct model_thread *t = thread_of(f);
    const struct model_split split = {span->self_ns, 0, 1, f->m->names.at[span->name].cause};
    if (span->split != MODEL_NONE || !t->attrs.at[span->attrs].is_open || !span->self_ns)
        return;
    *vec_push(&t->splits) = split;
    span->split = (uint32_t)(t->splits.count - 1);
}

void feed_side_forget(struct feed *f, unsigned depth)
{
    if (!f->side)
        return;
    if (f->side->split_at[depth] != MODEL_NONE)
        f->side_count--;
    if (f->side->attrs_at[depth] != MODEL_NONE)
        f->side_count--;
    f->side->split_at[depth] = f->side->attrs_at[depth] = MODEL_NONE;
    if (f->side_deepest > depth)
        forget_deeper(f, depth);
}

void feed_side_take(struct feed *f, struct model_span *span)
{
    struct model_thread *t = thread_of(f);
    const unsigned depth = span->depth;
    if (f->side->split_at[depth] != MODEL_NONE) {
        span->split = f->side->split_at[depth];
        f->side->split_at[depth] = MODEL_NONE;
        f->side_count--;
        feed_split_limit(&t->splits.at[span->split], span->self_ns);
    }
    if (f->side->attrs_at[depth] != MODEL_NONE) {
        span->attrs = f->side->attrs_at[depth];
        f->side->attrs_at[depth] = MODEL_NONE;
        f->side_count--;
        split_open(f, span);
    }
    if (f->side_deepest > depth)
        forget_deeper(f, depth);
}

void feed_side_take_durations(struct feed *f, struct model_span *fold)
{
    const struct model_thread *t = thread_of(f);
    const uint32_t waiting = f->side->attrs_at[fold->depth];
    if (waiting == MODEL_NONE || !t->attrs.at[waiting].values ||
        t->values.at[t->attrs.at[waiting].values - 1].key != TRACE_ATTR_CALLS_OF)
        return;
    fold->attrs = waiting;
    f->side->attrs_at[fold->depth] = MODEL_NONE;
    f->side_count--;
}

static void take_thread(struct feed *f, const struct trace_thread *r)
{
    struct model_thread *t = thread_of(f);
    const int64_t at_ns = feed_ns(f, r->ticks);
    // As a process ends, one thread writes the ends of those that live on.
    if (r->op == TRACE_THREAD_END && r->tid != t->tid)
        return;
    if (r->op == TRACE_THREAD_END) {
        t->end_ns = at_ns;
        t->end_is_exact = 1;
        t->cpu_ns = r->cpu_ns;
        t->runq_ns = r->runq_ns;
        if (f->root_split != MODEL_NONE)
            t->root_splits.at[f->root_split].until_ns = at_ns;
        f->root_split = MODEL_NONE;
        return;
    }
    if (f->start_seen)
        return;
    f->start_seen = 1;
    t->start_ns = at_ns;
    t->start_is_exact = r->op == TRACE_THREAD_START;
    if (r->cpu_ns != UINT64_MAX)
        t->start_cpu_ns = r->cpu_ns;
    if (r->runq_ns != UINT64_MAX)
        t->start_runq_ns = r->runq_ns;
}

static void take_item(struct feed *f, const struct trace_item *r)
{
    if (r->op > TRACE_ITEM_MANY || feed_is_before(f, r->ticks))
        return;
    *vec_push(&f->m->items) = (struct model_item_event){
        feed_ns(f, r->ticks), r->id, r->other, f->thread, (enum trace_item_op)r->op};
}

static uint32_t name_of(struct feed *f, uint16_t id)
{
    uint32_t name = load_process_name(f->process, id);
    return name != MODEL_NONE ? name : model_name_id(f->m, "?", "?", TRACE_CAUSE_OTHER);
}

static void take_queue(struct feed *f, const struct trace_queue *r)
{
    if (r->op > TRACE_QUEUE_GET || feed_is_before(f, r->ticks))
        return;
    *vec_push(&f->m->queues) = (struct model_queue_event){
        feed_ns(f, r->ticks), name_of(f, r->name), r->depth, f->thread, (enum trace_queue_op)r->op};
}

void feed_side_record(struct feed *f, const struct trace_record *r)
{
    switch (r->kind) {
    case TRACE_SPLIT:
        take_split(f, r->split);
        break;
    case TRACE_ATTR:
        take_attr(f, r->attr);
        break;
    case TRACE_ITEM:
        take_item(f, r->item);
        break;
    case TRACE_QUEUE:
        take_queue(f, r->queue);
        break;
    case TRACE_COUNTER:
        if (feed_is_before(f, r->counter->ticks))
            break;
        *vec_push(&f->m->counts) = (struct model_counter_event){feed_ns(f, r->counter->ticks),
            r->counter->delta, name_of(f, r->counter->name), f->thread};
        break;
    case TRACE_TEXT:
        load_process_text(f->process, f->m, r->text);
        break;
    case TRACE_THREAD:
        take_thread(f, r->thread);
        break;
    case TRACE_DROP:
        thread_of(f)->dropped_records += r->drop->records;
        break;
    default: // samples belong to the launcher's blocks
        break;
    }
}
