// SPDX-License-Identifier: Apache-2.0
// The tables below the stages: the functions that took most, one call of each stage, the threads
// and the queues. Each is left out when it would say nothing. Threads: one owner.
#include "report/document.h"

#include "base/stats.h"
#include "report/figure.h"

#include <stdlib.h>
#include <string.h>

#define CALLS_SHOWN 8u
#define THREADS_SHOWN 8u
#define TOO_FEW "–"

static double ratio_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static const char *name_text(const struct document *d, uint32_t name)
{
    const char *text = d->model->names.at[name].text;
    return *text ? text : "(unnamed)";
}

static void note_rest(struct document *d, size_t rest, const char *what)
{
    if (rest)
        document_add(d, DOCUMENT_TEXT, arena_printf(d->arena, "and %zu more %s", rest, what));
}

// Marks of the user's own stages are named as their stage; a table of only those repeats the first
// one.
static int calls_say_more(const struct document *d)
{
    for (size_t i = 0; i < d->facts->names.count; i++) {
        const uint32_t name = d->facts->names.at[i].name;
        if (strcmp(name_text(d, name), document_stage_text(d, d->model->names.at[name].stage)) != 0)
            return 1;
    }
    return 0;
}

static void fill_calls(struct document *d)
{
    if (!d->facts->names.count || !calls_say_more(d))
        return;
    document_add_pair(document_add(d, DOCUMENT_HEADING, "Functions"), "",
        "own time in the steady window, what they call excluded", DOCUMENT_PLAIN);
    struct document_block *b = document_add(d, DOCUMENT_TABLE, NULL);
    document_add_column(b, "function", DOCUMENT_COLUMN_NAME);
    document_add_column(b, "stage", DOCUMENT_COLUMN_TEXT);
    document_add_column(b, "calls", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "time", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "a call", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "CPU", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "waits for", DOCUMENT_COLUMN_TEXT);
    const struct figure_scale scale = figure_scale_for(d->facts->names.at[0].split.wall_ns);
    for (size_t i = 0; i < d->facts->names.count && i < CALLS_SHOWN; i++) {
        const struct facts_name *c = &d->facts->names.at[i];
        struct document_row *row = document_add_row(b);
        row->cells[0] = name_text(d, c->name);
        row->cells[1] = document_stage_text(d, d->model->names.at[c->name].stage);
        row->cells[2] = document_calls_text(d, c->calls, c->split.wall_ns);
        row->cells[3] = figure_scaled(d->arena, &scale, c->split.wall_ns);
        row->cells[4] = c->calls ? figure_duration(d->arena, c->split.wall_ns / c->calls) : "";
        row->cells[5] = document_cpu_text(d, &c->split);
        row->cells[6] = document_wait_text(d, &c->split);
    }
    document_note_cut_calls(d);
    note_rest(d, d->facts->names.count > CALLS_SHOWN ? d->facts->names.count - CALLS_SHOWN : 0,
        "functions");
}

// Pixels or bytes a second of the stage's own time.
static const char *stage_rate(struct document *d, const struct facts_stage *s)
{
    const double own_s = (double)s->split.wall_ns / 1e9;
    const double pixels_per_s = own_s > 0 ? (double)s->pixels / own_s : 0;
    const double bytes_per_s = own_s > 0 ? (double)s->bytes / own_s : 0;
    if (pixels_per_s >= 1e4)
        return arena_printf(d->arena, "%s MP/s", figure_rate(d->arena, pixels_per_s / 1e6));
    if (pixels_per_s > 0)
        return arena_printf(d->arena, "%s px/s", figure_rate(d->arena, pixels_per_s));
    if (bytes_per_s > 0 && bytes_per_s < 1e18)
        return arena_printf(d->arena, "%s/s", figure_bytes(d->arena, (uint64_t)bytes_per_s));
    return "";
}

static void add_latency_columns(struct document_block *b)
{
    document_add_column(b, "stage", DOCUMENT_COLUMN_NAME);
    document_add_column(b, "n", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "p50", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "p95", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "p99", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "max", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "rate", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "threads", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "busy", DOCUMENT_COLUMN_NUMBER);
}

