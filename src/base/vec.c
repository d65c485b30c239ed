// SPDX-License-Identifier: Apache-2.0
// The one function behind the VEC macros: makes room. Called by vec_push and vec_reserve when the
// array is full. Does not shrink. Threads: as the data it holds.
#include "base/vec.h"

#include "base/heap.h"

void *vec_grow(void *at, size_t *capacity, size_t count, size_t element_bytes)
{
    *capacity = heap_capacity(*capacity, count, element_bytes);
    return heap_resize(at, *capacity, element_bytes);
}
