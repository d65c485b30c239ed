// SPDX-License-Identifier: Apache-2.0
// The table of stages in the steady window: own time, share, CPU and waiting, with the row for what
// no stage accounts for and the total, and the line that shows how the times add up. Threads: one
// owner.
#include "report/document.h"

#include "report/figure.h"

// Below this part of the window the time before the agent is not worth a line.
#define BEFORE_AGENT_RATIO 0.05

#define OPEN_CALLS_SHOWN 3u

// The steady time of the threads that carry items: what the table divides.
static struct facts_split sum_carriers(const struct facts *f)
{
    struct facts_split total = {0};
    for (size_t i = 0; i < f->threads.count; i++)
        if (f->threads.at[i].carries_items)
            document_split_add(&total, &f->threads.at[i].steady);
    return total;
}

// A stage's own time on those threads.
static uint64_t carried_ns(const struct facts_stage *s, const struct facts_split *total)
{
    return (uint64_t)(s->share_ratio * (double)total->wall_ns + 0.5);
}

// CPU, waits and the signs of the bar are those of the stage on all its threads.
static void fill_row(struct document *d, struct document_row *row, const struct facts_split *split,
    const char *time, double share_ratio)
{
    row->cells[2] = time;
    row->cells[3] = figure_scaled_percent(d->arena, share_ratio);
    row->cells[4] = document_cpu_text(d, split);
    row->cells[5] = document_wait_text(d, split);
    row->split = document_bar_split(d, split);
    row->bar_ratio = share_ratio;
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
        if (s->share_ratio <= 0)
            continue;
        struct document_row *row = document_add_row(b);
        row->cells[0] = document_stage_text(d, s->stage);
        row->cells[1] = document_calls_text(d, s->calls, s->split.wall_ns);
        fill_row(d, row, &s->split, figure_scaled(d->arena, &scale, carried_ns(s, total)),
            s->share_ratio);
        share_ratio += s->share_ratio;
    }
    struct document_row *row = document_add_row(b);
    row->cells[0] = "unattributed";
    fill_row(d, row, &f->unattributed, figure_scaled(d->arena, &scale, f->unattributed.wall_ns),
        f->unattributed_ratio);
    row = document_add_row(b);
    row->cells[0] = "total";
    row->is_total = 1;
    fill_row(d, row, total, figure_scaled(d->arena, &scale, total->wall_ns), share_ratio);
}

// The time of threads that carry no items: pools and those that only wait.
static void note_others(struct document *d, const struct facts_split *total)
{
    struct buf text = {0};
    for (size_t i = 0; i < d->facts->stages.count; i++) {
        const struct facts_stage *s = &d->facts->stages.at[i];
        const uint64_t carried = carried_ns(s, total);
        // Below a ten-thousandth of the whole it is rounding, or not worth a line.
        const uint64_t all_ns = s->split.wall_ns + s->team.wall_ns;
        if (all_ns <= carried || all_ns - carried < total->wall_ns / 10000)
            continue;
        buf_printf(&text, "%s%s %s", text.length_bytes ? ", " : "",
            document_stage_text(d, s->stage), figure_duration(d->arena, all_ns - carried));
    }
    uint64_t outside_ns = 0;
    for (size_t i = 0; i < d->facts->threads.count; i++)
        if (!d->facts->threads.at[i].carries_items)
            outside_ns += d->facts->threads.at[i].unattributed.wall_ns;
    if (outside_ns > total->wall_ns / 10000)
        buf_printf(&text, "%sunattributed %s", text.length_bytes ? ", " : "",
            figure_duration(d->arena, outside_ns));
    if (text.length_bytes)
        document_add(d, DOCUMENT_TEXT,
            arena_printf(d->arena, "Beside these, on threads without items: %s.", buf_text(&text)));
    buf_fini(&text);
}

