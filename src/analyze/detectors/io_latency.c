// SPDX-License-Identifier: Apache-2.0
// Verdict class io-latency: the pipeline waits for reads (or writes), few at a time. First signal:
// the thread that holds the others up is blocked in I/O, with less than two in flight on average.
// Second: the kernel says that bytes came from storage, or that tasks were stalled on it. Threads:
// no state.
#include "analyze/detectors/detectors.h"
#include "analyze/storage.h"

#define BLOCKED_RATIO 0.3
#define FEW_IN_FLIGHT 2.0
#define LARGE_BYTES (1u << 20)

static void advise(const struct storage *s, struct finding *out)
{
    if (s->is_writing) {
        look_how(out, "Write behind: hand results to another thread, and go on with the next.");
        look_how(out, "Write and sync less often: several items at once, or without a sync each.");
        look_wont(out, "Faster decoding or inference: the time goes when they are done.");
        return;
    }
    look_how(out, "Read ahead: load the next files in another thread while this one is worked on.");
    look_how(out, "Keep several reads in flight, or store many small files as one large one.");
    look_wont(out, "Faster decoding or inference: the time goes before they can begin.");
    look_wont(out, "Measuring again at once: the files are in memory then, and the wait is gone.");
}

static int detect(const struct facts *f, struct arena *a, struct finding *out)
{
    const struct storage s = storage_look(f);
    if (!s.thread || s.blocked_ratio < BLOCKED_RATIO || s.in_flight >= FEW_IN_FLIGHT)
        return 0;
    out->first_signal = 1;
    out->weight_ratio = s.blocked_ratio > 1 ? 1 : s.blocked_ratio;
    out->stage = s.stage;
    out->title = arena_printf(a, "The pipeline waits %d %% of the time for %s, about %s at a time",
        look_percent(s.blocked_ratio), s.calls_word, s.in_flight < 1.5 ? "one" : "two");
    look_add(a, out,
        (struct evidence){
            .kind = EVIDENCE_MEASURED, .value = s.blocked_ratio, .unit = "ratio", .signal = 1},
        "the thread that the others wait for is blocked in I/O for %d %% of the steady time",
        look_percent(s.blocked_ratio));
    look_add(a, out,
        (struct evidence){
            .kind = EVIDENCE_MEASURED, .value = s.in_flight, .unit = "count", .signal = 1},
        "%.1f %s are in flight on average", s.in_flight, s.calls_word);
    out->second_signal = storage_confirm(f, &s, a, out);
    if (s.calls && s.bytes / s.calls >= LARGE_BYTES && out->second_signal > 0) {
        out->second_signal = 0;
        look_demote(out);
        look_add(a, out,
            (struct evidence){
                .kind = EVIDENCE_DERIVED, .value = (double)(s.bytes / s.calls), .unit = "bytes"},
            "but %s are large (%.1f MB each): the storage may be at its limit instead; its "
            "ceiling was not measured",
            s.calls_word, (double)(s.bytes / s.calls) / 1e6);
    }
    advise(&s, out);
    return 1;
}

const struct detector detector_io_latency = {
    .name = "io_latency",
    .help = "the pipeline waits for reads or writes, one or few at a time",
    .order = 60,
    .detect_fn = detect,
};
