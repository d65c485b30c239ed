// SPDX-License-Identifier: Apache-2.0
// The key numbers: items and how they were counted, throughput, latency, windows, what the machine
// did meanwhile. A number that is not known is left to the section on what was not measured.
// Threads: one owner.
#include "report/document.h"

#include "base/stats.h"
#include "report/figure.h"

// What folded calls, whose ends are not known one by one, mean for the count.
static const char *folded_text(const struct document *d)
{
    const struct facts *f = d->facts;
    if (!f->item_folded_calls)
        return "";
    const char *count = figure_count(d->arena, f->item_folded_calls);
    if (!f->folded_are_items)
        return arena_printf(
            d->arena, "; %s short calls there, which were only summed up, are left out", count);
    return arena_printf(d->arena,
        "; %s of them are short calls that were only summed up%s: when each was done is not known",
        count, f->counted_by == FACTS_BY_ITEM_STAGE ? " (parts of an item, perhaps)" : "");
}

static const char *items_text(const struct document *d)
{
    const struct facts *f = d->facts;
    const char *count = figure_count(d->arena, f->items);
    const char *stage = f->item_stage ? f->item_stage : "";
    switch (f->counted_by) {
    case FACTS_BY_ITEM_STAGE:
        if (d->item_stage_unknown)
            return arena_printf(
                d->arena, "none: nothing named '%s' was seen (--item-stage)", stage);
        return arena_printf(
            d->arena, "%s, counted at %s (--item-stage)%s", count, stage, folded_text(d));
    case FACTS_BY_MARKS:
        return arena_printf(
            d->arena, "%s, counted by the program's own marks (lm_item_end)", count);
    case FACTS_BY_INFERENCE:
        return arena_printf(
            d->arena, "%s, counted by inference calls × batch%s", count, folded_text(d));
    case FACTS_BY_DECODES:
        return arena_printf(d->arena, "%s, counted by decode calls%s", count, folded_text(d));
    default:
        return "none were seen; --item-stage NAME tells what to count";
    }
}

static void add_quantile(struct document *d, struct buf *out, const char *name, uint64_t ns)
{
    buf_printf(out, "%s%s %s", out->length_bytes ? " · " : "", name, figure_duration(d->arena, ns));
}

// "; n too small for p95 and p99 (need 90 and 459, have 60)".
static void add_missing_tails(struct document *d, struct buf *out, const struct facts_latency *l)
{
    const struct {
        const char *name;
        double p;
        int is_valid;
    } tails[] = {{"p90", 0.90, l->p90_is_valid}, {"p95", 0.95, l->p95_is_valid},
        {"p99", 0.99, l->p99_is_valid}};
    struct buf names = {0}, needs = {0};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        if (!tails[i].is_valid) {
            // p99 needs the most, so that it is the last one missing.
            const char *joint = !names.length_bytes ? "" : i + 1 < 3 ? ", " : " and ";
            buf_printf(&names, "%s%s", joint, tails[i].name);
            buf_printf(&needs, "%s%zu", joint, stats_tail_min_n(tails[i].p, 0));
        }
    if (names.length_bytes)
        buf_printf(out, "; n too small for %s (need %s, have %s)", buf_text(&names),
            buf_text(&needs), figure_count(d->arena, l->n));
    buf_fini(&names);
    buf_fini(&needs);
}

// "p50 41.2 ms · p90 60.1 ms · max 80.3 ms", and which tails cannot be claimed.
static const char *latency_text(struct document *d, const struct facts_latency *l)
{
    struct buf text = {0};
    add_quantile(d, &text, "p50", l->p50_ns);
    if (l->p90_is_valid)
        add_quantile(d, &text, "p90", l->p90_ns);
    if (l->p95_is_valid)
        add_quantile(d, &text, "p95", l->p95_ns);
    if (l->p99_is_valid)
        add_quantile(d, &text, "p99", l->p99_ns);
    add_quantile(d, &text, "max", l->max_ns);
    add_missing_tails(d, &text, l);
    const char *result = arena_strdup(d->arena, buf_text(&text));
    buf_fini(&text);
    return result;
}

