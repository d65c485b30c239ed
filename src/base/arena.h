// SPDX-License-Identifier: Apache-2.0
// A bump allocator: many small objects with one lifetime, freed together.
// Used by the model, the analyses and the report. Not for the agent.
// Threads: one arena belongs to one thread at a time.
#ifndef LIGHTMETER_BASE_ARENA_H
#define LIGHTMETER_BASE_ARENA_H

#include <stddef.h>

struct arena;

// A new empty arena, or NULL when memory is out. Free with arena_free.
struct arena *arena_new(void);

// Frees everything allocated from *a and the arena; accepts NULL and a NULL pointee; nulls *a.
void arena_free(struct arena **a);

// `length_bytes` zeroed bytes aligned to 16. Running out of memory ends the process with a message
// (only command-line processes use arenas). Never returns NULL.
void *arena_alloc(struct arena *a, size_t length_bytes);

// Copies of a string, of its first `length_bytes` bytes, and of a printf result.
char *arena_strdup(struct arena *a, const char *text);
char *arena_strndup(struct arena *a, const char *text, size_t length_bytes);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
