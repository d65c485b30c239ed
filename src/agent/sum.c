// SPDX-License-Identifier: Apache-2.0
// See sum.h. Called by the span stack and the marks. Allocates nothing.
#include "agent/sum.h"

#include "agent/attrs.h"

// How often the durations of calls that are only summed up are written.
#define BUCKETS_SECONDS 8u

void sum_write(struct agent_thread *t, const struct agent_fold *fold, uint32_t depth)
{
    struct trace_fold *r = agent_room(t, sizeof *r);
    if (!r)
        return;
    *r = (struct trace_fold){TRACE_FOLD, (uint8_t)depth, fold->name, fold->calls, fold->self_ticks,
        fold->first_start_ticks, fold->last_end_ticks, fold->off_ns, fold->runq_ns, fold->bytes,
        fold->max_ticks};
    trace_writer_commit(&t->writer, sizeof *r);
}

void sum_merge(struct agent_fold *into, const struct agent_fold *from)
{
    if (!into->calls || from->first_start_ticks < into->first_start_ticks)
        into->first_start_ticks = from->first_start_ticks;
    if (from->last_end_ticks > into->last_end_ticks)
        into->last_end_ticks = from->last_end_ticks;
    if (from->max_ticks > into->max_ticks)
        into->max_ticks = from->max_ticks;
    into->calls += from->calls;
    into->self_ticks += from->self_ticks;
    into->off_ns += from->off_ns;
    into->runq_ns += from->runq_ns;
    into->bytes += from->bytes;
}

struct agent_fold sum_of(const struct agent_frame *f, uint64_t now)
{
    uint64_t dur = now - f->start_ticks;
    struct agent_fold fold = {.name = f->what.name,
        .calls = 1,
        .self_ticks = dur > f->child_ticks ? dur - f->child_ticks : 0,
        .first_start_ticks = f->start_ticks,
        .last_end_ticks = now,
        .max_ticks = dur};
    if (f->what.switches) {
        fold.off_ns = f->off_ns;
        fold.runq_ns = f->runq_ns;
    }
    if (f->what.attr_bits & 1u << TRACE_ATTR_BYTES)
        fold.bytes = f->bytes;
    return fold;
}

// One attribute for each duration that occurred, before the sum that they belong to.
static void write_durations(struct agent_thread *t, struct agent_aggregate *a)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < TRACE_BUCKETS; i++)
        used += a->calls[i] != 0;
    agent_reserve(t, used * sizeof(struct trace_attr) + sizeof(struct trace_fold));
    for (uint32_t i = 0; i < TRACE_BUCKETS; i++)
        if (a->calls[i])
            attrs_write_one(t, 0, TRACE_ATTR_CALLS_OF, i, a->calls[i]);
    __builtin_memset(a->calls, 0, sizeof a->calls);
}

static void flush_events(struct agent_thread *t, uint64_t now)
{
    struct trace_item *item = t->items ? agent_room(t, sizeof *item) : NULL;
    if (item) {
        *item = (struct trace_item){TRACE_ITEM, TRACE_ITEM_MANY, 0, 0, now, t->items, 0};
        trace_writer_commit(&t->writer, sizeof *item);
    }
    t->items = 0;
    for (uint32_t i = 0; i < t->counter_count; i++) {
        struct trace_counter *r = agent_room(t, sizeof *r);
        if (!r)
            break;
        *r = (struct trace_counter){
            TRACE_COUNTER, 0, t->counters[i].name, 0, now, t->counters[i].delta, 0};
        trace_writer_commit(&t->writer, sizeof *r);
    }
    t->counter_count = 0;
}

static void flush_aggregates(struct agent_thread *t, uint64_t now, int with_durations)
{
    flush_events(t, now);
    for (uint32_t i = 0; i < t->aggregate_count; i++) {
        struct agent_aggregate *a = &t->aggregates[i];
        if (!a->fold.calls)
            continue;
        if (with_durations)
            write_durations(t, a);
        sum_write(t, &a->fold, 0);
        a->fold = (struct agent_fold){.name = a->fold.name};
    }
    t->aggregate_ticks = now;
    if (with_durations)
        t->buckets_ticks = now;
}

static void flush_in_time(struct agent_thread *t, uint64_t now)
{
    if (now - t->aggregate_ticks > agent.second_ticks)
        flush_aggregates(t, now, now - t->buckets_ticks > BUCKETS_SECONDS * agent.second_ticks);
}

void sum_items(struct agent_thread *t, uint64_t items)
{
    t->items += items;
    flush_in_time(t, agent_ticks());
}

void sum_count(struct agent_thread *t, uint16_t name, int64_t delta)
{
    uint32_t i = 0;
    while (i < t->counter_count && t->counters[i].name != name)
        i++;
    if (i == AGENT_COUNTERS) {
        flush_events(t, agent_ticks());
        i = 0;
    }
    if (i == t->counter_count)
        t->counters[t->counter_count++] = (struct agent_counter){.name = name};
    t->counters[i].delta += delta;
    flush_in_time(t, agent_ticks());
}

static struct agent_aggregate *find_aggregate(struct agent_thread *t, uint16_t name, uint64_t now)
{
    uint32_t i = 0;
    while (i < t->aggregate_count && t->aggregates[i].fold.name != name)
        i++;
    if (i == AGENT_AGGREGATES) {
        flush_aggregates(t, now, 1);
        i = t->aggregate_count = 0;
    }
    struct agent_aggregate *a = &t->aggregates[i];
    if (i == t->aggregate_count) {
        t->aggregate_count++;
        *a = (struct agent_aggregate){.fold = {.name = name}};
    }
    return a;
}

// The trace is at its limit: sums by name, written once a second, and now and then the durations.
void sum_call(struct agent_thread *t, const struct agent_frame *f, uint64_t now)
{
    const struct agent_fold fold = sum_of(f, now);
    struct agent_aggregate *a = find_aggregate(t, fold.name, now);
    sum_merge(&a->fold, &fold);
    a->calls[trace_bucket_of(agent_ns(fold.max_ticks))]++;
    flush_in_time(t, now);
}

void sum_flush(struct agent_thread *t, uint64_t now)
{
    flush_aggregates(t, now, 1);
}
