// SPDX-License-Identifier: Apache-2.0
// Functions that a library exports beside a hooked one, for hook files whose library has accessors
// that the program may not import. Looked up once for each copy of the library; the place is kept
// as long as the process. Threads: any; no lock.
#ifndef LIGHTMETER_AGENT_HOOKS_EXPORTS_H
#define LIGHTMETER_AGENT_HOOKS_EXPORTS_H

#include "agent/elf_object.h"
#include "agent/hook.h"

#include <errno.h>

#define EXPORTS_LIMIT 8

struct exports {
    _Atomic int state;  // 0 free, 1 being filled, 2 filled
    uintptr_t function; // the hooked one that the search began from
    uintptr_t at[EXPORTS_LIMIT];
};

struct exports_search {
    const char *const *names; // ends with NULL
    uintptr_t inside;
    uintptr_t *found;
};

static int exports_try_object(struct dl_phdr_info *info, size_t length, void *context)
{
    const struct exports_search *s = context;
    struct elf_object o;
    (void)length;
    if (elf_object_read(&o, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) < 0 ||
        s->inside < o.low || s->inside >= o.high)
        return 0;
    for (int i = 0; s->names[i] && i < EXPORTS_LIMIT; i++)
        s->found[i] = elf_object_find(&o, s->names[i]);
    return 1;
}

// The addresses of `names` in the library of `function`, 0 each when it has none; NULL: not known
// (another thread is looking, or there are too many copies). `places`: HOOK_VARIANTS of them.
static const uintptr_t *exports_of(struct exports *places, const char *const *names, void *function)
{
    for (int i = 0; i < HOOK_VARIANTS; i++) {
        struct exports *e = &places[i];
        int expected = atomic_load_explicit(&e->state, memory_order_acquire);
        if (expected == 2 && e->function == (uintptr_t)function)
            return e->at;
        if (expected != 0 || !atomic_compare_exchange_strong(&e->state, &expected, 1))
            continue;
        struct exports_search search = {names, (uintptr_t)function, e->at};
        int saved_errno = errno;
        dl_iterate_phdr(exports_try_object, &search);
        errno = saved_errno;
        e->function = (uintptr_t)function;
        atomic_store(&e->state, 2);
        return e->at;
    }
    return NULL;
}

#endif
