// SPDX-License-Identifier: Apache-2.0
// What the files that fill struct facts share while they do: the window, what each name stands for,
// sums by name, samples as series. Used by facts*.c only. Threads: one owner.
#ifndef LIGHTMETER_ANALYZE_BUILD_H
#define LIGHTMETER_ANALYZE_BUILD_H

#include "analyze/facts.h"
#include "base/hist.h"

enum name_flag {
    NAME_WAIT = 1,          // of stage `wait`
    NAME_LOCK = 2,          // waits for a mutex or a read-write lock
    NAME_CALL = 4,          // a hooked call, not a mark: what it waits for inside is its own affair
    NAME_IMAGE = 8,         // a decoding call that makes one image
    NAME_SETUP = 16,        // loads a model or opens a session
    NAME_INFER = 32,        // an inference call
    NAME_RECEIVE = 64,      // of stage `receive`
    NAME_WORK = 128,        // decoding and what comes after it: neither I/O nor waiting nor set-up
    NAME_ITEM = 256,        // what items are counted at
    NAME_IMAGE_START = 512, // begins one image, for programs that never finish one
    NAME_IMAGE_END = 2048,  // one image, where it says how long that took (TRACE_ATTR_ELAPSED)
    NAME_IMAGE_PART = 8192, // of stage `decode` or `encode`, and none of these
    NAME_IMAGE_MADE = 16384, // of stage `encode`: what is not a part
    NAME_TEAM = 4096,        // a piece of a call that another thread had open: no call, no item
    NAME_OWN = 1024,         // work under a word of the program's own, which tells nothing of it
};

// What a name stands for, in one place for the walk.
struct name_info {
    unsigned flags; // enum name_flag
    uint32_t stage;
    uint64_t stage_bit; // the last of 64 is shared by all stages beyond
};

// Sums over the spans of one name in the steady window.
struct name_sum {
    uint64_t calls, bytes;
    uint64_t folded;           // calls that were folded, over the whole run
    struct facts_split split;  // all threads; its CPU follows from the rest at the end
    struct facts_split thread; // of the thread being walked
    int is_touched;            // by it
};

// Sums over the outermost spans of one stage in the steady window.
struct stage_sum {
    uint64_t calls, bytes, pixels, carried_ns; // carried_ns: own time on item-carrying threads
    struct facts_split team;                   // of pieces of its calls on other threads
    uint64_t thread_team_ns;                   // of these, on the thread being walked
    uint32_t threads;
    uint64_t thread_ns, thread_work_ns; // own time on the thread being walked; without waiting
    struct hist *latency;               // of the calls of which durations are known; NULL: none yet
    struct hist *images; // of whole pictures, once one of many calls was seen; NULL: none yet
    int has_elapsed;     // one was
    struct facts_folded folded;
    uint64_t minor_faults, major_faults;
    // An accelerator worked: for calls that waited for it, and as counters say for those that
    // queued it. After build_accel the first is the one to be told.
    uint64_t accel_work_ns, queued_work_ns;
    uint64_t bucketed_calls; // of folded.calls: their durations were written
};

// Some items were done at one moment.
struct completion {
    int64_t at_ns;
    uint64_t count;
};

// Samples of one metric and subject, in order of time: build.series[first .. first + count).
struct series {
    const struct model_sample *at;
    size_t count;
};

// Of the samples of a thread's or process's number, its own are those in [from_ns, to_ns).
struct life {
    int64_t from_ns, to_ns;
};

struct thread_stage {
    uint32_t thread, stage; // of facts.threads, model.stages
    uint64_t own_ns;
};

struct build {
    const struct model *m;
    struct facts *f;
    const struct facts_options *options;
    int64_t from_ns, to_ns;     // the steady window
    VEC(struct name_info) info; // by name
    VEC(struct name_sum) names;
    VEC(struct stage_sum) stages;
    VEC(struct thread_stage) thread_stages;
    VEC(uint32_t) touched; // names that the thread being walked has
    VEC(struct completion) completions;
    VEC(struct model_sample) series;              // by metric, subject, time
    VEC(struct life) thread_lives, process_lives; // by index in the model
};

// When a counter of a process or thread that began at start_ns was zero; -1: before what the trace
// keeps.
static inline int64_t build_zero_ns(const struct build *b, int64_t start_ns)
{
    return b->m->kept_from_ns && start_ns <= 0 ? -1 : start_ns;
}

// build.c
void build_names_classify(struct build *b);
void build_series_make(struct build *b);
struct series build_series_find(const struct build *b, enum trace_metric metric, uint32_t subject);
// lives.c: the same without the samples of others that had the number before or after.
void build_lives_make(struct build *b);
struct series build_series_of_thread(
    const struct build *b, enum trace_metric metric, const struct model_thread *t);
struct series build_series_of_process(
    const struct build *b, enum trace_metric metric, uint32_t process);
// A growing counter at a time, interpolated; before the first sample it is that one, or grows from
// 0 at `start_ns` when that is not negative. -1 when there is no sample.
double build_series_value(const struct series *s, int64_t at_ns, int64_t start_ns);
int64_t build_overlap_ns(const struct build *b, int64_t start_ns, int64_t end_ns);
// The CPU time of a split is what the rest of its wall time leaves.
void build_split_settle(struct facts_split *s);
void build_split_add(struct facts_split *into, const struct facts_split *more);
struct facts_latency build_latency(const struct hist *h);

// items.c: completions, windows, throughput, latencies of items.
void build_items(struct build *b);

// startup.c: the time before the window; after the walk, which tells what the window has.
void build_startup(struct build *b);

// walk.c: everything that needs each span, one thread at a time; fills f->threads.
void build_walk(struct build *b);

// accel.c: what accelerators did, from what the walk and counters saw.
void build_accel(struct build *b);

// thread.c: the time of a thread outside its spans.
struct walk_root {
    uint64_t gap_ns, gap_steady_ns;   // between the outermost spans
    uint64_t fold_ns, fold_steady_ns; // of folded calls in these gaps
    int64_t last_ns;                  // end of the last record
};
void build_thread_root(struct build *b, struct facts_thread *t, const struct walk_root *root);

// stages.c: who carries items; stages, names, unattributed, reconciliation.
void build_stages(struct build *b);

// lines.c: lines of Python code; after the stages.
void build_lines(struct build *b);

// queues.c, machine.c
void build_queues(struct build *b);
void build_machine(struct build *b);
void build_scheduler(struct build *b);

#endif
