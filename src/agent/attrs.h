// SPDX-License-Identifier: Apache-2.0
// Writes the attributes of a span that closes, before the span itself. Under the guard. Threads:
// each works on its own block.
#ifndef LIGHTMETER_AGENT_ATTRS_H
#define LIGHTMETER_AGENT_ATTRS_H

#include "agent/thread.h"

// Room that all attributes of a span fit in.
#define ATTRS_BYTES (TRACE_ATTR_KEY_COUNT * sizeof(struct trace_attr))

// All that the open span at `index` of the stack was given, at `room`, which has ATTRS_BYTES. The
// place behind them.
uint8_t *attrs_fill(
    uint8_t *room, const struct agent_thread *t, const struct agent_frame *f, uint32_t index);

// Whether they take a look at the page faults when the span ends: not for the fast path.
static inline int attrs_have_faults(const struct agent_thread *t, const struct agent_frame *f)
{
    return f->what.attr_bits & AGENT_HAS_VALUES &&
           t->values[f - t->frames].bits & 1u << (TRACE_ATTR_FAULTS - TRACE_ATTR_FILE);
}

// The same into the trace. ATTRS_BYTES must be reserved.
void attrs_write(struct agent_thread *t, const struct agent_frame *f, uint32_t index);

// One attribute of the next span or sum at `depth`.
void attrs_write_one(
    struct agent_thread *t, uint32_t depth, enum trace_attr_key key, uint32_t aux, uint64_t value);

#endif
