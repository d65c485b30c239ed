// SPDX-License-Identifier: Apache-2.0
// Byte planes to records: the half that must be fast, and that gets hostile input. Called by the
// reader for every block of records. The layout is told in planes.c. Threads: one owner per struct.
#include "trace/planes.h"

#include "trace/planes_state.h"
#include "trace/records.h"

#include <string.h>

// What is left of the encoded bytes.
struct input {
    const uint8_t *at;
    size_t left_bytes;
};

static const uint8_t *take(struct input *in, size_t length_bytes)
{
    if (length_bytes > in->left_bytes)
        return NULL;
    const uint8_t *at = in->at;
    in->at += length_bytes;
    in->left_bytes -= length_bytes;
    return at;
}

// Counts the codes; -1 when one is unknown or their records do not fit `length_bytes`.
static int codes_count(
    struct planes *p, const uint8_t *codes, size_t records, size_t text_bytes, size_t length_bytes)
{
    size_t by_code[256] = {0};
    size_t known = 0, least_bytes = text_bytes;
    for (size_t i = 0; i < records; i++)
        by_code[codes[i]]++;
    for (unsigned row = 0; row < COLUMNS_ROWS; row++) {
        p->counts[row] = row ? by_code[columns_code(row)] : 0;
        known += p->counts[row];
        least_bytes += p->counts[row] * columns_shapes[row].record_bytes;
    }
    return known == records && least_bytes <= length_bytes ? 0 : -1;
}

// Some values of a column from its planes, which lie `step` bytes apart; the usual widths in one
// go.
static void column_join(
    uint64_t *values, const uint8_t *plane, size_t step, size_t count, unsigned width)
{
    const uint8_t *b = plane + step, *c = b + step;
    switch (width) {
    case 0:
        memset(values, 0, count * sizeof *values);
        return;
    case 1:
        for (size_t i = 0; i < count; i++)
            values[i] = plane[i];
        return;
    case 2:
        for (size_t i = 0; i < count; i++)
            values[i] = (uint64_t)(plane[i] | (uint32_t)b[i] << 8);
        return;
    default:
        for (size_t i = 0; i < count; i++)
            values[i] = (uint64_t)(plane[i] | (uint32_t)b[i] << 8 | (uint32_t)c[i] << 16);
    }
    for (unsigned byte = 3; byte < width; byte++) {
        const uint8_t *more = plane + byte * step;
        for (size_t i = 0; i < count; i++)
            values[i] |= (uint64_t)more[i] << (8 * byte);
    }
}

// Joins the next values of all columns of a row. A piece is small enough to stay in the first
// cache.
static void piece_join(struct planes *p, unsigned row)
{
    struct planes_row *r = &p->rows[row];
    const size_t left = p->counts[row] - r->joined;
    const size_t count = left < PLANES_PIECE ? left : PLANES_PIECE;
    for (unsigned i = 0; i < columns_shapes[row].count; i++) {
        column_join(r->piece[i], r->planes[i] + r->joined, p->counts[row], count, r->widths[i]);
        p->columns[row][i] = r->piece[i];
    }
    r->joined += count;
    r->ready = count;
}

// Finds the planes of all columns; -1 when they are not all there.
static int planes_find(struct planes *p, struct input *in)
{
    size_t columns = 0;
    for (unsigned row = 0; row < COLUMNS_ROWS; row++)
        columns += p->counts[row] ? columns_shapes[row].count : 0;
    const uint8_t *widths = take(in, columns);
    if (!widths)
        return -1;
    for (unsigned row = 0; row < COLUMNS_ROWS; row++) {
        const size_t count = p->counts[row];
        struct planes_row *r = &p->rows[row];
        r->joined = r->ready = 0;
        for (unsigned i = 0; count && i < columns_shapes[row].count; i++) {
            r->widths[i] = *widths++;
            if (r->widths[i] > 8)
                return -1;
            r->planes[i] = take(in, count * r->widths[i]);
            if (!r->planes[i])
                return -1;
        }
    }
    return 0;
}

static inline void span_load(
    struct columns_state *s, int is_parent, uint64_t **next, struct trace_span *span)
{
    const unsigned depth = (uint8_t)*next[0]++;
    const uint32_t middle = (uint32_t)*next[2]++;
    const uint64_t moment = columns_unzigzag(*next[3]++) + s->last_ticks;
    span->kind = TRACE_SPAN;
    span->depth = (uint8_t)depth;
    span->name = (uint16_t)*next[1]++;
    if (is_parent) {
        span->end_ticks = moment;
        span->dur_ticks = (uint32_t)(moment - s->first_child_ticks[depth + 1]) + middle;
    } else {
        span->dur_ticks = middle;
        span->end_ticks = moment + middle;
    }
    s->last_ticks = span->end_ticks;
    columns_span_closed(s, depth, span->end_ticks - span->dur_ticks);
}

