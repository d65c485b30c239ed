// SPDX-License-Identifier: Apache-2.0
// Weighs what the detectors found and reaches the one verdict: contamination first, then a paced
// source, then resources, then balanced; inconclusive when a run is too short, when signals
// conflict or when none was seen. Called by the report and by `run`. Threads: no shared state.
#include "analyze/verdict.h"

#include "analyze/detectors/detectors.h"
#include "analyze/look.h"
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

#define RESOURCES_ORDER 40 // detectors from here on are weighed against each other
#define BALANCED_ORDER 90  // only when nothing else was found
#define MEDIUM_WEIGHT 0.8
#define LOST_RATIO 0.01
#define RESIDUAL_RATIO 0.02
#define RUN_LEAST_NS 50000000
#define FAULTS_LEAST 10
#define FAULTS_PRESSURE_RATIO 0.1

const struct detector *const *detector_all(void)
{
    static const struct detector *const all[] = {
#define ROW(name) &detector_##name,
#include "analyze/detectors/registry.def"
#undef ROW
        NULL,
    };
    return all;
}

// A class as it is written: "cpu-quota" of "cpu_quota".
static const char *class_name(struct arena *a, const char *name)
{
    char *text = arena_strdup(a, name);
    for (char *c = text; *c; c++)
        if (*c == '_')
            *c = '-';
    return text;
}

static void finding_fini(struct finding *f)
{
    vec_fini(&f->evidence);
    vec_fini(&f->will_not_help);
    vec_fini(&f->how);
}

static int compare_finding(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    return (x->weight_ratio < y->weight_ratio) - (x->weight_ratio > y->weight_ratio);
}

static void detect_all(const struct facts *f, struct verdict *v)
{
    for (const struct detector *const *d = detector_all(); *d; d++) {
        struct finding found = {
            .detector = *d, .class_name = class_name(v->arena, (*d)->name), .stage = ""};
        if ((*d)->detect_fn(f, v->arena, &found))
            *vec_push(&v->findings) = found;
        else
            finding_fini(&found);
    }
    if (v->findings.count)
        qsort(v->findings.at, v->findings.count, sizeof *v->findings.at, compare_finding);
}

static double score(const struct finding *f)
{
    return f->second_signal < 0 ? 0 : f->weight_ratio * (f->second_signal ? 1 : MEDIUM_WEIGHT);
}

// The finding that names the run's limit; NULL: none without a contradiction.
static const struct finding *choose(const struct verdict *v)
{
    const struct finding *first = NULL, *best = NULL, *balanced = NULL;
    for (size_t i = 0; i < v->findings.count; i++) {
        const struct finding *f = &v->findings.at[i];
        const int order = f->detector->order;
        if (f->second_signal < 0)
            continue;
        if (order < RESOURCES_ORDER && (!first || order < first->detector->order))
            first = f;
        else if (order >= BALANCED_ORDER)
            balanced = f;
        else if (order >= RESOURCES_ORDER && (!best || score(f) > score(best)))
            best = f;
    }
    return first ? first : best ? best : balanced;
}

// What is wrong with the measurement itself; "" when nothing: it keeps the confidence down.
static const char *find_doubt(const struct facts *f, struct arena *a)
{
    const double seen = (double)f->model->span_count + 1;
    if (!f->split_is_measured)
        return "CPU time could not be told from waiting here, so that the split is not measured";
    if (*f->model->damage)
        return "the trace is damaged or was cut";
    if (f->startup_ns + f->steady_ns + f->teardown_ns < RUN_LEAST_NS)
        return "the whole run lasted less than 50 ms";
    if ((double)f->dropped_records > LOST_RATIO * seen)
        return arena_printf(a, "%llu records were lost beside %llu that were kept",
            (unsigned long long)f->dropped_records, (unsigned long long)f->model->span_count);
    if (f->residual_ratio > RESIDUAL_RATIO)
        return arena_printf(a,
            "the times do not add up: %.1f %% of the threads' wall time is missing",
            f->residual_ratio * 100);
    return "";
}

