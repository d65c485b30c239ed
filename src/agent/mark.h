// SPDX-License-Identifier: Apache-2.0
// Records outside the span stack, for whoever has them from the program itself: the marks and the
// bridges. Threads: any; no locks, no allocation; nothing is written while recording is off.
#ifndef LIGHTMETER_AGENT_MARK_H
#define LIGHTMETER_AGENT_MARK_H

#include <stdint.h>

// An item begins and ends.
void mark_item_begin(uint64_t id);
void mark_item_end(uint64_t id);

// The counter of the name (names_intern) changes by `delta`.
void mark_delta(uint16_t name, int64_t delta);

#endif
