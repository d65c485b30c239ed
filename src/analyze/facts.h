// SPDX-License-Identifier: Apache-2.0
// What was measured or derived from one run, in numbers: windows, items, stages with their cost
// split, occupancy, queues, latencies, reconciliation, the machine's state. Filled by facts_new
// from a model; read by the detectors and the report. Everything that could not be measured says
// so. Threads: read-only after facts_new.
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

// Short calls that were summed up as they came: of one call, only the mean and the longest are
// known.
struct facts_folded {
    uint64_t calls;
    uint64_t own_ns; // of all of them, what they called excluded
    uint64_t max_ns; // the longest call, what it called included; 0: not known
};

// One name ("cv::imread") in the steady window, all threads together; own time only.
struct facts_name {
    uint32_t name; // index into model.names
    uint64_t calls;
    struct facts_split split;
    uint64_t bytes;
};

// One stage in the steady window.
struct facts_stage {
    uint32_t stage;           // index into model.stages
    uint64_t calls;           // outermost ones that ended in the window
    uint64_t items;           // items it handled, where known, else the run's item count
    struct facts_split split; // own time of its spans, all threads together; without `team`
    struct facts_split team;  // of pieces of its calls that other threads did meanwhile
    double share_ratio;       // of the wall time of the item-carrying threads in the steady window
    uint32_t threads;         // that spent own time in it, team excepted
    double occupancy_ratio;   // own time / (threads x steady)
    uint64_t bytes, pixels;
    // Page faults of its outermost calls, where it was worth to count them (calls of a name that
    // took a millisecond before).
    uint64_t minor_faults, major_faults;
    uint64_t accel_work_ns;       // an accelerator worked for it, see facts_accel
    struct facts_latency latency; // of its outermost calls that were recorded one by one
    int is_of_images; // no: of whole pictures, from the first of their many calls to the last
    struct facts_folded folded; // its other outermost calls
    uint64_t library_cpu_ns; // CPU of pool threads that worked for it (ONNX Runtime's, OpenCV's):
                             // of `team`, and of threads without any an estimate
};

// Why the scheduler saw a thread leave the CPU.
enum facts_scheduler {
    FACTS_SCHEDULER_SLEEP,    // asleep
    FACTS_SCHEDULER_DISK,     // in uninterruptible sleep: storage, mostly
    FACTS_SCHEDULER_RUNNABLE, // pushed off, or woken and not yet back
    FACTS_SCHEDULER_COUNT
};

struct facts_thread {
    uint32_t thread;           // index into model.threads
    struct facts_split whole;  // its wall time, in and out of spans, over its life
    struct facts_split steady; // the same within the steady window
    uint64_t stages_ns;        // own time of all stages over its life
    uint64_t unattributed_ns;  // between the outermost spans, as measured independently of them
    int64_t residual_ns;       // wall - stages - unattributed; 0 is right
    int carries_items;
    int is_pool;             // made by a library for its own work (ONNX Runtime's, OpenCV's, ...)
    uint64_t kernel_cpu_ns;  // CPU over its life as the kernel counts it; UINT64_MAX: not known
    int64_t cpu_residual_ns; // kernel_cpu_ns - whole.cpu_ns; 0 when not known
    struct facts_split unattributed; // steady, outside all spans
    uint32_t stage;                  // that it worked in most, steady; MODEL_NONE: none
    uint64_t stage_ns;               // own time in it, calls that only wait excepted
    uint64_t work_ns;                // steady own time of all stages, calls that only wait excepted
    uint64_t team_ns;                // part of work_ns: pieces of calls of other threads
    uint64_t idle_ns;  // steady, blocked until another thread acts: queues, joins, locks
    uint64_t lock_ns;  // part of idle_ns: for a mutex or a read-write lock
    uint64_t paced_ns; // steady, blocked by a clock, a device, a pipe or a peer
    int has_scheduler; // the scheduler's events tell of it
    uint64_t scheduler_ns[FACTS_SCHEDULER_COUNT]; // steady
    uint64_t wakings;                             // over its life
    uint32_t waker_tid, waker_count; // the thread that woke it most; count 0: not known
};

// Steady time in which it waited neither for other threads nor for its source or a clock.
static inline uint64_t facts_busy_ns(const struct facts_thread *t)
{
    const uint64_t waiting_ns = t->idle_ns + t->paced_ns;
    return t->steady.wall_ns > waiting_ns ? t->steady.wall_ns - waiting_ns : 0;
}

struct facts_queue {
    uint32_t name;
    uint64_t puts, gets;
    double mean_depth;
    uint32_t max_depth;
    double occupancy_ratio; // share of steady time with at least one element
};

// A line of the program's own Python code, as samples of the stacks of threads with items saw it in
// the steady window.
struct facts_line {
    const struct model_place *place;
    uint32_t stage;      // that was open; MODEL_NONE: none
    const char *meaning; // then: the stage that it is, by those before and after it; "" not known
    uint64_t samples;
    double wall_ns, share_ratio; // of the steady time of these threads, an estimate by the samples
};

