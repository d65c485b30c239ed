// SPDX-License-Identifier: Apache-2.0
// The table of stages in the steady window: own time, share, CPU and waiting, with the row for what
// no stage accounts for and the total, and the line that shows how the times add up. Threads: one
// owner.
#include "report/document.h"

#include "report/figure.h"

static double ratio_of(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

// The time of all rows together, which the bars are measured against.
static struct facts_split sum_rows(const struct facts *f)
{
    struct facts_split total = f->unattributed;
    for (size_t i = 0; i < f->stages.count; i++)
        document_split_add(&total, &f->stages.at[i].split);
    return total;
}

static void fill_row(struct document *d, struct document_row *row, const struct facts_split *split,
    const struct figure_scale *scale, double share_ratio)
{
    row->cells[2] = figure_scaled(d->arena, scale, split->wall_ns);
    row->cells[3] = figure_scaled_percent(d->arena, share_ratio);
    row->cells[4] = document_cpu_text(d, split);
    row->cells[5] = document_wait_text(d, split);
    row->split = document_bar_split(d, split);
}

static unsigned parts_of(const struct facts_split *split)
{
    unsigned parts = 0;
    for (int p = 0; p < BAR_PART_COUNT; p++)
        if (bar_part_ns(split, (enum bar_part)p))
            parts |= 1u << p;
    return parts;
}

static void add_columns(struct document_block *b)
{
    document_add_column(b, "stage", DOCUMENT_COLUMN_NAME);
    document_add_column(b, "calls", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "time", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "share", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "CPU", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "waits for", DOCUMENT_COLUMN_TEXT);
    document_add_column(b, "", DOCUMENT_COLUMN_BAR);
}

static void add_rows(struct document *d, struct document_block *b, const struct facts_split *total)
{
    const struct facts *f = d->facts;
    const struct figure_scale scale = figure_scale_for(total->wall_ns);
    double share_ratio = f->unattributed_ratio;
    for (size_t i = 0; i < f->stages.count; i++) {
        const struct facts_stage *s = &f->stages.at[i];
        struct document_row *row = document_add_row(b);
        row->cells[0] = document_stage_text(d, s->stage);
        row->cells[1] = figure_count(d->arena, s->calls);
        fill_row(d, row, &s->split, &scale, s->share_ratio);
        row->bar_ratio = ratio_of(s->split.wall_ns, total->wall_ns);
        share_ratio += s->share_ratio;
    }
    struct document_row *row = document_add_row(b);
    row->cells[0] = "unattributed";
    fill_row(d, row, &f->unattributed, &scale, f->unattributed_ratio);
    row->bar_ratio = ratio_of(f->unattributed.wall_ns, total->wall_ns);
    row = document_add_row(b);
    row->cells[0] = "total";
    row->is_total = 1;
    fill_row(d, row, total, &scale, share_ratio);
    row->bar_ratio = 1;
}

// Over all threads and the whole run, whatever the window: the check that no time was lost.
static void add_reconciliation(struct document *d)
{
    const struct facts *f = d->facts;
    uint64_t stages_ns = 0, unattributed_ns = 0;
    for (size_t i = 0; i < f->threads.count; i++) {
        stages_ns += f->threads.at[i].stages_ns;
        unattributed_ns += f->threads.at[i].unattributed_ns;
    }
    const struct figure_scale scale = figure_scale_for(f->wall_ns);
    document_add(d, DOCUMENT_TEXT,
        arena_printf(d->arena,
            "Adds up: over the whole life of %zu thread%s, stages %s + unattributed %s = %s of %s "
            "wall; "
            "residual %s.",
            f->threads.count, f->threads.count == 1 ? "" : "s",
            figure_scaled(d->arena, &scale, stages_ns),
            figure_scaled(d->arena, &scale, unattributed_ns),
            figure_scaled(d->arena, &scale, f->sum_ns), figure_scaled(d->arena, &scale, f->wall_ns),
            figure_percent(d->arena, f->residual_ratio)));
}

static const char *heading_note(const struct document *d)
{
    const struct facts *f = d->facts;
    const uint64_t steady_ns = f->steady_ns > 0 ? (uint64_t)f->steady_ns : 0;
    if (!steady_ns)
        return "no steady window";
    return arena_printf(d->arena, "steady window of %s, %u thread%s with items",
        figure_duration(d->arena, steady_ns), f->item_threads, f->item_threads == 1 ? "" : "s");
}

void document_fill_stages(struct document *d)
{
    const struct facts *f = d->facts;
    document_add_pair(document_add(d, DOCUMENT_HEADING, "Where the time went"), "", heading_note(d),
        DOCUMENT_PLAIN);
    const struct facts_split total = sum_rows(f);
    if (!f->stages.count) {
        document_add(d, DOCUMENT_TEXT,
            d->model->span_count
                ? "No stage took time in the steady window: nothing that was seen of this program "
                  "lies in it."
                : "No stage was seen: nothing that Lightmeter can look into was called. The "
                  "section on "
                  "coverage says why; marks (lightmeter/mark.h) or --stage-map name your own "
                  "stages.");
    }
    if (total.wall_ns) {
        struct document_block *b = document_add(d, DOCUMENT_TABLE, NULL);
        add_columns(b);
        add_rows(d, b, &total);
        const struct facts_split shown = document_bar_split(d, &total);
        document_add_legend(d, parts_of(&shown));
    }
    if (f->threads.count)
        add_reconciliation(d);
}
