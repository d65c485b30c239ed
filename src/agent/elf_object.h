// SPDX-License-Identifier: Apache-2.0
// A loaded object as the dynamic linker sees it: its symbol, string, version and relocation tables.
// Used by the GOT patcher only, under the loader's list lock (from a dl_iterate_phdr callback), so
// that no object goes away meanwhile; nothing is kept. Takes no other lock: the dl* functions
// would, and a dlopen that only asks for a reference would run constructors that are not due yet.
// Threads: no state.
#ifndef LIGHTMETER_AGENT_ELF_OBJECT_H
#define LIGHTMETER_AGENT_ELF_OBJECT_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

struct elf_object {
    uintptr_t base, low, high; // load bias; range of its mapped segments
    uintptr_t relro_low, relro_high;
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * relocations[2]; // of the PLT, and the others
    size_t relocation_count[2];
    const ElfW(Half) * versions; // NULL: none
    const ElfW(Verneed) * needs; // NULL: none
    const uint32_t *gnu_hash;    // NULL: none
    const ElfW(Dyn) * dynamic;
    const char *soname; // NULL: none
};

// Fills *o from an object's program headers. 0, or -1 when it has nothing to patch.
int elf_object_read(struct elf_object *o, uintptr_t base, const ElfW(Phdr) * headers, size_t count);

// The address that `o` defines `name` at; 0 when it does not (or only as something other than a
// function).
uintptr_t elf_object_find(const struct elf_object *o, const char *name);

// The file that the undefined symbol `index` is versioned by ("libjpeg.so.62"); NULL when none.
const char *elf_object_wanted_file(const struct elf_object *o, size_t index);

// Whether `o` lists `soname` among the libraries it needs.
int elf_object_needs(const struct elf_object *o, const char *soname);

// Where the loader would bind the undefined symbol `index` of `o`: the definition in the file it is
// versioned by, else in the program, else in a library that `o` needs, else the only one there is.
// 0 when there is none, or more than one and no telling which.
uintptr_t elf_object_resolve(const struct elf_object *o, size_t index);

// The file name of the object that holds `address`, without folders, copied to `out`; "" when none.
void elf_object_owner(uintptr_t address, char *out, size_t out_bytes);

// Whether a relocation type is a function slot of the GOT.
int elf_object_is_slot(uint32_t type);

#endif
