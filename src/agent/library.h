// SPDX-License-Identifier: Apache-2.0
// The library that a hooked function lies in: what it exports beside that function, and which
// version it is. A hook asks the very copy that the call goes to, since a process may have two, and
// one without a function (another major version, say) is told by its lack. Called by the hook sets,
// and by the GOT patcher for sets whose names say little. Found once for each copy; takes no lock
// where libc tells the object of an address (glibc 2.35), else the loader's list lock that once.
// Threads: any.
#ifndef LIGHTMETER_AGENT_LIBRARY_H
#define LIGHTMETER_AGENT_LIBRARY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define LIBRARY_FUNCTIONS 8
#define LIBRARY_COPIES 4 // that can be told apart, as with hooked functions

enum library_state { LIBRARY_FREE, LIBRARY_FILLING, LIBRARY_READY };

struct library {
    _Atomic int state; // enum library_state
    unsigned unloads;  // how often a library had been unloaded when it was found
    uintptr_t low, high;
    int version;                 // what the table's function said; 0 without one
    void *at[LIBRARY_FUNCTIONS]; // in the order of the names; NULL: it has no such function
};

// Which version a library is, from what it exports and its file name without folders. May call what
// it exports; 0: none that is known.
typedef int library_version_fn(void *const *at, const char *file_name);

// One for each hook set that asks; all zero but these two. The names end with NULL or are as many
// as there can be; the first one is there, or none is given.
struct library_table {
    const char *names[LIBRARY_FUNCTIONS];
    library_version_fn *version;
    struct library copies[LIBRARY_COPIES];
};

// The slow path of the function below. Keeps errno.
const struct library *library_find(struct library_table *t, uintptr_t function);

// Something was unloaded: another library may lie at an address that is known.
extern _Atomic unsigned library_unloads;

static inline int library_is_of(const struct library *l, uintptr_t function)
{
    return atomic_load_explicit(&l->state, memory_order_acquire) == LIBRARY_READY &&
           function >= l->low && function < l->high &&
           l->unloads == atomic_load_explicit(&library_unloads, memory_order_relaxed);
}

// NULL: it cannot be found, another thread is at it, or there are too many copies.
static inline const struct library *library_of(struct library_table *t, uintptr_t function)
{
    for (int i = 0; i < LIBRARY_COPIES; i++)
        if (library_is_of(&t->copies[i], function))
            return &t->copies[i];
    return library_find(t, function);
}

// The table's functions in the library of the hooked `function`; NULL where that has not even the
// first of them.
static inline void *const *library_functions(struct library_table *t, uintptr_t function)
{
    const struct library *l = library_of(t, function);
    return l && l->at[0] ? l->at : NULL;
}

static inline int library_version(struct library_table *t, uintptr_t function)
{
    const struct library *l = library_of(t, function);
    return l ? l->version : 0;
}

// Whether the loaded object that holds `address` has a file name (without folders) that begins with
// one of `files`, a list that ends with NULL. May be called under the loader's list lock.
int library_is_any(const char *const *files, uintptr_t address);

#endif
