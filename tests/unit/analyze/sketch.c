// SPDX-License-Identifier: Apache-2.0
// See sketch.h. Built into the tests of the analyses.
#include "sketch.h"

#include <stdio.h>
#include <string.h>

#define PID 100u

struct sketch sketch_new(double cores, double quota_cores)
{
    struct sketch s = {.m = model_new(), .thread = MODEL_NONE};
    struct json *host = json_object();
    json_put_real(host, "cores_allowed", cores);
    if (quota_cores > 0)
        json_put_real(host, "quota_cores", quota_cores);
    s.m->meta = json_object();
    json_put(s.m->meta, "host", host);
    struct model_process *p = vec_push(&s.m->processes);
    *p = (struct model_process){
        .pid = PID, .command = "prog", .has_agent = 1, .split_method = TRACE_SPLIT_RSEQ};
    return s;
}

static struct model_thread *thread_of(struct sketch *s)
{
    return &s->m->threads.at[s->thread];
}

void sketch_thread(struct sketch *s, uint32_t tid, const char *creator, uint64_t start_ns)
{
    sketch_thread_end(s);
    s->thread = model_thread_add(s->m, 0, tid);
    struct model_thread *t = thread_of(s);
    t->creator = arena_strdup(s->m->arena, creator);
    t->start_ns = s->now_ns = (int64_t)start_ns;
    t->start_is_exact = 1;
    s->depth = 0;
    s->root_off_ns = s->root_runq_ns = s->cpu_ns = s->runq_ns = 0;
}

static void flush_root(struct sketch *s)
{
    if (s->root_off_ns)
        *vec_push(&thread_of(s)->root_splits) = (struct model_root_split){
            s->now_ns, {s->root_off_ns, s->root_runq_ns, 1, TRACE_CAUSE_OTHER}};
    s->root_off_ns = s->root_runq_ns = 0;
}

void sketch_thread_end(struct sketch *s)
{
    if (s->thread == MODEL_NONE)
        return;
    while (s->depth)
        sketch_end(s);
    flush_root(s);
    struct model_thread *t = thread_of(s);
    t->end_ns = s->now_ns;
    t->end_is_exact = 1;
    t->cpu_ns = s->cpu_ns;
    t->runq_ns = s->runq_ns;
    s->thread = MODEL_NONE;
}

static void begin(struct sketch *s, const char *name, const char *stage, enum trace_cause cause)
{
    if (!s->depth)
        flush_root(s);
    s->frames[s->depth++] =
        (struct sketch_frame){.name = model_name_id(s->m, name, stage ? stage : name, cause),
            .start_ns = s->now_ns,
            .first_child = (uint32_t)thread_of(s)->spans.count,
            .cause = cause};
}

void sketch_begin(struct sketch *s, const char *name, const char *stage)
{
    begin(s, name, stage, TRACE_CAUSE_OTHER);
}

// As the loader does: a call that only waits belongs to the stage it is in.
static void join_stage(struct model *m, struct model_span *child, uint32_t parent)
{
    if (m->names.at[child->name].is_wait && !m->names.at[parent].is_wait)
        child->name = model_name_within(m, child->name, m->names.at[parent].stage);
}

void sketch_end(struct sketch *s)
{
    struct model_thread *t = thread_of(s);
    const struct sketch_frame f = s->frames[--s->depth];
    struct model_span span = {.start_ns = f.start_ns,
        .name = f.name,
        .calls = 1,
        .dur_ns = (uint64_t)(s->now_ns - f.start_ns),
        .split = MODEL_NONE,
        .attrs = MODEL_NONE,
        .parent = MODEL_NONE,
        .depth = (uint8_t)s->depth};
    span.self_ns = span.dur_ns - f.children_ns;
    for (uint32_t i = f.first_child; i < t->spans.count; i++)
        if (t->spans.at[i].parent == MODEL_NONE) {
            t->spans.at[i].parent = (uint32_t)t->spans.count;
            join_stage(s->m, &t->spans.at[i], f.name);
        }
    if (f.off_ns) {
        *vec_push(&t->splits) = (struct model_split){f.off_ns, f.runq_ns, 1, f.cause};
        span.split = (uint32_t)(t->splits.count - 1);
    }
    if (f.batch || f.bytes) {
        *vec_push(&t->attrs) = (struct model_attrs){.batch = (uint32_t)f.batch, .bytes = f.bytes};
        span.attrs = (uint32_t)(t->attrs.count - 1);
    }
    *vec_push(&t->spans) = span;
    if (s->depth)
        s->frames[s->depth - 1].children_ns += span.dur_ns;
    s->m->span_count++;
}

