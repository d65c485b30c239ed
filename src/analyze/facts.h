// SPDX-License-Identifier: Apache-2.0
// What was measured or derived from one run, in numbers: windows, items, stages with their cost
// split, occupancy, queues, latencies, reconciliation, the machine's state. Filled by facts_new from
// a model; read by the detectors and the report. Everything that could not be measured says so.
// Threads: read-only after facts_new.
#ifndef LIGHTMETER_ANALYZE_FACTS_H
#define LIGHTMETER_ANALYZE_FACTS_H

#include "base/vec.h"
#include "model/model.h"

#include <stdint.h>

// A share of wall time by what the thread did in it. The parts add up to wall_ns.
struct facts_split {
    uint64_t wall_ns;
    uint64_t cpu_ns, runq_ns;
    uint64_t cause_ns[TRACE_CAUSE_COUNT]; // blocked, by cause
};

struct facts_latency {
    uint64_t p50_ns, p90_ns, p95_ns, p99_ns, max_ns; // of one call or one item
    uint64_t n;
    int p90_is_valid, p95_is_valid, p99_is_valid; // enough samples (stats_tail_is_valid)
};

// One stage in the steady window.
struct facts_stage {
    uint32_t stage; // index into model.stages
    uint64_t calls;
    uint64_t items;           // items it handled, where known, else the run's item count
    struct facts_split split; // own time of its spans, all threads together
    double share_ratio;       // of the wall time of the item-carrying threads in the steady window
    uint32_t threads;         // that spent own time in it
    double occupancy_ratio;   // own time / (threads x steady)
    uint64_t bytes, pixels;
    struct facts_latency latency; // of its outermost calls
    uint64_t library_cpu_ns;  // CPU of pool threads that worked for it (ONNX Runtime's, OpenCV's), where known
};

struct facts_thread {
    uint32_t thread;          // index into model.threads
    struct facts_split whole; // its wall time, in and out of spans, over its life
    struct facts_split steady; // the same within the steady window
    uint64_t stages_ns;       // own time of all stages over its life
    uint64_t unattributed_ns; // the rest of whole.wall_ns
    int64_t residual_ns;      // wall - stages - unattributed as measured independently; 0 is right
    int carries_items;
};

struct facts_queue {
    uint32_t name;
    uint64_t puts, gets;
    double mean_depth;
    uint32_t max_depth;
    double occupancy_ratio; // share of steady time with at least one element
};

struct facts_machine {
    double cores_allowed;      // by affinity and quota
    double quota_cores;        // 0: none
    double cpu_used_cores;     // mean CPU of the run's processes in the steady window; <0: not known
    double throttled_ratio;    // throttled periods / periods; <0: not known
    uint64_t throttled_ns;
    double runq_ratio;         // run-queue wait / (wall of threads that ran), steady; <0: not known
    double steal_ratio;        // <0: not known
    double psi_cpu_ratio, psi_io_ratio, psi_memory_ratio; // some-stall share; <0: not known
    uint64_t read_bytes, rchar_bytes; // of the run's processes; UINT64_MAX: not known
    uint64_t minor_faults, major_faults; // UINT64_MAX: not known
    double other_busy_cores;   // CPU of the machine not used by the run; <0: not known
};

enum facts_counted_by {
    FACTS_BY_NOTHING = 0,
    FACTS_BY_ITEM_STAGE, // --item-stage
    FACTS_BY_MARKS,      // lm_item_end
    FACTS_BY_INFERENCE,  // inference calls x batch
    FACTS_BY_DECODES,    // decode calls
};

struct facts_options {
    const char *item_stage; // NULL: the rule marks, inference, decodes
};

struct facts {
    const struct model *model;
    // Windows: [0, startup_ns), steady of steady_ns, then teardown_ns to the end of the run.
    int64_t startup_ns, steady_ns, teardown_ns;
    uint64_t items;
    enum facts_counted_by counted_by;
    const char *item_stage; // the stage or name items were counted at; "" for marks
    double throughput_per_s; // steady: (items - 1) / steady; 0 with fewer than two items
    struct facts_latency item_latency; // marks only, else between completions (see latency_is_gap)
    int latency_is_gap;
    VEC(struct facts_stage) stages;  // by own time, largest first
    VEC(struct facts_thread) threads;
    VEC(struct facts_queue) queues;
    struct facts_split unattributed; // of item-carrying threads, steady
    double unattributed_ratio;
    uint32_t item_threads; // item-carrying threads
    uint64_t sum_ns, wall_ns; // over all threads: stages + unattributed, and wall
    double residual_ratio;    // |wall - sum| / wall
    double overhead_ratio;    // estimate of our own cost in the target: spans x cost per span / wall
    uint64_t dropped_records;
    struct facts_machine machine;
};

// Never NULL. Borrows the model, which must outlive it.
struct facts *facts_new(const struct model *m, const struct facts_options *options);
void facts_free(struct facts **f);

// The stage's facts, or NULL when it took no time.
const struct facts_stage *facts_stage_find(const struct facts *f, const char *stage);

#endif
