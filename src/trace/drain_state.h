// SPDX-License-Identifier: Apache-2.0
// What the files of the drain share: what is known of processes and threads, and the last look into
// the directory. Private to the files of that name. Threads: one owner.
#ifndef LIGHTMETER_TRACE_DRAIN_STATE_H
#define LIGHTMETER_TRACE_DRAIN_STATE_H

#include "trace/drain.h"
#include "trace/names.h"

#include "base/vec.h"

#include <dirent.h>

// A thread's place in its series of segments.
struct drain_thread {
    uint32_t pid, thread_seq;
    uint64_t image_ticks;
    uint32_t next_seq;     // the segment that is packed next, or that is being packed
    uint32_t next_part;    // of it
    uint64_t packed_bytes; // of its records, in parts so far
    uint64_t last_ticks;   // the latest time in its records so far
    int has_records;
    int is_stopped;       // this round: an earlier segment is not complete yet
    int is_closed;        // its last segment is packed
    unsigned away_rounds; // since it had segments in the directory
};

struct drain_process {
    uint32_t pid;
    uint64_t image_ticks;
    uint64_t packed_text_bytes, packed_hash, packed_mono_ns;
    uint64_t ended_ticks; // when that was found; 0: it was not
    int is_packed, is_end_packed;
    int is_ended;         // it is gone for certain: its open segments are complete
    int is_exec;          // it said that it calls exec
    int is_here;          // this round: it has segments in the directory
    int is_removed;       // its file was, being packed to the end
    unsigned away_rounds; // since it had segments, or its file, in the directory
};

enum { DRAIN_SMALL, DRAIN_LARGE, DRAIN_CLASS_COUNT };

// The free files of one length.
struct drain_class {
    uint32_t length_bytes;
    uint32_t slots;       // bit N: free-BYTES-N is there
    uint32_t stocked;     // the same when the last round ended
    unsigned want;        // slots to keep filled
    unsigned calm_rounds; // since the demand last reached `want`
    unsigned spare_count; // files kept aside as new-N
    uint32_t spares[16];  // their numbers
};

struct drain {
    struct drain_options options;
    struct drain_stats stats;
    DIR *dir;
    VEC(struct trace_name) segments, processes_seen; // this round's look, sorted
    VEC(struct drain_thread) threads;                // sorted
    VEC(struct drain_process) processes;             // sorted
    struct drain_class classes[DRAIN_CLASS_COUNT];
    uint32_t next_new; // number for the next new-N
    uint64_t budget_bytes, used_budget_bytes;
    uint64_t clock_due_ns, clock_step_ns;
    int is_final;
    uint8_t *room; // for the records of a segment or a process file
    size_t room_bytes;
};

// drain.c
struct drain_thread *drain_thread_get(
    struct drain *d, uint32_t pid, uint64_t image_ticks, uint32_t thread_seq);
struct drain_process *drain_process_get(struct drain *d, uint32_t pid, uint64_t image_ticks);
// A buffer of the drain, aligned to 16; ends the process when memory is out.
uint8_t *drain_room_get(struct drain *d, size_t length_bytes);
// Reads up to `length_bytes` at `offset`; how many were there.
size_t drain_read(int fd, void *out, size_t length_bytes, size_t offset_bytes);
// Opens a regular file of the directory by its name; never a link. -1 when that cannot be.
int drain_file_open(struct drain *d, const struct trace_name *name, size_t *file_bytes);

// drain_forget.c: gives up what is known of threads and processes that are over and packed, a few
// rounds after the last of their files. Called with this round's names; not in the final one.
void drain_forget(struct drain *d);

// drain_pack.c: 0, or -1 with a message when the trace cannot be written.
int drain_segment_pack(struct drain *d, const struct trace_name *name, struct err *e);
int drain_process_pack(struct drain *d, const struct trace_name *name, struct err *e);

// drain_wait.c: the call that a killed process was in, told by the header of a thread's last
// segment (open as `fd`), behind its records. 0, or -1 with a message when the trace cannot be
// written.
int drain_wait_pack(struct drain *d, struct drain_thread *t, int fd, struct err *e);

// drain_pool.c
void drain_pool_init(struct drain *d);
void drain_pool_see(struct drain *d, const struct trace_name *name);
void drain_pool_stock(struct drain *d);
// Gives the segment file `name` (open for writing as `fd`) back to the pool, or removes it.
void drain_pool_recycle(struct drain *d, const struct trace_name *name, int fd, size_t file_bytes);

#endif
