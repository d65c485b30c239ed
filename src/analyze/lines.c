// SPDX-License-Identifier: Apache-2.0
// Which lines of Python code the threads that carry items were in during the steady window, from
// samples of their stacks: within a stage, the line that called it; outside of all, the line that
// the time belongs to, and by what comes before and after on the thread, what it was for. Called by
// facts.c when the stages are known. Threads: one owner.
#include "analyze/build.h"

#include <stdlib.h>
#include <string.h>

// What a stage tells of the code between it and the next.
enum position {
    POSITION_NONE,
    POSITION_SOURCE,  // an item comes in
    POSITION_PICTURE, // it is being made ready
    POSITION_MODEL,
    POSITION_RESULT, // made of what the model gave
    POSITION_COUNT
};

// Samples that are alike: of one stack, in one stage (MODEL_NONE: none), in one position.
struct alike {
    const struct model_stack *stack;
    uint32_t stage;
    enum position before, after;
    uint64_t samples;
    double wall_ns;
};

struct outer {
    int64_t start_ns, end_ns;
    enum position position;
};

struct lines {
    struct build *b;
    VEC(struct alike) alike;
    VEC(struct outer) outer; // outermost spans of the thread whose stage tells a position
};

static enum position position_of(const char *stage)
{
    static const struct {
        const char *stage;
        enum position position;
    } known[] = {{"load", POSITION_SOURCE}, {"receive", POSITION_SOURCE},
        {"decode", POSITION_PICTURE}, {"convert", POSITION_PICTURE},
        {"preprocess", POSITION_PICTURE}, {"transfer", POSITION_MODEL}, {"enqueue", POSITION_MODEL},
        {"infer", POSITION_MODEL}, {"postprocess", POSITION_RESULT}, {"track", POSITION_RESULT},
        {"draw", POSITION_RESULT}, {"encode", POSITION_RESULT}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].stage, stage) == 0)
            return known[i].position;
    return POSITION_NONE;
}

static const char *meaning_of(enum position before, enum position after)
{
    if (before == POSITION_PICTURE && (after == POSITION_PICTURE || after == POSITION_MODEL))
        return "preprocess";
    const int is_result = before == POSITION_MODEL || before == POSITION_RESULT;
    return is_result && after != POSITION_MODEL && after != POSITION_NONE ? "postprocess" : "";
}

static void find_outer(struct lines *l, const struct model_thread *t)
{
    const struct model *m = l->b->m;
    l->outer.count = 0;
    for (size_t i = 0; i < t->spans.count; i++) {
        const struct model_span *s = &t->spans.at[i];
        if (s->parent != MODEL_NONE || m->names.at[s->name].is_wait)
            continue;
        const enum position position = position_of(m->stages.at[m->names.at[s->name].stage].text);
        if (position != POSITION_NONE)
            *vec_push(&l->outer) =
                (struct outer){s->start_ns, s->start_ns + (int64_t)s->dur_ns, position};
    }
}

static void take_thread(struct lines *l, const struct facts_thread *ft)
{
    struct build *b = l->b;
    const struct model_thread *t = &b->m->threads.at[ft->thread];
    const struct series samples = build_series_of_thread(b, TRACE_METRIC_PYTHON_STACK, t);
    size_t count = 0, next = 0, outer = 0;
    for (size_t i = 0; i < samples.count; i++)
        count += samples.at[i].at_ns >= b->from_ns && samples.at[i].at_ns <= b->to_ns;
    find_outer(l, t);
    for (size_t i = 0; i < samples.count; i++) {
        const int64_t at_ns = samples.at[i].at_ns;
        const struct model_stack *stack = model_stack_find(b->m, samples.at[i].value);
        if (!stack || at_ns < b->from_ns || at_ns > b->to_ns)
            continue;
        while (outer < l->outer.count && l->outer.at[outer].end_ns <= at_ns)
            outer++;
        const uint32_t name = model_name_at(t, at_ns, &next);
        struct alike *a = vec_push(&l->alike);
        *a = (struct alike){.stack = stack,
            .stage = name == MODEL_NONE ? MODEL_NONE : b->m->names.at[name].stage,
            .samples = 1,
            .wall_ns = (double)ft->steady.wall_ns / (double)count};
        if (a->stage != MODEL_NONE)
            continue;
        a->before = outer ? l->outer.at[outer - 1].position : POSITION_NONE;
        a->after = outer < l->outer.count ? l->outer.at[outer].position : POSITION_NONE;
    }
}

// ---- The same stacks, then the same lines. ------------------------------------------------------

static int alike_compare(const void *a, const void *b)
{
    const struct alike *x = a, *y = b;
    if (x->stack != y->stack)
        return x->stack < y->stack ? -1 : 1;
    if (x->stage != y->stage)
        return x->stage < y->stage ? -1 : 1;
    return (int)(x->before * POSITION_COUNT + x->after) -
           (int)(y->before * POSITION_COUNT + y->after);
}

static void merge_alike(struct lines *l)
{
    size_t kept = 0;
    if (l->alike.count)
        qsort(l->alike.at, l->alike.count, sizeof *l->alike.at, alike_compare);
    for (size_t i = 0; i < l->alike.count; i++) {
        struct alike *a = &l->alike.at[i];
        if (kept && alike_compare(&l->alike.at[kept - 1], a) == 0) {
            l->alike.at[kept - 1].samples += a->samples;
            l->alike.at[kept - 1].wall_ns += a->wall_ns;
        } else {
            l->alike.at[kept++] = *a;
        }
    }
    l->alike.count = kept;
}

