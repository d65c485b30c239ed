// SPDX-License-Identifier: Apache-2.0
// A run in memory: processes, threads, spans, items, queues, samples. Filled from a trace by
// model/load.h, later by importers; read by the analyses, the report and the exporters, which do
// not change it. Times are nanoseconds since the start of the run (the launch of the target).
// Threads: read-only after loading.
#ifndef LIGHTMETER_MODEL_MODEL_H
#define LIGHTMETER_MODEL_MODEL_H

#include "base/arena.h"
#include "base/json.h"
#include "base/vec.h"
#include "trace/format.h" // enum trace_cause, enum trace_metric

#include <stdint.h>

#define MODEL_NONE UINT32_MAX

// What was called: "cv::imread", stage "decode". `name` and `stage` ids index model.names/.stages.
struct model_name {
    const char *text;
    uint32_t stage;
    enum trace_cause cause; // what off-CPU time in it is spent on, when not measured otherwise
    int is_wait;            // it only waits: of stage `wait`, or such a call within another stage
    int is_team;            // a piece of a call that another thread had open: no call of its own
};

struct model_stage {
    const char *text; // "load", "decode", ..., or the user's name
    int is_known;     // one of the product's own stage words
};

// Time off the CPU in the own time of a span (or of many folded calls).
struct model_split {
    uint64_t off_ns;  // wall minus CPU
    uint64_t runq_ns; // part of off_ns
    uint32_t switches;
    enum trace_cause cause; // of off_ns - runq_ns
};

struct model_attrs {
    uint64_t bytes;
    uint32_t width_px, height_px, channels, batch; // 0: not known
    uint32_t source_width_px, source_height_px;
    uint32_t scale_num, scale_den; // of a scaled decode; 0: not known
    uint64_t item;
    uint64_t max_ns; // of a fold: the longest single call; 0 otherwise
    uint32_t values; // 1 + the first in thread.values of the other attributes; 0: none
    int has_item;
    int is_open; // it had not returned when its process was killed, which is where it ends here
};

// An attribute from TRACE_ATTR_FILE on.
struct model_value {
    uint64_t value;
    uint32_t aux;
    uint32_t next; // 1 + the next one of the same span; 0: none
    enum trace_attr_key key;
};

// One interval. Spans of a thread are ordered by end; a parent comes after its children.
struct model_span {
    int64_t start_ns;
    uint64_t dur_ns;  // children included; for a fold: first start to last end
    uint64_t self_ns; // children excluded: the own time; for a fold: the calls' own time together
    uint32_t name;
    uint32_t calls;  // 1; more for folded calls
    uint32_t split;  // index into thread.splits, or MODEL_NONE: all on the CPU
    uint32_t attrs;  // index into thread.attrs, or MODEL_NONE
    uint32_t parent; // index into thread.spans, or MODEL_NONE
    uint8_t depth;
    uint8_t is_fold;
};

struct model_thread {
    uint32_t process; // index
    uint32_t tid;
    const char *label;        // thread name, "" when not known
    const char *creator;      // library that created it ("libonnxruntime.so.1"), "" when not known
    int64_t start_ns, end_ns; // seen from .. to; the thread's wall time
    int start_is_exact;       // its beginning was seen
    int end_is_exact;
    uint64_t cpu_ns;        // whole life, from the kernel; UINT64_MAX: not known
    uint64_t runq_ns;       // whole life; UINT64_MAX: not known
    uint64_t start_cpu_ns;  // of cpu_ns: used before start_ns
    uint64_t start_runq_ns; // of runq_ns: waited before start_ns
    VEC(struct model_span) spans;
    VEC(struct model_split) splits;
    VEC(struct model_attrs) attrs;
    VEC(struct model_value) values;
    // Outside all spans: off-CPU time (cause OTHER) of the thread's root, as it was found.
    VEC(struct model_root_split {
        int64_t until_ns;
        struct model_split split;
    })
    root_splits;
    uint64_t dropped_records;
};

