// SPDX-License-Identifier: Apache-2.0
// The trampolines of the stage map. Each calls one function with the caller's registers and a copy
// of its arguments on the stack, in a span. Where the copy cannot be shown to be whole, it jumps to
// the function instead and records nothing. x86-64 only. Threads: any; thunks are filled by one.
#ifndef LIGHTMETER_AGENT_STAGE_MAP_CALL_H
#define LIGHTMETER_AGENT_STAGE_MAP_CALL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define STAGE_MAP_THUNKS 1024

// A call whose caller's frame is larger is not recorded: so much is copied at the most.
#define STAGE_MAP_FRAME_LIMIT_KIB 68

struct stage_map_thunk {
    void *original;
    uint16_t name, entry;       // entry of the stage map
    _Atomic uint32_t passed_on; // calls that were not recorded
};
extern struct stage_map_thunk stage_map_thunks[STAGE_MAP_THUNKS];

// 0, or -1 where there are no trampolines for this processor.
int stage_map_call_open(void);

// The trampoline of stage_map_thunks[index], which must have been filled before it is called.
void *stage_map_call_stub(uint32_t index);

int stage_map_call_is_stub(const void *address);

#endif
