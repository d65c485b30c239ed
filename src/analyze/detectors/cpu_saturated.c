// SPDX-License-Identifier: Apache-2.0
// Verdict class cpu-saturated: all cores the program may use are busy with its work. First signal:
// it uses over 90 % of them (80 % when its threads wait for them that much). Second: threads wait
// for a core, by the program's own account or by the machine's, and no library pool spins beside
// its work. Threads: no state.
#include "analyze/detectors/detectors.h"
#include "analyze/look.h"

#define FULL_RATIO 0.9
#define QUEUED_FULL_RATIO 0.8
#define QUEUED_RATIO 0.15 // run-queue wait; the gaps are then those of handing over
#define RUNQ_RATIO 0.005
#define PRESSURE_RATIO 0.05
#define SPIN_RATIO 1.25

// CPU of library pools beyond what their stage lasted: they spun while nothing was there to do.
static double spin_cores(const struct facts *f)
{
    double useful_ns = 0;
    for (size_t i = 0; i < f->stages.count; i++)
        if (f->stages.at[i].library_cpu_ns)
            useful_ns += (double)f->stages.at[i].split.wall_ns * (double)f->machine.pool_threads;
    const double pool_ns = f->machine.pool_cores * (double)f->steady_ns;
    if (useful_ns <= 0 || pool_ns <= SPIN_RATIO * useful_ns)
        return 0;
    return (pool_ns - useful_ns) / (double)f->steady_ns;
}

static int is_full(const struct facts_machine *m)
{
    const int is_queued = m->runq_ratio >= QUEUED_RATIO && m->other_busy_cores >= 0 &&
                          m->other_busy_cores < 0.1 * m->cores_allowed;
    return m->cores_allowed > 0 &&
           m->cpu_used_cores >= (is_queued ? QUEUED_FULL_RATIO : FULL_RATIO) * m->cores_allowed;
}

static int detect(const struct facts *f, struct arena *a, struct finding *out)
{
    const struct facts_machine *m = &f->machine;
    const struct facts_stage *s = look_largest(f);
    if (!is_full(m))
        return 0;
    const char *stage =
        s && s->share_ratio >= f->unattributed_ratio ? f->model->stages.at[s->stage].text : "";
    const double spinning = spin_cores(f);
    out->first_signal = 1;
    out->weight_ratio = m->cpu_used_cores / m->cores_allowed;
    out->weight_ratio = out->weight_ratio > 1 ? 1 : out->weight_ratio;
    out->stage = stage;
    const int is_one = m->cores_allowed > 0.95 && m->cores_allowed < 1.05;
    out->title = arena_printf(a, "%s is %d %% of the time, and %s the program may use %s busy",
        look_subject(a, f, stage), look_percent(*stage ? s->share_ratio : f->unattributed_ratio),
        is_one ? "the one core" : arena_printf(a, "all %s", look_cores(a, m->cores_allowed)),
        is_one ? "is" : "are");
    look_add_cores(f, a, out, 1);
    if (m->runq_ratio >= 0)
        look_add(a, out,
            (struct evidence){.kind = EVIDENCE_MEASURED,
                .value = m->runq_ratio,
                .unit = "ratio",
                .signal = m->runq_ratio >= RUNQ_RATIO ? 2 : 0},
            "its threads wait %.1f %% of their time for a core", m->runq_ratio * 100);
    if (m->psi_cpu_ratio >= PRESSURE_RATIO)
        look_add(a, out,
            (struct evidence){
                .kind = EVIDENCE_MEASURED, .value = m->psi_cpu_ratio, .unit = "ratio", .signal = 2},
            "some task of the machine waited for a core %d %% of the time (PSI)",
            look_percent(m->psi_cpu_ratio));
    out->second_signal = m->runq_ratio >= RUNQ_RATIO || m->psi_cpu_ratio >= PRESSURE_RATIO;
    if (spinning > 0) {
        out->second_signal = 0;
        look_demote(out);
        look_add(a, out,
            (struct evidence){.kind = EVIDENCE_DERIVED, .value = spinning, .unit = "cores"},
            "but library pools used %.2f cores beyond the time of their stage: they spin",
            spinning);
        look_how(out, "Turn off spinning in the pool (ONNX Runtime: "
                      "session.intra_op.allow_spinning=0), then measure again.");
    }
    look_how(out, "Do less work per item: scaled decoding, smaller inputs, a lighter model, int8.");
    look_how(out, "Or give it more cores.");
    look_wont(out, "More workers or threads: the cores are taken.");
    look_wont(out, "A faster disk, deeper queues, or more overlap.");
    return 1;
}

const struct detector detector_cpu_saturated = {
    .name = "cpu_saturated",
    .help = "all allowed cores are busy with the program's work",
    .order = 85,
    .detect_fn = detect,
};
