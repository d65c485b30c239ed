// SPDX-License-Identifier: Apache-2.0
// Looks up a library's own functions by walking the loaded objects, once for each hooked function
// that asks. Called by the hook sets through accessors.h. Takes the loader's list lock for that
// once, and nothing else; calls none of the functions. Threads: any; an entry is claimed before it
// is filled.
#include "agent/accessors.h"

#include "agent/elf_object.h"

#include <errno.h>

struct search {
    const struct accessors_table *table;
    struct accessors *found;
    uintptr_t function;
};

static int search_object(struct dl_phdr_info *info, size_t length, void *context)
{
    const struct search *s = context;
    struct elf_object o;
    (void)length;
    if (elf_object_read(&o, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) < 0 ||
        s->function < o.low || s->function >= o.high)
        return 0;
    for (size_t i = 0; i < ACCESSORS_NAMES && s->table->names[i]; i++)
        s->found->at[i] = (void *)elf_object_find(&o, s->table->names[i]);
    return 1;
}

void *const *accessors_find(struct accessors_table *t, uintptr_t function)
{
    const unsigned count = 1u << ACCESSORS_BITS, first = accessors_hash(function);
    for (unsigned i = 0; i < count; i++) {
        struct accessors *a = &t->known[(first + i) % count];
        uintptr_t seen = atomic_load_explicit(&a->function, memory_order_acquire);
        if (!seen && atomic_compare_exchange_strong(&a->function, &seen, 1)) {
            struct search s = {.table = t, .found = a, .function = function};
            int saved_errno = errno;
            dl_iterate_phdr(search_object, &s);
            errno = saved_errno;
            atomic_store_explicit(&a->function, function, memory_order_release);
            seen = function;
        }
        if (seen == function)
            return a->at[0] ? a->at : NULL;
    }
    return NULL;
}
