// SPDX-License-Identifier: Apache-2.0
// Numbers for items. A hash table of the latest number of each (process, id), and lists for what is
// rare: ids that begin again, and batches. Called by flow.c. Threads: one owner.
#include "export/flow_ids.h"

#include "base/heap.h"

#include <stdlib.h>

struct flow_ids_slot {
    uint64_t id, number, first_number; // number 0: free
    uint32_t process;
    int has_ended, is_restarted;
};

#define SLOTS_FIRST 256u // a power of two

static struct flow_ids_slot *find_slot(
    struct flow_ids_slot *slots, size_t count, uint32_t process, uint64_t id)
{
    uint64_t hash = (id ^ ((uint64_t)process << 40)) * 0x9E3779B97F4A7C15u;
    for (size_t i = (size_t)(hash >> 32) & (count - 1);; i = (i + 1) & (count - 1))
        if (!slots[i].number || (slots[i].id == id && slots[i].process == process))
            return &slots[i];
}

static void grow(struct flow_ids *f)
{
    const size_t count = f->slot_count ? f->slot_count * 2 : SLOTS_FIRST;
    struct flow_ids_slot *slots = heap_alloc(count, sizeof *slots);
    for (size_t i = 0; i < f->slot_count; i++)
        if (f->slots[i].number)
            *find_slot(slots, count, f->slots[i].process, f->slots[i].id) = f->slots[i];
    free(f->slots);
    f->slots = slots;
    f->slot_count = count;
}

static struct flow_ids_slot *slot_of(struct flow_ids *f, uint32_t process, uint64_t id)
{
    if (f->used * 2 >= f->slot_count)
        grow(f);
    struct flow_ids_slot *slot = find_slot(f->slots, f->slot_count, process, id);
    if (!slot->number) {
        f->used++;
        const uint64_t number = ++f->last;
        *slot = (struct flow_ids_slot){id, number, number, process, 0, 0};
    }
    return slot;
}

static void begin_again(struct flow_ids *f, struct flow_ids_slot *slot, int64_t at_ns)
{
    slot->number = ++f->last;
    slot->has_ended = 0;
    slot->is_restarted = 1;
    *vec_push(&f->restarts) =
        (struct flow_ids_restart){slot->number, slot->id, at_ns, slot->process};
}

uint64_t flow_ids_take(struct flow_ids *f, uint32_t process, const struct model_item_event *e)
{
    if (e->op == TRACE_ITEM_JOIN) {
        struct flow_ids_slot *batch = slot_of(f, process, e->other);
        if (batch->has_ended)
            begin_again(f, batch, e->at_ns);
        const uint64_t number = batch->number;
        const uint64_t member = slot_of(f, process, e->id)->number;
        *vec_push(&f->members) = (struct flow_ids_member){number, member};
        return member;
    }
    struct flow_ids_slot *slot = slot_of(f, process, e->id);
    if (e->op == TRACE_ITEM_BEGIN && slot->has_ended)
        begin_again(f, slot, e->at_ns);
    if (e->op == TRACE_ITEM_END)
        slot->has_ended = 1;
    return slot->number;
}

static int compare_members(const void *a, const void *b)
{
    const struct flow_ids_member *x = a, *y = b;
    if (x->batch != y->batch)
        return x->batch < y->batch ? -1 : 1;
    return x->member < y->member ? -1 : x->member > y->member;
}

static int compare_restarts(const void *a, const void *b)
{
    const struct flow_ids_restart *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

void flow_ids_sort(struct flow_ids *f)
{
    size_t kept = 0;
    if (f->members.count)
        qsort(f->members.at, f->members.count, sizeof *f->members.at, compare_members);
    for (size_t i = 0; i < f->members.count; i++) // an item that joins twice is one member
        if (!kept || compare_members(&f->members.at[kept - 1], &f->members.at[i]) != 0)
            f->members.at[kept++] = f->members.at[i];
    f->members.count = kept;
    if (f->restarts.count)
        qsort(f->restarts.at, f->restarts.count, sizeof *f->restarts.at, compare_restarts);
}

// The last restart of the item that is not after `at_ns`, or its first number.
static uint64_t find_restart(
    const struct flow_ids *f, const struct flow_ids_slot *slot, int64_t at_ns)
{
    const struct flow_ids_restart wanted = {0, slot->id, at_ns, slot->process};
    size_t low = 0, high = f->restarts.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_restarts(&f->restarts.at[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return slot->first_number;
    const struct flow_ids_restart *found = &f->restarts.at[low - 1];
    const int is_same = found->process == slot->process && found->id == slot->id;
    return is_same ? found->number : slot->first_number;
}

uint64_t flow_ids_at(struct flow_ids *f, uint32_t process, uint64_t id, int64_t at_ns)
{
    const struct flow_ids_slot *slot = slot_of(f, process, id);
    return slot->is_restarted ? find_restart(f, slot, at_ns) : slot->number;
}

const struct flow_ids_member *flow_ids_members(
    const struct flow_ids *f, uint64_t batch, size_t *count)
{
    size_t low = 0, high = f->members.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (f->members.at[middle].batch < batch)
            low = middle + 1;
        else
            high = middle;
    }
    for (*count = 0; low + *count < f->members.count && f->members.at[low + *count].batch == batch;)
        ++*count;
    return *count ? &f->members.at[low] : NULL;
}

void flow_ids_fini(struct flow_ids *f)
{
    free(f->slots);
    vec_fini(&f->members);
    vec_fini(&f->restarts);
    *f = (struct flow_ids){0};
}
