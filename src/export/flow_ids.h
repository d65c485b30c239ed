// SPDX-License-Identifier: Apache-2.0
// Numbers for items: an item of a process, from one beginning to its end, has one number; a batch
// knows the numbers of its members. Filled from the item events in the order of time. Used by
// flow.c only. Threads: one owner.
#ifndef LIGHTMETER_EXPORT_FLOW_IDS_H
#define LIGHTMETER_EXPORT_FLOW_IDS_H

#include "model/model.h"

#include <stdint.h>

struct flow_ids_member {
    uint64_t batch, member;
};

// A beginning of an id that had ended before.
struct flow_ids_restart {
    uint64_t number, id;
    int64_t from_ns;
    uint32_t process;
};

struct flow_ids {
    struct flow_ids_slot *slots; // a hash table by process and id
    size_t slot_count, used;
    uint64_t last; // the highest number given
    VEC(struct flow_ids_member) members;
    VEC(struct flow_ids_restart) restarts;
};

void flow_ids_fini(struct flow_ids *f);

// Takes the next event and returns the number of its item.
uint64_t flow_ids_take(struct flow_ids *f, uint32_t process, const struct model_item_event *e);

// After the last event: makes the look-ups below work.
void flow_ids_sort(struct flow_ids *f);

// The number of an item at a time; a new one when no event named it.
uint64_t flow_ids_at(struct flow_ids *f, uint32_t process, uint64_t id, int64_t at_ns);

// The members of a batch: the first of *count, or NULL.
const struct flow_ids_member *flow_ids_members(
    const struct flow_ids *f, uint64_t batch, size_t *count);

#endif
