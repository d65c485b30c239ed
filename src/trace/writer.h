// SPDX-License-Identifier: Apache-2.0
// The target's side of a trace: a thread appends records to its own memory-mapped segment. Compiled
// into the preloaded library only. No locks, no allocation but mmap when a segment is full; raw
// system calls, so that interposed functions are never entered; errno is kept by the caller.
// Threads: one writer belongs to one thread.
#ifndef LIGHTMETER_TRACE_WRITER_H
#define LIGHTMETER_TRACE_WRITER_H

#include "trace/format.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

// Where segments are claimed; the same for all threads of a process image.
struct trace_place {
    char run_dir[256]; // without a final '/'
    uint32_t pid;
    uint64_t image_ticks;
    _Atomic uint32_t kept_count; // segments kept by all writers
    // The launcher's list of free segments (trace_control); NULL: none. What was tried of it, in
    // the same form.
    const volatile uint64_t *stock;
    _Atomic uint64_t tried[2];
};

#define TRACE_WRITER_KEPT 2

struct trace_writer {
    uint8_t *cursor, *limit; // both NULL: no segment
    struct trace_segment *segment;
    // Those before, the older first, to be written again when the launcher has returned them.
    struct trace_segment *kept[TRACE_WRITER_KEPT];
    uint32_t thread_seq, segment_seq, tid;
    uint32_t dropped_records;
};

// Makes the next segment current (the old one is marked full). 0, or -1 when none could be had: the
// writer then has no room and drops.
int trace_writer_advance(struct trace_writer *w, struct trace_place *place);

// Marks the current segment as closed and lets go of it, and of the one that was kept. Fine without
// any.
void trace_writer_close(struct trace_writer *w, struct trace_place *place);

// Address of `length_bytes` (a multiple of TRACE_UNIT_BYTES) to fill, or NULL when the segment is
// full. Follow with trace_writer_commit.
static inline void *trace_writer_room(struct trace_writer *w, size_t length_bytes)
{
    if (__builtin_expect((size_t)(w->limit - w->cursor) < length_bytes, 0))
        return NULL;
    return w->cursor;
}

// Publishes what was written at the address that trace_writer_room gave: a reader in another
// process sees whole records only.
static inline void trace_writer_commit_at(
    struct trace_writer *w, uint8_t *room, size_t length_bytes)
{
    w->cursor = room + length_bytes;
#if defined(__x86_64__)
    // Nobody else writes it, and stores are seen in their order: one instruction is enough.
    __asm__ volatile("addq %1, %0" : "+m"(w->segment->used_bytes) : "er"(length_bytes) : "memory");
#else
    __atomic_store_n(
        &w->segment->used_bytes, w->segment->used_bytes + length_bytes, __ATOMIC_RELEASE);
#endif
}

static inline void trace_writer_commit(struct trace_writer *w, size_t length_bytes)
{
    trace_writer_commit_at(w, w->cursor, length_bytes);
}

// Maps `length_bytes` of the file `path` (made, and its pages allocated, when `make`). NULL on
// failure; never raises SIGBUS later, since the room was allocated.
void *trace_writer_map(const char *path, size_t length_bytes, int make);

// "RUN_DIR/name" into `out`. -1 when it does not fit.
int trace_writer_path(
    char *out, size_t out_bytes, const struct trace_place *place, const char *name);

#endif
