// SPDX-License-Identifier: Apache-2.0
// Finds the library of an address, and keeps what is known of it; see the header. A place in a
// table is claimed before it is filled. Threads: any; whoever finds another at a place does without
// for that one call.
#include "agent/library.h"

#include "agent/elf_object.h"

#include <errno.h>
#include <string.h>

_Atomic unsigned library_unloads;

// ---- Which object holds an address. ----

struct owner {
    uintptr_t address;
    struct elf_object object;
    const char *file_name; // NULL: none was found
};

static int is_owner(struct dl_phdr_info *info, size_t length, void *context)
{
    struct owner *w = context;
    (void)length;
    if (elf_object_read(&w->object, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) < 0 ||
        w->address < w->object.low || w->address >= w->object.high)
        return 0;
    const char *path = info->dlpi_name ? info->dlpi_name : "";
    const char *slash = strrchr(path, '/');
    w->file_name = slash ? slash + 1 : path;
    return 1;
}

static void find_owner(struct owner *w)
{
    w->file_name = elf_object_owner(w->address, &w->object);
    if (!w->file_name)
        dl_iterate_phdr(is_owner, w);
}

int library_is_any(const char *const *files, uintptr_t address)
{
    struct owner w = {.address = address};
    find_owner(&w);
    for (; w.file_name && *files; files++)
        if (strncmp(w.file_name, *files, strlen(*files)) == 0)
            return 1;
    return 0;
}

// ---- What is known of it. ----

static void fill(const struct library_table *t, struct library *l, uintptr_t function)
{
    struct owner w = {.address = function};
    const int saved_errno = errno;
    find_owner(&w);
    // Where no object is found the function alone is known, and nothing of it.
    l->low = w.file_name ? w.object.low : function;
    l->high = w.file_name ? w.object.high : function + 1;
    l->version = 0;
    for (size_t i = 0; i < LIBRARY_FUNCTIONS; i++)
        l->at[i] =
            w.file_name && t->names[i] ? (void *)elf_object_find(&w.object, t->names[i]) : NULL;
    if (w.file_name && t->version)
        l->version = t->version(l->at, w.file_name);
    errno = saved_errno;
}

// Whether the place is the caller's to fill: it is free, or it is about where the function lies and
// an unloading may have changed that. (Who is in the library meanwhile reads what was there.)
static int claim(struct library *l, uintptr_t function, unsigned unloads)
{
    int state = atomic_load_explicit(&l->state, memory_order_acquire);
    const int is_stale =
        state == LIBRARY_READY && function >= l->low && function < l->high && l->unloads != unloads;
    return (state == LIBRARY_FREE || is_stale) &&
           atomic_compare_exchange_strong(&l->state, &state, LIBRARY_FILLING);
}

const struct library *library_find(struct library_table *t, uintptr_t function)
{
    const unsigned unloads = atomic_load(&library_unloads);
    for (int i = 0; i < LIBRARY_COPIES; i++) {
        struct library *l = &t->copies[i];
        if (claim(l, function, unloads)) {
            fill(t, l, function);
            l->unloads = unloads;
            atomic_store_explicit(&l->state, LIBRARY_READY, memory_order_release);
        }
        if (library_is_of(l, function))
            return l;
        if (atomic_load_explicit(&l->state, memory_order_acquire) == LIBRARY_FILLING)
            return NULL;
    }
    return NULL;
}
