// SPDX-License-Identifier: Apache-2.0
// How much of a wait the thread spent waiting for a CPU. The kernel tells a thread's sum so far,
// for 2 us; a program that waits often would pay more for the question than for all else. So a
// thread that works little between its waits asks after some of them only: the others are charged
// what the waits before them took on average, and the next answer settles the difference. Sums over
// a thread are the kernel's, then; single waits below RUNQ_LONG_NS are approximate. Used by the
// span stack. Threads: each its own.
#ifndef LIGHTMETER_AGENT_RUNQ_H
#define LIGHTMETER_AGENT_RUNQ_H

#include <stdint.h>

// Where the kernel is always asked: after so long a wait, so many waits of a thread, so much work.
#define RUNQ_LONG_NS 10000000u
#define RUNQ_FIRST 32u
#define RUNQ_WORK_NS 3000000u

struct agent_runq {
    uint64_t told_ns;      // as last told, and what was seen since; UINT64_MAX: not told here
    uint64_t asked_cpu_ns; // the thread's CPU time when it asked last
    uint64_t guess_ns;     // for a wait without asking
    uint64_t room_ns;      // that such waits had besides, since it asked last
    int64_t owed_ns;       // what was told and not yet charged; negative: charged beforehand
    uint32_t waits;        // since it asked last
    uint32_t asked;        // how often
};

// Whether the thread asks after a wait of `off_ns`, with `cpu_ns` of CPU time so far.
static inline int runq_is_due(const struct agent_runq *r, uint64_t off_ns, uint64_t cpu_ns)
{
    return r->asked < RUNQ_FIRST || off_ns >= RUNQ_LONG_NS ||
           cpu_ns - r->asked_cpu_ns >= RUNQ_WORK_NS;
}

// The part of a wait of `off_ns`, of which the kernel is not asked.
uint64_t runq_guess(struct agent_runq *r, uint64_t off_ns);

// The same where it told `runq_ns` for the thread so far.
uint64_t runq_settle(struct agent_runq *r, uint64_t off_ns, uint64_t cpu_ns, uint64_t runq_ns);

#endif
