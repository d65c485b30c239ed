// SPDX-License-Identifier: Apache-2.0
// The order in which a thread's spans began, and on which lane each may be drawn. Lane 0 is the
// thread itself: everything on it nests. A fold of many calls whose extent crosses or encloses its
// siblings, so that it would look like their caller, goes to a lane beside it, where nothing
// overlaps. Used by the exporters. Threads: one owner.
#ifndef LIGHTMETER_EXPORT_ORDER_H
#define LIGHTMETER_EXPORT_ORDER_H

#include "model/model.h"

#include <stdint.h>

struct order_entry {
    int64_t start_ns;
    uint64_t dur_ns;
    uint32_t span; // index into thread.spans
    uint32_t lane;
};

struct order {
    struct order_entry *at; // by start; of those that start together the longer and the outer first
    size_t count;
    uint32_t lanes; // 1 + the highest lane
};

void order_init(struct order *o, const struct model_thread *t);
void order_fini(struct order *o);

static inline int64_t order_end_ns(const struct order_entry *e)
{
    return e->start_ns + (int64_t)e->dur_ns;
}

// Whether the span `outer`, which ends where `e` starts at the latest, still encloses it: an empty
// span at the very end of its parent.
static inline int order_encloses(
    const struct order_entry *outer, const struct order_entry *e, const struct model_thread *t)
{
    if (order_end_ns(outer) > e->start_ns)
        return 1;
    return order_end_ns(outer) == e->start_ns && e->dur_ns == 0 &&
           t->spans.at[e->span].parent == outer->span;
}

// The earliest time in the model, at most 0: what exporters subtract, so that no time is negative.
int64_t order_base_ns(const struct model *m);

#endif