static void add_latency(struct document *d, struct document_block *b, const struct facts_stage *s)
{
    const struct facts_latency *l = &s->latency;
    struct document_row *row = document_add_row(b);
    row->cells[0] = document_stage_text(d, s->stage);
    row->cells[1] = figure_count(d->arena, l->n);
    if (!l->n && s->folded.calls) {
        row->cells[2] = row->cells[3] = row->cells[4] = row->cells[5] = TOO_FEW;
    } else if (l->n) {
        row->cells[2] = figure_duration(d->arena, l->p50_ns);
        row->cells[3] = l->p95_is_valid ? figure_duration(d->arena, l->p95_ns) : TOO_FEW;
        row->cells[4] = l->p99_is_valid ? figure_duration(d->arena, l->p99_ns) : TOO_FEW;
        row->cells[5] = figure_duration(d->arena, l->max_ns);
    }
    row->cells[6] = stage_rate(d, s);
    row->cells[7] = figure_count(d->arena, s->threads);
    row->cells[8] = arena_printf(d->arena, "%.0f %%", s->occupancy_ratio * 100);
}

// A picture that is made row by row has no call of its own.
static void note_images(struct document *d)
{
    for (size_t i = 0; i < d->facts->stages.count; i++)
        if (d->facts->stages.at[i].is_of_images)
            document_add(d, DOCUMENT_TEXT,
                arena_printf(d->arena,
                    "%s: of whole pictures, from the first call on each to the last, what the "
                    "program did in between included.",
                    document_stage_text(d, d->facts->stages.at[i].stage)));
}

// "decode 29,751 (mean 77.4 us, longest 1.89 ms)", for each stage that has such calls.
static void note_folded(struct document *d)
{
    struct buf text = {0};
    for (size_t i = 0; i < d->facts->stages.count; i++) {
        const struct facts_folded *folded = &d->facts->stages.at[i].folded;
        if (!folded->calls)
            continue;
        buf_printf(&text, "%s%s %s (mean %s", text.length_bytes ? ", " : "",
            document_stage_text(d, d->facts->stages.at[i].stage),
            figure_count(d->arena, folded->calls),
            figure_duration(d->arena, folded->own_ns / folded->calls));
        if (folded->max_ns)
            buf_printf(&text, ", longest %s", figure_duration(d->arena, folded->max_ns));
        buf_puts(&text, ")");
    }
    note_images(d);
    if (text.length_bytes)
        document_add(d, DOCUMENT_TEXT,
            arena_printf(d->arena,
                "Not in n: short calls that were only summed up, and so have a mean (of their own "
                "time) and no quantiles: %s.",
                buf_text(&text)));
    buf_fini(&text);
}

static void fill_latencies(struct document *d)
{
    const struct facts *f = d->facts;
    int has_few = 0;
    if (!f->stages.count)
        return;
    document_add_pair(document_add(d, DOCUMENT_HEADING, "One call of each stage"), "",
        "what it calls included", DOCUMENT_PLAIN);
    struct document_block *b = document_add(d, DOCUMENT_TABLE, NULL);
    add_latency_columns(b);
    for (size_t i = 0; i < f->stages.count; i++) {
        add_latency(d, b, &f->stages.at[i]);
        has_few |= !f->stages.at[i].latency.p99_is_valid;
    }
    if (has_few)
        document_add(d, DOCUMENT_TEXT,
            arena_printf(d->arena, TOO_FEW " n too small: p95 needs %zu calls, p99 needs %zu",
                stats_tail_min_n(0.95, 0), stats_tail_min_n(0.99, 0)));
    note_folded(d);
}