static inline void attr_load(struct columns_state *s, uint64_t **next, struct trace_attr *attr)
{
    attr->kind = TRACE_ATTR;
    attr->depth = (uint8_t)*next[0]++;
    attr->key = (uint8_t)*next[1]++;
    attr->zero = 0;
    attr->aux = (uint32_t)*next[2]++;
    attr->value = s->keyed[attr->key] += columns_unzigzag(*next[3]++);
}

static inline void split_load(uint64_t **next, struct trace_split *split)
{
    *split = (struct trace_split){.kind = TRACE_SPLIT,
        .depth = (uint8_t)*next[0]++,
        .cause = (uint8_t)*next[1]++,
        .switches = (uint32_t)*next[2]++,
        .off_ns = *next[3]++,
        .runq_ns = *next[4]++};
}

static inline void item_load(struct columns_state *s, uint64_t **next, struct trace_item *item)
{
    uint64_t *previous = s->previous[TRACE_ITEM];
    *item = (struct trace_item){.kind = TRACE_ITEM, .op = (uint8_t)*next[0]++};
    item->ticks = s->last_ticks += columns_unzigzag(*next[1]++);
    item->id = previous[2] += columns_unzigzag(*next[2]++);
    item->other = previous[3] += columns_unzigzag(*next[3]++);
}

static void any_load(struct columns_state *s, unsigned row, uint64_t **next, void *record)
{
    const struct columns_shape *shape = &columns_shapes[row];
    memset(record, 0, shape->record_bytes);
    *(uint8_t *)record = columns_code(row);
    for (unsigned i = 0; i < shape->count; i++)
        columns_put(record, shape->fields[i], columns_load(s, row, i, record, *next[i]++));
    if (row == TRACE_SPAN_LONG) {
        const struct trace_span_long *span = record;
        columns_span_closed(s, span->depth, span->end_ticks - span->dur_ticks);
    }
}

// Where the decoded records go.
struct output {
    uint8_t *at;
    size_t left_bytes;
};

static int text_load(struct output *out, struct input *in)
{
    const struct trace_text *text = (const void *)(out->at - sizeof *text);
    const size_t length_bytes = text->length_bytes;
    const size_t padded_bytes = (length_bytes + 15u) & ~(size_t)15u;
    const uint8_t *bytes = take(in, length_bytes);
    if (!bytes || padded_bytes > out->left_bytes)
        return -1;
    memcpy(out->at, bytes, length_bytes);
    memset(out->at + length_bytes, 0, padded_bytes - length_bytes);
    out->at += padded_bytes;
    out->left_bytes -= padded_bytes;
    return 0;
}

// One record without a TEXT's own bytes. The kinds that come in millions have a way of their own.
static void record_load(struct planes *p, unsigned row, void *record)
{
    struct columns_state *s = &p->state;
    uint64_t **next = p->columns[row];
    switch (row) {
    case TRACE_SPAN:
        span_load(s, 0, next, record);
        break;
    case COLUMNS_ROWS - 1:
        span_load(s, 1, next, record);
        break;
    case TRACE_ATTR:
        attr_load(s, next, record);
        break;
    case TRACE_SPLIT:
        split_load(next, record);
        break;
    case TRACE_ITEM:
        item_load(s, next, record);
        break;
    default:
        any_load(s, row, next, record);
    }
}

// Goes through the codes, all known, and writes the records.
static int records_write(
    struct planes *p, const uint8_t *codes, size_t records, struct input *text, struct output *out)
{
    for (size_t i = 0; i < records; i++) {
        const unsigned row = codes[i] == COLUMNS_SPAN_PARENT ? COLUMNS_ROWS - 1 : codes[i];
        const size_t record_bytes = columns_shapes[row].record_bytes;
        if (record_bytes > out->left_bytes)
            return -1;
        if (p->rows[row].ready == 0)
            piece_join(p, row);
        p->rows[row].ready--;
        record_load(p, row, out->at);
        out->at += record_bytes;
        out->left_bytes -= record_bytes;
        if (row == TRACE_TEXT && text_load(out, text) < 0)
            return -1;
    }
    return 0;
}

int planes_decode(
    struct planes *p, const void *bytes, size_t encoded_bytes, void *records, size_t length_bytes)
{
    struct input in = {.at = bytes, .left_bytes = encoded_bytes};
    struct planes_header header;
    const uint8_t *at = take(&in, sizeof header);
    if (!at)
        return -1;
    memcpy(&header, at, sizeof header);
    const uint8_t *codes = take(&in, header.records);
    if (!codes || codes_count(p, codes, header.records, header.text_bytes, length_bytes) < 0)
        return -1;
    if (planes_find(p, &in) < 0)
        return -1;
    if (in.left_bytes != header.text_bytes)
        return -1;
    memset(&p->state, 0, sizeof p->state);
    p->state.last_ticks = header.base_ticks;
    struct output out = {.at = records, .left_bytes = length_bytes};
    if (records_write(p, codes, header.records, &in, &out) < 0)
        return -1;
    return out.left_bytes == 0 && in.left_bytes == 0 ? 0 : -1;
}
