// SPDX-License-Identifier: Apache-2.0
// The free switch test: whether this thread was switched out since we last looked. Chosen once per
// thread when its block is opened. Used by the span stack only. Threads: acts on the calling
// thread.
#ifndef LIGHTMETER_AGENT_SPLIT_H
#define LIGHTMETER_AGENT_SPLIT_H

#include "agent/thread.h"

// Decides the method of this process: rseq where glibc registered an area, else the CPU clock.
enum trace_split_method split_choose(void);

// Points t->switch_word at what tells of a switch and starts from a fresh sync.
void split_start(struct agent_thread *t);

// Whether the thread was switched out since the last sync, or may have been.
int split_is_switched(const struct agent_thread *t);

// Makes the test ready again after a switch was seen.
void split_arm(struct agent_thread *t);

// Lets the fast path run, or sends every boundary to the slow one.
void split_allow_fast(struct agent_thread *t, int is_allowed);

// Reads how often the calling thread gave up the CPU by itself (waited) so far, and how many of its
// page faults were read from a file or from swap.
uint64_t split_voluntary_switches(uint64_t *major_faults);

// Page faults of the calling thread so far; both 0 when they are not known.
void split_faults(uint64_t *minor, uint32_t *major);

#endif
