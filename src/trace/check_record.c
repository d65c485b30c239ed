// SPDX-License-Identifier: Apache-2.0
// Checks what one record says against those before it on its thread. Called by check.c for every
// record of a trace. Does not decode. Threads: one owner.
#include "trace/check_state.h"

#include <inttypes.h>
#include <string.h>

// So many FOLDs in a row are looked at for what lies in a new one.
#define FOLDS_BACK 1024u
// Below one long span, older parts are forgotten, which hides a fault but finds none.
#define PARTS_MOST 65536u

void check_thread_forget(struct check_thread *t)
{
    t->last_ticks = 0;
    t->has_gap = 1;
    t->parts.count = 0;
}

static void find_at(struct check *c, const struct trace_record *r, const char *what)
{
    check_find(c,
        "%s, %zu bytes into its content, of thread %" PRIu32 " in process %" PRIu32 ": %s",
        trace_kind_name(r->kind), c->offset_bytes, c->block->id.thread_seq, c->block->id.pid, what);
}

// Whether it is as it should be.
static int moment_check(
    struct check *c, struct check_thread *t, const struct trace_record *r, uint64_t ticks)
{
    if (!t)
        return 1;
    if (ticks < t->last_ticks) {
        find_at(c, r, "it is earlier than the record before it");
        return 0;
    }
    t->last_ticks = ticks;
    return 1;
}

static void name_use(struct check_image *image, uint16_t name)
{
    image->used[name / 64] |= UINT64_C(1) << name % 64;
}

static void part_push(
    struct check_thread *t, unsigned depth, int is_fold, uint64_t start_ticks, uint64_t end_ticks)
{
    if (t->parts.count == PARTS_MOST) {
        t->parts.count = PARTS_MOST / 2;
        memmove(t->parts.at, t->parts.at + PARTS_MOST / 2, PARTS_MOST / 2 * sizeof *t->parts.at);
    }
    *vec_push(&t->parts) =
        (struct check_part){start_ticks, end_ticks, (uint8_t)depth, (uint8_t)is_fold};
}

// What is wrong with `p`, which is no earlier sibling, against a span that it ended before; NULL:
// nothing. What lies deeper than one level is made by folded calls, whose FOLD has taken it.
static const char *part_fault(
    const struct check_thread *t, const struct check_part *p, unsigned depth, uint64_t start_ticks)
{
    if (p->depth <= depth)
        return p->is_fold ? NULL : "it overlaps the span before it";
    if (p->start_ticks < start_ticks)
        return p->is_fold ? "calls folded into it began before it"
                          : "its first child began before it";
    if (p->depth > depth + 1 && !p->is_fold && !t->has_gap)
        return "there are spans below it that are more than one level deeper";
    return NULL;
}

// Takes what lies in the span that closes at `depth` off the parts. Those that ended before it
// began stay: they belong to what encloses it, or to folded calls whose FOLD is written later.
// NULL, or what is wrong with them.
static const char *children_take(struct check_thread *t, unsigned depth, uint64_t start_ticks)
{
    const char *fault = NULL;
    size_t first = t->parts.count;
    for (; first > 0; first--) {
        const struct check_part *p = &t->parts.at[first - 1];
        if (!p->is_fold && p->end_ticks <= start_ticks)
            break;
        if (!fault && p->end_ticks > start_ticks)
            fault = part_fault(t, p, depth, start_ticks);
    }
    size_t kept = first;
    for (size_t i = first; i < t->parts.count; i++)
        if (t->parts.at[i].end_ticks <= start_ticks || t->parts.at[i].depth <= depth)
            t->parts.at[kept++] = t->parts.at[i];
    t->parts.count = kept;
    return fault;
}

// Takes what the calls of a FOLD made off the parts: what lies deeper, within its time.
static void folded_take(struct check_thread *t, const struct trace_fold *fold)
{
    size_t first = t->parts.count, folds = 0;
    for (; first > 0; first--) {
        const struct check_part *p = &t->parts.at[first - 1];
        if (!p->is_fold && p->end_ticks <= fold->first_start_ticks)
            break;
        folds = p->is_fold ? folds + 1 : 0;
        if (folds == FOLDS_BACK) {
            t->has_gap = 1;
            break;
        }
    }
    size_t kept = first;
    for (size_t i = first; i < t->parts.count; i++) {
        const struct check_part *p = &t->parts.at[i];
        if (p->depth <= fold->depth || p->start_ticks < fold->first_start_ticks ||
            p->end_ticks > fold->last_end_ticks)
            t->parts.at[kept++] = *p;
    }
    t->parts.count = kept;
}

static void span_check(struct check *c, struct check_thread *t, const struct trace_record *r,
    uint64_t end_ticks, uint64_t dur_ticks)
{
    const unsigned depth = r->span->depth;
    const uint64_t start_ticks = end_ticks - dur_ticks;
    if (dur_ticks > end_ticks)
        find_at(c, r, "it is longer than the clock had run");
    const int is_in_order = moment_check(c, t, r, end_ticks);
    const char *fault = children_take(t, depth, start_ticks);
    if (fault && is_in_order)
        find_at(c, r, fault);
    if (depth == 0) {
        t->parts.count = 0;
        t->has_gap = 0;
    }
    part_push(t, depth, 0, start_ticks, end_ticks);
}

static void fold_check(struct check *c, struct check_thread *t, const struct trace_record *r)
{
    const struct trace_fold *fold = r->fold;
    if (fold->calls == 0)
        find_at(c, r, "it has no calls");
    if (fold->last_end_ticks < fold->first_start_ticks)
        find_at(c, r, "it ends before it begins");
    else if (fold->self_ticks > fold->last_end_ticks - fold->first_start_ticks)
        find_at(c, r, "its calls took longer than the time they lie in");
    if (fold->runq_ns > fold->off_ns)
        find_at(c, r, "its wait for a CPU is longer than its time off the CPU");
    folded_take(t, fold);
    if (fold->depth > 0) // nothing is around the others
        part_push(t, fold->depth, 1, fold->first_start_ticks, fold->last_end_ticks);
}

static void thread_check(struct check *c, struct check_thread *t, const struct trace_record *r)
{
    moment_check(c, t, r, r->thread->ticks);
    if (r->thread->op > TRACE_THREAD_END)
        find_at(c, r, "its operation is unknown");
    else if (r->thread->op == TRACE_THREAD_END)
        t->is_ended = check_is_own(c, r->thread);
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
        if (r->item->op > TRACE_ITEM_MANY)
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
