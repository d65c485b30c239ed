// SPDX-License-Identifier: Apache-2.0
// The table of the program's own Python lines: where its code was, with the stage that it called
// or, outside of all stages, what the time was for. Left out where no stacks were sampled. Threads:
// one owner.
#include "report/document.h"

#include "report/figure.h"

#include <math.h>

#define LINES_SHOWN 10u
#define TWO_SIGMA 1.96

static const char *stage_text(struct document *d, const struct facts_line *line)
{
    if (line->stage != MODEL_NONE)
        return document_stage_text(d, line->stage);
    return *line->meaning ? arena_printf(d->arena, "(%s)", line->meaning) : "none";
}

static void add_row(struct document *d, struct document_block *b, const struct facts_line *line)
{
    struct document_row *row = document_add_row(b);
    row->cells[0] = model_place_text(d->arena, line->place);
    row->cells[1] = line->place->function;
    row->cells[2] = stage_text(d, line);
    row->cells[3] = figure_duration(d->arena, (uint64_t)line->wall_ns);
    row->cells[4] = figure_scaled_percent(d->arena, line->share_ratio);
}

// How far chance may have moved the first share.
static const char *note_text(const struct document *d)
{
    const struct facts *f = d->facts;
    const double share = f->lines.at[0].share_ratio < 1 ? f->lines.at[0].share_ratio : 1;
    const double error = TWO_SIGMA * sqrt(share * (1 - share) / (double)f->line_samples);
    return arena_printf(d->arena,
        "Estimated by %s samples of the stacks: the first share is right to %.1f %% of the whole. "
        "(preprocess) and (postprocess): outside of all stages, by what came before and after.",
        figure_count(d->arena, f->line_samples), error * 100);
}

void document_fill_lines(struct document *d)
{
    const struct facts *f = d->facts;
    if (!f->lines.count)
        return;
    document_add_pair(document_add(d, DOCUMENT_HEADING, "Lines of your Python code"), "",
        "what they called included", DOCUMENT_PLAIN);
    struct document_block *b = document_add(d, DOCUMENT_TABLE, NULL);
    document_add_column(b, "line", DOCUMENT_COLUMN_NAME);
    document_add_column(b, "function", DOCUMENT_COLUMN_TEXT);
    document_add_column(b, "in stage", DOCUMENT_COLUMN_TEXT);
    document_add_column(b, "time", DOCUMENT_COLUMN_NUMBER);
    document_add_column(b, "share", DOCUMENT_COLUMN_NUMBER);
    for (size_t i = 0; i < f->lines.count && i < LINES_SHOWN; i++)
        add_row(d, b, &f->lines.at[i]);
    if (f->lines.count > LINES_SHOWN)
        document_add(d, DOCUMENT_TEXT,
            arena_printf(d->arena, "and %zu more lines", f->lines.count - LINES_SHOWN));
    document_add(d, DOCUMENT_TEXT, note_text(d));
}
