// SPDX-License-Identifier: Apache-2.0
// Verdict class io-bandwidth: several reads (or writes) are in flight, and the pipeline still waits
// for them. The second signal would be the storage's measured ceiling; this version does not
// measure it, so that the confidence is never more than medium. Threads: no state.
#include "analyze/detectors/detectors.h"
#include "analyze/storage.h"

#define BLOCKED_RATIO 0.3
#define MANY_IN_FLIGHT 2.0

static int detect(const struct facts *f, struct arena *a, struct finding *out)
{
    const struct storage s = storage_look(f);
    if (!s.thread || s.blocked_ratio < BLOCKED_RATIO || s.in_flight < MANY_IN_FLIGHT)
        return 0;
    out->first_signal = 1;
    out->weight_ratio = s.blocked_ratio > 1 ? 1 : s.blocked_ratio;
    out->stage = s.stage;
    out->title =
        arena_printf(a, "The pipeline waits %d %% of the time for storage, with %.1f %s in flight",
            look_percent(s.blocked_ratio), s.in_flight, s.calls_word);
    look_add(a, out,
        (struct evidence){
            .kind = EVIDENCE_MEASURED, .value = s.blocked_ratio, .unit = "ratio", .signal = 1},
        "the thread that the others wait for is blocked in I/O for %d %% of the steady time",
        look_percent(s.blocked_ratio));
    look_add(a, out,
        (struct evidence){
            .kind = EVIDENCE_MEASURED, .value = s.in_flight, .unit = "count", .signal = 1},
        "%.1f %s are in flight on average", s.in_flight, s.calls_word);
    // What confirms that storage was at work does not say that it was at its limit.
    out->second_signal = storage_confirm(f, &s, a, out) < 0 ? -1 : 0;
    if (!out->second_signal)
        look_demote(out);
    look_add(a, out, (struct evidence){.kind = EVIDENCE_ESTIMATED, .value = 0, .unit = ""},
        "how much the storage can deliver was not measured: without this ceiling the verdict stays "
        "at medium confidence");
    look_how(
        out, "Measure what the storage delivers at most (fio on the same files), and compare.");
    look_how(out, s.is_writing ? "Write fewer bytes: a better codec, or fewer results."
                               : "Read fewer bytes: smaller files, a better codec, or a cache that "
                                 "fits in memory.");
    look_wont(out, s.is_writing ? "More writes in flight or more threads that save."
                                : "More reads in flight or more loader threads.");
    look_wont(out, "Faster decoding or inference.");
    return 1;
}

const struct detector detector_io_bandwidth = {
    .name = "io_bandwidth",
    .help = "storage delivers no more, although several reads are in flight",
    .order = 70,
    .detect_fn = detect,
};
