// SPDX-License-Identifier: Apache-2.0
// What the two files of the dump share. Private to dump.c and dump_record.c.
// Nothing here is on disk. Threads: one owner.
#ifndef LIGHTMETER_TRACE_DUMP_STATE_H
#define LIGHTMETER_TRACE_DUMP_STATE_H

#include "trace/dump.h"
#include "trace/reader.h"
#include "trace/records.h"
#include "trace/ticks.h"

#include "base/buf.h"
#include "base/vec.h"

struct dump_name {
    uint32_t pid;
    uint64_t image_ticks;
    uint16_t id;
    char *text; // owned
};

struct dump {
    struct trace_dump_options options;
    struct trace_reader *reader;
    int has_scale;
    struct ticks_scale scale;
    VEC(struct dump_name) names; // sorted by image and id
    struct buf out;              // not given to the callback yet
    trace_dump_fn write_fn;
    void *context;
    int is_stopped; // by the callback
};

// Appends one line for a record of the block `id`.
void dump_record_add(struct dump *d, const struct trace_block_id *id, const struct trace_record *r);

// Appends text of the trace with control characters and quotes escaped, in quotes.
void dump_quoted_add(struct buf *out, const char *text, size_t length_bytes);

// The name of an id, or NULL.
const char *dump_name_find(const struct dump *d, const struct trace_block_id *id, uint16_t name);

#endif
