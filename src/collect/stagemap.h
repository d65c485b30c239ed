// SPDX-License-Identifier: Apache-2.0
// The user's stage map: which of their own functions and libraries are stages. A YAML file,
//
//   functions:
//     decode_row: decode        # pattern of symbol names ('*', '?'): stage
//   libraries:
//     "libpreproc.so*": preprocess
//   ranges:
//     "ocr:detect*": infer      # pattern of "domain:name" or name, of NVTX and ITT: stage
//     "frame #": item           # one item each; a number in a name is '#'
//     "aten::*": ignore         # part of what is around it
//
// Read by `run` before the launch; its entries reach the preloaded library through
// collect/handover.h. Threads: no shared state.
#ifndef LIGHTMETER_COLLECT_STAGEMAP_H
#define LIGHTMETER_COLLECT_STAGEMAP_H

#include "base/err.h"
#include "base/vec.h"

#include <stddef.h>

#define STAGEMAP_ENTRIES_LIMIT 128 // as many as the library keeps, of ranges and of the others
#define STAGEMAP_WORD_BYTES 200    // longest pattern or stage

struct stagemap_entry {
    char *pattern, *stage;    // without blanks (but in patterns of ranges) and control characters
    int is_library, is_range; // neither: a function
};

struct stagemap {
    VEC(struct stagemap_entry) entries; // in the order of the file
    size_t range_count;
};

// Reads `path`. 0, or -1 with a message that names file, line and column, and *map empty.
int stagemap_read(const char *path, struct stagemap *map, struct err *e);

// The same from memory; `name` stands for the file in messages.
int stagemap_parse(
    const char *text, size_t length_bytes, const char *name, struct stagemap *map, struct err *e);

void stagemap_fini(struct stagemap *map);

#endif
