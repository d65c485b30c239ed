// SPDX-License-Identifier: Apache-2.0
// Strict UTF-8 decoding (RFC 3629) and repair. Called on every string that goes into JSON and on
// text that is measured in columns. Does not normalise. Threads: no state.
#include "base/utf8.h"

size_t utf8_decode(const char *text, size_t length_bytes, uint32_t *point)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t first = (uint8_t)text[0];
    if (first < 0x80) {
        *point = first;
        return 1;
    }
    size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || length > length_bytes)
        return 0;
    uint32_t value = first & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        uint8_t next = (uint8_t)text[i];
        if ((next & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (next & 0x3fu);
    }
    if (value < least[length] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    *point = value;
    return length;
}

void utf8_repair(const char *text, size_t length_bytes, struct buf *out)
{
    uint32_t point;
    for (size_t i = 0; i < length_bytes;) {
        size_t length = utf8_decode(text + i, length_bytes - i, &point);
        if (length)
            buf_add(out, text + i, length);
        else
            buf_puts(out, "\xef\xbf\xbd");
        i += length ? length : 1;
    }
}

int utf8_is_valid(const char *text, size_t length_bytes)
{
    uint32_t point;
    for (size_t i = 0, length; i < length_bytes; i += length) {
        length = utf8_decode(text + i, length_bytes - i, &point);
        if (!length)
            return 0;
    }
    return 1;
}
