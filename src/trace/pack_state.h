// SPDX-License-Identifier: Apache-2.0
// What the files of the packed writer share. Private to trace/pack*.c. Threads: one owner.
#ifndef LIGHTMETER_TRACE_PACK_STATE_H
#define LIGHTMETER_TRACE_PACK_STATE_H

#include "base/buf.h"
#include "base/vec.h"
#include "trace/pack.h"

struct trace_pack {
    struct buf path, part_path;
    int fd;
    uint64_t file_bytes;
    struct codec *codec;
    struct planes *planes;
    int is_remembering;
    VEC(struct trace_pack_entry) entries;
};

// A block was appended as the last `length_bytes` of the file.
void pack_entry_add(struct trace_pack *p, const struct trace_block_id *id, uint64_t length_bytes);

#endif
