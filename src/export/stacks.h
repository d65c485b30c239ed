// SPDX-License-Identifier: Apache-2.0
// The sampled stacks of a run, thread by thread in order of time, for the exporters of stacks.
// Threads: one owner.
#ifndef LIGHTMETER_EXPORT_STACKS_H
#define LIGHTMETER_EXPORT_STACKS_H

#include "base/err.h"
#include "model/model.h"

struct stacks_sample {
    const struct model_stack *stack;
    uint32_t thread; // index
    uint32_t stage;  // that was open; MODEL_NONE: none
    int64_t at_ns;
};

struct stacks {
    VEC(struct stacks_sample) samples; // by thread, then time
};

// 0; or -1 with a message: there are none.
int stacks_collect(struct stacks *s, const struct model *m, struct err *e);
void stacks_fini(struct stacks *s);

#endif
