// SPDX-License-Identifier: Apache-2.0
// The buffers that the two halves of trace/planes.h share. Private to planes.c and planes_decode.c.
// Nothing here is on disk but struct planes_header. Threads: one owner.
#ifndef LIGHTMETER_TRACE_PLANES_STATE_H
#define LIGHTMETER_TRACE_PLANES_STATE_H

#include "trace/columns.h"
#include "trace/planes.h"

// At the front of the encoded bytes.
struct planes_header {
    uint32_t records;
    uint32_t text_bytes; // of all TEXT records, without padding
    uint64_t base_ticks; // the last moment before the first record
};
static_assert(sizeof(struct planes_header) == 16, "on disk");

struct planes_room {
    void *at;
    size_t length_bytes;
};

// Values of a column that are joined at once.
#define PLANES_PIECE 128u

// Where decoding stands in the columns of a row.
struct planes_row {
    const uint8_t *planes[COLUMNS_MOST]; // the first of each column
    uint8_t widths[COLUMNS_MOST];        // planes of each column
    size_t joined;                       // values behind the pieces so far
    size_t ready;                        // values of the piece that are not taken yet
    uint64_t piece[COLUMNS_MOST][PLANES_PIECE];
};

struct planes {
    struct planes_room values, codes, bytes;       // of encoding
    size_t counts[COLUMNS_ROWS];                   // records of each row
    uint64_t *columns[COLUMNS_ROWS][COLUMNS_MOST]; // next values: into `values`, or into a piece
    struct planes_row rows[COLUMNS_ROWS];          // of decoding
    size_t cuts[COLUMNS_ROWS * COLUMNS_MOST * 8 + 4];
    size_t cut_count;
    struct columns_state state;
    uint64_t masks[TRACE_KIND_COUNT][8]; // bytes of a record that must be zero
};

// Makes room; what was there is lost. NULL when memory is out.
void *planes_room_grow(struct planes_room *room, size_t length_bytes);

// Gives every column of the rows in p->counts its place. 0, or -1 when memory is out.
int planes_columns_place(struct planes *p);

#endif
