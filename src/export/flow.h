// SPDX-License-Identifier: Apache-2.0
// Which spans worked on which item, so that a viewer can draw an item's way through threads and
// batches. A span belongs to an item when it says so itself (its attribute), when the thread had
// begun to use the item before the span began, or when the item is the only one that was taken up
// directly within the span. Spans inside such a span add nothing. A span on a batch belongs to all
// its members. Used by the exporters. Threads: one owner.
#ifndef LIGHTMETER_EXPORT_FLOW_H
#define LIGHTMETER_EXPORT_FLOW_H

#include "model/model.h"

#include <stdint.h>

struct flow_step {
    uint64_t flow; // one item from its beginning to its end; an id that begins again is another one
    int64_t at_ns; // the start of the span
    uint32_t thread, span;
    uint8_t is_first, is_last; // of the flow, by time
};

struct flow {
    VEC(struct flow_step) steps; // by thread, then span
};

void flow_init(struct flow *f, const struct model *m);
void flow_fini(struct flow *f);

// The steps of one span: the first of *count, or NULL.
const struct flow_step *flow_steps_of(
    const struct flow *f, uint32_t thread, uint32_t span, size_t *count);

// Puts the steps into the order of flows, then time; flow_steps_of does not work after it.
void flow_sort_by_time(struct flow *f);

#endif
