// SPDX-License-Identifier: Apache-2.0
// Reads the dynamic section of a loaded object, and looks symbols up as the loader would. Called by
// the GOT patcher under the loader's list lock. Does not write. Threads: no state.
#include "agent/elf_object.h"

#include "agent/hook.h"

#include <dlfcn.h>
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
        if (h->p_flags & PF_X) {
            int is_usable = h->p_flags & PF_R && !o->text_high;
            o->text_low = is_usable ? low : 0;
            o->text_high = is_usable ? low + h->p_filesz : 1;
        }
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
    case DT_RELACOUNT:
        o->relative_count = d->d_un.d_val;
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
    case DT_HASH:
        o->sysv_hash = (const void *)at;
        break;
    default:
        break;
    }
}

// Those that only add the load bias stand first, and are nearly all of a library's.
static void skip_relative(struct elf_object *o)
{
    const size_t count =
        o->relative_count < o->relocation_count[1] ? o->relative_count : o->relocation_count[1];
    if (count)
        o->relocations[1] += count;
    o->relocation_count[1] -= count;
}

static int read_dynamic(struct elf_object *o, const ElfW(Dyn) * dynamic)
{
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
    skip_relative(o);
    return o->symbols && o->strings ? 0 : -1;
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
    if (!o->text_low)
        o->text_high = 0;
    return read_dynamic(o, dynamic);
}

static uint32_t gnu_hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

static uint32_t sysv_hash_of(const char *name)
{
    uint32_t hash = 0;
    for (; *name; name++) {
        hash = (hash << 4) + (uint8_t)*name;
        hash = (hash ^ (hash & 0xf0000000) >> 24) & 0x0fffffff;
    }
    return hash;
}

static int is_visible(const ElfW(Sym) * symbol)
{
    return symbol->st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL &&
           ELF64_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT;
}

static int is_function(const ElfW(Sym) * symbol)
{
    return is_visible(symbol) && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
}

// The number of the next symbol after `index` (0: the first) that may be `name`; 0: no more.
static uint32_t next_gnu(const struct elf_object *o, const char *name, uint32_t index)
{
    const uint32_t bucket_count = o->gnu_hash[0], first = o->gnu_hash[1], words = o->gnu_hash[2];
    const uint32_t *buckets = o->gnu_hash + 4 + words * (sizeof(ElfW(Addr)) / 4);
    const uint32_t *chain = buckets + bucket_count;
    const uint32_t hash = gnu_hash_of(name);
    if (index && chain[index - first] & 1)
        return 0;
    index = index ? index + 1 : bucket_count ? buckets[hash % bucket_count] : 0;
    if (index < first || !index)
        return 0;
    while ((chain[index - first] | 1) != (hash | 1)) {
        if (chain[index - first] & 1)
            return 0;
        index++;
    }
    return index;
}

static uint32_t next_sysv(const struct elf_object *o, const char *name, uint32_t index)
{
    const uint32_t bucket_count = o->sysv_hash[0], *buckets = o->sysv_hash + 2;
    if (index)
        return buckets[bucket_count + index];
    return bucket_count ? buckets[sysv_hash_of(name) % bucket_count] : 0;
}

// The next definition of `name` after `index` (0: the first), of whatever type; 0: no more.
static uint32_t next_definition(const struct elf_object *o, const char *name, uint32_t index)
{
    while (o->gnu_hash || o->sysv_hash) {
        index = o->gnu_hash ? next_gnu(o, name, index) : next_sysv(o, name, index);
        if (!index)
            return 0;
        const ElfW(Sym) *symbol = &o->symbols[index];
        if (is_visible(symbol) && strcmp(o->strings + symbol->st_name, name) == 0)
            return index;
    }
    return 0;
}

uintptr_t elf_object_find(const struct elf_object *o, const char *name)
{
    uint32_t index = 0;
    while ((index = next_definition(o, name, index)) != 0) {
        if (is_function(&o->symbols[index]))
            return o->base + o->symbols[index].st_value;
    }
    return 0;
}

uintptr_t elf_object_find_data(const struct elf_object *o, const char *name, size_t *length_bytes)
{
    uint32_t index = 0;
    while ((index = next_definition(o, name, index)) != 0) {
        const ElfW(Sym) *symbol = &o->symbols[index];
        if (ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_size) {
            *length_bytes = symbol->st_size;
            return o->base + symbol->st_value;
        }
    }
    return 0;
}

int elf_object_has_function(const struct elf_object *o, const char *name, uintptr_t address)
{
    uint32_t index = 0;
    while ((index = next_definition(o, name, index)) != 0) {
        const ElfW(Sym) *symbol = &o->symbols[index];
        if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC ||
            (is_function(symbol) && o->base + symbol->st_value == address))
            return 1;
    }
    return 0;
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
    return s->versioned != 0; // there is none better
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

struct only {
    const char *name;
    int definitions;
    uintptr_t function;
};

static int count_object(struct dl_phdr_info *info, size_t length, void *context)
{
    struct only *s = context;
    struct elf_object o;
    (void)length;
    if (elf_object_read(&o, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) < 0)
        return 0;
    uint32_t index = 0;
    while ((index = next_definition(&o, s->name, index)) != 0) {
        s->definitions++;
        s->function = is_function(&o.symbols[index]) ? o.base + o.symbols[index].st_value : 0;
    }
    return s->definitions > 1;
}

uintptr_t elf_object_resolve_only(const struct elf_object *o, size_t index)
{
    struct only s = {.name = o->strings + o->symbols[index].st_name};
    dl_iterate_phdr(count_object, &s);
    return s.definitions == 1 ? s.function : 0;
}

// libc's own index of code, which glibc has since 2.35.
static int (*find_object)(void *address, struct dl_find_object *found);

int elf_object_index_open(void)
{
    *(void **)&find_object = hook_real_dlsym(RTLD_DEFAULT, "_dl_find_object");
    return find_object ? 0 : -1;
}

const uint8_t *elf_object_unwind_table(uintptr_t address)
{
    struct dl_find_object found;
    if (!find_object || find_object((void *)address, &found) != 0)
        return NULL;
    return found.dlfo_eh_frame;
}

const char *elf_object_owner(uintptr_t address, struct elf_object *o)
{
    struct dl_find_object found;
    if (!find_object || find_object((void *)address, &found) != 0)
        return NULL;
    const struct link_map *map = found.dlfo_link_map;
    *o = (struct elf_object){.base = map->l_addr,
        .low = (uintptr_t)found.dlfo_map_start,
        .high = (uintptr_t)found.dlfo_map_end};
    if (read_dynamic(o, map->l_ld) < 0)
        return NULL;
    const char *slash = strrchr(map->l_name, '/');
    return slash ? slash + 1 : map->l_name;
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

int elf_object_is_pointer(uint32_t type)
{
#if defined(__x86_64__)
    return type == R_X86_64_64;
#elif defined(__aarch64__)
    return type == R_AARCH64_ABS64;
#else
    (void)type;
    return 0;
#endif
}

int elf_object_is_call_slot(uint32_t type)
{
#if defined(__x86_64__)
    return type == R_X86_64_JUMP_SLOT;
#else
    return type == R_AARCH64_JUMP_SLOT;
#endif
}
