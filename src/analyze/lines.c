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

// The samples of a thread in the window, one after the other.
struct seen {
    const struct model_thread *thread;
    struct series samples;
    size_t at, next;
    // Of the sample:
    const struct model_stack *stack;
    int64_t at_ns;
    uint32_t name; // of the innermost open span; MODEL_NONE: none
};

static struct seen seen_start(const struct build *b, const struct facts_thread *ft)
{
    const struct model_thread *t = &b->m->threads.at[ft->thread];
    return (struct seen){
        .thread = t, .samples = build_series_of_thread(b, TRACE_METRIC_PYTHON_STACK, t)};
}

static int seen_next(const struct build *b, struct seen *s)
{
    while (s->at < s->samples.count) {
        const struct model_sample *sample = &s->samples.at[s->at++];
        s->at_ns = sample->at_ns;
        s->stack = model_stack_find(b->m, sample->value);
        if (!s->stack || s->at_ns < b->from_ns || s->at_ns > b->to_ns)
            continue;
        s->name = model_name_at(s->thread, s->at_ns, &s->next);
        return 1;
    }
    return 0;
}

static void take_thread(struct lines *l, const struct facts_thread *ft)
{
    const struct build *b = l->b;
    const size_t first = l->alike.count;
    size_t outer = 0;
    find_outer(l, &b->m->threads.at[ft->thread]);
    for (struct seen s = seen_start(b, ft); seen_next(b, &s);) {
        while (outer < l->outer.count && l->outer.at[outer].end_ns <= s.at_ns)
            outer++;
        struct alike *a = vec_push(&l->alike);
        *a = (struct alike){.stack = s.stack,
            .stage = s.name == MODEL_NONE ? MODEL_NONE : b->m->names.at[s.name].stage,
            .samples = 1};
        if (a->stage != MODEL_NONE)
            continue;
        a->before = outer ? l->outer.at[outer - 1].position : POSITION_NONE;
        a->after = outer < l->outer.count ? l->outer.at[outer].position : POSITION_NONE;
    }
    // Each stands for as much of the thread's time.
    for (size_t i = first; i < l->alike.count; i++)
        l->alike.at[i].wall_ns = (double)ft->steady.wall_ns / (double)(l->alike.count - first);
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

static void add_lines(struct lines *l, struct facts *out)
{
    merge_alike(l);
    for (size_t i = 0; i < l->alike.count; i++) {
        const struct alike *a = &l->alike.at[i];
        *vec_push(&out->lines) = (struct facts_line){.place = own_place(l->b->m, a->stack),
            .stage = a->stage,
            .meaning = a->stage == MODEL_NONE ? meaning_of(a->before, a->after) : "",
            .samples = a->samples,
            .wall_ns = a->wall_ns};
    }
    merge_lines(out);
}

// Samples in which the thread ran: it was in no call that waits.
static void take_running(struct lines *l, const struct facts_thread *ft)
{
    for (struct seen s = seen_start(l->b, ft); seen_next(l->b, &s);)
        if (s.name == MODEL_NONE || !l->b->m->names.at[s.name].is_wait)
            *vec_push(&l->alike) =
                (struct alike){.stack = s.stack, .stage = MODEL_NONE, .samples = 1, .wall_ns = 1};
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
    const uint64_t count = l.alike.count;
    add_lines(&l, &lines);
    if (of_all)
        *all = count;
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
    b->f->line_samples = l.alike.count;
    add_lines(&l, b->f);
    for (size_t i = 0; i < b->f->lines.count; i++)
        b->f->lines.at[i].share_ratio = wall_ns > 0 ? b->f->lines.at[i].wall_ns / wall_ns : 0;
    vec_fini(&l.alike);
    vec_fini(&l.outer);
    uint64_t all = 0;
    find_busiest(b, 1, &all, &b->f->busiest);
    find_busiest(b, 0, &all, &b->f->busiest_other);
}