// What the threads of a team did of calls that another thread had open: in no call, and in no row.
static void note_teams(struct document *d, const struct facts_split *total)
{
    struct buf text = {0};
    struct facts_split outside = {0};
    for (size_t i = 0; i < d->facts->threads.count; i++)
        if (d->facts->threads.at[i].team_ns)
            document_split_add(&outside, &d->facts->threads.at[i].unattributed);
    for (size_t i = 0; i < d->facts->stages.count; i++) {
        const struct facts_stage *s = &d->facts->stages.at[i];
        if (s->team.wall_ns < total->wall_ns / 10000 || !s->team.wall_ns)
            continue;
        buf_printf(&text, "%s%s %s", text.length_bytes ? ", " : "",
            document_stage_text(d, s->stage), figure_duration(d->arena, s->team.wall_ns));
        if (d->facts->split_is_measured)
            buf_printf(&text, " (%s of it CPU)", document_cpu_text(d, &s->team));
    }
    if (text.length_bytes)
        document_add(d, DOCUMENT_TEXT,
            arena_printf(d->arena,
                "Of that, measured: what threads of OpenMP and OpenCV did for calls of others: %s. "
                "The same threads outside of that, waiting for more mostly: %s (%s of it CPU).",
                buf_text(&text), figure_duration(d->arena, outside.wall_ns),
                document_cpu_text(d, &outside)));
    buf_fini(&text);
}

int64_t document_before_agent_ns(const struct document *d)
{
    int64_t first_ns = -1;
    for (size_t i = 0; i < d->model->processes.count; i++) {
        const struct model_process *p = &d->model->processes.at[i];
        if (p->has_agent && (first_ns < 0 || p->agent_ns < first_ns))
            first_ns = p->agent_ns;
    }
    return first_ns;
}

// In a short program the window, which begins with the run where no items are counted, is mostly
// over before anything in it can be seen.
static void note_before_agent(struct document *d)
{
    const struct facts *f = d->facts;
    const int64_t before_ns = document_before_agent_ns(d) - f->startup_ns;
    if (before_ns <= 0 || (double)before_ns < (double)f->steady_ns * BEFORE_AGENT_RATIO)
        return;
    const int64_t part_ns = before_ns < f->steady_ns ? before_ns : f->steady_ns;
    document_add(d, DOCUMENT_TEXT,
        arena_printf(d->arena,
            "The first %s of the window (%.0f %%) are in no row: the program was being started and "
            "its libraries loaded (exec, the dynamic loader), before it could be looked into.",
            figure_duration(d->arena, (uint64_t)part_ns),
            (double)part_ns / (double)f->steady_ns * 100));
}

const struct model_span *document_open_call(const struct model_thread *t)
{
    const struct model_span *last = t->spans.count ? &t->spans.at[t->spans.count - 1] : NULL;
    return last && last->attrs != MODEL_NONE && t->attrs.at[last->attrs].is_open ? last : NULL;
}

// "nanosleep for 2.01 s (thread 4711 worker), ...": what the program was in when it was killed.
static void note_open_calls(struct document *d)
{
    struct buf text = {0};
    size_t count = 0;
    for (size_t i = 0; i < d->model->threads.count; i++) {
        const struct model_thread *t = &d->model->threads.at[i];
        const struct model_span *s = document_open_call(t);
        if (!s || count++ >= OPEN_CALLS_SHOWN)
            continue;
        buf_printf(&text, "%s%s for %s (thread %u%s%s)", text.length_bytes ? ", " : "",
            d->model->names.at[s->name].text, figure_duration(d->arena, s->dur_ns), t->tid,
            *t->label ? " " : "", t->label);
    }
    if (count > OPEN_CALLS_SHOWN)
        buf_printf(&text, ", and %zu more", count - OPEN_CALLS_SHOWN);
    if (count)
        document_add(d, DOCUMENT_TEXT,
            arena_printf(d->arena, "Still waiting when it was killed: %s.", buf_text(&text)));
    buf_fini(&text);
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
    const struct facts_split total = sum_carriers(f);
    if (!f->stages.count || !total.wall_ns) {
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
        document_add_legend(d);
        document_note_cut_calls(d);
        note_others(d, &total);
        note_teams(d, &total);
        note_before_agent(d);
    }
    note_open_calls(d);
    if (f->threads.count)
        add_reconciliation(d);
}
