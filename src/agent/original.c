// SPDX-License-Identifier: Apache-2.0
// Finds the object of an address by the program headers alone, since this is asked for each slot of
// a hooked name while all of them are scanned. Called by the GOT patcher. No allocation, no state.
#include "agent/original.h"

#include <link.h>
#include <string.h>

struct search {
    const char *const *libraries;
    uintptr_t address;
    int is_found;
};

static int has_address(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && address - info->dlpi_addr - p->p_vaddr < p->p_memsz)
            return 1;
    }
    return 0;
}

static int look_at(struct dl_phdr_info *info, size_t length, void *context)
{
    struct search *s = context;
    (void)length;
    if (!has_address(info, s->address))
        return 0;
    const char *path = info->dlpi_name ? info->dlpi_name : "";
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    for (const char *const *l = s->libraries; *l && !s->is_found; l++)
        s->is_found = strncmp(name, *l, strlen(*l)) == 0;
    return 1;
}

int original_is_in(const char *const *libraries, uintptr_t address)
{
    struct search s = {libraries, address, 0};
    dl_iterate_phdr(look_at, &s);
    return s.is_found;
}
