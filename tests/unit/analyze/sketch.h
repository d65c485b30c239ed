// SPDX-License-Identifier: Apache-2.0
// Models sketched by hand for tests of the analyses: one thread at a time, a clock that the test
// moves, calls that nest, time that was spent waiting. Keeps the model's rules (spans in the order
// of their ends, parents behind their children). Threads: one owner.
#ifndef LIGHTMETER_TESTS_ANALYZE_SKETCH_H
#define LIGHTMETER_TESTS_ANALYZE_SKETCH_H

#include "model/model.h"

#define SKETCH_MS 1000000ull

struct sketch {
    struct model *m;
    uint32_t thread;
    int64_t now_ns;
    unsigned depth;
    struct sketch_frame {
        uint32_t name, first_child;
        int64_t start_ns;
        uint64_t children_ns, off_ns, runq_ns, batch, bytes;
        enum trace_cause cause;
    } frames[16];
    uint64_t root_off_ns, root_runq_ns, cpu_ns, runq_ns;
};

// A model of one process with `cores` allowed, whose agent was up at once.
struct sketch sketch_new(double cores, double quota_cores);

// Begins a thread at the time now, and ends the one before.
void sketch_thread(struct sketch *s, uint32_t tid, const char *creator, uint64_t start_ns);
void sketch_thread_end(struct sketch *s);

// Calls. `stage` NULL: a mark of the program, whose name is its stage.
void sketch_begin(struct sketch *s, const char *name, const char *stage);
void sketch_end(struct sketch *s);
void sketch_batch(struct sketch *s, uint32_t batch);
void sketch_bytes(struct sketch *s, uint64_t bytes);

// Time passes in the innermost call, or outside all: on the CPU; blocked; waiting for a CPU.
void sketch_cpu(struct sketch *s, uint64_t ns);
void sketch_blocked(struct sketch *s, enum trace_cause cause, uint64_t ns);
void sketch_runq(struct sketch *s, uint64_t ns);

// A whole call that only computes, or only waits.
void sketch_call(struct sketch *s, const char *name, const char *stage, uint64_t cpu_ns);
void sketch_wait(struct sketch *s, const char *name, enum trace_cause cause, uint64_t ns);

void sketch_item(struct sketch *s, enum trace_item_op op, uint64_t id, uint64_t other);
void sketch_queue(struct sketch *s, const char *name, enum trace_queue_op op, uint32_t depth);
void sketch_sample(
    struct sketch *s, enum trace_metric metric, uint32_t subject, uint64_t at_ns, uint64_t value);

// A counter that grows evenly from 0 at 0 to `end` at `end_ns`, sampled every 50 ms.
void sketch_counter(
    struct sketch *s, enum trace_metric metric, uint32_t subject, uint64_t end_ns, uint64_t end);
// What the launcher saw until `end_ns`: cores used by process 100, and by other programs.
void sketch_cores(struct sketch *s, uint64_t end_ns, double own, double others);

// Ends the last thread and puts everything in order; the caller owns the model.
struct model *sketch_finish(struct sketch *s);

#endif
