// SPDX-License-Identifier: Apache-2.0
// The table of columns, and the predictions that are not worth a fast path. Called by planes_encode
// and planes_decode. Part of the file format. Threads: one owner per state.
#include "trace/columns.h"

#include <string.h>

#define FIELD(type, member, how)                                                                   \
    {                                                                                              \
        (uint8_t) offsetof(struct type, member), (uint8_t)sizeof(((struct type *)0)->member), how  \
    }

// Order matters: a keyed column comes after its key, and times come in the order they are
// predicted.
const struct columns_shape columns_shapes[COLUMNS_ROWS] = {
    // SPAN without children: duration, and the gap between the last moment and its start.
    [TRACE_SPAN] = {16, 4,
        {FIELD(trace_span, depth, COLUMNS_PLAIN), FIELD(trace_span, name, COLUMNS_PLAIN),
            FIELD(trace_span, dur_ticks, COLUMNS_PLAIN),
            FIELD(trace_span, end_ticks, COLUMNS_NEAR)}},
    // SPAN with children: time before the first child, and between the last moment and its end.
    [COLUMNS_ROWS - 1] = {16, 4,
        {FIELD(trace_span, depth, COLUMNS_PLAIN), FIELD(trace_span, name, COLUMNS_PLAIN),
            FIELD(trace_span, dur_ticks, COLUMNS_PLAIN),
            FIELD(trace_span, end_ticks, COLUMNS_TIME)}},
    [TRACE_SPAN_LONG] = {32, 4,
        {FIELD(trace_span_long, depth, COLUMNS_PLAIN), FIELD(trace_span_long, name, COLUMNS_PLAIN),
            FIELD(trace_span_long, end_ticks, COLUMNS_TIME),
            FIELD(trace_span_long, dur_ticks, COLUMNS_PLAIN)}},
    [TRACE_SPLIT] = {32, 5,
        {FIELD(trace_split, depth, COLUMNS_PLAIN), FIELD(trace_split, cause, COLUMNS_PLAIN),
            FIELD(trace_split, switches, COLUMNS_PLAIN), FIELD(trace_split, off_ns, COLUMNS_PLAIN),
            FIELD(trace_split, runq_ns, COLUMNS_PLAIN)}},
    [TRACE_FOLD] = {64, 10,
        {FIELD(trace_fold, depth, COLUMNS_PLAIN), FIELD(trace_fold, name, COLUMNS_PLAIN),
            FIELD(trace_fold, calls, COLUMNS_PLAIN), FIELD(trace_fold, self_ticks, COLUMNS_PLAIN),
            FIELD(trace_fold, first_start_ticks, COLUMNS_NEAR),
            FIELD(trace_fold, last_end_ticks, COLUMNS_NEAR),
            FIELD(trace_fold, off_ns, COLUMNS_PLAIN), FIELD(trace_fold, runq_ns, COLUMNS_PLAIN),
            FIELD(trace_fold, bytes, COLUMNS_PLAIN), FIELD(trace_fold, max_ticks, COLUMNS_PLAIN)}},
    [TRACE_ATTR] = {16, 4,
        {FIELD(trace_attr, depth, COLUMNS_PLAIN), FIELD(trace_attr, key, COLUMNS_PLAIN),
            FIELD(trace_attr, aux, COLUMNS_PLAIN), FIELD(trace_attr, value, COLUMNS_KEYED)}},
    [TRACE_ITEM] = {32, 4,
        {FIELD(trace_item, op, COLUMNS_PLAIN), FIELD(trace_item, ticks, COLUMNS_TIME),
            FIELD(trace_item, id, COLUMNS_PREVIOUS), FIELD(trace_item, other, COLUMNS_PREVIOUS)}},
    [TRACE_QUEUE] = {16, 4,
        {FIELD(trace_queue, op, COLUMNS_PLAIN), FIELD(trace_queue, name, COLUMNS_PLAIN),
            FIELD(trace_queue, depth, COLUMNS_PLAIN), FIELD(trace_queue, ticks, COLUMNS_TIME)}},
    [TRACE_COUNTER] = {32, 3,
        {FIELD(trace_counter, name, COLUMNS_PLAIN), FIELD(trace_counter, ticks, COLUMNS_TIME),
            FIELD(trace_counter, delta, COLUMNS_ZIGZAG)}},
    [TRACE_TEXT] = {16, 5,
        {FIELD(trace_text, use, COLUMNS_PLAIN), FIELD(trace_text, id, COLUMNS_PLAIN),
            FIELD(trace_text, length_bytes, COLUMNS_PLAIN),
            FIELD(trace_text, subject, COLUMNS_PLAIN), FIELD(trace_text, aux, COLUMNS_PLAIN)}},
    [TRACE_THREAD] = {32, 5,
        {FIELD(trace_thread, op, COLUMNS_PLAIN), FIELD(trace_thread, tid, COLUMNS_PLAIN),
            FIELD(trace_thread, ticks, COLUMNS_TIME), FIELD(trace_thread, cpu_ns, COLUMNS_PREVIOUS),
            FIELD(trace_thread, runq_ns, COLUMNS_PREVIOUS)}},
    [TRACE_DROP] = {16, 2,
        {FIELD(trace_drop, records, COLUMNS_PLAIN), FIELD(trace_drop, ticks, COLUMNS_TIME)}},
    [TRACE_SAMPLE] = {32, 4,
        {FIELD(trace_sample, metric, COLUMNS_PLAIN), FIELD(trace_sample, subject, COLUMNS_PLAIN),
            FIELD(trace_sample, ticks, COLUMNS_TIME), FIELD(trace_sample, value, COLUMNS_KEYED)}},
};
static_assert(TRACE_KIND_COUNT == COLUMNS_ROWS - 1, "a new kind needs a new coding");

