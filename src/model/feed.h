// SPDX-License-Identifier: Apache-2.0
// Turns the records of one thread, block by block, into spans with parents and own times. The hot
// path of loading: no allocation per span, two clock conversions. Records are distrusted: whatever
// they say, spans of a thread nest, own times are never negative, and every index is in bounds.
// Used by the loader, and by tests with records made by hand. Threads: one owner.
#ifndef LIGHTMETER_MODEL_FEED_H
#define LIGHTMETER_MODEL_FEED_H

#include "model/load_process.h"
#include "model/model.h"
#include "trace/records.h"
#include "trace/ticks.h"

#include <stddef.h>
#include <stdint.h>

// A span that has ended and whose parent has not.
struct feed_open {
    int64_t start_ns, end_ns;
    uint64_t total_ns; // that a parent does not own: its duration, or a fold's calls with theirs
    uint32_t span;
    uint8_t depth, is_fold;
};

// Numbers of splits and attributes that wait for the next span of their depth; MODEL_NONE: none.
struct feed_side {
    uint32_t split_at[256], attrs_at[256];
};

struct feed {
    struct model *m;
    struct load_process *process;
    const struct ticks_scale *scale;
    uint32_t thread;  // index in model.threads
    int64_t first_ns; // the earliest start so far
    int64_t last_ns;  // the latest end so far
    int64_t root_ns;  // the latest end of a span at depth 0
    int64_t fold_ns;  // the latest end of a fold
    VEC(struct feed_open) open;
    struct feed_side *side;            // NULL: nothing waits
    uint32_t side_count, side_deepest; // how many wait, and how deep
    uint32_t root_split;               // whose until_ns is not final; MODEL_NONE: none
    int start_seen;
};

void feed_init(struct feed *f, struct model *m, struct load_process *process,
    const struct ticks_scale *scale, uint32_t thread);
void feed_fini(struct feed *f);

// Takes the next records of the thread; `records` aligned to 8. 0, or -1 when one is not whole or
// of an unknown kind (*fault_offset_bytes: where); what came before it is in the model.
int feed_records(
    struct feed *f, const void *records, size_t length_bytes, size_t *fault_offset_bytes);

// After the last records. The thread's own times then add up.
void feed_end(struct feed *f);

// ---- Between feed.c and feed_side.c. ---------------------------------------------------------

// Nanoseconds of the run, within a range in which sums cannot overflow.
#define FEED_LIMIT_NS ((int64_t)1 << 61)
static inline int64_t feed_ns(const struct feed *f, uint64_t ticks)
{
    int64_t at_ns = ticks_scale_ns(f->scale, ticks);
    return at_ns < 0 ? 0 : at_ns > FEED_LIMIT_NS ? FEED_LIMIT_NS : at_ns;
}

// Lets go of `side` when nothing waits: it is longer than all else that is known of a short thread.
void feed_side_rest(struct feed *f);

// Everything that is not a span or a fold.
void feed_side_record(struct feed *f, const struct trace_record *r);

// Forgets what waits for a span of this depth and for deeper ones.
void feed_side_forget(struct feed *f, unsigned depth);

// Whether the moment is before those that the trace keeps (model.kept_from_ns).
static inline int feed_is_before(const struct feed *f, uint64_t ticks)
{
    return __builtin_expect(f->m->kept_from_ns != 0, 0) &&
           (int64_t)(ticks - f->scale->origin_ticks) <= 0;
}

// Gives the span what waits for its depth, and forgets what waits for deeper ones.
void feed_side_take(struct feed *f, struct model_span *span);

// Gives a fold the durations that wait for its depth.
void feed_side_take_durations(struct feed *f, struct model_span *fold);

// The attributes of a span, made when it has none.
struct model_attrs *feed_attrs_of(struct feed *f, struct model_span *span);

// Cuts a split to the own time it lies in.
void feed_split_limit(struct model_split *split, uint64_t self_ns);

#endif