struct model_process {
    uint32_t pid, parent_pid;
    const char *command;                // "" when not known
    int64_t start_ns, agent_ns, end_ns; // process start, agent up, end (last seen)
    int has_agent;                      // spans could be recorded in it
    int end_is_exact;
    enum trace_split_method split_method;
    uint64_t dropped_records, dropped_threads;
};

struct model_item_event {
    int64_t at_ns;
    uint64_t id, other;
    uint32_t thread;
    enum trace_item_op op;
};

struct model_queue_event {
    int64_t at_ns;
    uint32_t name; // of the queue, index into names
    uint32_t depth;
    uint32_t thread;
    enum trace_queue_op op;
};

struct model_counter_event {
    int64_t at_ns;
    int64_t delta;
    uint32_t name;
    uint32_t thread;
};

struct model_sample {
    int64_t at_ns;
    uint64_t value;
    uint32_t subject; // pid, tid or 0
    enum trace_metric metric;
};

// A frame of Python code: where a thread was. `line` 0: not known.
struct model_place {
    const char *function, *file;
    uint32_t line;
};

// A stack of them, outermost first: places.at[first .. first + count - 1].
struct model_stack {
    uint32_t number; // that samples of TRACE_METRIC_PYTHON_STACK have as value
    uint32_t first, count;
};

struct model_coverage {
    const char *library; // "libjpeg.so.62"
    const char *hooks;   // the hook set: "libjpeg"
    const char *status;  // covered | uninstrumented | absent
    const char *why;
    uint32_t process;
};

struct model {
    struct arena *arena;  // owns every string
    struct json *meta;    // the run's META block (command, host, options, ...); may be NULL
    struct json *summary; // NULL when the trace was cut
    int64_t end_ns;       // of the run
    int64_t kept_from_ns; // what came before this moment of the run was not kept (--keep-last), and
                          // times count from here; 0: all was kept
    uint64_t span_count;
    const char *damage; // "" or what was wrong with the trace, for the report
    VEC(struct model_name) names;
    VEC(struct model_stage) stages;
    VEC(struct model_process) processes;
    VEC(struct model_thread) threads;
    VEC(struct model_item_event) items;     // ordered by time
    VEC(struct model_queue_event) queues;   // ordered by time
    VEC(struct model_counter_event) counts; // ordered by time
    VEC(struct model_sample) samples;       // ordered by time
    VEC(struct model_place) places;
    VEC(struct model_stack) stacks; // ordered by number
    VEC(struct model_coverage) coverage;
    VEC(const char *) notes;
    struct model_index *index; // finds names and stages by text; private to model.c
};

// Never NULL: running out of memory ends the process. model_free accepts NULL.
struct model *model_new(void);
void model_free(struct model **m);

// The index of a stage or name, added when new. Strings are copied.
uint32_t model_stage_id(struct model *m, const char *text);
uint32_t model_name_id(
    struct model *m, const char *text, const char *stage, enum trace_cause cause);

// The name that stands for the waiting call `wait` within the stage `stage`.
uint32_t model_name_within(struct model *m, uint32_t wait, uint32_t stage);

// The stack of that number; NULL: there is none.
const struct model_stack *model_stack_find(const struct model *m, uint64_t number);

// The name of the innermost span that the thread had open at a time; MODEL_NONE: none. `next` is 0
// at first, and kept for a later time of the same thread.
uint32_t model_name_at(const struct model_thread *t, int64_t at_ns, size_t *next);

// "detect.py:41"; of a library's file with its folder, "json/decoder.py:355".
const char *model_place_text(struct arena *a, const struct model_place *p);

// The stage words of the product, ended by NULL.
extern const char *const model_stage_words[];

// Adds a thread of `process` with all "not known" values set. The index.
uint32_t model_thread_add(struct model *m, uint32_t process, uint32_t tid);

// The words for values of attributes ("bilinear", "f32"); "other" and "unknown" for others.
const char *model_filter_text(enum trace_filter filter);
const char *model_dtype_text(enum trace_dtype dtype);

// The attribute of that key of a span, or NULL.
const struct model_value *model_value_find(
    const struct model_thread *t, const struct model_span *s, enum trace_attr_key key);

// Puts events and samples into the order of time (stable), and sets end_ns to cover everything.
void model_finish(struct model *m);

#endif