static void take_finding(const struct facts *f, struct verdict *v, const struct finding *best)
{
    const char *doubt = find_doubt(f, v->arena);
    v->class_name = best->class_name;
    v->stage = best->stage;
    v->headline = best->title;
    v->confidence = best->second_signal > 0 && !*doubt ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM;
    for (size_t i = 0; i < best->evidence.count; i++)
        *vec_push(&v->evidence) = best->evidence.at[i];
    for (size_t i = 0; i < best->will_not_help.count; i++)
        *vec_push(&v->will_not_help) = best->will_not_help.at[i];
    for (size_t i = 0; i < best->how.count; i++)
        *vec_push(&v->how) = best->how.at[i];
    if (*doubt)
        *vec_push(&v->evidence) = (struct evidence){
            .text = arena_printf(v->arena, "no more than medium confidence: %s", doubt),
            .kind = EVIDENCE_MEASURED,
            .unit = ""};
}

static void add_evidence(
    struct verdict *v, enum evidence_kind kind, double value, const char *unit, const char *text)
{
    *vec_push(&v->evidence) =
        (struct evidence){.text = text, .kind = kind, .value = value, .unit = unit};
}

// Reads that no call shows: pages of mapped files that came from storage.
static void add_faults(const struct facts *f, struct verdict *v)
{
    const struct facts_machine *m = &f->machine;
    if (m->major_faults == UINT64_MAX || m->major_faults < FAULTS_LEAST ||
        m->psi_io_ratio < FAULTS_PRESSURE_RATIO)
        return;
    add_evidence(v, EVIDENCE_MEASURED, (double)m->major_faults, "count",
        arena_printf(v->arena,
            "memory of mapped files was read from storage %llu times (major faults), which no call "
            "shows; something waited for I/O %d %% of the time (PSI)",
            (unsigned long long)m->major_faults, look_percent(m->psi_io_ratio)));
    *vec_push(&v->how) = "Read mapped files ahead (madvise MADV_WILLNEED, or read them whole), and "
                         "see whether the time goes.";
}

// How the steady time was spent, for a verdict that has nothing more to say.
static void add_overview(const struct facts *f, struct verdict *v)
{
    const struct facts_stage *s = look_largest(f);
    const struct facts_thread *t = look_limiting(f);
    if (s)
        add_evidence(v, EVIDENCE_MEASURED, s->share_ratio, "ratio",
            arena_printf(v->arena, "%s is the largest stage: %d %% of the time",
                look_subject(v->arena, f, f->model->stages.at[s->stage].text),
                look_percent(s->share_ratio)));
    if (f->unattributed_ratio > 0.2)
        add_evidence(v, EVIDENCE_MEASURED, f->unattributed_ratio, "ratio",
            arena_printf(v->arena, "%d %% of the time lies outside the known stages",
                look_percent(f->unattributed_ratio)));
    if (look_hot(f))
        add_evidence(
            v, EVIDENCE_ESTIMATED, look_hot(f)->share_ratio, "ratio", look_hot_text(f, v->arena));
    if (t)
        add_evidence(v, EVIDENCE_MEASURED, look_cpu_ratio(f, t), "ratio",
            arena_printf(v->arena,
                "the thread that waits least for others is on the CPU for %d %% of the time",
                look_percent(look_cpu_ratio(f, t))));
    if (f->machine.cpu_used_cores >= 0 && f->machine.cores_allowed > 0)
        add_evidence(v, EVIDENCE_MEASURED, f->machine.cpu_used_cores, "cores",
            arena_printf(v->arena, "the program used %.2f of the %.3g cores it may use",
                f->machine.cpu_used_cores, f->machine.cores_allowed));
}

static const char *headline_start(const struct facts *f, struct arena *a)
{
    const struct facts_stage *s = look_largest(f);
    if (s && s->share_ratio >= f->unattributed_ratio)
        return arena_printf(a, "%s is %d %% of the time",
            look_subject(a, f, f->model->stages.at[s->stage].text), look_percent(s->share_ratio));
    if (f->unattributed_ratio > 0)
        return arena_printf(a, "%s is %d %% of the time", look_subject(a, f, ""),
            look_percent(f->unattributed_ratio));
    return "No stage was seen at work";
}

