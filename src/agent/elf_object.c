// SPDX-License-Identifier: Apache-2.0
// Reads the dynamic section of a loaded object, and looks symbols up as the loader would. Called by
// the GOT patcher under the loader's list lock. Does not write. Threads: no state.
#include "agent/elf_object.h"

#include <string.h>

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
    case DT_GNU_HASH:
        o->gnu_hash = (const void *)at;
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
    o->dynamic = dynamic;
    for (const ElfW(Dyn) *d = dynamic; d && d->d_tag != DT_NULL; d++)
        read_entry(o, d);
    for (const ElfW(Dyn) *d = dynamic; d && o->strings && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SONAME)
            o->soname = o->strings + d->d_un.d_val;
    }
    for (int i = 0; i < 2; i++) {
        if (!o->relocations[i])
            o->relocation_count[i] = 0;
    }
    return o->symbols && o->strings ? 0 : -1;
}

static uint32_t gnu_hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

static int is_function(const ElfW(Sym) * symbol)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info), bind = ELF64_ST_BIND(symbol->st_info);
    return symbol->st_shndx != SHN_UNDEF && type == STT_FUNC && bind != STB_LOCAL &&
           ELF64_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT;
}

uintptr_t elf_object_find(const struct elf_object *o, const char *name)
{
    if (!o->gnu_hash)
        return 0;
    const uint32_t bucket_count = o->gnu_hash[0], first = o->gnu_hash[1], words = o->gnu_hash[2];
    const uint32_t *buckets = o->gnu_hash + 4 + words * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chain = buckets + bucket_count;
    const uint32_t hash = gnu_hash_of(name);
    uint32_t index = bucket_count ? buckets[hash % bucket_count] : 0;
    if (index < first || !index)
        return 0;
    for (;; index++) {
        const ElfW(Sym) *symbol = &o->symbols[index];
        const uint32_t entry = chain[index - first];
        if ((entry | 1) == (hash | 1) && is_function(symbol) &&
            strcmp(o->strings + symbol->st_name, name) == 0)
            return o->base + symbol->st_value;
        if (entry & 1)
            return 0;
    }
}

const char *elf_object_wanted_file(const struct elf_object *o, size_t index)
{
    if (!o->versions || !o->needs)
        return NULL;
    ElfW(Half) wanted = o->versions[index] & 0x7fff;
    const ElfW(Verneed) *need = o->needs;
    for (;;) {
        const ElfW(Vernaux) *aux = (const void *)((const char *)need + need->vn_aux);
        for (unsigned i = 0; i < need->vn_cnt; i++) {
            if ((aux->vna_other & 0x7fff) == wanted)
                return o->strings + need->vn_file;
            aux = (const void *)((const char *)aux + aux->vna_next);
        }
        if (!need->vn_next)
            return NULL;
        need = (const void *)((const char *)need + need->vn_next);
    }
}

int elf_object_needs(const struct elf_object *o, const char *soname)
{
    for (const ElfW(Dyn) *d = o->dynamic; d && soname && d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_NEEDED && strcmp(o->strings + d->d_un.d_val, soname) == 0)
            return 1;
    }
    return 0;
}

struct search {
    const struct elf_object *from;
    const char *name, *file;
    int position, definitions;
    uintptr_t versioned, program, needed, any;
};

static int search_object(struct dl_phdr_info *info, size_t length, void *context)
{
    struct search *s = context;
    struct elf_object o;
    (void)length;
    int is_program = s->position++ == 0;
    if (elf_object_read(&o, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) < 0)
        return 0;
    uintptr_t found = elf_object_find(&o, s->name);
    if (!found)
        return 0;
    s->definitions++;
    s->any = found;
    if (is_program)
        s->program = found;
    if (s->file && o.soname && strcmp(o.soname, s->file) == 0)
        s->versioned = found;
    if (!s->needed && elf_object_needs(s->from, o.soname))
        s->needed = found;
    return 0;
}

uintptr_t elf_object_resolve(const struct elf_object *o, size_t index)
{
    struct search s = {.from = o,
        .name = o->strings + o->symbols[index].st_name,
        .file = elf_object_wanted_file(o, index)};
    dl_iterate_phdr(search_object, &s);
    if (s.versioned)
        return s.versioned;
    if (s.program)
        return s.program;
    if (s.needed)
        return s.needed;
    return s.definitions == 1 ? s.any : 0;
}

struct owner {
    uintptr_t address;
    char *out;
    size_t out_bytes;
};

static int copy_owner(struct dl_phdr_info *info, size_t length, void *context)
{
    struct owner *w = context;
    struct elf_object o;
    (void)length;
    elf_object_read(&o, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);
    if (w->address < o.low || w->address >= o.high)
        return 0;
    const char *slash = strrchr(info->dlpi_name, '/');
    strncpy(w->out, slash ? slash + 1 : info->dlpi_name, w->out_bytes - 1);
    return 1;
}

void elf_object_owner(uintptr_t address, char *out, size_t out_bytes)
{
    struct owner w = {address, out, out_bytes};
    memset(out, 0, out_bytes);
    dl_iterate_phdr(copy_owner, &w);
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
