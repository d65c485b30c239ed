// SPDX-License-Identifier: Apache-2.0
// A run directory with writers in it, for the tests of the drain and of `recover`: spans numbered
// by their duration, so that a reader can tell that none is missing. Writers use the product's own
// segment writer. Not part of the product. Threads: one owner.
#ifndef LIGHTMETER_TESTS_TRACE_RUN_PLACE_H
#define LIGHTMETER_TESTS_TRACE_RUN_PLACE_H

#include "base/buf.h"
#include "trace/drain.h"
#include "trace/pack.h"
#include "trace/writer.h"

#include <stdint.h>
#include <sys/types.h>

// So many fill a segment.
#define SMALL_SPANS ((TRACE_SEGMENT_SMALL_BYTES - 64) / 16)
#define LARGE_SPANS ((TRACE_SEGMENT_LARGE_BYTES - 64) / 16)

struct run_place {
    char folder[64]; // holds all of it
    struct buf dir;  // the run directory
    char output[128];
    int dir_fd; // -1 while closed
    struct trace_clock clock;
    struct trace_pack *pack;
    struct drain *drain;
};

// Makes folder, run directory and meta.json, begins the trace and opens the drain with `options`
// (place and pack are filled in). Fails the test when anything goes wrong.
void run_place_begin(struct run_place *p, const struct drain_options *options);

// One round of the drain, or its last. Fails the test, with the message, when it cannot be.
void run_place_step(struct run_place *p);
void run_place_finish(struct run_place *p);

// Writes a summary, commits, marks and removes the run directory. The trace is at `output`.
void run_place_end(struct run_place *p);

// Lets go of drain, pack and descriptor without finishing, as a killed launcher does.
void run_place_leave(struct run_place *p);

// Removes the folder and everything in it.
void run_place_remove(struct run_place *p);

// One thread's writer.
struct numbered_writer {
    struct trace_place place;
    struct trace_writer writer;
    uint64_t next; // number of the next span
    uint64_t now_ticks;
    uint64_t lost; // spans without room
    uint64_t stock[2];
};
void numbered_writer_init(struct numbered_writer *w, const struct run_place *p, uint32_t pid,
    uint64_t image_ticks, uint32_t thread_seq);
void numbered_writer_add(struct numbered_writer *w, uint64_t spans);

// Tells the writer which free segments there are, as the launcher does after each round.
void numbered_writer_stock(struct numbered_writer *w, const struct run_place *p);

// Writes the process file of an image that defines name 1.
void process_file_write(const struct run_place *p, uint32_t pid, uint64_t image_ticks);

// What a trace holds of one thread.
struct numbered_result {
    uint64_t spans; // in order, each at most once
    uint64_t first; // number of the first
    uint64_t last;  // number of the last, plus one
    unsigned gaps;
    unsigned blocks;
    int is_cut;
};
// Reads the trace and fails the test when spans are missing, twice there or wrong, or the checker
// finds anything.
struct numbered_result numbered_read(const char *path, uint32_t pid, uint32_t thread_seq);

// The same without the checker and with gaps allowed.
struct numbered_result numbered_read_only(const char *path, uint32_t pid, uint32_t thread_seq);

// A child process that writes spans with two threads until it is killed (and stops writing after
// some millions); `written` (shared memory, two counters) is set after each span.
pid_t writer_start(const struct run_place *p, uint64_t *written);

// fork, but the child dies with the test.
pid_t process_fork(void);
uint64_t *counters_map(void); // room for 8
void process_kill(pid_t pid);
void process_wait(pid_t pid);

#endif
