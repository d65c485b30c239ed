// SPDX-License-Identifier: Apache-2.0
// Allocation that either succeeds or ends the process with one line on standard error. Called by
// the containers of this folder. Does not return memory to callers that could go on without it.
// Threads: as malloc.
#include "base/heap.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STATUS_OWN_FAILURE 125
#define CAPACITY_LEAST 8u

void heap_exhausted(size_t wanted_bytes)
{
    char line[200];
    int length = snprintf(line, sizeof line,
        "lightmeter: out of memory (%zu bytes more were wanted). Free some memory, raise the limit "
        "(ulimit -v), or use a shorter run.\n",
        wanted_bytes);
    if (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0)
        _exit(STATUS_OWN_FAILURE);
    _exit(STATUS_OWN_FAILURE);
}

void *heap_alloc(size_t count, size_t element_bytes)
{
    void *at = calloc(count ? count : 1, element_bytes ? element_bytes : 1);
    if (!at)
        heap_exhausted(count * element_bytes);
    return at;
}

void *heap_resize(void *at, size_t count, size_t element_bytes)
{
    size_t length_bytes;
    if (__builtin_mul_overflow(count, element_bytes, &length_bytes))
        heap_exhausted(SIZE_MAX);
    void *moved = realloc(at, length_bytes ? length_bytes : 1);
    if (!moved)
        heap_exhausted(length_bytes);
    return moved;
}

size_t heap_capacity(size_t capacity, size_t count, size_t element_bytes)
{
    size_t limit = (size_t)PTRDIFF_MAX / (element_bytes ? element_bytes : 1);
    if (count > limit)
        heap_exhausted(SIZE_MAX);
    size_t next = capacity < CAPACITY_LEAST / 2 ? CAPACITY_LEAST : capacity;
    next = next > limit / 2 ? limit : next * (capacity < CAPACITY_LEAST / 2 ? 1 : 2);
    return next < count ? count : next;
}
