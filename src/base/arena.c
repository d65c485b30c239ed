// SPDX-License-Identifier: Apache-2.0
// The arena: a list of blocks, filled one after another, freed together. Called wherever many small
// objects share a lifetime. Does not free single objects. A large request gets a block of its own,
// behind the current one, so that the rest of the current one is still used. One thread at a time.
#include "base/arena.h"

#include "base/heap.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN_BYTES 16u
#define BLOCK_FIRST_BYTES (16u << 10)
#define BLOCK_MOST_BYTES (1u << 20)

struct block {
    struct block *older;
    size_t used_bytes, capacity_bytes;
    _Alignas(ALIGN_BYTES) char at[];
};

struct arena {
    struct block *newest;
    size_t next_block_bytes;
};

struct arena *arena_new(void)
{
    struct arena *a = calloc(1, sizeof *a);
    if (a)
        a->next_block_bytes = BLOCK_FIRST_BYTES;
    return a;
}

void arena_free(struct arena **a)
{
    if (!a || !*a)
        return;
    for (struct block *b = (*a)->newest, *older; b; b = older) {
        older = b->older;
        free(b);
    }
    free(*a);
    *a = NULL;
}

static struct block *block_new(size_t capacity_bytes)
{
    struct block *b = NULL;
    if (posix_memalign((void **)&b, ALIGN_BYTES, sizeof *b + capacity_bytes) != 0)
        heap_exhausted(capacity_bytes);
    b->older = NULL;
    b->used_bytes = 0;
    b->capacity_bytes = capacity_bytes;
    return b;
}

static struct block *room(struct arena *a, size_t length_bytes)
{
    struct block *b = a->newest;
    if (b && length_bytes <= b->capacity_bytes - b->used_bytes)
        return b;
    if (b && length_bytes > a->next_block_bytes / 4) {
        struct block *own = block_new(length_bytes);
        own->older = b->older;
        b->older = own;
        return own;
    }
    b = block_new(length_bytes > a->next_block_bytes ? length_bytes : a->next_block_bytes);
    b->older = a->newest;
    a->newest = b;
    if (a->next_block_bytes < BLOCK_MOST_BYTES)
        a->next_block_bytes *= 2;
    return b;
}

void *arena_alloc(struct arena *a, size_t length_bytes)
{
    if (length_bytes > (size_t)PTRDIFF_MAX / 2)
        heap_exhausted(length_bytes);
    size_t rounded = (length_bytes + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
    rounded = rounded ? rounded : ALIGN_BYTES;
    struct block *b = room(a, rounded);
    void *at = b->at + b->used_bytes;
    b->used_bytes += rounded;
    return memset(at, 0, rounded);
}

static char *copy(struct arena *a, const char *text, size_t length_bytes)
{
    char *at = arena_alloc(a, length_bytes + 1);
    return memcpy(at, text, length_bytes);
}

char *arena_strndup(struct arena *a, const char *text, size_t length_bytes)
{
    return copy(a, text, strnlen(text, length_bytes));
}

char *arena_strdup(struct arena *a, const char *text)
{
    return copy(a, text, strlen(text));
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = arena_alloc(a, length < 0 ? 1 : (size_t)length + 1);
    if (length > 0)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}
