// SPDX-License-Identifier: Apache-2.0
// Small files of /proc and /sys, read whole, and values in them. Used by the os_*.c files only.
// Missing files are no error here. Threads: no shared state.
#ifndef LIGHTMETER_BASE_OS_TEXT_H
#define LIGHTMETER_BASE_OS_TEXT_H

#include "base/buf.h"

#include <stdint.h>

// Replaces *out by the text of root + path. 0, or -1 (empty) when it cannot be read.
int os_text_read(const char *root, const char *path, struct buf *out);

// The first line of root + path in `out`, cut to its room; "" when it cannot be read.
void os_text_line(const char *root, const char *path, char *out, size_t out_bytes);

// The text behind "key", blanks and a separator (':' or none) at the start of a line, up to the end
// of the line, cut to `out`. 0, or -1 (out is "") when there is none.
int os_text_field(const char *text, const char *key, char *out, size_t out_bytes);

// The same as an unsigned number; what follows the number after a blank (a unit) is ignored.
int os_text_number(const char *text, const char *key, uint64_t *value);

// Up to `most` unsigned numbers, separated by blanks, at the start of `text`; how many there are.
int os_text_numbers(const char *text, uint64_t *values, int most);

#endif