static const char *windows_text(const struct document *d)
{
    const struct facts *f = d->facts;
    const struct {
        const char *name;
        int64_t ns;
    } windows[] = {
        {"startup", f->startup_ns}, {"steady", f->steady_ns}, {"teardown", f->teardown_ns}};
    struct buf text = {0};
    for (size_t i = 0; i < 3; i++) {
        const uint64_t ns = windows[i].ns > 0 ? (uint64_t)windows[i].ns : 0;
        buf_printf(
            &text, "%s%s %s", i ? " · " : "", windows[i].name, figure_duration(d->arena, ns));
        if (d->run_ns > 0)
            buf_printf(&text, " (%.0f %%)", (double)ns / (double)d->run_ns * 100);
    }
    const char *result = arena_strdup(d->arena, buf_text(&text));
    buf_fini(&text);
    return result;
}

static void add_items(struct document *d, struct document_block *b)
{
    const struct facts *f = d->facts;
    document_add_pair(b, "items", items_text(d),
        f->counted_by == FACTS_BY_NOTHING ? DOCUMENT_PLAIN : DOCUMENT_MEASURED);
    if (f->throughput_per_s > 0)
        document_add_pair(b, "throughput",
            arena_printf(d->arena, "%s items/s", figure_rate(d->arena, f->throughput_per_s)),
            DOCUMENT_DERIVED);
    if (f->item_latency.n)
        document_add_pair(b, f->latency_is_gap ? "between items" : "latency",
            latency_text(d, &f->item_latency),
            f->latency_is_gap ? DOCUMENT_DERIVED : DOCUMENT_MEASURED);
    if (d->run_ns > 0)
        document_add_pair(b, "windows", windows_text(d), DOCUMENT_DERIVED);
}

static void add_cores(struct document *d, struct document_block *b)
{
    const struct facts_machine *m = &d->facts->machine;
    struct buf text = {0};
    if (m->cpu_used_cores >= 0)
        buf_printf(&text, "%s of ", figure_cores(d->arena, m->cpu_used_cores));
    if (m->cores_allowed > 0)
        buf_printf(&text, "%s allowed cores", figure_cores(d->arena, m->cores_allowed));
    if (m->cpu_used_cores >= 0)
        buf_puts(&text, " busy with this run in the steady window");
    if (m->pool_threads)
        buf_printf(&text, "; %s of them by %u thread%s of libraries",
            figure_cores(d->arena, m->pool_cores), m->pool_threads,
            m->pool_threads == 1 ? "" : "s");
    if (m->quota_cores > 0)
        buf_printf(&text, "; quota %s cores", figure_cores(d->arena, m->quota_cores));
    if (m->other_busy_cores >= 0.05)
        buf_printf(&text, "; other programs used %s", figure_cores(d->arena, m->other_busy_cores));
    if (m->cores_allowed > 0)
        document_add_pair(b, "cores", arena_strdup(d->arena, buf_text(&text)), DOCUMENT_MEASURED);
    buf_fini(&text);
}

static void add_ratio(struct document *d, struct buf *out, const char *name, double ratio)
{
    if (ratio >= 0)
        buf_printf(
            out, "%s%s %s", out->length_bytes ? " · " : "", name, figure_percent(d->arena, ratio));
}

static void add_pressure(struct document *d, struct document_block *b)
{
    const struct facts_machine *m = &d->facts->machine;
    struct buf text = {0};
    add_ratio(d, &text, "run queue", m->runq_ratio);
    add_ratio(d, &text, "throttled periods", m->throttled_ratio);
    add_ratio(d, &text, "steal", m->steal_ratio);
    add_ratio(d, &text, "PSI cpu", m->psi_cpu_ratio);
    add_ratio(d, &text, "PSI io", m->psi_io_ratio);
    add_ratio(d, &text, "PSI memory", m->psi_memory_ratio);
    if (text.length_bytes)
        document_add_pair(b, "pressure", arena_strdup(d->arena, buf_text(&text)), DOCUMENT_DERIVED);
    buf_fini(&text);
}

