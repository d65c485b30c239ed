// SPDX-License-Identifier: Apache-2.0
// The user's stage map: which of their own functions and libraries are stages. A YAML file,
//
//   functions:
//     decode_row: decode        # pattern of symbol names ('*', '?'): stage
//   libraries:
//     "libpreproc.so*": preprocess
//
// Read by `run` before the launch; its entries reach the preloaded library through
// collect/handover.h. Threads: no shared state.
#ifndef LIGHTMETER_COLLECT_STAGEMAP_H
#define LIGHTMETER_COLLECT_STAGEMAP_H

#include "base/err.h"
#include "base/vec.h"

#include <stddef.h>

#define STAGEMAP_ENTRIES_LIMIT 128 // as many as the library keeps
#define STAGEMAP_WORD_BYTES 200    // longest pattern or stage

struct stagemap_entry {
    char *pattern, *stage; // without blanks and control characters
    int is_library;
};

struct stagemap {
    VEC(struct stagemap_entry) entries; // in the order of the file
};

// Reads `path`. 0, or -1 with a message that names file, line and column, and *map empty.
int stagemap_read(const char *path, struct stagemap *map, struct err *e);

// The same from memory; `name` stands for the file in messages.
int stagemap_parse(
    const char *text, size_t length_bytes, const char *name, struct stagemap *map, struct err *e);

void stagemap_fini(struct stagemap *map);

#endif
