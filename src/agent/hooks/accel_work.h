// SPDX-License-Identifier: Apache-2.0
// The time that an accelerator worked, as an attribute of the call that ended with it. Used by the
// hook sets of OpenCL and CUDA. Threads: any.
#ifndef LIGHTMETER_AGENT_HOOKS_ACCEL_WORK_H
#define LIGHTMETER_AGENT_HOOKS_ACCEL_WORK_H

#include "agent/hook.h"

// The span is then never folded.
static inline void accel_note_work(const struct hook_span *s, uint64_t work_ns)
{
    struct agent_frame *f = work_ns ? span_frame(s->token) : NULL;
    if (!f)
        return;
    f->what.flags &= (uint8_t) ~(AGENT_FOLD | AGENT_FOLD_SHORT);
    span_value(s->token, TRACE_ATTR_ACCEL, work_ns);
}

#endif