static int compare_threads(const void *a, const void *b)
{
    const struct facts_thread *x = *(const struct facts_thread *const *)a;
    const struct facts_thread *y = *(const struct facts_thread *const *)b;
    if (x->carries_items != y->carries_items)
        return y->carries_items - x->carries_items;
    if (x->steady.cpu_ns != y->steady.cpu_ns)
        return x->steady.cpu_ns < y->steady.cpu_ns ? 1 : -1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

// "4000 ocr".
static const char *thread_text(struct document *d, const struct model_thread *t)
{
    return arena_printf(d->arena, "%u%s%s", t->tid, *t->label ? " " : "", t->label);
}

// What the thread mainly did: its stage, or whose pool it belongs to ("onnxruntime pool"), with the
// stage where it was seen to work for one ("preprocess (tbb pool)").
static const char *occupation_text(struct document *d, const struct facts_thread *t)
{
    const char *creator = d->model->threads.at[t->thread].creator;
    if (!t->is_pool)
        return t->stage != MODEL_NONE ? document_stage_text(d, t->stage) : "";
    if (strncmp(creator, "lib", 3) == 0)
        creator += 3;
    const char *pool =
        *creator ? arena_printf(d->arena, "%.*s pool", (int)strcspn(creator, "."), creator)
                 : "library pool";
    return t->team_ns && t->stage != MODEL_NONE
               ? arena_printf(d->arena, "%s (%s)", document_stage_text(d, t->stage), pool)
               : pool;
}

static void add_thread(struct document *d, struct document_block *b, const struct facts_thread *t)
{
    struct document_row *row = document_add_row(b);
    row->cells[0] = thread_text(d, &d->model->threads.at[t->thread]);
    row->cells[1] = occupation_text(d, t);
    row->cells[2] = t->carries_items ? "yes" : "";
    row->cells[3] = document_cpu_text(d, &t->steady);
    row->cells[4] = document_wait_text(d, &t->steady);
    row->split = document_bar_split(d, &t->steady);
    row->bar_ratio =
        ratio_of(t->steady.wall_ns, d->facts->steady_ns > 0 ? (uint64_t)d->facts->steady_ns : 0);
}

// Those with time in the steady window; those that carry items first, then by CPU time.
static void fill_threads(struct document *d)
{
    VEC(const struct facts_thread *) live = {0};
    for (size_t i = 0; i < d->facts->threads.count; i++)
        if (d->facts->threads.at[i].steady.wall_ns)
            *vec_push(&live) = &d->facts->threads.at[i];
    if (live.count > 1) {
        qsort(live.at, live.count, sizeof *live.at, compare_threads);
        document_add_pair(document_add(d, DOCUMENT_HEADING, "Threads"), "",
            "steady window; a full bar is all of it", DOCUMENT_PLAIN);
        struct document_block *b = document_add(d, DOCUMENT_TABLE, NULL);
        document_add_column(b, "thread", DOCUMENT_COLUMN_NAME);
        document_add_column(b, "mainly", DOCUMENT_COLUMN_TEXT);
        document_add_column(b, "items", DOCUMENT_COLUMN_TEXT);
        document_add_column(b, "CPU", DOCUMENT_COLUMN_NUMBER);
        document_add_column(b, "waits for", DOCUMENT_COLUMN_TEXT);
        document_add_column(b, "", DOCUMENT_COLUMN_BAR);
        for (size_t i = 0; i < live.count && i < THREADS_SHOWN; i++)
            add_thread(d, b, live.at[i]);
        note_rest(d, live.count > THREADS_SHOWN ? live.count - THREADS_SHOWN : 0, "threads");
        document_add_legend(d);
    }
    vec_fini(&live);
}

static void fill_queues(struct document *d)
{
    const struct facts *f = d->facts;
    if (!f->queues.count)
        return;
    document_add_pair(document_add(d, DOCUMENT_HEADING, "Queues"), "",
        "the bottleneck stands where they go from full to empty", DOCUMENT_PLAIN);
    struct document_block *b = document_add(d, DOCUMENT_TABLE, NULL);
    document_add_column(b, "queue", DOCUMENT_COLUMN_NAME);
    document_add_column(b, "puts", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "gets", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "mean depth", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "max", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "not empty", DOCUMENT_COLUMN_NUMBER);
    for (size_t i = 0; i < f->queues.count; i++) {
        const struct facts_queue *q = &f->queues.at[i];
        struct document_row *row = document_add_row(b);
        row->cells[0] = name_text(d, q->name);
        row->cells[1] = figure_count(d->arena, q->puts);
        row->cells[2] = figure_count(d->arena, q->gets);
        row->cells[3] = figure_rate(d->arena, q->mean_depth);
        row->cells[4] = figure_count(d->arena, q->max_depth);
        row->cells[5] = figure_percent(d->arena, q->occupancy_ratio);
    }
}

void document_fill_details(struct document *d)
{
    fill_calls(d);
    fill_latencies(d);
    fill_threads(d);
    fill_queues(d);
}
