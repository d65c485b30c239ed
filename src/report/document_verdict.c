// SPDX-License-Identifier: Apache-2.0
// The plain words at the top: what was run, what limits it, how sure that is, what supports it,
// what will not help and what to do next. Says nothing that the verdict does not hold. Threads: one
// owner.
#include "report/document.h"

#include "report/figure.h"

#include <string.h>

#define FINDINGS_SHOWN 4u

// "exit status 0", "killed by SIGSEGV (signal 11)" or "".
static const char *end_text(const struct document *d)
{
    if (d->exit_signal > 0) {
        const char *name = sigabbrev_np(d->exit_signal);
        return name ? arena_printf(d->arena, ", killed by SIG%s", name)
                    : arena_printf(d->arena, ", killed by signal %d", d->exit_signal);
    }
    return d->exit_status >= 0 ? arena_printf(d->arena, ", exit status %d", d->exit_status) : "";
}

static void add_title(struct document *d)
{
    const char *what = *d->title ? d->title : *d->source ? d->source : "a run";
    struct document_block *b = document_add(d, DOCUMENT_TITLE, what);
    const uint64_t run_ns = d->run_ns > 0 ? (uint64_t)d->run_ns : 0;
    const char *duration = figure_duration(d->arena, run_ns);
    document_add_pair(b, "", arena_printf(d->arena, "%s%s", duration, end_text(d)), DOCUMENT_PLAIN);
}

// What the detector of the verdict's class found, or NULL.
static const struct finding *chosen_finding(const struct verdict *v)
{
    for (size_t i = 0; i < v->findings.count; i++)
        if (strcmp(v->findings.at[i].class_name, v->class_name) == 0 &&
            strcmp(v->findings.at[i].stage, v->stage) == 0)
            return &v->findings.at[i];
    return NULL;
}

static const char *confidence_text(const struct verdict *v)
{
    const struct finding *f = chosen_finding(v);
    switch (v->confidence) {
    case CONFIDENCE_HIGH:
        return "high: two independent signals agree";
    case CONFIDENCE_MEDIUM:
        return f && f->second_signal == 0 ? "medium: one signal, and no second one that confirms it"
                                          : "medium: two signals, and a doubt about the run";
    default:
        return f && f->second_signal < 0 ? "inconclusive: the signals contradict each other"
                                         : "inconclusive: the signals are too weak to decide";
    }
}

static void add_class(struct document *d)
{
    const struct verdict *v = d->verdict;
    struct document_block *b = document_add(d, DOCUMENT_PAIRS, NULL);
    const char *name = v->class_name;
    if (*v->stage)
        name = arena_printf(d->arena, "%s, in %s", v->class_name, v->stage);
    document_add_pair(b, "verdict", name, DOCUMENT_PLAIN);
    if (strcmp(v->class_name, "inconclusive") != 0 || v->confidence != CONFIDENCE_INCONCLUSIVE ||
        chosen_finding(v))
        document_add_pair(b, "confidence", confidence_text(v), DOCUMENT_PLAIN);
}

static void add_evidence(struct document *d)
{
    const struct verdict *v = d->verdict;
    if (!v->evidence.count)
        return;
    document_add(d, DOCUMENT_HEADING, "Why");
    struct document_block *b = document_add(d, DOCUMENT_EVIDENCE, NULL);
    for (size_t i = 0; i < v->evidence.count; i++) {
        const struct evidence *e = &v->evidence.at[i];
        enum document_kind kind = e->kind == EVIDENCE_MEASURED  ? DOCUMENT_MEASURED
                                  : e->kind == EVIDENCE_DERIVED ? DOCUMENT_DERIVED
                                                                : DOCUMENT_ESTIMATED;
        document_add_pair(b, "", e->text, kind);
    }
}

static void add_points(struct document *d, const char *heading, enum document_block_kind kind,
    const char *const *points, size_t count)
{
    if (!count)
        return;
    document_add(d, DOCUMENT_HEADING, heading);
    struct document_block *b = document_add(d, kind, NULL);
    for (size_t i = 0; i < count; i++)
        document_add_pair(b, "", points[i], DOCUMENT_PLAIN);
}

