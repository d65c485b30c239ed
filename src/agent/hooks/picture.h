// SPDX-License-Identifier: Apache-2.0
// A picture that a library makes in many calls: how long it took from the first of them to the one
// that ends it, which carries that as its attribute ELAPSED and is written out by itself. What the
// caller did in between is part of it. A thread has a few pictures in progress that are followed
// (of more, those that it began last), and a set includes this once. Threads: each has its own.
#ifndef LIGHTMETER_AGENT_HOOKS_PICTURE_H
#define LIGHTMETER_AGENT_HOOKS_PICTURE_H

#include "agent/hook.h"

#define PICTURES 4

struct picture_followed {
    const void *object;    // the library's decoder; NULL: none
    uint64_t start_ticks;  // 0: none
    uint64_t pixels_ticks; // when the last call that made pixels of it was over; 0: not noted
};
static __thread struct picture_followed pictures_now[PICTURES]
    __attribute__((tls_model("initial-exec")));

static inline struct picture_followed *picture_find(const void *object)
{
    for (int i = 0; i < PICTURES; i++)
        if (object && pictures_now[i].object == object)
            return &pictures_now[i];
    return NULL;
}

// The object goes away: another picture's may be made at its address.
static inline void picture_forget(const void *object)
{
    struct picture_followed *p = picture_find(object);
    if (p)
        *p = (struct picture_followed){NULL, 0, 0};
}

// A call that may be the first one on `object`.
static inline void picture_begin(const struct hook_span *s, const void *object)
{
    const struct agent_frame *f = span_frame(s->token);
    struct picture_followed *oldest = &pictures_now[0];
    if (!f || !object || picture_find(object))
        return;
    for (int i = 1; i < PICTURES; i++)
        if (pictures_now[i].start_ticks < oldest->start_ticks)
            oldest = &pictures_now[i];
    *oldest = (struct picture_followed){object, f->start_ticks, 0};
}

// A call that begins one on `object` in any case.
static inline void picture_restart(const struct hook_span *s, const void *object)
{
    picture_forget(object);
    picture_begin(s, object);
}

// Where the end is told by a later call than the last that made pixels: such a call is over.
static inline void picture_pixels(const struct hook_span *s, const void *object)
{
    picture_begin(s, object);
    struct picture_followed *p = s->token ? picture_find(object) : NULL;
    if (p)
        p->pixels_ticks = agent_ticks();
}

static inline int picture_has_pixels(const void *object)
{
    const struct picture_followed *p = picture_find(object);
    return p && p->pixels_ticks;
}

// The call that ends it; `is_made` 0: it was given up.
static inline void picture_end(const struct hook_span *s, const void *object, int is_made)
{
    struct agent_frame *f = span_frame(s->token);
    struct picture_followed *p = picture_find(object);
    if (!p)
        return;
    const struct picture_followed ended = *p;
    picture_forget(object);
    if (!f || !is_made || f->start_ticks < ended.start_ticks)
        return;
    const uint64_t end_ticks = ended.pixels_ticks ? ended.pixels_ticks : agent_ticks();
    span_value(s->token, TRACE_ATTR_ELAPSED, agent_ns(end_ticks - ended.start_ticks));
    f->what.flags &= (uint8_t) ~(AGENT_FOLD | AGENT_FOLD_SHORT);
}

#endif
