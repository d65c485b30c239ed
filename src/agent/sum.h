// SPDX-License-Identifier: Apache-2.0
// Sums of calls: of short calls of one name, and of everything once the trace is at its limit, when
// the program's own events are summed up too. Under the guard. Threads: each works on its own
// block.
#ifndef LIGHTMETER_AGENT_SUM_H
#define LIGHTMETER_AGENT_SUM_H

#include "agent/thread.h"

// The sum that a call which ends now is by itself.
struct agent_fold sum_of(const struct agent_frame *f, uint64_t now);
void sum_merge(struct agent_fold *into, const struct agent_fold *from);
void sum_write(struct agent_thread *t, const struct agent_fold *fold, uint32_t depth);

// At the limit: adds a call, items that ended, what was counted under a name; writes what has
// waited for a second.
void sum_call(struct agent_thread *t, const struct agent_frame *f, uint64_t now);
void sum_items(struct agent_thread *t, uint64_t items);
void sum_count(struct agent_thread *t, uint16_t name, int64_t delta);

// Writes all that is left.
void sum_flush(struct agent_thread *t, uint64_t now);

#endif
