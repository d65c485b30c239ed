// SPDX-License-Identifier: Apache-2.0
// The line tables of CPython's code objects: which line an instruction belongs to. They come from
// another process's memory and may hold anything. Threads: no state.
#ifndef LIGHTMETER_COLLECT_PYTHON_LINES_H
#define LIGHTMETER_COLLECT_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

enum python_lines_kind {
    PYTHON_LINES_PAIRS,  // co_lnotab, up to 3.9
    PYTHON_LINES_RANGES, // co_linetable of 3.10
    PYTHON_LINES_PLACES, // the same from 3.11 on, with columns
};

// The line of the instruction `at_bytes` into the code, whose first line is `first`. Before the
// first instruction (below 0) that one; 0: the table gives none.
int32_t python_lines_find(enum python_lines_kind kind, const uint8_t *table, size_t length_bytes,
    int32_t first, int64_t at_bytes);

#endif
