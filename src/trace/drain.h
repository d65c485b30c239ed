// SPDX-License-Identifier: Apache-2.0
// Empties a run directory into a packed trace: while the run goes on (full segments are packed and
// their files recycled; long-lived open ones are packed in parts), at its end, and after a crash.
// Used by the launcher's loop and by `recover`. Trusts nothing in the directory: no link is
// followed, no length believed, no file mapped. Threads: one owner; one drain per directory
// (locked).
#ifndef LIGHTMETER_TRACE_DRAIN_H
#define LIGHTMETER_TRACE_DRAIN_H

#include "base/err.h"
#include "trace/meta.h"
#include "trace/pack.h"

#include <stdint.h>

struct drain;

struct drain_options {
    const char *dir;                 // path of the run directory, for messages
    int dir_fd;                      // from rundir_open (which locks it); borrowed
    struct trace_pack *pack;         // borrowed; META is written by the caller beforehand
    const struct trace_clock *clock; // borrowed; NULL: no calibration pairs are added on the way
    uint64_t dir_limit_bytes;        // the pool is not stocked beyond this much in all; 0: 256 MiB
    uint64_t trace_limit_bytes;      // segments beyond it are counted and discarded; 0: no limit
    uint32_t open_part_bytes; // an open segment is packed once it holds so much more; 0: 256 KiB
    int is_pool_stocked;      // keep free files ready for the target
    int is_read_only;         // recover: touch nothing in the directory
};

// So far; for the SUMMARY and for messages.
struct drain_stats {
    uint64_t spans;   // SPAN, SPAN_LONG and FOLD records packed
    uint64_t records; // of any kind, from segments
    uint64_t raw_bytes, stored_bytes;
    uint64_t segments;         // packed to their end
    uint64_t threads;          // that had records
    uint64_t processes;        // with a process file
    uint64_t recycled;         // segment files given back to the pool
    uint64_t discarded_bytes;  // raw; beyond trace_limit_bytes
    uint64_t damaged_segments; // a header that cannot be right; what could be was packed
    uint64_t pool_bytes;       // in free files now
    uint64_t dir_bytes;        // in all segment files now
};

// NULL with a message. Options are copied, what they point to is not.
struct drain *drain_open(const struct drain_options *options, struct err *e);

// Tells that segments which the part file already holds are packed (recover): one call per SEGMENT
// block, in file order.
void drain_seen(struct drain *d, const struct trace_block_id *id, uint64_t raw_bytes);

// One round: packs what is ready, stopping after about `budget_bytes` of raw records (0: no limit),
// recycles, stocks the pool. 1: more is ready now; 0: done for now; -1 with a message when the
// trace cannot be written: everything not packed stays in the directory, and a later round tries
// again.
int drain_step(struct drain *d, uint64_t budget_bytes, struct err *e);

// The images of `pid` that began up to a moment are over: later ones may be those of another
// process.
struct drain_ended {
    uint32_t pid;
    uint64_t until_ticks;
};

// The launcher saw that these are gone: their open segments may be packed and recycled. Looks into
// the directory first, for images not seen so far.
void drain_processes_ended(struct drain *d, const struct drain_ended *ended, size_t count);

// Packs all that is left, open segments included, up to what their threads had written.
int drain_finish(struct drain *d, struct err *e);

// Whether more of the segment that the block, which was packed, is a part of may come.
int drain_segment_is_open(const struct drain *d, const struct trace_block_id *id);

// Whether the process image, which has been seen, is known to have ended.
int drain_image_is_ended(const struct drain *d, uint32_t pid, uint64_t image_ticks);

// Which free segments of the small (large) length there were at the last round's end: bit N for
// number N.
uint32_t drain_stock(const struct drain *d, int is_large);

const struct drain_stats *drain_stats_get(const struct drain *d);

// Ends draining; the directory stays as it is. Accepts NULL.
void drain_close(struct drain **d);

#endif
