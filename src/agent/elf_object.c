// SPDX-License-Identifier: Apache-2.0
// Reads the dynamic section of a loaded object. Called by the GOT patcher while it holds a reference
// to the object. Does not write. Threads: no state.
#include "agent/elf_object.h"

// Tables hold addresses; the loader has made most of them absolute, but not those of every object.
static uintptr_t absolute(const struct elf_object *o, uintptr_t value)
{
    return value < o->base ? value + o->base : value;
}

static void read_segment(struct elf_object *o, const ElfW(Phdr) * h)
{
    uintptr_t low = o->base + h->p_vaddr, high = low + h->p_memsz;
    if (h->p_type == PT_LOAD) {
        o->low = o->low && o->low < low ? o->low : low;
        o->high = o->high > high ? o->high : high;
    } else if (h->p_type == PT_GNU_RELRO) {
        o->relro_low = low;
        o->relro_high = high;
    }
}

static void read_entry(struct elf_object *o, const ElfW(Dyn) * d)
{
    uintptr_t at = absolute(o, d->d_un.d_ptr);
    switch (d->d_tag) {
    case DT_SYMTAB:
        o->symbols = (const void *)at;
        break;
    case DT_STRTAB:
        o->strings = (const void *)at;
        break;
    case DT_JMPREL:
        o->relocations[0] = (const void *)at;
        break;
    case DT_PLTRELSZ:
        o->relocation_count[0] = d->d_un.d_val / sizeof(ElfW(Rela));
        break;
    case DT_RELA:
        o->relocations[1] = (const void *)at;
        break;
    case DT_RELASZ:
        o->relocation_count[1] = d->d_un.d_val / sizeof(ElfW(Rela));
        break;
    case DT_VERSYM:
        o->versions = (const void *)at;
        break;
    case DT_VERNEED:
        o->needs = (const void *)at;
        break;
    default:
        break;
    }
}

int elf_object_read(struct elf_object *o, uintptr_t base, const ElfW(Phdr) * headers, size_t count)
{
    *o = (struct elf_object){.base = base};
    const ElfW(Dyn) *dynamic = NULL;
    for (size_t i = 0; i < count; i++) {
        read_segment(o, &headers[i]);
        if (headers[i].p_type == PT_DYNAMIC)
            dynamic = (const void *)(base + headers[i].p_vaddr);
    }
    for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++)
        read_entry(o, d);
    for (int i = 0; i < 2; i++) {
        if (!o->relocations[i])
            o->relocation_count[i] = 0;
    }
    return o->symbols && o->strings && (o->relocation_count[0] || o->relocation_count[1]) ? 0 : -1;
}

const char *elf_object_version(const struct elf_object *o, size_t index)
{
    if (!o->versions || !o->needs)
        return NULL;
    ElfW(Half) wanted = o->versions[index] & 0x7fff;
    const ElfW(Verneed) *need = o->needs;
    for (;;) {
        const ElfW(Vernaux) *aux = (const void *)((const char *)need + need->vn_aux);
        for (unsigned i = 0; i < need->vn_cnt; i++) {
            if ((aux->vna_other & 0x7fff) == wanted)
                return o->strings + aux->vna_name;
            aux = (const void *)((const char *)aux + aux->vna_next);
        }
        if (!need->vn_next)
            return NULL;
        need = (const void *)((const char *)need + need->vn_next);
    }
}

int elf_object_is_slot(uint32_t type)
{
#if defined(__x86_64__)
    return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
    return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
#else
    (void)type;
    return 0;
#endif
}
