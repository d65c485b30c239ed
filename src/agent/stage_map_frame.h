// SPDX-License-Identifier: Apache-2.0
// How many bytes of arguments a call can have on the stack: those between the caller's stack
// pointer and the end of its frame, which its unwind table (.eh_frame) tells. For the trampolines
// of stage_map_call.c, which copy that much. Allocates nothing, takes no lock. Threads: any.
#ifndef LIGHTMETER_AGENT_STAGE_MAP_FRAME_H
#define LIGHTMETER_AGENT_STAGE_MAP_FRAME_H

#include <stddef.h>
#include <stdint.h>

// The registers that a frame can be described by: what a call leaves as it was.
enum stage_map_register {
    FRAME_RBX,
    FRAME_RBP,
    FRAME_RSP,
    FRAME_R12,
    FRAME_R13,
    FRAME_R14,
    FRAME_R15,
    FRAME_REGISTERS
};

// The most that the arguments on the stack can take, given the registers of the caller as they are
// after its call instruction has returned; the return address lies below FRAME_RSP. SIZE_MAX: not
// known, since the caller has no unwind table or one that is not understood.
size_t stage_map_frame_bytes(const uintptr_t *registers);

// Forgets the call sites it has seen: an object was unloaded, and another may lie at its address.
void stage_map_frame_forget(void);

#endif
