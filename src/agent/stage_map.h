// SPDX-License-Identifier: Apache-2.0
// The user's own functions and libraries as stages (`--stage-map`): calls that go through a PLT
// slot, or a GOT slot that is only called through, are led through a trampoline that opens a span.
// What must not be is refused, and the coverage says so. Called by the GOT patcher. Threads: the
// scan's; trampolines are called by any.
#ifndef LIGHTMETER_AGENT_STAGE_MAP_H
#define LIGHTMETER_AGENT_STAGE_MAP_H

#include "agent/elf_object.h"

// A slot of the GOT that might be led elsewhere.
struct stage_map_slot {
    const struct elf_object *caller;
    const char *symbol;
    uintptr_t address;
    uintptr_t original; // where it leads; 0: not bound yet, and there is no telling
    int is_call_slot;   // of the PLT
};

// Prepares the patterns of the configuration. Not under the loader's list lock.
void stage_map_start(void);

// Whether calls of `symbol` may be wanted: by its name, or because whole libraries are.
int stage_map_is_wanted(const char *symbol);

// The trampoline for a slot, or NULL when it is not wanted after all, or refused.
void *stage_map_thunk(const struct stage_map_slot *slot);

// An object was unloaded: what is known of code by its address may be wrong.
void stage_map_forget(void);

// Writes what each entry matched, and what of it was left out, to the process file.
void stage_map_report(void);

#endif
