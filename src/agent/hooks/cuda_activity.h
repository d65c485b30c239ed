// SPDX-License-Identifier: Apache-2.0
// What the hooks of hooks/cuda.c do about the accelerator's time (cupti.h), where --cuda-activity
// asks for it: a call that queues work tells CUPTI whose it is, and one that has waited for the
// device takes what was done meanwhile. Threads: any.
#ifndef LIGHTMETER_AGENT_HOOKS_CUDA_ACTIVITY_H
#define LIGHTMETER_AGENT_HOOKS_CUDA_ACTIVITY_H

#include "agent/cuda_work.h"
#include "agent/cupti.h"
#include "agent/hooks/accel_work.h"

// Before a call of the span `s` that queues work. A copy is work of the call's own stage, what a
// launch (`is_launch`) starts is work of the stage that it was made in. Whether
// cuda_activity_queued has something to do.
static inline int cuda_activity_queue(const struct hook_span *s, int is_launch)
{
    if (!cupti_is_on() || !s->token)
        return 0;
    const struct agent_thread *t = agent_self;
    const int is_inside = is_launch && s->token > 1 && t->depth == s->token;
    const struct agent_frame *f = &t->frames[t->depth - (uint32_t)is_inside];
    return cupti_push(f->what.name);
}

// A cleanup, so also where an exception passes.
static inline void cuda_activity_queued(const int *is_pushed)
{
    if (__builtin_expect(*is_pushed != 0, 0))
        cupti_pop();
}

// After a call that has waited for the device: what it worked, whoever's work that was.
static inline void cuda_activity_claim(const struct hook_span *s)
{
    if (!cupti_is_on() || !s->token)
        return;
    cupti_flush();
    accel_note_work(s, cuda_work_write());
}

#endif
