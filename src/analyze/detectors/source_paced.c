// SPDX-License-Identifier: Apache-2.0
// Verdict class source-paced: items come no faster, whatever the code does. First signal: a thread
// is blocked by a clock, device, pipe or peer, and all work together leaves its threads mostly
// idle. Second: items are done at an even rate; waits of a few items only contradict. Threads: no
// state.
#include "analyze/detectors/detectors.h"
#include "analyze/look.h"

#include <string.h>

#define PACED_RATIO 0.3
#define DEMAND_RATIO 0.7
#define LOCKED_RATIO 0.2
#define EVEN_SPREAD_RATIO 0.25
#define TYPICAL_RATIO 0.5

// The thread that waits most for the outside.
static const struct facts_thread *find_source(const struct facts *f)
{
    const struct facts_thread *best = NULL;
    for (size_t i = 0; i < f->threads.count; i++) {
        const struct facts_thread *t = &f->threads.at[i];
        if (t->is_pool || look_ratio(f, t->paced_ns) < PACED_RATIO)
            continue;
        // A thread that carries items is the better witness than one that only sleeps.
        if (!best || t->carries_items > best->carries_items ||
            (t->carries_items == best->carries_items && t->paced_ns > best->paced_ns))
            best = t;
    }
    return best;
}

static double largest_demand(const struct facts *f)
{
    double most = 0;
    for (size_t i = 0; i < f->threads.count; i++) {
        const struct facts_thread *t = &f->threads.at[i];
        const double ratio = t->carries_items ? look_busy_ratio(f, t) : look_wanted_ratio(f, t);
        if (ratio > most)
            most = ratio;
    }
    return most;
}

static int is_locked(const struct facts *f)
{
    for (size_t i = 0; i < f->threads.count; i++)
        if (f->threads.at[i].carries_items &&
            look_ratio(f, f->threads.at[i].lock_ns) > LOCKED_RATIO)
            return 1;
    return 0;
}

// Whether a typical item waits. Where the median time between two items has no room for its share
// of the waiting beside its share of the work, a few items had all of it.
static int is_typical(const struct facts *f, const struct facts_thread *t, double demand)
{
    const double items = f->items > 0 ? (double)f->items : 1;
    const double work_ns = demand * (double)f->steady_ns / items;
    const double wait_ns = (double)t->paced_ns / items;
    return (double)f->gap.p50_ns >= work_ns + TYPICAL_RATIO * wait_ns;
}

static void judge_second(const struct facts *f, const struct facts_thread *t, double demand,
    struct arena *a, struct finding *out)
{
    if (f->gap_spread_ratio < 0)
        return;
    if (!is_typical(f, t, demand)) {
        out->second_signal = -1;
        look_add(a, out,
            (struct evidence){.kind = EVIDENCE_DERIVED,
                .value = (double)f->gap.p50_ns / 1e9,
                .unit = "s",
                .signal = 2},
            "but half of the items are done within %s of the one before: only a few waited",
            look_duration(a, (double)f->gap.p50_ns));
        return;
    }
    out->second_signal = f->gap_spread_ratio <= EVEN_SPREAD_RATIO;
    look_add(a, out,
        (struct evidence){.kind = EVIDENCE_MEASURED,
            .value = f->gap_spread_ratio,
            .unit = "ratio",
            .signal = out->second_signal ? 2 : 0},
        out->second_signal ? "items are done every %s, evenly (p90 - p10 is %d %% of it)"
                           : "items are done every %s, unevenly (p90 - p10 is %d %% of it)",
        look_duration(a, (double)f->gap.p50_ns), look_percent(f->gap_spread_ratio));
}

static int detect(const struct facts *f, struct arena *a, struct finding *out)
{
    const struct facts_thread *t = find_source(f);
    const double demand = largest_demand(f);
    if (!t || demand >= DEMAND_RATIO || is_locked(f))
        return 0;
    const double paced = look_ratio(f, t->paced_ns);
    out->first_signal = 1;
    out->weight_ratio = paced;
    out->stage = facts_stage_find(f, "receive") ? "receive" : "wait";
    out->title = arena_printf(a,
        "The program waits %d %% of the time for its source or a clock; work needs %d %%",
        look_percent(paced), look_percent(demand));
    look_add(a, out,
        (struct evidence){.kind = EVIDENCE_MEASURED, .value = paced, .unit = "ratio", .signal = 1},
        "a thread is blocked by a clock, device, pipe or peer for %d %% of the steady time",
        look_percent(paced));
    look_add(a, out,
        (struct evidence){.kind = EVIDENCE_DERIVED, .value = demand, .unit = "ratio", .signal = 1},
        "the busiest thread is busy for %d %% of it", look_percent(demand));
    judge_second(f, t, demand, a, out);
    if (f->throughput_per_s > 0 && demand > 0)
        look_add(a, out,
            (struct evidence){
                .kind = EVIDENCE_DERIVED, .value = f->throughput_per_s / demand, .unit = "items/s"},
            "from %.3g items/s, this code could take up to %.3g items/s before a thread is full",
            f->throughput_per_s, f->throughput_per_s / demand);
    look_how(out, "If the source is a file, take out the pacing (sleeps, real-time playback).");
    look_how(out, "If it is a camera or a stream, this is its rate: add streams, or leave it.");
    look_wont(out, "Any change to the code behind the source: faster stages would wait longer.");
    return 1;
}

const struct detector detector_source_paced = {
    .name = "source_paced",
    .help = "the source or a clock sets the rate, and the work would allow more",
    .order = 30,
    .detect_fn = detect,
};
