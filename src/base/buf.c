// SPDX-License-Identifier: Apache-2.0
// The growing byte string. Called by everything that writes text or bytes of unknown length.
// Does not shrink. Threads: one owner.
#include "base/buf.h"

#include "base/heap.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Room for `more` bytes behind the content and a NUL.
static void reserve(struct buf *b, size_t more)
{
    if (more > (size_t)PTRDIFF_MAX - 1 - b->length_bytes)
        heap_exhausted(more);
    size_t wanted = b->length_bytes + more + 1;
    if (wanted <= b->capacity_bytes)
        return;
    b->capacity_bytes = heap_capacity(b->capacity_bytes, wanted, 1);
    b->at = heap_resize(b->at, b->capacity_bytes, 1);
}

void buf_add(struct buf *b, const void *bytes, size_t length_bytes)
{
    reserve(b, length_bytes);
    if (length_bytes)
        memcpy(b->at + b->length_bytes, bytes, length_bytes);
    b->length_bytes += length_bytes;
    b->at[b->length_bytes] = 0;
}

void buf_puts(struct buf *b, const char *text)
{
    buf_add(b, text, strlen(text));
}

void buf_putc(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    reserve(b, 0);
    size_t room = b->capacity_bytes - b->length_bytes;
    int length = vsnprintf(b->at + b->length_bytes, room, format, args);
    if (length < 0) {
        b->at[b->length_bytes] = 0;
    } else {
        if ((size_t)length >= room) {
            reserve(b, (size_t)length);
            vsnprintf(b->at + b->length_bytes, (size_t)length + 1, format, again);
        }
        b->length_bytes += (size_t)length;
    }
    va_end(args);
    va_end(again);
}

const char *buf_text(const struct buf *b)
{
    return b->at ? b->at : "";
}

void buf_fini(struct buf *b)
{
    free(b->at);
    b->at = NULL;
    b->length_bytes = b->capacity_bytes = 0;
}
