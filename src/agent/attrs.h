// SPDX-License-Identifier: Apache-2.0
// Writes the attributes of a span that closes, before the span itself. Under the guard. Threads:
// each works on its own block.
#ifndef LIGHTMETER_AGENT_ATTRS_H
#define LIGHTMETER_AGENT_ATTRS_H

#include "agent/thread.h"

// All that the open span at `index` of the stack was given.
void attrs_write(struct agent_thread *t, const struct agent_frame *f, uint32_t index);

// One attribute of the next span or sum at `depth`.
void attrs_write_one(
    struct agent_thread *t, uint32_t depth, enum trace_attr_key key, uint32_t aux, uint64_t value);

#endif
