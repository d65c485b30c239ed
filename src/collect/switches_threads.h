// SPDX-License-Identifier: Apache-2.0
// Sums of the time off the CPU by thread and state, and counts of who woke whom. Used by
// switches.c. Threads: one owner.
#ifndef LIGHTMETER_COLLECT_SWITCHES_THREADS_H
#define LIGHTMETER_COLLECT_SWITCHES_THREADS_H

#include "base/vec.h"
#include "collect/sample.h"

#include <stdint.h>

enum switches_state { SWITCHES_SLEEP, SWITCHES_DISK, SWITCHES_RUNNABLE, SWITCHES_STATE_COUNT };

enum switches_kind {
    SWITCHES_OUT,     // left the CPU in `state`
    SWITCHES_IN,      // came back
    SWITCHES_WAKING,  // was made runnable by the thread `other`
    SWITCHES_THREAD,  // was started, as one more of its process
    SWITCHES_PROCESS, // was started, as the first of its process
    SWITCHES_END      // ends
};

struct switches_event {
    uint64_t at_ns; // CLOCK_MONOTONIC
    uint32_t tid, other;
    enum switches_kind kind;
    enum switches_state state;
};

#define SWITCHES_WAKERS 4u // kept for each thread, those that woke it most

struct switches_thread {
    uint32_t tid; // 0: free slot
    enum switches_state state;
    int is_ended, is_told; // told: put for the last time, its wakers too
    uint64_t out_ns;       // 0: on the CPU, or never seen
    uint64_t woken_ns;     // 0: not yet
    uint64_t sum_ns[SWITCHES_STATE_COUNT];
    uint64_t put_ns[SWITCHES_STATE_COUNT]; // as last put
    struct {
        uint32_t tid, count;
    } wakers[SWITCHES_WAKERS];
};

struct switches_threads {
    struct switches_thread *at; // open addressing
    size_t slots, used, ended;
};

void switches_threads_fini(struct switches_threads *t);
void switches_threads_take(struct switches_threads *t, const struct switches_event *event);

// Puts the sums that have changed, waits that go on included; those of a thread that has ended for
// the last time, with its wakers: its number may be used again. When most have ended they are
// forgotten.
void switches_threads_put(struct switches_threads *t, uint64_t now_ns, struct sampler *into);
// The wakers of those that have not ended.
void switches_threads_put_wakers(const struct switches_threads *t, struct sampler *into);

#endif