void sketch_batch(struct sketch *s, uint32_t batch)
{
    s->frames[s->depth - 1].batch = batch;
}

void sketch_bytes(struct sketch *s, uint64_t bytes)
{
    s->frames[s->depth - 1].bytes += bytes;
}

void sketch_cpu(struct sketch *s, uint64_t ns)
{
    s->now_ns += (int64_t)ns;
    s->cpu_ns += ns;
}

static void off(struct sketch *s, uint64_t ns, uint64_t runq_ns)
{
    s->now_ns += (int64_t)ns;
    s->runq_ns += runq_ns;
    *(s->depth ? &s->frames[s->depth - 1].off_ns : &s->root_off_ns) += ns;
    *(s->depth ? &s->frames[s->depth - 1].runq_ns : &s->root_runq_ns) += runq_ns;
}

void sketch_blocked(struct sketch *s, enum trace_cause cause, uint64_t ns)
{
    if (s->depth)
        s->frames[s->depth - 1].cause = cause;
    off(s, ns, 0);
}

void sketch_runq(struct sketch *s, uint64_t ns)
{
    off(s, ns, ns);
}

void sketch_call(struct sketch *s, const char *name, const char *stage, uint64_t cpu_ns)
{
    sketch_begin(s, name, stage);
    sketch_cpu(s, cpu_ns);
    sketch_end(s);
}

void sketch_wait(struct sketch *s, const char *name, enum trace_cause cause, uint64_t ns)
{
    begin(s, name, "wait", cause);
    sketch_blocked(s, cause, ns);
    sketch_end(s);
}

void sketch_item(struct sketch *s, enum trace_item_op op, uint64_t id, uint64_t other)
{
    *vec_push(&s->m->items) = (struct model_item_event){s->now_ns, id, other, s->thread, op};
}

void sketch_queue(struct sketch *s, const char *name, enum trace_queue_op op, uint32_t depth)
{
    *vec_push(&s->m->queues) = (struct model_queue_event){
        s->now_ns, model_name_id(s->m, name, name, TRACE_CAUSE_OTHER), depth, s->thread, op};
}

void sketch_sample(
    struct sketch *s, enum trace_metric metric, uint32_t subject, uint64_t at_ns, uint64_t value)
{
    *vec_push(&s->m->samples) = (struct model_sample){(int64_t)at_ns, value, subject, metric};
}

void sketch_counter(
    struct sketch *s, enum trace_metric metric, uint32_t subject, uint64_t end_ns, uint64_t end)
{
    const uint64_t steps = end_ns / (50 * SKETCH_MS) + 1;
    for (uint64_t i = 0; i <= steps; i++)
        sketch_sample(s, metric, subject, end_ns * i / steps, end * i / steps);
}

void sketch_cores(struct sketch *s, uint64_t end_ns, double own, double others)
{
    sketch_counter(s, TRACE_METRIC_PROCESS_CPU_NS, 100, end_ns, (uint64_t)((double)end_ns * own));
    sketch_counter(
        s, TRACE_METRIC_MACHINE_BUSY_NS, 0, end_ns, (uint64_t)((double)end_ns * (own + others)));
}

struct model *sketch_finish(struct sketch *s)
{
    sketch_thread_end(s);
    struct model *m = s->m;
    for (size_t i = 0; i < m->threads.count; i++)
        if (m->threads.at[i].end_ns > m->processes.at[0].end_ns)
            m->processes.at[0].end_ns = m->threads.at[i].end_ns;
    model_finish(m);
    s->m = NULL;
    return m;
}
