// SPDX-License-Identifier: Apache-2.0
// A loaded object as the dynamic linker sees it: its symbol, string, version and relocation tables.
// Used by the GOT patcher only. Reads memory of a loaded object; nothing is kept after the scan, since
// dlclose may take the object away. Threads: no state.
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
};

// Fills *o from an object's program headers. 0, or -1 when it has nothing to patch.
int elf_object_read(struct elf_object *o, uintptr_t base, const ElfW(Phdr) * headers, size_t count);

// The version that the undefined symbol `index` asks for; NULL when none.
const char *elf_object_version(const struct elf_object *o, size_t index);

// Whether a relocation type is a function slot of the GOT.
int elf_object_is_slot(uint32_t type);

#endif
