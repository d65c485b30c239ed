// SPDX-License-Identifier: Apache-2.0
// A picture that a library makes in many calls: how long it took from the first of them to the one
// that ends it, which carries that as its attribute ELAPSED and is written out by itself. What the
// caller did in between is part of it. One picture at a time and thread is followed, and a set
// includes this once. Threads: each has its own picture_now.
#ifndef LIGHTMETER_AGENT_HOOKS_PICTURE_H
#define LIGHTMETER_AGENT_HOOKS_PICTURE_H

#include "agent/hook.h"

struct picture_followed {
    const void *object; // the library's decoder
    uint64_t start_ticks;
};
static __thread struct picture_followed picture_now __attribute__((tls_model("initial-exec")));

// A call that may be the first one on `object`.
static inline void picture_begin(const struct hook_span *s, const void *object)
{
    const struct agent_frame *f = span_frame(s->token);
    if (!f || picture_now.object == object)
        return;
    picture_now.object = object;
    picture_now.start_ticks = f->start_ticks;
}

// The call that ends it; `is_made` 0: it was given up.
static inline void picture_end(const struct hook_span *s, const void *object, int is_made)
{
    struct agent_frame *f = span_frame(s->token);
    if (!picture_now.object || picture_now.object != object)
        return;
    picture_now.object = NULL;
    if (!f || !is_made || f->start_ticks < picture_now.start_ticks)
        return;
    span_value(s->token, TRACE_ATTR_ELAPSED, agent_ns(agent_ticks() - picture_now.start_ticks));
    f->what.flags &= (uint8_t) ~(AGENT_FOLD | AGENT_FOLD_SHORT);
}

// The object goes away: another picture's may be made at its address.
static inline void picture_forget(const void *object)
{
    if (picture_now.object == object)
        picture_now.object = NULL;
}

#endif