uint8_t columns_row(uint8_t code)
{
    if (code == COLUMNS_SPAN_PARENT)
        return COLUMNS_ROWS - 1;
    return code > TRACE_NONE && code < TRACE_KIND_COUNT ? code : COLUMNS_NO_ROW;
}

uint8_t columns_code(unsigned row)
{
    return (uint8_t)(row == COLUMNS_ROWS - 1 ? COLUMNS_SPAN_PARENT : row);
}

uint64_t columns_get(const void *record, struct columns_field field)
{
    uint64_t value = 0;
    memcpy(&value, (const uint8_t *)record + field.offset_bytes, field.width_bytes);
    return value;
}

void columns_put(void *record, struct columns_field field, uint64_t value)
{
    memcpy((uint8_t *)record + field.offset_bytes, &value, field.width_bytes);
}

// The value that a stored difference starts from; NULL where none does.
static uint64_t *base_find(
    struct columns_state *s, unsigned row, unsigned field, const void *record)
{
    switch (columns_shapes[row].fields[field].coding) {
    case COLUMNS_TIME:
    case COLUMNS_NEAR:
        return &s->last_ticks;
    case COLUMNS_PREVIOUS:
        return &s->previous[row][field];
    case COLUMNS_KEYED:
        return &s->keyed[columns_key(record)];
    default:
        return NULL;
    }
}

uint64_t columns_store(
    struct columns_state *s, unsigned row, unsigned field, const void *record, uint64_t value)
{
    const uint8_t coding = columns_shapes[row].fields[field].coding;
    uint64_t *base = base_find(s, row, field, record);
    if (!base)
        return coding == COLUMNS_ZIGZAG ? columns_zigzag(value) : value;
    const uint64_t stored = columns_zigzag(value - *base);
    if (coding != COLUMNS_NEAR)
        *base = value;
    return stored;
}

uint64_t columns_load(
    struct columns_state *s, unsigned row, unsigned field, const void *record, uint64_t stored)
{
    const uint8_t coding = columns_shapes[row].fields[field].coding;
    uint64_t *base = base_find(s, row, field, record);
    if (!base)
        return coding == COLUMNS_ZIGZAG ? columns_unzigzag(stored) : stored;
    const uint64_t value = columns_unzigzag(stored) + *base;
    if (coding != COLUMNS_NEAR)
        *base = value;
    return value;
}
