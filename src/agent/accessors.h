// SPDX-License-Identifier: Apache-2.0
// Functions of a followed library that its hooks ask for what a call worked on: looked up in the
// very object that the hooked function lies in, so that two copies of a library are not mixed up,
// and so that one without them (another major version, say) is told by their lack. Called by the
// hook sets. Nothing is pinned: an entry stands for one address of a hooked function. Threads: any.
#ifndef LIGHTMETER_AGENT_ACCESSORS_H
#define LIGHTMETER_AGENT_ACCESSORS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define ACCESSORS_NAMES 6
#define ACCESSORS_BITS 6 // of the number of hooked functions that a table has room for

struct accessors {
    _Atomic uintptr_t function; // a hooked function; 0: free, 1: being filled
    void *at[ACCESSORS_NAMES];  // in the order of the names; NULL: the library lacks it
};

// One for each hook set that needs any; all zero but the names, which end with NULL or are as many
// as there can be. The first one is there, or none is given.
struct accessors_table {
    const char *names[ACCESSORS_NAMES];
    struct accessors known[1 << ACCESSORS_BITS];
};

// The slow path of the function below: looks the functions up at first. Keeps errno.
void *const *accessors_find(struct accessors_table *t, uintptr_t function);

static inline unsigned accessors_hash(uintptr_t function)
{
    return (unsigned)((function >> 4) * (uintptr_t)0x9e3779b97f4a7c15u >> (64 - ACCESSORS_BITS));
}

// The table's functions in the library of the hooked `function`; NULL where that has not even the
// first of them, or the table is full.
static inline void *const *accessors_of(struct accessors_table *t, uintptr_t function)
{
    const struct accessors *a = &t->known[accessors_hash(function)];
    if (atomic_load_explicit(&a->function, memory_order_acquire) == function)
        return a->at[0] ? a->at : NULL;
    return accessors_find(t, function);
}

#endif
