// SPDX-License-Identifier: Apache-2.0
// For the hooks of libraries that spread one call over a team of threads (OpenMP, TBB, OpenCV): how
// large the team is becomes an attribute of the innermost open span, the call that uses it. Costs a
// few loads where there is no span, or where its team is known already. Threads: any.
#ifndef LIGHTMETER_AGENT_TEAM_H
#define LIGHTMETER_AGENT_TEAM_H

#include "agent/span.h"

// The token of the innermost span where it works and its team is not known; 0: there is none.
static inline uint32_t team_wanted(void)
{
    const struct agent_thread *t = agent_self;
    const uint32_t token = t->depth;
    const struct agent_frame *f = &t->frames[token];
    const uint32_t known = 1u << (TRACE_ATTR_THREADS - TRACE_ATTR_FILE);
    if (!token || t->hindered || f->what.cause == TRACE_CAUSE_LOCK ||
        (f->what.attr_bits & AGENT_HAS_VALUES && t->values[token].bits & known))
        return 0;
    return token;
}

// The innermost span works with so many threads (0: not known). Its blocked time, if nothing is
// known of it, is then the wait for them. Of a mark, which may hold much else, that is not said.
static inline void team_note(uint32_t token, int threads)
{
    struct agent_frame *f = span_frame(token);
    if (!f || threads <= 0)
        return;
    span_value(token, TRACE_ATTR_THREADS, (uint64_t)threads);
    if (threads > 1 && f->what.cause == TRACE_CAUSE_OTHER && !(f->what.flags & AGENT_MARK))
        f->what.cause = TRACE_CAUSE_LOCK;
}

#endif
