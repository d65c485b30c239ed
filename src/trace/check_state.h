// SPDX-License-Identifier: Apache-2.0
// The state of a whole-trace check, shared by its two files. Private to check.c and check_record.c.
// Nothing here is on disk. Threads: one owner.
#ifndef LIGHTMETER_TRACE_CHECK_STATE_H
#define LIGHTMETER_TRACE_CHECK_STATE_H

#include "trace/check.h"
#include "trace/reader.h"
#include "trace/records.h"

#include "base/vec.h"

// A span or FOLD that has ended, and what it lies in has not.
struct check_part {
    uint64_t start_ticks, end_ticks;
    uint8_t depth, is_fold;
};

struct check_thread {
    uint32_t pid, thread_seq;
    uint64_t image_ticks;
    uint32_t segment_seq, next_part;
    uint64_t last_ticks;
    uint64_t seen_records;
    int is_ended;
    int has_gap;                  // records were dropped: parts may lack what they lie in
    VEC(struct check_part) parts; // in the order of their records
};

struct check_image {
    uint32_t pid;
    uint64_t image_ticks;
    int has_process;
    uint64_t used[1024], defined[1024]; // bit per name id
};

struct check {
    struct trace_check *out;
    const struct trace_block_view *block; // the one looked at; NULL behind the last
    size_t offset_bytes;                  // of the record looked at
    int has_summary;
    int is_tail; // what came before some moment was not kept: threads begin anywhere
    VEC(struct check_thread) threads;
    VEC(struct check_image) images;
};

// A finding; printf format, one sentence without its end.
void check_find(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Checks one record. `t` is NULL in a block of samples.
void check_record(struct check *c, struct check_thread *t, struct check_image *image,
    const struct trace_record *r);

// Forgets what binds later records to earlier ones.
void check_thread_forget(struct check_thread *t);

// Whether it is of the thread in whose segment it stands: as a process ends, one thread writes the
// ends of those that live on.
static inline int check_is_own(const struct check *c, const struct trace_thread *r)
{
    return r->op != TRACE_THREAD_END || r->tid == c->block->id.tid;
}

struct check_image *check_image_get(struct check *c, uint32_t pid, uint64_t image_ticks);

#endif
