// SPDX-License-Identifier: Apache-2.0
// Verdict class cpu-quota: the control group stops the program. First signal: it was throttled in
// over a tenth of its periods. Second: it uses what the quota allows, or runs more threads than
// that. Threads: no state.
#include "analyze/detectors/detectors.h"
#include "analyze/look.h"

#define THROTTLED_RATIO 0.10
#define AT_QUOTA_RATIO 0.85
#define BELOW_QUOTA_RATIO 0.5

static uint32_t count_running(const struct facts *f)
{
    uint32_t n = 0;
    for (size_t i = 0; i < f->threads.count; i++)
        n += look_wanted_ratio(f, &f->threads.at[i]) >= 0.2;
    return n;
}

static void judge_second(const struct facts *f, struct arena *a, struct finding *out)
{
    const struct facts_machine *m = &f->machine;
    if (m->quota_cores <= 0 || m->cpu_used_cores < 0)
        return;
    const uint32_t running = count_running(f);
    const double used_ratio = m->cpu_used_cores / m->quota_cores;
    if (used_ratio >= AT_QUOTA_RATIO || (double)running > m->quota_cores)
        out->second_signal = 1;
    else if (used_ratio < BELOW_QUOTA_RATIO)
        out->second_signal = -1;
    look_add(a, out,
        (struct evidence){.kind = EVIDENCE_MEASURED,
            .value = m->cpu_used_cores,
            .unit = "cores",
            .signal = out->second_signal ? 2 : 0},
        "the program used %.2f cores under a quota of %.3g, with %u %s a core", m->cpu_used_cores,
        m->quota_cores, running, running == 1 ? "thread that wants" : "threads that want");
}

static int detect(const struct facts *f, struct arena *a, struct finding *out)
{
    const struct facts_machine *m = &f->machine;
    if (m->throttled_ratio <= THROTTLED_RATIO)
        return 0;
    out->first_signal = 1;
    out->weight_ratio = m->throttled_ratio > 1 ? 1 : m->throttled_ratio;
    if (m->quota_cores > 0)
        out->title =
            arena_printf(a, "The CPU quota of %s stopped the program in %d %% of its periods",
                look_cores(a, m->quota_cores), look_percent(m->throttled_ratio));
    else
        out->title =
            arena_printf(a, "The control group stopped the program in %d %% of its periods",
                look_percent(m->throttled_ratio));
    look_add(a, out,
        (struct evidence){
            .kind = EVIDENCE_MEASURED, .value = m->throttled_ratio, .unit = "ratio", .signal = 1},
        "throttled in %d %% of the periods, for %s of thread time in all",
        look_percent(m->throttled_ratio), look_duration(a, (double)m->throttled_ns));
    judge_second(f, a, out);
    look_how(
        out, "Raise the CPU quota, or size worker and library pools to it instead of the host.");
    look_how(out, "Measure again with as many threads as the quota has whole cores.");
    look_wont(out, "More threads or workers: they use the quota up earlier in each period.");
    look_wont(out, "A host with more cores under the same quota.");
    return 1;
}

const struct detector detector_cpu_quota = {
    .name = "cpu_quota",
    .help = "the control group's CPU quota stops the program",
    .order = 20,
    .detect_fn = detect,
};
