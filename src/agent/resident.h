// SPDX-License-Identifier: Apache-2.0
// How much of a file lay in memory (in the page cache) when it was opened: whether reading it can
// be fast. Called by descriptor.c for opens that are written out. One system call that changes
// nothing. Threads: any.
#ifndef LIGHTMETER_AGENT_RESIDENT_H
#define LIGHTMETER_AGENT_RESIDENT_H

#include <stdint.h>

// What is looked at: a file's beginning. The call takes up to 10 ns for each page of it.
#define RESIDENT_LOOK_BYTES ((uint64_t)256 << 10)

// Notes RESIDENT with the innermost open span, which is that of `token`, of a regular file that was
// opened as `fd` just now and is `length_bytes` long. Notes nothing where it cannot be told. Keeps
// errno.
void resident_note(uint32_t token, int fd, uint64_t length_bytes);

#endif
