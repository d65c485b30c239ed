// SPDX-License-Identifier: Apache-2.0
// For the hooks of libraries that spread one call over a team of threads (OpenMP, TBB, OpenCV): how
// large the team is becomes an attribute of the innermost open span, the call that uses it, and
// what the others of the team do of it is recorded with its stage. Costs a few loads where there is
// no span, or where its team is known already. Threads: any.
#ifndef LIGHTMETER_AGENT_TEAM_H
#define LIGHTMETER_AGENT_TEAM_H

#include "agent/hook.h"
#include "agent/names.h"

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

// ---- The work of the others. A hook keeps this while the call lasts, on the opener's stack. ----

struct team {
    const struct agent_thread *opener;
    uint32_t what; // SPAN_WHAT of the others' pieces; 0: nothing is known that they work for
};

// What the innermost span is worked for with. A piece that is short is summed up, and OpenCV's
// calls in a piece of an OpenCV call are part of it as they are on the opener's thread.
static inline struct team team_open(void)
{
    const struct agent_thread *t = agent_self;
    const struct agent_frame *f = &t->frames[t->depth];
    if (!t->depth || t->hindered)
        return (struct team){t, 0};
    const uint16_t name = names_of_team(f->what.name);
    const uint32_t flags = AGENT_FOLD_SHORT | (f->what.flags & (uint32_t)AGENT_GROUP);
    return (struct team){t, name ? SPAN_WHAT(name, TRACE_CAUSE_OTHER, flags) : 0};
}

// A thread of a pool may be asleep in it when the process ends, and what it holds back is lost: now
// and then a short piece is written by itself, which lets go of the sum of those before it.
static inline uint32_t team_piece_what(const struct team *team)
{
    const struct agent_thread *t = agent_self;
    const struct agent_fold *sum = t->folds[t->depth];
    const int is_due = t->frames[t->depth].what.fold_count &&
                       sum->last_end_ticks - sum->first_start_ticks > 10 * agent.long_ticks;
    return is_due ? team->what & ~(uint32_t)AGENT_WHAT(AGENT_FOLDED) : team->what;
}

// Around a piece, on whichever thread; the opener's own pieces are in its span. Ends by hook_end.
static inline struct hook_span team_piece_begin(const struct team *team, uintptr_t stack)
{
    if (!team->what || agent_self == team->opener)
        return (struct hook_span){0, stack};
    const uint32_t what = team_piece_what(team), token = span_begin_fast(what, stack);
    return (struct hook_span){token ? token : span_begin_slow(what, stack), stack};
}

#define TEAM_PIECE(variable, team)                                                                 \
    __attribute__((cleanup(hook_end), unused)) struct hook_span variable =                         \
        team_piece_begin(team, SPAN_STACK)

#endif
