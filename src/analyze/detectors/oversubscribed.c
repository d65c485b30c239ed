// SPDX-License-Identifier: Apache-2.0
// Verdict class oversubscribed: more runnable threads than cores, so that they stop each other.
// First signal: the program's own threads want more cores than it may use and wait over 15 % of the
// time for one. Second: libraries' thread pools beside the workers are what is too many. Threads:
// no state.
#include "analyze/detectors/detectors.h"
#include "analyze/look.h"

#define WANTS_RATIO 1.1
#define RUNQ_RATIO 0.15
#define RUNS_RATIO 0.1
#define STAGE_SHARE 0.05

struct crowd {
    uint32_t running; // threads that want a core for a tenth of the time or more
    double wanted_cores, runq_ratio;
};

static struct crowd count_crowd(const struct facts *f)
{
    struct crowd c = {0};
    double runq_ns = 0, wanted_ns = 0;
    for (size_t i = 0; i < f->threads.count; i++) {
        const struct facts_split *s = &f->threads.at[i].steady;
        c.running += look_wanted_ratio(f, &f->threads.at[i]) >= RUNS_RATIO;
        runq_ns += (double)s->runq_ns;
        wanted_ns += (double)(s->cpu_ns + s->runq_ns);
    }
    c.wanted_cores = f->steady_ns > 0 ? wanted_ns / (double)f->steady_ns : 0;
    c.runq_ratio = wanted_ns > 0 ? runq_ns / wanted_ns : 0;
    return c;
}

// The stage that waits the largest part of its time for a core.
static const struct facts_stage *find_stage(const struct facts *f, double *ratio)
{
    const struct facts_stage *worst = NULL;
    *ratio = 0;
    for (size_t i = 0; i < f->stages.count; i++) {
        const struct facts_stage *s = &f->stages.at[i];
        if (s->share_ratio < STAGE_SHARE || !s->split.wall_ns)
            continue;
        const double r = (double)s->split.runq_ns / (double)s->split.wall_ns;
        if (r > *ratio) {
            *ratio = r;
            worst = s;
        }
    }
    return worst;
}

static int detect(const struct facts *f, struct arena *a, struct finding *out)
{
    const double allowed = f->machine.cores_allowed;
    const struct crowd c = count_crowd(f);
    double stage_ratio;
    const struct facts_stage *stage = find_stage(f, &stage_ratio);
    // Workers alone above the number of cores cost little: that is cpu-saturated.
    if (allowed <= 0 || !f->machine.pool_threads || (double)c.running <= allowed ||
        c.wanted_cores < WANTS_RATIO * allowed)
        return 0;
    const double worst = stage_ratio > c.runq_ratio ? stage_ratio : c.runq_ratio;
    if (worst <= RUNQ_RATIO)
        return 0;
    out->first_signal = 1;
    out->weight_ratio = 1;
    out->stage = stage ? f->model->stages.at[stage->stage].text : "";
    out->title =
        arena_printf(a, "%u threads want %s: they spend %d %% of that time waiting for a core",
            c.running, look_cores(a, allowed), look_percent(c.runq_ratio));
    look_add(a, out,
        (struct evidence){.kind = EVIDENCE_MEASURED, .value = worst, .unit = "ratio", .signal = 1},
        "%s waits %d %% of its time for a core",
        stage && stage_ratio >= c.runq_ratio ? look_subject(a, f, out->stage) : "The program",
        look_percent(worst));
    look_add(a, out,
        (struct evidence){
            .kind = EVIDENCE_DERIVED, .value = c.wanted_cores, .unit = "cores", .signal = 1},
        "its threads together want %.1f cores of the %.3g there are", c.wanted_cores, allowed);
    const double threads = (double)(f->machine.pool_threads + f->item_threads);
    out->second_signal = threads > allowed;
    look_add(a, out,
        (struct evidence){.kind = EVIDENCE_MEASURED,
            .value = threads,
            .unit = "count",
            .signal = out->second_signal ? 2 : 0},
        "%u of the busy threads belong to library pools (they used %.2f cores), beside %u workers",
        f->machine.pool_threads, f->machine.pool_cores, f->item_threads);
    look_add_cores(f, a, out, 0);
    look_how(out, "Set the library's pool to the cores that the workers leave (ONNX Runtime: "
                  "intra_op_num_threads; OpenCV: cv::setNumThreads).");
    look_how(
        out, "Turn off spinning in the pool (ONNX Runtime: session.intra_op.allow_spinning=0).");
    look_wont(out, "More workers or larger pools: each would wait longer for a core.");
    return 1;
}

const struct detector detector_oversubscribed = {
    .name = "oversubscribed",
    .help = "more runnable threads than cores; they stop each other",
    .order = 40,
    .detect_fn = detect,
};