static int is_library(const char *file)
{
    return strstr(file, "/site-packages/") || strstr(file, "/dist-packages/") ||
           strstr(file, "/lib/python3.") || strstr(file, "/python/lightmeter/") ||
           strncmp(file, "<frozen", 7) == 0 || strncmp(file, "<__array_function__", 19) == 0;
}

// The innermost frame of the program's own code; where there is none, the innermost.
static const struct model_place *own_place(const struct model *m, const struct model_stack *s)
{
    const struct model_place *places = &m->places.at[s->first];
    for (uint32_t i = s->count; i-- > 0;)
        if (!is_library(places[i].file))
            return &places[i];
    return &places[s->count - 1];
}

static int line_compare(const void *a, const void *b)
{
    const struct facts_line *x = a, *y = b;
    int order = strcmp(x->place->file, y->place->file);
    if (order == 0)
        order = (x->place->line > y->place->line) - (x->place->line < y->place->line);
    if (order == 0)
        order = strcmp(x->place->function, y->place->function);
    if (order == 0)
        order = (x->stage > y->stage) - (x->stage < y->stage);
    return order ? order : strcmp(x->meaning, y->meaning);
}

static int cost_compare(const void *a, const void *b)
{
    const struct facts_line *x = a, *y = b;
    if (x->wall_ns != y->wall_ns)
        return x->wall_ns > y->wall_ns ? -1 : 1;
    return line_compare(a, b);
}

static void merge_lines(struct facts *f)
{
    size_t kept = 0;
    if (f->lines.count)
        qsort(f->lines.at, f->lines.count, sizeof *f->lines.at, line_compare);
    for (size_t i = 0; i < f->lines.count; i++) {
        struct facts_line *line = &f->lines.at[i];
        if (kept && line_compare(&f->lines.at[kept - 1], line) == 0) {
            f->lines.at[kept - 1].samples += line->samples;
            f->lines.at[kept - 1].wall_ns += line->wall_ns;
        } else {
            f->lines.at[kept++] = *line;
        }
    }
    f->lines.count = kept;
    if (kept)
        qsort(f->lines.at, kept, sizeof *f->lines.at, cost_compare);
}

// Samples in which the thread ran: it was in no call that waits.
static void take_running(struct lines *l, const struct facts_thread *ft)
{
    struct build *b = l->b;
    const struct model_thread *t = &b->m->threads.at[ft->thread];
    const struct series samples = build_series_of_thread(b, TRACE_METRIC_PYTHON_STACK, t);
    size_t next = 0;
    for (size_t i = 0; i < samples.count; i++) {
        const int64_t at_ns = samples.at[i].at_ns;
        const struct model_stack *stack = model_stack_find(b->m, samples.at[i].value);
        if (!stack || at_ns < b->from_ns || at_ns > b->to_ns)
            continue;
        const uint32_t name = model_name_at(t, at_ns, &next);
        if (name == MODEL_NONE || !b->m->names.at[name].is_wait)
            *vec_push(&l->alike) =
                (struct alike){.stack = stack, .stage = MODEL_NONE, .samples = 1};
    }
}

// Less than a twentieth of its time is in stages.
static int is_outside(const struct facts_thread *t)
{
    return t->work_ns * 20 < t->steady.wall_ns;
}

// The line that ran most, of all threads or of those outside of stages; its share of what ran in
// all.
static void find_busiest(struct build *b, int of_all, uint64_t *all, struct facts_line *out)
{
    struct lines l = {.b = b};
    struct facts lines = {0};
    for (size_t i = 0; i < b->f->threads.count; i++)
        if (of_all || is_outside(&b->f->threads.at[i]))
            take_running(&l, &b->f->threads.at[i]);
    for (size_t i = 0; i < l.alike.count; i++)
        *vec_push(&lines.lines) = (struct facts_line){.place = own_place(b->m, l.alike.at[i].stack),
            .stage = MODEL_NONE,
            .meaning = "",
            .samples = 1,
            .wall_ns = 1};
    merge_lines(&lines);
    if (of_all)
        *all = l.alike.count;
    if (lines.lines.count) {
        *out = lines.lines.at[0];
        out->share_ratio = (double)out->samples / (double)*all;
    }
    vec_fini(&l.alike);
    vec_fini(&lines.lines);
}

void build_lines(struct build *b)
{
    struct lines l = {.b = b};
    double wall_ns = 0;
    for (size_t i = 0; i < b->f->threads.count; i++) {
        if (!b->f->threads.at[i].carries_items)
            continue;
        wall_ns += (double)b->f->threads.at[i].steady.wall_ns;
        take_thread(&l, &b->f->threads.at[i]);
    }
    merge_alike(&l);
    for (size_t i = 0; i < l.alike.count; i++) {
        const struct alike *a = &l.alike.at[i];
        *vec_push(&b->f->lines) = (struct facts_line){.place = own_place(b->m, a->stack),
            .stage = a->stage,
            .meaning = a->stage == MODEL_NONE ? meaning_of(a->before, a->after) : "",
            .samples = a->samples,
            .wall_ns = a->wall_ns};
        b->f->line_samples += a->samples;
    }
    merge_lines(b->f);
    for (size_t i = 0; i < b->f->lines.count; i++)
        b->f->lines.at[i].share_ratio = wall_ns > 0 ? b->f->lines.at[i].wall_ns / wall_ns : 0;
    vec_fini(&l.alike);
    vec_fini(&l.outer);
    uint64_t all = 0;
    find_busiest(b, 1, &all, &b->f->busiest);
    find_busiest(b, 0, &all, &b->f->busiest_other);
}
