// SPDX-License-Identifier: Apache-2.0
// Whether the stack that the calling thread runs on goes on far enough below an address. For the
// trampolines of stage_map_call.c, before a large copy. Cannot fault: the kernel looks. Keeps
// errno. Threads: any, in signal handlers too.
#ifndef LIGHTMETER_AGENT_STAGE_MAP_ROOM_H
#define LIGHTMETER_AGENT_STAGE_MAP_ROOM_H

#include <stddef.h>
#include <stdint.h>

// Whether `length` bytes below `stack`, and 16 KiB more, are there: a guard page ends a stack, and
// the first thread's grows by being looked at, up to its limit, as it would by being used.
int stage_map_room_is_enough(uintptr_t stack, size_t length);

#endif