// Says what would decide; `finding` is a contradicted one, or NULL.
static void add_what_decides(
    const struct facts *f, struct verdict *v, const struct finding *finding)
{
    if (*f->model->damage) {
        *vec_push(&v->how) = "Record the run again: what is missing here can be anything.";
        return;
    }
    if (look_is_too_short(f))
        *vec_push(&v->how) = arena_printf(v->arena,
            "Run on more input: at least %u items and a second of steady work (now %llu items, "
            "%s).",
            LOOK_ITEMS_LEAST, (unsigned long long)f->items,
            look_duration(v->arena, (double)f->steady_ns));
    if (f->counted_by == FACTS_BY_NOTHING)
        *vec_push(&v->how) =
            "Say what an item is (--item-stage STAGE), or mark items with lm_item_end: "
            "start-up can then be told from the steady state.";
    if (f->unattributed_ratio > 0.5)
        *vec_push(&v->how) = look_hot_advice(f, v->arena);
    if (f->machine.cores_allowed <= 0)
        *vec_push(&v->how) =
            "Record again with this version: the trace does not say how many cores the "
            "program may use.";
    for (size_t i = 0; finding && i < finding->how.count; i++)
        *vec_push(&v->how) = finding->how.at[i];
    if (!v->how.count)
        *vec_push(&v->how) = "Run longer and on an otherwise idle machine, then compare two runs.";
    *vec_push(&v->will_not_help) =
        "Optimising before the limit is known: nothing here says that any one change would pay.";
}

static void take_inconclusive(const struct facts *f, struct verdict *v)
{
    const struct finding *conflict = NULL;
    for (size_t i = 0; i < v->findings.count && !conflict; i++)
        if (v->findings.at[i].second_signal < 0)
            conflict = &v->findings.at[i];
    const char *why = "but what limits the run is not clear";
    if (*f->model->damage) {
        why = "but the trace is damaged or was cut";
        conflict = NULL;
    } else if (look_is_too_short(f)) {
        why = "but the run is too short to say what limits it";
        conflict = NULL;
    } else if (look_is_crowded_out(f)) {
        why = "but other programs had the cores: what limits the run itself cannot be told";
        conflict = NULL;
    } else if (conflict) {
        why = arena_printf(
            v->arena, "but the signals for %s contradict each other", conflict->class_name);
    }
    v->class_name = "inconclusive";
    v->confidence = CONFIDENCE_INCONCLUSIVE;
    v->stage = conflict ? conflict->stage : "";
    v->headline = arena_printf(v->arena, "%s, %s", headline_start(f, v->arena), why);
    for (size_t i = 0; conflict && i < conflict->evidence.count; i++)
        *vec_push(&v->evidence) = conflict->evidence.at[i];
    if (look_is_crowded_out(f))
        add_evidence(v, EVIDENCE_MEASURED, f->machine.other_busy_cores, "cores",
            arena_printf(v->arena, "other programs used %.2f of the machine's cores meanwhile",
                f->machine.other_busy_cores));
    add_overview(f, v);
    add_faults(f, v);
    add_what_decides(f, v, conflict);
}

struct verdict *verdict_reach(const struct facts *f)
{
    struct verdict *v = heap_alloc(1, sizeof *v);
    v->arena = arena_new();
    if (!v->arena)
        heap_exhausted(1);
    detect_all(f, v);
    const struct finding *best = choose(v);
    // Start-up can be seen even in a short run, and a quota or a paced source on a busy machine.
    if (best && look_is_too_short(f) && strcmp(best->class_name, "startup") != 0)
        best = NULL;
    if (best && look_is_crowded_out(f) && best->detector->order >= RESOURCES_ORDER)
        best = NULL;
    if (best)
        take_finding(f, v, best);
    else
        take_inconclusive(f, v);
    return v;
}

void verdict_free(struct verdict **v)
{
    if (!v || !*v)
        return;
    for (size_t i = 0; i < (*v)->findings.count; i++)
        finding_fini(&(*v)->findings.at[i]);
    vec_fini(&(*v)->findings);
    vec_fini(&(*v)->evidence);
    vec_fini(&(*v)->will_not_help);
    vec_fini(&(*v)->how);
    arena_free(&(*v)->arena);
    free(*v);
    *v = NULL;
}
