// SPDX-License-Identifier: Apache-2.0
// The search and its cache; see the header. Keeps errno. Threads: one writes at a time, a place's
// key last; others do not wait for it.
#include "agent/beside.h"

#include "agent/elf_object.h"

#include <errno.h>
#include <stdatomic.h>

struct search {
    uintptr_t inside, found; // an address in the library; what it defines
    const char *symbol;
};

static int search_object(struct dl_phdr_info *info, size_t length, void *context)
{
    struct search *s = context;
    struct elf_object o;
    (void)length;
    if (elf_object_read(&o, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) < 0 ||
        s->inside < o.low || s->inside >= o.high)
        return 0;
    s->found = elf_object_find(&o, s->symbol);
    return 1;
}

static beside_fn *search(const char *symbol, void *original)
{
    struct search s = {.inside = (uintptr_t)original, .symbol = symbol};
    int saved_errno = errno;
    dl_iterate_phdr(search_object, &s);
    errno = saved_errno;
    return (beside_fn *)s.found;
}

static void keep(struct beside *b, void *original, beside_fn *found)
{
    static _Atomic int is_writing;
    int expected = 0;
    if (!atomic_compare_exchange_strong(&is_writing, &expected, 1))
        return;
    for (int i = 0; i < BESIDE_PLACES; i++) {
        if (b->known[i] && b->known[i] != original)
            continue;
        b->found[i] = found;
        __atomic_store_n(&b->known[i], original, __ATOMIC_RELEASE);
        break;
    }
    atomic_store(&is_writing, 0);
}

beside_fn *beside_find(struct beside *b, void *original)
{
    for (int i = 0; i < BESIDE_PLACES; i++) {
        if (__atomic_load_n(&b->known[i], __ATOMIC_ACQUIRE) == original)
            return b->found[i];
    }
    beside_fn *found = search(b->symbol, original);
    keep(b, original, found);
    return found;
}
