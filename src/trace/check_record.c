// SPDX-License-Identifier: Apache-2.0
// Checks what one record says against those before it on its thread. Called by check.c for every
// record of a trace. Does not decode. Threads: one owner.
#include "trace/check_state.h"

#include <inttypes.h>
#include <string.h>

void check_thread_forget(struct check_thread *t)
{
    t->last_ticks = 0;
    t->deepest = 0;
    t->has_gap = 1;
    memset(t->levels, 0, sizeof t->levels);
}

static void find_at(struct check *c, const struct trace_record *r, const char *what)
{
    check_find(c,
        "%s, %zu bytes into its content, of thread %" PRIu32 " in process %" PRIu32 ": %s",
        trace_kind_name(r->kind), c->offset_bytes, c->block->id.thread_seq, c->block->id.pid, what);
}

static void moment_check(
    struct check *c, struct check_thread *t, const struct trace_record *r, uint64_t ticks)
{
    if (!t)
        return;
    if (ticks < t->last_ticks)
        find_at(c, r, "it is earlier than the record before it");
    else
        t->last_ticks = ticks;
}

static void name_use(struct check_image *image, uint16_t name)
{
    image->used[name / 64] |= UINT64_C(1) << name % 64;
}

// What lies below `depth` belongs to the span that closes there.
static void children_check(struct check *c, struct check_thread *t, const struct trace_record *r,
    unsigned depth, uint64_t start_ticks)
{
    const struct check_level *below = &t->levels[depth + 1];
    if (below->has_span && below->first_start_ticks < start_ticks)
        find_at(c, r, "its first child began before it");
    if (below->fold_start_ticks && below->fold_start_ticks < start_ticks)
        find_at(c, r, "calls folded into it began before it");
    for (unsigned i = depth + 2; i <= t->deepest; i++)
        if (t->levels[i].has_span && !t->has_gap) {
            find_at(c, r, "there are spans below it that are more than one level deeper");
            break;
        }
    if (t->deepest > depth)
        memset(&t->levels[depth + 1], 0, (t->deepest - depth) * sizeof t->levels[0]);
    t->deepest = depth;
}

static void span_check(struct check *c, struct check_thread *t, const struct trace_record *r,
    uint64_t end_ticks, uint64_t dur_ticks)
{
    const unsigned depth = r->span->depth;
    const uint64_t start_ticks = end_ticks - dur_ticks;
    if (dur_ticks > end_ticks)
        find_at(c, r, "it is longer than the clock had run");
    moment_check(c, t, r, end_ticks);
    if (depth > t->deepest)
        t->deepest = depth;
    children_check(c, t, r, depth, start_ticks);
    struct check_level *level = &t->levels[depth];
    if (level->has_span && start_ticks < level->last_end_ticks)
        find_at(c, r, "it overlaps the span before it");
    if (!level->has_span)
        level->first_start_ticks = start_ticks;
    level->has_span = 1;
    level->last_end_ticks = end_ticks;
    if (depth == 0)
        t->has_gap = 0;
}

static void fold_check(struct check *c, struct check_thread *t, const struct trace_record *r)
{
    const struct trace_fold *fold = r->fold;
    struct check_level *level = &t->levels[fold->depth];
    if (fold->calls == 0)
        find_at(c, r, "it has no calls");
    if (fold->last_end_ticks < fold->first_start_ticks)
        find_at(c, r, "it ends before it begins");
    else if (fold->self_ticks > fold->last_end_ticks - fold->first_start_ticks)
        find_at(c, r, "its calls took longer than the time they lie in");
    if (fold->runq_ns > fold->off_ns)
        find_at(c, r, "its wait for a CPU is longer than its time off the CPU");
    if (fold->depth > t->deepest)
        t->deepest = fold->depth;
    if (!level->fold_start_ticks || fold->first_start_ticks < level->fold_start_ticks)
        level->fold_start_ticks = fold->first_start_ticks;
}

static void thread_check(struct check *c, struct check_thread *t, const struct trace_record *r)
{
    moment_check(c, t, r, r->thread->ticks);
    if (r->thread->op > TRACE_THREAD_END)
        find_at(c, r, "its operation is unknown");
    else if (r->thread->op == TRACE_THREAD_END)
        t->is_ended = 1;
    else if (t->seen_records > 1)
        find_at(c, r, "the thread begins a second time");
}

// Records that only have a value to check.
static void value_check(struct check *c, struct check_thread *t, struct check_image *image,
    const struct trace_record *r)
{
    switch (r->kind) {
    case TRACE_SPLIT:
        if (r->split->runq_ns > r->split->off_ns)
            find_at(c, r, "its wait for a CPU is longer than its time off the CPU");
        if (r->split->cause >= TRACE_CAUSE_COUNT)
            find_at(c, r, "its cause is unknown");
        break;
    case TRACE_ITEM:
        moment_check(c, t, r, r->item->ticks);
        if (r->item->op > TRACE_ITEM_JOIN)
            find_at(c, r, "its operation is unknown");
        break;
    case TRACE_QUEUE:
        moment_check(c, t, r, r->queue->ticks);
        name_use(image, r->queue->name);
        if (r->queue->op > TRACE_QUEUE_GET)
            find_at(c, r, "its operation is unknown");
        break;
    case TRACE_COUNTER:
        moment_check(c, t, r, r->counter->ticks);
        name_use(image, r->counter->name);
        break;
    case TRACE_DROP:
        moment_check(c, t, r, r->drop->ticks);
        c->out->drops++;
        c->out->dropped_records += r->drop->records;
        if (t)
            t->has_gap = 1;
        break;
    case TRACE_SAMPLE:
        c->out->samples++;
        break;
    case TRACE_TEXT:
        c->out->texts++;
        break;
    default:
        break;
    }
}

void check_record(struct check *c, struct check_thread *t, struct check_image *image,
    const struct trace_record *r)
{
    if (!t) {
        if (r->kind != TRACE_SAMPLE && r->kind != TRACE_TEXT)
            find_at(c, r, "it does not belong into a block of samples");
        value_check(c, NULL, image, r);
        return;
    }
    if (t->is_ended)
        find_at(c, r, "it comes after its thread's end");
    t->is_ended = 0;
    t->seen_records++;
    switch (r->kind) {
    case TRACE_SPAN:
        c->out->spans++;
        name_use(image, r->span->name);
        span_check(c, t, r, r->span->end_ticks, r->span->dur_ticks);
        break;
    case TRACE_SPAN_LONG:
        c->out->spans++;
        name_use(image, r->span_long->name);
        span_check(c, t, r, r->span_long->end_ticks, r->span_long->dur_ticks);
        break;
    case TRACE_FOLD:
        c->out->folds++;
        name_use(image, r->fold->name);
        fold_check(c, t, r);
        break;
    case TRACE_THREAD:
        thread_check(c, t, r);
        break;
    default:
        value_check(c, t, image, r);
    }
}
