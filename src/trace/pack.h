// SPDX-License-Identifier: Apache-2.0
// Writes a packed trace (`*.lmt`): a file header, then compressed, checksummed blocks. Blocks go
// straight to `PATH.part-PID` beside the final name, each with one write, so that a killed launcher
// leaves whole blocks; commit renames. Used by the launcher, the drain and `recover`.
// Does not look into the run directory. Threads: one owner.
#ifndef LIGHTMETER_TRACE_PACK_H
#define LIGHTMETER_TRACE_PACK_H

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

// Appends one block; JSON text or records, by type. On failure (disk full: says so) nothing of the
// block stays in the file and the packer can be used again. At most TRACE_BLOCK_RAW_LIMIT_BYTES.
// Empty content writes nothing and succeeds.
int trace_pack_block(struct trace_pack *p, const struct trace_block_id *id, const void *bytes,
    size_t length_bytes, struct err *e);

// Appends a block that is packed already (header and stored bytes, verified by a reader).
int trace_pack_copy(
    struct trace_pack *p, const void *block_bytes, size_t length_bytes, struct err *e);

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
