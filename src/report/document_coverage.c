// SPDX-License-Identifier: Apache-2.0
// What the report could see: libraries covered and not, processes without the agent, what was not
// measurable (found by document_gaps.c), how numbers were collected, notes. Threads: one owner.
#include "report/document.h"

#include "report/figure.h"

#include <string.h>

#define COMMAND_MAX_BYTES 200u

static const char *split_text(enum trace_split_method method)
{
    switch (method) {
    case TRACE_SPLIT_RSEQ:
        return "CPU and waiting: the restartable-sequence area as a switch test, the thread's CPU "
               "clock "
               "after a switch (measured)";
    case TRACE_SPLIT_PERF_PAGE:
        return "CPU and waiting: a perf event's page as a switch test, the thread's CPU clock "
               "after a "
               "switch (measured)";
    case TRACE_SPLIT_CPU_CLOCK:
        return "CPU and waiting: the thread's CPU clock at both ends of a span (measured)";
    default:
        return "wall time only";
    }
}

void document_find_methods(struct document *d)
{
    const struct model *m = d->model;
    unsigned seen = 0;
    const struct json *given = json_get(json_get(m->meta, "collection"), "methods");
    for (size_t i = 0; i < json_count(given); i++)
        *vec_push(&d->methods) = json_text(json_at(given, i), "?");
    for (size_t i = 0; i < m->processes.count; i++) {
        const struct model_process *p = &m->processes.at[i];
        if (!p->has_agent || p->split_method > TRACE_SPLIT_PERF_PAGE ||
            (seen & (1u << p->split_method)))
            continue;
        seen |= 1u << p->split_method;
        *vec_push(&d->methods) = split_text(p->split_method);
    }
}

// What a row is about: the library, or the hook set whose library was not there.
static const char *coverage_name(const struct model_coverage *c)
{
    return *c->library ? c->library : c->hooks;
}

static int is_alike(const struct model_coverage *a, const struct model_coverage *b)
{
    return strcmp(a->status, b->status) == 0 && strcmp(a->why, b->why) == 0;
}

// Whether an earlier row, of another process or hook set, says the same; `with_why`: for the same
// reason.
static int is_repeated(const struct model *m, size_t row, int with_why)
{
    const struct model_coverage *c = &m->coverage.at[row];
    for (size_t i = 0; i < row; i++) {
        const struct model_coverage *o = &m->coverage.at[i];
        if (strcmp(coverage_name(o), coverage_name(c)) == 0 && strcmp(o->status, c->status) == 0 &&
            (!with_why || is_alike(o, c)))
            return 1;
    }
    return 0;
}

// The names of all libraries of that status in one line; "" when there is none. `why`: only for
// this reason, or NULL.
static const char *libraries_text(struct document *d, const char *status, const char *why)
{
    const struct model *m = d->model;
    struct buf line = {0};
    for (size_t i = 0; i < m->coverage.count; i++) {
        const struct model_coverage *c = &m->coverage.at[i];
        if (strcmp(c->status, status) == 0 && (!why || strcmp(c->why, why) == 0) &&
            !is_repeated(m, i, why != NULL))
            buf_printf(&line, "%s%s", line.length_bytes ? ", " : "", coverage_name(c));
    }
    const char *text = arena_strdup(d->arena, buf_text(&line));
    buf_fini(&line);
    return text;
}

// Whether an earlier row of that status has the same reason: it told of this one too.
static int is_told(const struct model *m, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (is_alike(&m->coverage.at[i], &m->coverage.at[row]))
            return 1;
    return 0;
}

static int is_first_of_set(const struct model *m, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (strcmp(m->coverage.at[i].hooks, m->coverage.at[row].hooks) == 0)
            return 0;
    return 1;
}

static int is_unused(const struct model *m, const char *hooks)
{
    for (size_t i = 0; i < m->coverage.count; i++)
        if (strcmp(m->coverage.at[i].hooks, hooks) == 0 &&
            strcmp(m->coverage.at[i].status, "absent") != 0)
            return 0;
    return 1;
}

// Hook sets of libraries that no process loaded are many: only their number.
static void add_unused(struct document *d, struct document_block *b)
{
    const struct model *m = d->model;
    size_t sets = 0, unused = 0;
    for (size_t i = 0; i < m->coverage.count; i++) {
        if (!is_first_of_set(m, i))
            continue;
        sets++;
        unused += (size_t)is_unused(m, m->coverage.at[i].hooks);
    }
    if (unused)
        document_add_pair(b, "not used",
            arena_printf(d->arena,
                "%zu of %zu hook sets: the program has nothing of theirs (lightmeter doctor lists "
                "the sets)",
                unused, sets),
            DOCUMENT_PLAIN);
}

static void add_uncovered(struct document *d, struct document_block *b)
{
    const struct model *m = d->model;
    for (size_t i = 0; i < m->coverage.count; i++) {
        const struct model_coverage *c = &m->coverage.at[i];
        if (strcmp(c->status, "uninstrumented") == 0 && !is_told(m, i))
            document_add_pair(b, "not covered",
                arena_printf(d->arena, "%s: %s", libraries_text(d, c->status, c->why),
                    *c->why ? c->why : "no hook for it"),
                DOCUMENT_PLAIN);
    }
    for (size_t i = 0; i < m->processes.count; i++) {
        const struct model_process *p = &m->processes.at[i];
        const char *name = *p->command
                               ? p->command
                               : json_get_string(document_outside_find(m, p->pid), "name", "");
        if (!p->has_agent)
            document_add_pair(b, "no agent",
                arena_printf(d->arena, "process %u%s%s", p->pid, *name ? " " : "", name),
                DOCUMENT_PLAIN);
    }
}

