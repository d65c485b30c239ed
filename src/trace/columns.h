// SPDX-License-Identifier: Apache-2.0
// Which columns each record kind is split into, and the running state that predicts their values.
// Shared by the two halves of trace/planes.h, which must agree to the bit; nothing else uses it.
// Part of the file format: a change needs a new coding. Threads: one owner per state.
#ifndef LIGHTMETER_TRACE_COLUMNS_H
#define LIGHTMETER_TRACE_COLUMNS_H

#include "trace/format.h"

#include <stddef.h>
#include <stdint.h>

// Codes of the code plane: the record kinds, and SPANs that have children told apart, because their
// columns mean something else: 0x81.
#define COLUMNS_SPAN_PARENT 0x81u
#define COLUMNS_ROWS 14u // dense number of a code: its kind, the last row for COLUMNS_SPAN_PARENT
#define COLUMNS_MOST 10u // columns of one code
#define COLUMNS_NO_ROW 0xffu

enum columns_coding {
    COLUMNS_PLAIN,
    COLUMNS_TIME,     // difference to the last moment, which becomes this one
    COLUMNS_NEAR,     // difference to the last moment, which stays
    COLUMNS_PREVIOUS, // difference to the last value of this column
    COLUMNS_KEYED,    // difference to the last value with the same key
    COLUMNS_ZIGZAG,   // a signed value
};

struct columns_field {
    uint8_t offset_bytes, width_bytes;
    uint8_t coding; // enum columns_coding
};

struct columns_shape {
    uint8_t record_bytes;
    uint8_t count;
    struct columns_field fields[COLUMNS_MOST];
};
extern const struct columns_shape columns_shapes[COLUMNS_ROWS];

// The row of a code, or COLUMNS_NO_ROW.
uint8_t columns_row(uint8_t code);

// The code of a row, or 0 for a row that has none.
uint8_t columns_code(unsigned row);

// What predicts the next values. Zero it to begin, and set last_ticks to the base.
struct columns_state {
    uint64_t last_ticks;
    uint64_t first_child_ticks[257]; // start of the first span at this depth since its parent level
                                     // closed
    uint8_t has_child[257];
    uint64_t previous[COLUMNS_ROWS][COLUMNS_MOST];
    uint64_t keyed[256];
};

// A span at `depth` that began at `start_ticks` closed.
static inline void columns_span_closed(
    struct columns_state *s, unsigned depth, uint64_t start_ticks)
{
    s->has_child[depth + 1] = 0;
    if (!s->has_child[depth]) {
        s->has_child[depth] = 1;
        s->first_child_ticks[depth] = start_ticks;
    }
}

static inline uint64_t columns_zigzag(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t columns_unzigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

// The place of the keyed value that goes with a record (ATTR: its key; SAMPLE: metric and subject).
static inline unsigned columns_key(const void *record)
{
    const uint8_t kind = *(const uint8_t *)record;
    if (kind == TRACE_ATTR)
        return ((const struct trace_attr *)record)->key;
    const struct trace_sample *sample = record;
    return (sample->metric * 31u + sample->subject * 0x9e3779b1u) >> 3 & 255;
}

// Value to stored value and back. `field` is one of the row's; `record` holds kind and key already.
uint64_t columns_store(
    struct columns_state *s, unsigned row, unsigned field, const void *record, uint64_t value);
uint64_t columns_load(
    struct columns_state *s, unsigned row, unsigned field, const void *record, uint64_t stored);

// A field's value in a record, and back.
uint64_t columns_get(const void *record, struct columns_field field);
void columns_put(void *record, struct columns_field field, uint64_t value);

#endif
