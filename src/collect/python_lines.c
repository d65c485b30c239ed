// SPDX-License-Identifier: Apache-2.0
// See python_lines.h. Threads: no state.
#include "collect/python_lines.h"

#define NO_LINE (-128) // a range of 3.10 that has none
#define UNIT_BYTES 2   // of code, that a place of 3.11 counts

// Each pair: so many bytes further on, so many lines more.
static int32_t find_pair(const uint8_t *table, size_t length_bytes, int32_t line, int64_t at_bytes)
{
    int64_t address = 0;
    for (size_t i = 0; i + 1 < length_bytes; i += 2) {
        address += table[i];
        if (address > at_bytes)
            break;
        line += (int8_t)table[i + 1];
    }
    return line;
}

// Each pair: the length of a range, and the difference of its line.
static int32_t find_range(const uint8_t *table, size_t length_bytes, int32_t line, int64_t at_bytes)
{
    int64_t end = 0;
    for (size_t i = 0; i + 1 < length_bytes; i += 2) {
        const int8_t delta = (int8_t)table[i + 1];
        end += table[i];
        if (delta != NO_LINE)
            line += delta;
        if (at_bytes < end)
            return delta == NO_LINE ? 0 : line;
    }
    return 0;
}

// A number of six bits a byte, lowest first; its sign is its lowest bit.
static int32_t signed_number(const uint8_t *table, size_t length_bytes, size_t *at)
{
    uint32_t value = 0;
    for (unsigned shift = 0; *at < length_bytes && shift < 30; shift += 6) {
        const uint8_t byte = table[(*at)++];
        value |= (uint32_t)(byte & 0x3f) << shift;
        if (!(byte & 0x40))
            break;
    }
    return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

// What the line of an entry of that code is more than the last one's.
static int32_t place_delta(unsigned code, const uint8_t *table, size_t length_bytes, size_t *at)
{
    if (code >= 10 && code <= 12)
        return (int32_t)code - 10;
    return code == 13 || code == 14 ? signed_number(table, length_bytes, at) : 0;
}

// Each entry begins with a byte that has the highest bit set: its code, and its length in units.
static int32_t find_place(const uint8_t *table, size_t length_bytes, int32_t line, int64_t at_bytes)
{
    int64_t end = 0;
    size_t at = 0;
    while (at < length_bytes) {
        const unsigned first = table[at++], code = first >> 3 & 15;
        line += place_delta(code, table, length_bytes, &at);
        end += ((first & 7) + 1) * UNIT_BYTES;
        if (at_bytes < end)
            return code == 15 ? 0 : line;
        while (at < length_bytes && !(table[at] & 0x80))
            at++;
    }
    return 0;
}

int32_t python_lines_find(enum python_lines_kind kind, const uint8_t *table, size_t length_bytes,
    int32_t first, int64_t at_bytes)
{
    if (at_bytes < 0)
        return first;
    if (kind == PYTHON_LINES_PAIRS)
        return find_pair(table, length_bytes, first, at_bytes);
    if (kind == PYTHON_LINES_RANGES)
        return find_range(table, length_bytes, first, at_bytes);
    return find_place(table, length_bytes, first, at_bytes);
}
