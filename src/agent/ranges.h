// SPDX-License-Identifier: Apache-2.0
// Ranges that the program opens and closes itself (NVTX, ITT), as spans on the span stack or as
// items. Each domain nests by itself, so ranges of two domains may overlap: then the one that goes
// on is recorded in two parts. Called by the bridges, on any thread, also in signal handlers. No
// locks, no allocation. Keeps errno.
#ifndef LIGHTMETER_AGENT_RANGES_H
#define LIGHTMETER_AGENT_RANGES_H

#include "agent/range_names.h"
#include "agent/span.h"

// Opens a range on the calling thread, and ends the innermost one of the domain. `stack`:
// SPAN_STACK of the bridge's function.
void range_push(uint16_t domain, const struct range_name *name);
void range_pop(uint16_t domain, uintptr_t stack);

// A range that is ended by its id, on whatever thread. It is a span of the thread that began it, as
// long as that thread ends it too; a name that once ended elsewhere is a counter of the ranges in
// flight from then on. 0: nothing will be recorded of it.
uint64_t range_start(uint16_t domain, const struct range_name *name);
void range_end(uint64_t id, uintptr_t stack);

// Something happened at once: an item when the name is one, else nothing.
void range_mark(const struct range_name *name);

// Bytes that the innermost open range of the domain worked on.
void range_bytes(uint16_t domain, uint64_t n);

#endif
