// SPDX-License-Identifier: Apache-2.0
// Verdict class startup: most of the run passed before work was under way. First signal: the time
// to the first item, less what one item takes, is over half of the run. Second: that time is named
// by what happened in it (model loading, or nothing of the pipeline's work at all). A stage with a
// word of the program's own that came then only may be set-up or a pass over all items: it leaves
// the second signal open. Threads: no state.
#include "analyze/detectors/detectors.h"
#include "analyze/look.h"

#define FIRST_RATIO 0.5
#define NAMED_RATIO 0.5
#define UNNAMED_RATIO 0.2

// Start-up without the work on the first item itself. 0 when not known.
static double pure_ns(const struct facts *f)
{
    if (f->items < 2)
        return f->first_work_ns > 0 ? (double)f->first_work_ns : 0;
    const double item_ns = (double)(f->latency_is_gap ? f->gap.p50_ns : f->item_latency.p50_ns);
    const double ns = (double)f->startup_ns - item_ns;
    return ns > 0 ? ns : 0;
}

static void judge_second(
    const struct facts *f, struct arena *a, struct finding *out, double startup_ns)
{
    const double setup_ratio = (double)f->setup_ns / startup_ns;
    const double before_ratio = f->first_work_ns > 0 ? (double)f->first_work_ns / startup_ns : 0;
    const int is_once = setup_ratio < NAMED_RATIO && (double)f->once_ns >= NAMED_RATIO * startup_ns;
    if (is_once)
        look_add(a, out,
            (struct evidence){.kind = EVIDENCE_MEASURED, .value = (double)f->once_ns, .unit = "ns"},
            "%s of it went into what came before the first item only, most in '%s': set-up, or a "
            "pass over the whole input",
            look_duration(a, (double)f->once_ns), f->once_name);
    else if (setup_ratio >= NAMED_RATIO)
        look_add(a, out,
            (struct evidence){
                .kind = EVIDENCE_MEASURED, .value = (double)f->setup_ns, .unit = "ns", .signal = 2},
            "%s of it went into setting up (models, sessions), most in %s",
            look_duration(a, (double)f->setup_ns), f->setup_name);
    else if (before_ratio >= NAMED_RATIO)
        look_add(a, out,
            (struct evidence){.kind = EVIDENCE_MEASURED,
                .value = (double)f->first_work_ns,
                .unit = "ns",
                .signal = 2},
            "for the first %s no decoding, inference or other work of the pipeline had begun",
            look_duration(a, (double)f->first_work_ns));
    out->second_signal = !is_once && (setup_ratio >= NAMED_RATIO || before_ratio >= NAMED_RATIO);
    if (is_once || out->second_signal || setup_ratio + before_ratio > UNNAMED_RATIO ||
        f->first_work_ns < 0)
        return;
    out->second_signal = -1;
    look_add(a, out,
        (struct evidence){.kind = EVIDENCE_MEASURED,
            .value = (double)f->first_work_ns,
            .unit = "ns",
            .signal = 2},
        "but work began after %s already: the first item itself was slow, which is a warm-up",
        look_duration(a, (double)f->first_work_ns));
}

static int detect(const struct facts *f, struct arena *a, struct finding *out)
{
    const double run_ns = (double)f->model->end_ns, ns = pure_ns(f);
    if (run_ns <= 0 || ns <= FIRST_RATIO * run_ns)
        return 0;
    out->first_signal = 1;
    out->weight_ratio = ns / run_ns;
    out->title = arena_printf(a, "%d %% of the run is start-up: %s of %s before work was under way",
        look_percent(out->weight_ratio), look_duration(a, ns), look_duration(a, run_ns));
    look_add(a, out,
        (struct evidence){
            .kind = EVIDENCE_DERIVED, .value = out->weight_ratio, .unit = "ratio", .signal = 1},
        "the first item was done after %s; one item takes %s later on",
        look_duration(a, (double)(f->items < 2 ? f->first_work_ns : f->startup_ns)),
        look_duration(a, (double)f->item_latency.p50_ns));
    judge_second(f, a, out, f->items < 2 ? (double)f->model->end_ns : (double)f->startup_ns);
    if (f->agentless_ns)
        look_add(a, out,
            (struct evidence){
                .kind = EVIDENCE_MEASURED, .value = (double)f->agentless_ns, .unit = "ns"},
            "%s passed before the program's own code could be seen (loading, linking)",
            look_duration(a, (double)f->agentless_ns));
    look_how(out, "Do more items per process, or keep the process: start-up is paid once.");
    look_how(
        out, "Load less: import only what is used, open sessions once, store the optimised model.");
    look_how(out, "To judge the steady state, run on enough items that start-up is a small part.");
    look_wont(
        out, "Faster decoding, inference or more threads: they only touch the rest of the run.");
    return 1;
}

const struct detector detector_startup = {
    .name = "startup",
    .help = "most of the run passed before the first item was done",
    .order = 10,
    .detect_fn = detect,
};
