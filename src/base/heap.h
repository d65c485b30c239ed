// SPDX-License-Identifier: Apache-2.0
// Memory for command-line processes, where running out of it cannot be handled usefully: the
// process ends with a message. Used under vec, buf, arena, hist and json. Never in the agent.
// Threads: as malloc.
#ifndef LIGHTMETER_BASE_HEAP_H
#define LIGHTMETER_BASE_HEAP_H

#include <stddef.h>

// Says on standard error that memory ran out at a request of `wanted_bytes` and ends the process
// with status 125 (the status of Lightmeter's own failures). Does not flush or allocate.
void heap_exhausted(size_t wanted_bytes) __attribute__((noreturn));

// `count` zeroed elements of `element_bytes`; never NULL, also for 0. Free with free().
void *heap_alloc(size_t count, size_t element_bytes);

// realloc for `count` elements of `element_bytes`; never NULL, also for 0. New bytes are not
// zeroed.
void *heap_resize(void *at, size_t count, size_t element_bytes);

// The capacity to grow to from `capacity` so that `count` elements fit: at least doubles, at least
// 8; ends the process when `count` elements of `element_bytes` cannot be addressed.
size_t heap_capacity(size_t capacity, size_t count, size_t element_bytes);

#endif