// What other detectors found, when it is not what the verdict says already.
static void add_other_findings(struct document *d)
{
    const struct verdict *v = d->verdict;
    const struct finding *chosen = chosen_finding(v);
    struct document_block *b = NULL;
    size_t rest = 0;
    for (size_t i = 0; i < v->findings.count; i++) {
        const struct finding *f = &v->findings.at[i];
        if (f == chosen)
            continue;
        if (!b) {
            document_add(d, DOCUMENT_HEADING, "Also seen, in the steady time");
            b = document_add(d, DOCUMENT_LIST, NULL);
        }
        if (b->pairs.count < FINDINGS_SHOWN)
            document_add_pair(
                b, "", arena_printf(d->arena, "%s (%s)", f->title, f->class_name), DOCUMENT_PLAIN);
        else
            rest++;
    }
    if (rest)
        document_add_pair(b, "", arena_printf(d->arena, "and %zu more", rest), DOCUMENT_PLAIN);
}

// The stages that were seen, when --item-stage names none of them and no call; else NULL.
static const char *find_unknown_item_stage(const struct document *d)
{
    const struct facts *f = d->facts;
    const struct model *m = d->model;
    struct buf seen = {0};
    if (f->counted_by != FACTS_BY_ITEM_STAGE || f->items)
        return NULL;
    for (size_t i = 0; i < m->names.count; i++)
        if (strcmp(m->names.at[i].text, f->item_stage) == 0 ||
            strcmp(m->stages.at[m->names.at[i].stage].text, f->item_stage) == 0)
            return NULL;
    for (size_t i = 0; i < f->stages.count; i++)
        buf_printf(&seen, "%s%s", i ? ", " : "", document_stage_text(d, f->stages.at[i].stage));
    const char *text = arena_strdup(d->arena, seen.length_bytes ? buf_text(&seen) : "none");
    buf_fini(&seen);
    return text;
}

void document_find_steps(struct document *d)
{
    const struct verdict *v = d->verdict;
    d->item_stage_unknown = find_unknown_item_stage(d);
    // With nothing to count, the run looks too short, and every other advice rests on that.
    if (d->item_stage_unknown) {
        *vec_push(&d->steps) = arena_printf(d->arena,
            "Count items at a stage that is there (seen: %s), without a new run: lightmeter report "
            "--item-stage STAGE.",
            d->item_stage_unknown);
        return;
    }
    for (size_t i = 0; i < v->how.count; i++)
        *vec_push(&d->steps) = v->how.at[i];
}

// What makes the whole report worth less comes before the evidence.
static void add_warnings(struct document *d)
{
    const struct facts *f = d->facts;
    if (d->item_stage_unknown)
        document_add(d, DOCUMENT_TEXT,
            arena_printf(d->arena,
                "No item was counted: no stage or call named '%s' (--item-stage) was seen; seen: "
                "%s.",
                f->item_stage, d->item_stage_unknown));
    if (*d->model->damage)
        document_add(d, DOCUMENT_TEXT,
            arena_printf(d->arena, "The trace is damaged. %s The report covers what could be read.",
                d->model->damage));
    if (f->dropped_records)
        document_add(d, DOCUMENT_TEXT,
            arena_printf(d->arena,
                "%s records were dropped; the time of their spans counts for the span around them "
                "or "
                "as unattributed.",
                figure_count(d->arena, f->dropped_records)));
}

void document_fill_verdict(struct document *d)
{
    const struct verdict *v = d->verdict;
    add_title(d);
    document_add(d, DOCUMENT_HEADLINE, v->headline);
    add_class(d);
    add_warnings(d);
    add_evidence(d);
    add_other_findings(d);
    add_points(d, "Will not help", DOCUMENT_LIST, v->will_not_help.at, v->will_not_help.count);
    add_points(d, "Next", DOCUMENT_STEPS, d->steps.at, d->steps.count);
}