static void add_input(struct document *d, struct document_block *b)
{
    const struct facts_machine *m = &d->facts->machine;
    struct buf text = {0};
    if (m->rchar_bytes != UINT64_MAX)
        buf_printf(&text, "%s by read calls", figure_bytes(d->arena, m->rchar_bytes));
    if (m->read_bytes != UINT64_MAX)
        buf_printf(&text, "%s%s from storage", text.length_bytes ? " · " : "",
            figure_bytes(d->arena, m->read_bytes));
    const struct facts_files *files = &d->facts->files;
    if (files->looked_at)
        buf_printf(&text, "%s%s of %s files in memory when opened", text.length_bytes ? " · " : "",
            figure_count(d->arena, files->in_memory), figure_count(d->arena, files->looked_at));
    if (text.length_bytes)
        document_add_pair(b, "read", arena_strdup(d->arena, buf_text(&text)), DOCUMENT_MEASURED);
    text.length_bytes = 0;
    if (m->minor_faults != UINT64_MAX)
        buf_printf(&text, "%s minor", figure_count(d->arena, m->minor_faults));
    if (m->major_faults != UINT64_MAX)
        buf_printf(&text, "%s%s major (from storage)", text.length_bytes ? " · " : "",
            figure_count(d->arena, m->major_faults));
    if (text.length_bytes)
        document_add_pair(
            b, "page faults", arena_strdup(d->arena, buf_text(&text)), DOCUMENT_MEASURED);
    buf_fini(&text);
    const int64_t peak_bytes =
        json_get_int(json_get(d->model->summary, "usage"), "max_rss_bytes", 0);
    if (peak_bytes > 0)
        document_add_pair(b, "memory",
            arena_printf(d->arena, "%s at the peak", figure_bytes(d->arena, (uint64_t)peak_bytes)),
            DOCUMENT_MEASURED);
}

// What it did for the program, by stage as far as that is known, and how busy it was with whatever.
static void add_accel(struct document *d, struct document_block *b)
{
    const struct facts_accel *a = &d->facts->accel;
    struct buf text = {0};
    if (a->work_ns)
        buf_printf(&text, "%s of work", figure_duration(d->arena, a->work_ns));
    if (a->work_ns && d->facts->steady_ns > 0)
        buf_printf(&text, " (%s of the steady window)",
            figure_percent(d->arena, (double)a->work_ns / (double)d->facts->steady_ns));
    for (size_t i = 0; i < d->facts->stages.count; i++) {
        const struct facts_stage *s = &d->facts->stages.at[i];
        if (s->accel_work_ns)
            buf_printf(&text, " · %s %s", d->model->stages.at[s->stage].text,
                figure_duration(d->arena, s->accel_work_ns));
    }
    add_ratio(d, &text, "busy", a->busy_ratio);
    if (a->has_bytes)
        buf_printf(&text, " · %s of its %s in use", figure_bytes(d->arena, a->used_bytes),
            figure_bytes(d->arena, a->has_bytes));
    if (text.length_bytes)
        document_add_pair(
            b, "accelerator", arena_strdup(d->arena, buf_text(&text)), DOCUMENT_MEASURED);
    buf_fini(&text);
}

void document_fill_numbers(struct document *d)
{
    document_add(d, DOCUMENT_HEADING, "Numbers");
    struct document_block *b = document_add(d, DOCUMENT_PAIRS, NULL);
    add_items(d, b);
    add_cores(d, b);
    add_pressure(d, b);
    add_input(d, b);
    add_accel(d, b);
}
