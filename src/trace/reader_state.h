// SPDX-License-Identifier: Apache-2.0
// What the two files of the reader share. Private to reader.c and reader_damage.c.
// Nothing here is on disk. Threads: one owner.
#ifndef LIGHTMETER_TRACE_READER_STATE_H
#define LIGHTMETER_TRACE_READER_STATE_H

#include "trace/reader.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/vec.h"

struct trace_reader {
    struct buf name;
    struct file_map map; // when is_mapped
    int is_mapped;
    const uint8_t *bytes;
    size_t length_bytes;
    size_t offset_bytes; // of the next block
    uint64_t next_index;
    uint64_t last_index, last_offset_bytes; // of the block given last
    int has_summary;
    unsigned types; // bits of those that are wanted
    struct trace_file file;
    struct codec *codec;
    struct planes *planes;
    void *raw, *coded;
    size_t raw_room_bytes, coded_room_bytes;
    VEC(struct trace_damage) damage; // the first ones; their texts are owned
    uint64_t damage_more;            // beyond them
    struct buf damage_text;
};

// Records damage. `what` is a phrase. After the first 1,000 only the number grows.
void trace_reader_damage_add(struct trace_reader *r, uint64_t offset_bytes, uint64_t skipped_bytes,
    uint64_t block, const char *what);
void trace_reader_damage_clear(struct trace_reader *r);

#endif