struct facts_machine {
    double cores_allowed;   // by affinity and quota
    double quota_cores;     // 0: none
    double cpu_used_cores;  // mean CPU of the run's processes in the steady window; <0: not known
    double throttled_ratio; // throttled periods / periods; <0: not known
    uint64_t throttled_ns;
    double runq_ratio;  // run-queue wait / (wall of threads that ran), steady; <0: not known
    double steal_ratio; // <0: not known
    double psi_cpu_ratio, psi_io_ratio, psi_memory_ratio; // some-stall share; <0: not known
    uint64_t read_bytes, rchar_bytes;    // of the run's processes; UINT64_MAX: not known
    uint64_t minor_faults, major_faults; // UINT64_MAX: not known
    double other_busy_cores;             // CPU of the machine not used by the run; <0: not known
    int cpu_is_sampled; // cpu_used_cores was seen from outside, else summed up from the threads
    double runnable_threads; // mean on the machine, when sampled; <0: not known
    uint32_t pool_threads;   // of libraries, that used CPU in the steady window
    double pool_cores;       // mean CPU of these
};

// Of files that were opened for reading in the steady window, as far as it is known how much of
// their beginning was in memory then.
struct facts_files {
    uint64_t looked_at, in_memory; // in_memory: wholly
};

// How long accelerators worked for the program in the steady window. Work at once is added up.
struct facts_accel {
    uint64_t work_ns; // 0: none, or not known
    int is_by_stage;  // each stage's is what it queued, else what its calls waited for
    // Of the busiest device, seen from outside (other programs' work is in it).
    double busy_ratio;              // mean; <0: not known
    uint64_t used_bytes, has_bytes; // at the most; 0: not known
};

enum facts_counted_by {
    FACTS_BY_NOTHING = 0,
    FACTS_BY_ITEM_STAGE, // --item-stage
    FACTS_BY_MARKS,      // lm_item_end
    FACTS_BY_INFERENCE,  // inference calls x batch
    FACTS_BY_DECODES,    // decode calls
};

struct facts_options {
    const char *item_stage; // a stage or a call; NULL: as the run's META says, else marks, ...
};

struct facts {
    const struct model *model;
    // Windows: [0, startup_ns), steady of steady_ns, then teardown_ns to the end of the run.
    int64_t startup_ns, steady_ns, teardown_ns;
    uint64_t items;
    enum facts_counted_by counted_by;
    const char *item_stage;     // the stage or name items were counted at; "" for marks
    uint64_t item_folded_calls; // there, that were folded: when each was done is not known
    int folded_are_items;       // 0: they were left out, as the stage has better ones to count
    double throughput_per_s; // steady: items after the first completion / steady; 0 below two items
    // Marks only, else between completions (see latency_is_gap), unless too many of them are of
    // folded calls.
    struct facts_latency item_latency;
    int latency_is_gap;
    struct facts_latency gap; // time between completions
    double gap_spread_ratio;  // (p90 - p10) / p50 of it; <0: fewer than ten
    int64_t first_work_ns;    // the first decoding, preprocessing, inference, ... began; -1: none
    uint64_t setup_ns;        // of startup, in calls that load models or open sessions
    const char *setup_name;   // the longest of these, ""
    uint64_t once_ns;      // of startup, in stages of the program's own words that came then only
    const char *once_name; // the longest of these, ""
    uint64_t agentless_ns; // of startup, before the first agent was up: the loader, static set-up
    VEC(struct facts_stage) stages; // by own time, largest first; `wait` last
    VEC(struct facts_name) names;   // by own time, largest first
    VEC(struct facts_thread) threads;
    VEC(struct facts_queue) queues;
    VEC(struct facts_line) lines; // by time, largest first
    uint64_t line_samples;
    // That ran most when its thread was in no call that waits, of all threads and of those outside
    // of all stages; the share is of all such samples. place NULL: no samples.
    struct facts_line busiest, busiest_other;
    struct facts_split unattributed; // of item-carrying threads, steady
    double unattributed_ratio;
    uint32_t item_threads;     // item-carrying threads
    uint64_t sum_ns, wall_ns;  // over all threads: stages + unattributed, and wall
    double residual_ratio;     // |wall - sum| / wall
    double cpu_residual_ratio; // |kernel's CPU - ours| / wall of the threads where it is known; <0:
                               // none
    double scheduler_residual_ratio; // |the scheduler's waiting - ours| / wall of the threads where
                                     // it is known; <0: none
    int split_is_measured;           // 0: no process could tell CPU from waiting
    double overhead_ratio; // estimate of our own cost in the target: spans x cost per span / wall
    uint64_t dropped_records;
    struct facts_machine machine;
    struct facts_files files;
    struct facts_accel accel;
};

// Never NULL. Borrows the model, which must outlive it. Of META it reads "host": {"cores_allowed",
// "quota_cores"} and "options": {"item_stage"}, each of which may be missing.
struct facts *facts_new(const struct model *m, const struct facts_options *options);
void facts_free(struct facts **f);

// The stage's facts, or NULL when it took no time.
const struct facts_stage *facts_stage_find(const struct facts *f, const char *stage);

#endif
