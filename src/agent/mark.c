// SPDX-License-Identifier: Apache-2.0
// The agent's side of <lightmeter/mark.h>: stages, items, counters and queues that the program
// names itself. Found by the header through the exported struct. Threads: any; no locks, no
// allocation.
#include "lightmeter/mark.h"

#include "agent/mark.h"
#include "agent/names.h"
#include "agent/span.h"
#include "agent/sum.h"

#include <errno.h>

static uint32_t name_id(const char *name)
{
    agent_thread_open(); // names go into the process file of a process that records
    return names_intern(name, name, TRACE_CAUSE_OTHER);
}

static void stage_begin(uint32_t name)
{
    span_begin((uint16_t)name, TRACE_CAUSE_OTHER, AGENT_MARK, SPAN_STACK);
}

// The innermost mark that is open; what a longjmp left open above it is closed with it.
static uint32_t top_mark(const struct agent_thread *t)
{
    uint32_t index = t->depth;
    while (index && !(t->frames[index].what.flags & AGENT_MARK))
        index--;
    return index;
}

__attribute__((noinline)) static void end_odd(struct agent_thread *t, uintptr_t stack)
{
    if (t->busy == AGENT_JUMPED)
        span_end_slow(t, 0, stack); // only puts the stack right
    uint32_t token = top_mark(t);
    if (t->overflow)
        t->overflow--;
    else
        span_end(token, t->frames[token].stack);
}

static void stage_end(void)
{
    struct agent_thread *t = agent_self;
    if (__builtin_expect(t->hindered != 0 || !t->depth, 0)) {
        end_odd(t, SPAN_STACK);
        return;
    }
    span_guard_fast(t, AGENT_INSIDE);
    if (__builtin_expect(!span_close_fast(t, t->depth, clock_tsc(),
                             AGENT_FOLD | AGENT_FOLD_SHORT | AGENT_MARK, AGENT_MARK),
            0))
        end_odd(t, SPAN_STACK);
}

// A record of the calling thread outside the span stack; NULL when nothing is recorded now.
static void *record_room(struct agent_thread **thread, size_t length_bytes)
{
    struct agent_thread *t = agent_thread_open();
    if (!t || t->busy || *agent.control == AGENT_STOP)
        return NULL;
    span_guard(t, AGENT_INSIDE);
    *thread = t;
    void *room = agent_room(t, length_bytes);
    if (!room)
        span_guard(t, AGENT_FREE);
    return room;
}

static void record_done(struct agent_thread *t, size_t length_bytes)
{
    trace_writer_commit(&t->writer, length_bytes);
    span_guard(t, AGENT_FREE);
}

// The calling thread, guarded, while the trace is at its limit and events are summed up; else NULL.
static struct agent_thread *summing_thread(void)
{
    struct agent_thread *t = *agent.control == AGENT_AGGREGATE ? agent_thread_open() : NULL;
    if (!t || t->busy)
        return NULL;
    span_guard(t, AGENT_INSIDE);
    return t;
}

static int is_summed(void)
{
    return *agent.control == AGENT_AGGREGATE;
}

static void count_items(uint64_t items)
{
    struct agent_thread *t = summing_thread();
    if (!t)
        return;
    sum_items(t, items);
    span_guard(t, AGENT_FREE);
}

static void write_item(enum trace_item_op op, uint64_t id, uint64_t other)
{
    struct agent_thread *t;
    struct trace_item *r = record_room(&t, sizeof *r);
    if (!r)
        return;
    *r = (struct trace_item){TRACE_ITEM, (uint8_t)op, 0, 0, agent_ticks(), id, other};
    record_done(t, sizeof *r);
}

static void item_begin(uint64_t id)
{
    if (!is_summed())
        write_item(TRACE_ITEM_BEGIN, id, 0);
}

static void item_use(uint64_t id)
{
    if (!is_summed())
        write_item(TRACE_ITEM_USE, id, 0);
}

static void item_end(uint64_t id)
{
    if (is_summed())
        count_items(1);
    else
        write_item(TRACE_ITEM_END, id, 0);
}

static void item_join(uint64_t batch, const uint64_t *ids, size_t n)
{
    // The batch's end will count for one of its members.
    if (is_summed() && n)
        count_items(n - 1);
    for (size_t i = 0; i < n && !is_summed(); i++)
        write_item(TRACE_ITEM_JOIN, ids[i], batch);
}

static void mark_bytes(uint64_t n)
{
    span_bytes(agent_self->depth, n);
}

static void mark_shape(uint32_t width_px, uint32_t height_px, uint32_t channels, uint32_t batch)
{
    span_shape(agent_self->depth, width_px, height_px, channels, batch);
}

static void mark_count(uint32_t name, int64_t delta)
{
    struct agent_thread *t = summing_thread();
    if (t) {
        sum_count(t, (uint16_t)name, delta);
        span_guard(t, AGENT_FREE);
        return;
    }
    struct trace_counter *r = record_room(&t, sizeof *r);
    if (!r)
        return;
    *r = (struct trace_counter){TRACE_COUNTER, 0, (uint16_t)name, 0, agent_ticks(), delta, 0};
    record_done(t, sizeof *r);
}

static void write_queue(enum trace_queue_op op, uint32_t queue, uint32_t depth)
{
    struct agent_thread *t;
    struct trace_queue *r = is_summed() ? NULL : record_room(&t, sizeof *r);
    if (!r)
        return;
    *r = (struct trace_queue){TRACE_QUEUE, (uint8_t)op, (uint16_t)queue, depth, agent_ticks()};
    record_done(t, sizeof *r);
}

static void queue_put(uint32_t queue, uint32_t depth)
{
    write_queue(TRACE_QUEUE_PUT, queue, depth);
}

static void queue_get(uint32_t queue, uint32_t depth)
{
    write_queue(TRACE_QUEUE_GET, queue, depth);
}

void mark_item_begin(uint64_t id)
{
    item_begin(id);
}

void mark_item_end(uint64_t id)
{
    item_end(id);
}

void mark_delta(uint16_t name, int64_t delta)
{
    mark_count(name, delta);
}

extern const struct lm_agent lightmeter_agent_v1;
__attribute__((visibility("default"))) const struct lm_agent lightmeter_agent_v1 = {
    .version = 1,
    .length_bytes = sizeof(struct lm_agent),
    .name_id = name_id,
    .stage_begin = stage_begin,
    .stage_end = stage_end,
    .item_begin = item_begin,
    .item_use = item_use,
    .item_end = item_end,
    .item_join = item_join,
    .bytes = mark_bytes,
    .shape = mark_shape,
    .count = mark_count,
    .queue_put = queue_put,
    .queue_get = queue_get,
};
