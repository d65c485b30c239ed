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
    uintptr_t text_low, text_high; // its code; both 0 when not in one readable segment
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * relocations[2]; // of the PLT, and the others that name a symbol
    size_t relocation_count[2];
    size_t relative_count;       // of those that name none, which stood before them
    const ElfW(Half) * versions; // NULL: none
    const ElfW(Verneed) * needs; // NULL: none
    const uint32_t *gnu_hash;    // NULL: none
    const uint32_t *sysv_hash;   // NULL: none
    const ElfW(Dyn) * dynamic;
    const char *soname; // NULL: none
};

// Fills *o from an object's program headers. 0, or -1 when it has nothing to patch.
int elf_object_read(struct elf_object *o, uintptr_t base, const ElfW(Phdr) * headers, size_t count);

// The address that `o` defines `name` at; 0 when it does not (or only as something other than a
// function).
uintptr_t elf_object_find(const struct elf_object *o, const char *name);

// The same for data; its length goes to *length_bytes. 0 when there is none, or of no length.
uintptr_t elf_object_find_data(const struct elf_object *o, const char *name, size_t *length_bytes);

// The file that the undefined symbol `index` is versioned by ("libjpeg.so.62"); NULL when none.
const char *elf_object_wanted_file(const struct elf_object *o, size_t index);

// Whether `o` lists `soname` among the libraries it needs.
int elf_object_needs(const struct elf_object *o, const char *soname);

// Where the loader would bind the undefined symbol `index` of `o`: the definition in the file it is
// versioned by, else in the program, else in a library that `o` needs, else the only one there is.
// 0 when there is none, or more than one and no telling which.
uintptr_t elf_object_resolve(const struct elf_object *o, size_t index);

// The same, but only where no other definition is loaded that the loader could choose.
uintptr_t elf_object_resolve_only(const struct elf_object *o, size_t index);

// Prepares the two below. 0, or -1 where libc cannot tell the object of an address (glibc < 2.35);
// then they find none. Calls dlsym: not under the loader's list lock.
int elf_object_index_open(void);

// The table of unwind entries (PT_GNU_EH_FRAME) for the code at `address`; NULL when there is none.
const uint8_t *elf_object_unwind_table(uintptr_t address);

// Fills *o from the object that holds `address` and gives its file name without folders ("": the
// program); NULL when there is none. What only program headers tell is left out.
const char *elf_object_owner(uintptr_t address, struct elf_object *o);

// Whether `o` defines `name` as a function at `address`, or as one that it chooses at run time.
int elf_object_has_function(const struct elf_object *o, const char *name, uintptr_t address);

// Whether a relocation type is a slot of the GOT: of a function that is called, or of anything.
int elf_object_is_slot(uint32_t type);
int elf_object_is_call_slot(uint32_t type);

// Whether one is a pointer to its symbol in data: an entry of a table of functions, say.
int elf_object_is_pointer(uint32_t type);

// Whether the code of `o` uses a slot for calls alone (as built with -fno-plt), so that nobody
// compares what it holds. Reads the code once for each object; one thread at a time.
int elf_object_only_calls(const struct elf_object *o, uintptr_t slot);

// An object was unloaded: the next question reads its object's code again.
void elf_object_calls_forget(void);

#endif
