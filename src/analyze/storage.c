// SPDX-License-Identifier: Apache-2.0
// See storage.h. Called by detectors/io_latency.c and detectors/io_bandwidth.c. Threads: no state.
#include "analyze/storage.h"

#define COLD_RATIO 0.25
#define WARM_RATIO 0.01
#define AHEAD_RATIO 1.1 // up to here more bytes than were read are mere rounding to pages
#define PRESSURE_RATIO 0.10
#define NO_PRESSURE_RATIO 0.02

// Time of all threads blocked in I/O: in the stage's calls, whatever stage encloses them.
static uint64_t blocked_in(const struct facts *f, const char *stage)
{
    const struct facts_stage *s = facts_stage_find(f, stage);
    return s ? s->split.cause_ns[TRACE_CAUSE_IO] : 0;
}

struct storage storage_look(const struct facts *f)
{
    struct storage s = {.thread = look_limiting(f), .bytes_per_s = -1, .cold_ratio = -1};
    s.is_writing = blocked_in(f, "save") > blocked_in(f, "load");
    s.calls_word = s.is_writing ? "writes" : "reads";
    s.stage = s.is_writing ? "save" : facts_stage_find(f, "load") ? "load" : "";
    if (!s.thread)
        return s;
    s.blocked_ratio = look_ratio(f, s.thread->steady.cause_ns[TRACE_CAUSE_IO]);
    for (size_t i = 0; i < f->threads.count; i++)
        s.in_flight += look_ratio(f, f->threads.at[i].steady.cause_ns[TRACE_CAUSE_IO]);
    const struct facts_stage *stage = facts_stage_find(f, s.stage);
    if (stage) {
        s.calls = stage->calls;
        s.bytes = stage->bytes;
    }
    const struct facts_machine *m = &f->machine;
    if (s.is_writing || m->read_bytes == UINT64_MAX || f->steady_ns <= 0)
        return s;
    s.bytes_per_s = (double)m->read_bytes * 1e9 / (double)f->steady_ns;
    const double read = m->rchar_bytes != UINT64_MAX ? (double)m->rchar_bytes : (double)s.bytes;
    if (read > 0)
        s.cold_ratio = (double)m->read_bytes / read;
    return s;
}

// What the scheduler saw of the same thread: waits for storage are uninterruptible. Whether it
// agrees that most of the I/O was such.
static int confirm_scheduler(
    const struct facts *f, const struct storage *s, struct arena *a, struct finding *out)
{
    if (!s->thread->has_scheduler)
        return 0;
    const double ratio = look_ratio(f, s->thread->scheduler_ns[FACTS_SCHEDULER_DISK]);
    const int agrees = ratio >= s->blocked_ratio / 2;
    look_add(a, out,
        (struct evidence){
            .kind = EVIDENCE_MEASURED, .value = ratio, .unit = "ratio", .signal = agrees ? 2 : 0},
        "the scheduler saw it in uninterruptible sleep, as for storage, for %d %% of the time",
        look_percent(ratio));
    return agrees;
}

int storage_confirm(
    const struct facts *f, const struct storage *s, struct arena *a, struct finding *out)
{
    const int is_seen = confirm_scheduler(f, s, a, out);
    const double psi = f->machine.psi_io_ratio;
    const int is_cold = s->cold_ratio >= COLD_RATIO, is_pressed = psi >= PRESSURE_RATIO;
    const int is_warm = s->cold_ratio >= 0 && s->cold_ratio < WARM_RATIO && psi < NO_PRESSURE_RATIO;
    const int result = is_cold || is_pressed || is_seen ? 1 : is_warm ? -1 : 0;
    if (s->cold_ratio >= 0)
        look_add(a, out,
            (struct evidence){.kind = EVIDENCE_MEASURED,
                .value = s->cold_ratio,
                .unit = "ratio",
                .signal = is_cold || is_warm ? 2 : 0},
            is_warm ? "but %d %% of the bytes read came from storage (%.1f MB/s): files were in "
                      "memory, or came through a pipe or a network file system"
                    : "%d %% of the bytes read came from storage (%.1f MB/s)",
            look_percent(s->cold_ratio > 1 && s->cold_ratio < AHEAD_RATIO ? 1 : s->cold_ratio),
            s->bytes_per_s / 1e6);
    if (psi >= 0)
        look_add(a, out,
            (struct evidence){.kind = EVIDENCE_MEASURED,
                .value = psi,
                .unit = "ratio",
                .signal = is_pressed ? 2 : 0},
            "some task of the machine was stalled on I/O for %d %% of the time (PSI)",
            look_percent(psi));
    return result;
}
