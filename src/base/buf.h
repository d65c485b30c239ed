// SPDX-License-Identifier: Apache-2.0
// A growing byte string, always NUL-terminated; the thing reports and files are written into.
// Used everywhere but in the agent. Running out of memory ends the process with a message.
// Threads: one owner.
#ifndef LIGHTMETER_BASE_BUF_H
#define LIGHTMETER_BASE_BUF_H

#include <stddef.h>

struct buf {
    char *at; // NULL while empty; else NUL-terminated
    size_t length_bytes, capacity_bytes;
};

void buf_add(struct buf *b, const void *bytes, size_t length_bytes);
void buf_puts(struct buf *b, const char *text);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

// The content as a string; "" when empty. Owned by the buffer.
const char *buf_text(const struct buf *b);

// Frees the storage; the buffer is empty and usable again.
void buf_fini(struct buf *b);

#endif
