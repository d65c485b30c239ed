// SPDX-License-Identifier: Apache-2.0
// The document as a container, and the order of its sections. Called by report.c and by tests.
// Threads: one owner.
#include "report/document.h"

#include "base/heap.h"
#include "base/text.h"
#include "report/figure.h"

#include <stdlib.h>
#include <string.h>

#define CUT_CALLS "<1"

// The widest bar of any format; a part that fills none of its cells needs no explanation.
#define LEGEND_CELLS 40

struct document_block *document_add(
    struct document *d, enum document_block_kind kind, const char *text)
{
    struct document_block *b = vec_push(&d->blocks);
    b->kind = kind;
    b->text = text ? text : "";
    return b;
}

void document_add_pair(
    struct document_block *b, const char *key, const char *text, enum document_kind kind)
{
    struct document_pair *p = vec_push(&b->pairs);
    *p = (struct document_pair){key, text, kind};
}

void document_add_column(
    struct document_block *b, const char *title, enum document_column_kind kind)
{
    struct document_column *c = vec_push(&b->table.columns);
    *c = (struct document_column){title, kind};
}

struct document_row *document_add_row(struct document_block *b)
{
    return vec_push(&b->table.rows);
}

// The parts that fill a cell of the row's bar.
static unsigned parts_of(const struct document_row *row)
{
    enum bar_part cells[BAR_CELLS_MAX];
    const int count = bar_cells(&row->split, row->bar_ratio, LEGEND_CELLS, cells);
    unsigned parts = 0;
    for (int i = 0; i < count; i++)
        parts |= 1u << cells[i];
    return parts;
}

static const struct document_table *last_table(const struct document *d)
{
    size_t table = d->blocks.count;
    while (d->blocks.at[--table].kind != DOCUMENT_TABLE)
        ;
    return &d->blocks.at[table].table;
}

void document_note_cut_calls(struct document *d)
{
    const struct document_table *t = last_table(d);
    for (size_t i = 0; i < t->rows.count; i++)
        for (size_t c = 0; c < t->columns.count; c++)
            if (t->rows.at[i].cells[c] && strcmp(t->rows.at[i].cells[c], CUT_CALLS) == 0) {
                document_add(d, DOCUMENT_TEXT,
                    CUT_CALLS " call: the window holds a part of calls that ended after it");
                return;
            }
}

void document_add_legend(struct document *d)
{
    unsigned parts = 0;
    const struct document_table *t = last_table(d);
    for (size_t i = 0; i < t->rows.count; i++)
        parts |= parts_of(&t->rows.at[i]);
    document_add(
        d, DOCUMENT_LEGEND, d->facts->split_is_measured ? "" : "CPU or waiting: not told apart")
        ->parts = parts;
}

const char *document_stage_text(const struct document *d, uint32_t stage)
{
    const char *text = d->model->stages.at[stage].text;
    return *text ? text : "(unnamed)";
}

const char *document_wait_text(const struct document *d, const struct facts_split *split)
{
    const enum bar_part part = bar_main_wait(split);
    if (part == BAR_CPU || split->wall_ns == 0 || !d->facts->split_is_measured)
        return "";
    const double ratio = (double)bar_part_ns(split, part) / (double)split->wall_ns;
    return arena_printf(d->arena, "%s %.0f %%", bar_part_label(part), ratio * 100);
}

struct facts_split document_bar_split(const struct document *d, const struct facts_split *split)
{
    struct facts_split all = {.wall_ns = split->wall_ns};
    if (d->facts->split_is_measured)
        return *split;
    all.cause_ns[TRACE_CAUSE_OTHER] = split->wall_ns;
    return all;
}

const char *document_calls_text(const struct document *d, uint64_t calls, uint64_t wall_ns)
{
    return !calls && wall_ns ? CUT_CALLS : figure_count(d->arena, calls);
}

const char *document_cpu_text(const struct document *d, const struct facts_split *split)
{
    if (!split->wall_ns)
        return "";
    if (!d->facts->split_is_measured)
        return "n/a";
    return arena_printf(d->arena, "%.0f %%", (double)split->cpu_ns / (double)split->wall_ns * 100);
}

void document_split_add(struct facts_split *sum, const struct facts_split *more)
{
    sum->wall_ns += more->wall_ns;
    sum->cpu_ns += more->cpu_ns;
    sum->runq_ns += more->runq_ns;
    for (int i = 0; i < TRACE_CAUSE_COUNT; i++)
        sum->cause_ns[i] += more->cause_ns[i];
}

// The command in one line; `is_short`: the program without its folder.
static const char *find_command(const struct document *d, int is_short)
{
    const struct json *command = json_get(d->model->meta, "command");
    struct buf line = {0};
    for (size_t i = 0; i < json_count(command); i++) {
        const char *word = json_text(json_at(command, i), "?");
        const char *slash = is_short && i == 0 ? strrchr(word, '/') : NULL;
        if (i)
            buf_putc(&line, ' ');
        text_add_shell_word(&line, slash && slash[1] ? slash + 1 : word);
    }
    const char *text = arena_strdup(d->arena, buf_text(&line));
    buf_fini(&line);
    return text;
}

struct document *document_new(
    const struct facts *facts, const struct verdict *verdict, const char *source)
{
    struct document *d = heap_alloc(1, sizeof *d);
    d->arena = arena_new();
    if (!d->arena)
        heap_exhausted(sizeof *d);
    d->facts = facts;
    d->model = facts->model;
    d->verdict = verdict;
    d->source = source ? source : "";
    d->command = find_command(d, 0);
    d->title = find_command(d, 1);
    d->run_ns = d->model->end_ns;
    const struct json *exit = json_get(d->model->summary, "exit");
    d->exit_status = (int)json_get_int(exit, "status", -1);
    d->exit_signal = (int)json_get_int(exit, "signal", -1);
    document_find_steps(d);
    document_find_gaps(d);
    document_find_methods(d);
    document_fill_verdict(d);
    document_fill_numbers(d);
    document_fill_stages(d);
    document_fill_lines(d);
    document_fill_details(d);
    document_fill_coverage(d);
    return d;
}

void document_free(struct document **d)
{
    if (!d || !*d)
        return;
    for (size_t i = 0; i < (*d)->blocks.count; i++) {
        struct document_block *b = &(*d)->blocks.at[i];
        vec_fini(&b->pairs);
        vec_fini(&b->table.columns);
        vec_fini(&b->table.rows);
    }
    vec_fini(&(*d)->blocks);
    vec_fini(&(*d)->gaps);
    vec_fini(&(*d)->methods);
    vec_fini(&(*d)->steps);
    arena_free(&(*d)->arena);
    free(*d);
    *d = NULL;
}