static void fill_coverage(struct document *d)
{
    struct document_block *heading = document_add(d, DOCUMENT_HEADING, "Coverage");
    document_add_pair(heading, "", "what was looked into", DOCUMENT_PLAIN);
    struct document_block *b = document_add(d, DOCUMENT_PAIRS, NULL);
    const char *covered = libraries_text(d, "covered", NULL);
    document_add_pair(b, "covered", *covered ? covered : "nothing", DOCUMENT_PLAIN);
    add_uncovered(d, b);
    add_unused(d, b);
}

static void fill_gaps(struct document *d)
{
    if (!d->gaps.count)
        return;
    document_add(d, DOCUMENT_HEADING, "Not measurable here");
    struct document_block *b = document_add(d, DOCUMENT_LIST, NULL);
    for (size_t i = 0; i < d->gaps.count; i++)
        document_add_pair(b, "",
            arena_printf(d->arena, "%s: %s", d->gaps.at[i].what, d->gaps.at[i].why),
            DOCUMENT_PLAIN);
}

// The command, or its beginning when it names a thousand files.
static const char *command_text(const struct document *d)
{
    const size_t length_bytes = strlen(d->command);
    if (length_bytes <= COMMAND_MAX_BYTES)
        return d->command;
    size_t cut = COMMAND_MAX_BYTES;
    while (cut > COMMAND_MAX_BYTES / 2 && d->command[cut] != ' ')
        cut--;
    while ((d->command[cut] & 0xC0) == 0x80)
        cut++; // not within a character
    return arena_printf(d->arena, "%.*s … (%zu words, whole in the JSON report)", (int)cut,
        d->command, json_count(json_get(d->model->meta, "command")));
}

static const char *methods_text(const struct document *d)
{
    struct buf line = {0};
    for (size_t i = 0; i < d->methods.count; i++)
        buf_printf(&line, "%s%s", i ? "; " : "", d->methods.at[i]);
    const char *text = arena_strdup(d->arena, buf_text(&line));
    buf_fini(&line);
    return text;
}

// What measuring took: inside the program by the number of records, beside it by the launcher's
// clock.
static const char *cost_text(const struct document *d)
{
    const struct json *launcher = json_get(d->model->summary, "launcher");
    const char *inside = figure_percent(d->arena, d->facts->overhead_ratio);
    const double beside_ratio = json_get_real(launcher, "cpu_ratio", -1);
    if (beside_ratio < 0)
        return arena_printf(d->arena, "%s of the program's wall time", inside);
    return arena_printf(d->arena, "%s of the program's wall time; beside it %s of one core", inside,
        figure_percent(d->arena, beside_ratio));
}

static void fill_collection(struct document *d)
{
    const struct facts *f = d->facts;
    const struct model *m = d->model;
    document_add(d, DOCUMENT_HEADING, "How it was measured");
    struct document_block *b = document_add(d, DOCUMENT_PAIRS, NULL);
    document_add_pair(b, "spans",
        arena_printf(d->arena, "%s on %zu thread%s of %zu process%s; %s records dropped",
            figure_count(d->arena, m->span_count), m->threads.count,
            m->threads.count == 1 ? "" : "s", m->processes.count,
            m->processes.count == 1 ? "" : "es",
            f->dropped_records ? figure_count(d->arena, f->dropped_records) : "no"),
        DOCUMENT_MEASURED);
    document_add_pair(b, "own cost", cost_text(d), DOCUMENT_ESTIMATED);
    if (f->scheduler_residual_ratio >= 0)
        document_add_pair(b, "checked",
            arena_printf(d->arena,
                "the scheduler's own account of waiting differs from ours by %s of wall time",
                figure_percent(d->arena, f->scheduler_residual_ratio)),
            DOCUMENT_DERIVED);
    if (d->methods.count)
        document_add_pair(b, "methods", methods_text(d), DOCUMENT_PLAIN);
    document_add_pair(b, "kinds",
        "times, counts and CPU are measured; shares, rates, quantiles and busy are derived from "
        "them; "
        "what is estimated says so",
        DOCUMENT_PLAIN);
    if (*d->command)
        document_add_pair(b, "command", command_text(d), DOCUMENT_PLAIN);
    if (*d->source)
        document_add_pair(b, "trace", d->source, DOCUMENT_PLAIN);
}

static void fill_notes(struct document *d)
{
    if (!d->model->notes.count)
        return;
    document_add(d, DOCUMENT_HEADING, "Notes");
    struct document_block *b = document_add(d, DOCUMENT_LIST, NULL);
    for (size_t i = 0; i < d->model->notes.count; i++)
        document_add_pair(b, "", d->model->notes.at[i], DOCUMENT_PLAIN);
}

void document_fill_coverage(struct document *d)
{
    fill_coverage(d);
    fill_gaps(d);
    fill_collection(d);
    fill_notes(d);
}
