// SPDX-License-Identifier: Apache-2.0
// Reads a packed trace block by block, verifies it, and goes on behind damage where it can. Used by
// the model, the checker, the dump and `recover`. Does not look into records (trace/records.h).
// Distrusts its input: lengths are checked, memory is bounded by TRACE_BLOCK_RAW_LIMIT_BYTES.
// Threads: one owner.
#ifndef LIGHTMETER_TRACE_READER_H
#define LIGHTMETER_TRACE_READER_H

#include "base/err.h"
#include "trace/format.h"
#include "trace/pack.h"

#include <stddef.h>
#include <stdint.h>

struct trace_reader;

// Maps `path`. NULL with a message: missing, empty, not a trace, of a version or with a feature
// that this build does not know (the message says which, and what to do).
struct trace_reader *trace_reader_open(const char *path, struct err *e);

// The same for a trace in memory, which must outlive the reader; `name` is for messages.
struct trace_reader *trace_reader_open_bytes(
    const void *bytes, size_t length_bytes, const char *name, struct err *e);

void trace_reader_close(struct trace_reader **r); // accepts NULL

// One block. Pointers are valid until the next call on the reader.
struct trace_block_view {
    struct trace_block_id id;
    const uint8_t *bytes;  // decoded, aligned to 16
    size_t length_bytes;   // of them
    uint64_t index;        // number of the block in the file, from 0, damaged ones included
    uint64_t offset_bytes; // of its header in the file
    const uint8_t *stored; // its header and stored bytes as they lie in the file
    size_t stored_bytes;   // of both
    enum trace_block_coding coding;
};

// The next intact block of a known type. 1, or 0 at the end. Damage on the way is recorded, and the
// search goes on at the next intact header.
int trace_reader_next(struct trace_reader *r, struct trace_block_view *block);

// Begins again with the first block; damage found so far is forgotten.
void trace_reader_rewind(struct trace_reader *r);

// From here on only blocks of these types are verified and given; the others are passed over
// without being decoded. `types` has the bits 1u << enum trace_block_type; ~0u, as at first: all.
void trace_reader_select(struct trace_reader *r, unsigned types);

// What was found wrong so far. `text` is a whole sentence that names file, byte and block.
struct trace_damage {
    uint64_t offset_bytes;  // where it begins
    uint64_t skipped_bytes; // until reading went on (or to the end)
    uint64_t block;         // index of the damaged block
    const char *text;       // owned by the reader
};
size_t trace_reader_damage_count(const struct trace_reader *r);
struct trace_damage trace_reader_damage(const struct trace_reader *r, size_t index);

// Records what a consumer found wrong inside the block that trace_reader_next gave last, so that
// all damage is told in one place: `what` is a phrase ("a record of unknown kind 77").
void trace_reader_report(struct trace_reader *r, size_t offset_in_block_bytes, const char *what);

// After the end: whether the trace has no SUMMARY block (the launcher was killed, or the file cut).
int trace_reader_is_cut(const struct trace_reader *r);

// "" or all damage and the cut in one paragraph for people; owned by the reader.
const char *trace_reader_damage_text(struct trace_reader *r);

// The file header, and the file's length.
const struct trace_file *trace_reader_file(const struct trace_reader *r);
uint64_t trace_reader_file_bytes(const struct trace_reader *r);

#endif
