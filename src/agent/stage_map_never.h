// SPDX-License-Identifier: Apache-2.0
// What a stage map never covers, whatever its patterns say: functions that cannot be called through
// a trampoline without harm, and the libraries that all others stand on. One table, with reasons.
// Asked while slots are patched. Threads: no state.
#ifndef LIGHTMETER_AGENT_STAGE_MAP_NEVER_H
#define LIGHTMETER_AGENT_STAGE_MAP_NEVER_H

// Why a slot that a pattern matches is left alone.
enum stage_map_never {
    NEVER_NOT,       // it may be mapped
    NEVER_SYSTEM,    // libc, the loader, the compiler's runtime
    NEVER_TWICE,     // returns twice, or to another place
    NEVER_UNWINDER,  // walks the stack, or throws
    NEVER_REGISTERS, // called by other rules than those of the ABI
    NEVER_DATA,      // no function
    NEVER_VALUE,     // the slot is read as a pointer too, and pointers are compared
    NEVER_AMBIGUOUS, // not bound yet, and defined more than once
    NEVER_FULL,      // more functions than there are trampolines
    NEVER_COUNT
};

// For a function by its symbol and the file that defines it (without folders; "": the program).
enum stage_map_never stage_map_never(const char *symbol, const char *file);

// The reason in words, for a list behind "never mapped: ".
const char *stage_map_never_text(enum stage_map_never why);

#endif
