// SPDX-License-Identifier: Apache-2.0
// See runq.h. What is owed when the kernel has been asked is spread over as many waits as there
// were since the time before: it was theirs. More than these had room for is none of theirs (waits
// too short to be told apart), and is dropped. Allocates nothing.
#include "agent/runq.h"

static uint64_t at_most(int64_t ns, uint64_t limit_ns)
{
    if (ns <= 0)
        return 0;
    return (uint64_t)ns < limit_ns ? (uint64_t)ns : limit_ns;
}

uint64_t runq_guess(struct agent_runq *r, uint64_t off_ns)
{
    const uint64_t part_ns = at_most((int64_t)r->guess_ns, off_ns);
    r->owed_ns -= (int64_t)part_ns;
    r->room_ns += off_ns - part_ns;
    r->waits++;
    return part_ns;
}

uint64_t runq_settle(struct agent_runq *r, uint64_t off_ns, uint64_t cpu_ns, uint64_t runq_ns)
{
    const uint64_t since_ns = runq_ns > r->told_ns ? runq_ns - r->told_ns : 0;
    const int64_t waits = (int64_t)r->waits + 1;
    r->told_ns = runq_ns;
    r->owed_ns += (int64_t)since_ns;
    const uint64_t part_ns = at_most(r->owed_ns, off_ns);
    r->owed_ns -= (int64_t)part_ns;
    if (r->owed_ns > 0)
        r->owed_ns = (int64_t)at_most(r->owed_ns, r->room_ns);
    const int64_t guess_ns = ((int64_t)since_ns + r->owed_ns) / waits;
    r->guess_ns = guess_ns > 0 ? (uint64_t)guess_ns : 0;
    r->room_ns = 0;
    r->waits = 0;
    r->asked++;
    r->asked_cpu_ns = cpu_ns;
    return part_ns;
}
