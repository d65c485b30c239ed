// SPDX-License-Identifier: Apache-2.0
// Writes a packed trace (`*.lmt`): a file header, then compressed, checksummed blocks. Blocks go
// straight to `PATH.part-PID` beside the final name, each with one write, so that a killed launcher
// leaves whole blocks; commit renames. Used by the launcher, the drain and `recover`.
// Does not look into the run directory. Threads: one owner.
#ifndef LIGHTMETER_TRACE_PACK_H
#define LIGHTMETER_TRACE_PACK_H

#include "base/buf.h"
#include "base/err.h"
#include "trace/format.h"

#include <stddef.h>
#include <stdint.h>

struct trace_pack;

// What a block holds and whose it is. Fields that do not apply are 0.
struct trace_block_id {
    enum trace_block_type type;
    uint32_t pid, tid;
    uint64_t image_ticks;
    uint32_t thread_seq, segment_seq, part;
};

// Begins a trace that will be `path`. NULL with a message (folder missing, not writable, full).
// `created_unix_ns`: CLOCK_REALTIME of the run's start.
struct trace_pack *trace_pack_create(const char *path, uint64_t created_unix_ns, struct err *e);

// The same for `recover`: the part file gets the name `part_path`, in the folder of `path`; what a
// recovery that was killed left there is written over.
struct trace_pack *trace_pack_create_over(
    const char *path, const char *part_path, uint64_t created_unix_ns, struct err *e);

// Appends the name that trace_pack_create of the process `pid` gives the part file of `path`,
// unless there is such a file.
void trace_pack_part_name(const char *path, uint32_t pid, struct buf *out);

// Appends one block; JSON text or records, by type. On failure (disk full: says so) nothing of the
// block stays in the file and the packer can be used again. At most TRACE_BLOCK_RAW_LIMIT_BYTES.
// Empty content writes nothing and succeeds.
int trace_pack_block(struct trace_pack *p, const struct trace_block_id *id, const void *bytes,
    size_t length_bytes, struct err *e);

// Appends a block that is packed already (header and stored bytes, verified by a reader).
int trace_pack_copy(
    struct trace_pack *p, const void *block_bytes, size_t length_bytes, struct err *e);

// ---- For a trace of which only the last part is kept. ----

// A block of the file being written.
struct trace_pack_entry {
    struct trace_block_id id;
    uint64_t offset_bytes, length_bytes; // its header included
    uint64_t appended_ns;                // CLOCK_MONOTONIC
    int is_kept;                         // for trace_pack_rewrite
};

// What is behind the part file's name in that of the new file; after a crash it may be left.
#define TRACE_PACK_NEW ".new"

// From here on the packer remembers where its blocks lie. Called before the first block.
void trace_pack_remember(struct trace_pack *p);

// The blocks so far, in the order of the file; valid until the next block.
struct trace_pack_entry *trace_pack_entries(struct trace_pack *p, size_t *count);

// Writes the blocks whose is_kept is set to a new file, which takes the place of the part file at
// once: at every moment one of the two is whole. Needs room for what is kept. On failure (-1 with a
// message) the part file is as it was.
int trace_pack_rewrite(struct trace_pack *p, struct err *e);

// The file being written, the name it will get, and its length so far.
const char *trace_pack_part_path(const struct trace_pack *p);
const char *trace_pack_path(const struct trace_pack *p);
uint64_t trace_pack_file_bytes(const struct trace_pack *p);

// Makes it durable and gives it its final name, replacing a file that is there. Consumes *p. On
// failure the part file stays, and the message names it.
int trace_pack_commit(struct trace_pack **p, struct err *e);

// Closes and leaves the part file (for `recover`) / removes it. Both accept NULL.
void trace_pack_leave(struct trace_pack **p);
void trace_pack_abort(struct trace_pack **p);

#endif
