// SPDX-License-Identifier: Apache-2.0
// Which symbols are hooked: a table from symbol name to hook function, over all sets that are on.
// Filled once before the first scan, read-only afterwards. Used by the GOT patcher. Threads: any.
#ifndef LIGHTMETER_AGENT_SYMBOLS_H
#define LIGHTMETER_AGENT_SYMBOLS_H

#include "agent/hook.h"

// Places in the table; the hooked functions take at most half (test_hooks_symbols.py).
#define SYMBOLS_SLOTS 8192u

struct symbols_hit {
    const struct hook_function *function; // NULL: not hooked
    int set;                              // index into hook_sets
};

// Puts the functions of all sets into the table, but for those switched off.
void symbols_fill(void);

// Looks `name` up. OpenCV's versioned inline namespace in cv::dnn is left out of the comparison.
struct symbols_hit symbols_find(const char *name);

#endif
