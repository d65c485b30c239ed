// SPDX-License-Identifier: Apache-2.0
// A growable array for any element type: VEC(struct x) v = {0}; *vec_push(&v) = x; v.at[i];
// vec_fini(&v). Used everywhere but in the agent. Grows by doubling with realloc; running out of
// memory ends the process with a message (command-line processes only). Pointers into it die when
// it grows. Threads: as the data it holds.
#ifndef LIGHTMETER_BASE_VEC_H
#define LIGHTMETER_BASE_VEC_H

#include <stddef.h>

#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *at;                                                                                  \
        size_t count, capacity;                                                                    \
    }

// Makes room for `count` elements in total. Internal to the macros below.
void *vec_grow(void *at, size_t *capacity, size_t count, size_t element_bytes);

// Room for one more, zeroed; gives its address.
#define vec_push(v)                                                                                \
    ((v)->at = (v)->count < (v)->capacity                                                          \
                   ? (v)->at                                                                       \
                   : vec_grow((v)->at, &(v)->capacity, (v)->count + 1, sizeof *(v)->at),           \
        __builtin_memset(&(v)->at[(v)->count], 0, sizeof *(v)->at), &(v)->at[(v)->count++])

// Room for `n` in total, so that n pushes do not move the array.
#define vec_reserve(v, n)                                                                          \
    ((v)->at = (n) <= (v)->capacity ? (v)->at                                                      \
                                    : vec_grow((v)->at, &(v)->capacity, (n), sizeof *(v)->at))

#define vec_last(v) (&(v)->at[(v)->count - 1])

// Frees the storage; the vector is empty and usable again.
#define vec_fini(v) (__builtin_free((v)->at), (v)->at = NULL, (v)->count = (v)->capacity = 0)

#endif
