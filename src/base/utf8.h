// SPDX-License-Identifier: Apache-2.0
// UTF-8, byte by byte: decoding with strict checks, and repair of broken text. Used by json and
// text. Does not know about display width (text.h does). Threads: no state.
#ifndef LIGHTMETER_BASE_UTF8_H
#define LIGHTMETER_BASE_UTF8_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

// Decodes the first character of `text` (length_bytes > 0) into *point and returns its length in
// bytes; 0 when the first byte begins no valid character (overlong, surrogate, cut, above 10FFFF).
size_t utf8_decode(const char *text, size_t length_bytes, uint32_t *point);

// Appends `text` to *out, with U+FFFD in place of each byte that belongs to no valid character.
void utf8_repair(const char *text, size_t length_bytes, struct buf *out);

// Whether all of it is valid UTF-8.
int utf8_is_valid(const char *text, size_t length_bytes);

#endif
