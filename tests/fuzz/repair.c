// SPDX-License-Identifier: Apache-2.0
// See repair.h. Threads: no state.
#include "repair.h"

#include "trace/format.h"
#include "trace/hash.h"

#include <string.h>

void repair_trace(uint8_t *bytes, size_t length_bytes)
{
    const struct trace_file file = {.magic = TRACE_FILE_MAGIC, .version = TRACE_FILE_VERSION};
    size_t at = sizeof file;
    if (length_bytes < sizeof file)
        return;
    memcpy(bytes, &file, sizeof file);
    while (length_bytes - at >= sizeof(struct trace_block)) {
        struct trace_block h;
        memcpy(&h, bytes + at, sizeof h);
        const size_t left_bytes = length_bytes - at - sizeof h;
        h.magic = TRACE_BLOCK_MAGIC;
        if (h.stored_bytes > left_bytes)
            h.stored_bytes = (uint32_t)left_bytes;
        // Small contents only: the limit itself is the business of a unit test.
        h.raw_bytes &= (1u << 20) - 1;
        h.payload_hash = trace_hash(bytes + at + sizeof h, h.stored_bytes);
        h.header_hash = trace_hash(&h, offsetof(struct trace_block, header_hash));
        memcpy(bytes + at, &h, sizeof h);
        at += sizeof h + h.stored_bytes;
    }
}
