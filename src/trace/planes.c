// SPDX-License-Identifier: Apache-2.0
// Records to byte planes: the encoding half and the buffers. Called by the packer for every block
// of records. Layout of the result: struct planes_header; the code of each record; one byte per
// column of the codes that occur, telling how many planes it has; the planes; the bytes of TEXT
// records.
#include "trace/planes.h"

#include "trace/planes_state.h"
#include "trace/records.h"

#include <stdlib.h>
#include <string.h>

// Planes shorter than this share a cut with what follows: a frame of their own would cost more.
#define CUT_LEAST_BYTES 1024u

void planes_free(struct planes **p)
{
    if (!p || !*p)
        return;
    free((*p)->values.at);
    free((*p)->codes.at);
    free((*p)->bytes.at);
    free(*p);
    *p = NULL;
}

void *planes_room_grow(struct planes_room *room, size_t length_bytes)
{
    if (length_bytes <= room->length_bytes)
        return room->at;
    void *at = malloc(length_bytes);
    if (!at)
        return NULL;
    free(room->at);
    room->at = at;
    room->length_bytes = length_bytes;
    return at;
}

size_t planes_limit_bytes(size_t length_bytes)
{
    return length_bytes + sizeof(struct planes_header) + COLUMNS_ROWS * COLUMNS_MOST;
}

int planes_columns_place(struct planes *p)
{
    size_t values = 0;
    for (unsigned row = 0; row < COLUMNS_ROWS; row++)
        values += p->counts[row] * columns_shapes[row].count;
    uint64_t *at = planes_room_grow(&p->values, values * sizeof *at + 8);
    if (!at)
        return -1;
    for (unsigned row = 0; row < COLUMNS_ROWS; row++) {
        for (unsigned i = 0; i < columns_shapes[row].count; i++) {
            p->columns[row][i] = at;
            at += p->counts[row];
        }
    }
    return 0;
}

// Marks the bytes that no column holds; they must be zero.
static void masks_make(struct planes *p)
{
    for (unsigned kind = 1; kind < TRACE_KIND_COUNT; kind++) {
        const struct columns_shape *shape = &columns_shapes[kind];
        uint8_t mask[sizeof p->masks[0]] = {0};
        memset(mask + 1, 0xff, shape->record_bytes - 1u);
        for (unsigned i = 0; i < shape->count; i++)
            memset(mask + shape->fields[i].offset_bytes, 0, shape->fields[i].width_bytes);
        memcpy(p->masks[kind], mask, sizeof mask);
    }
}

struct planes *planes_new(void)
{
    struct planes *p = calloc(1, sizeof *p);
    if (p)
        masks_make(p);
    return p;
}

// Whether the bytes of a record that no column holds are zero.
static int is_exact(const struct planes *p, const struct trace_record *r)
{
    const uint64_t *mask = p->masks[r->kind];
    const uint8_t *at = r->at;
    uint64_t rest = 0;
    for (unsigned i = 0; i < columns_shapes[r->kind].record_bytes / 8u; i++) {
        uint64_t word;
        memcpy(&word, at + 8 * i, 8);
        rest |= word & mask[i];
    }
    if (r->kind == TRACE_TEXT)
        for (uint32_t i = (uint32_t)sizeof *r->text + r->text->length_bytes; i < r->length_bytes;
             i++)
            rest |= at[i];
    return rest == 0;
}

// First pass: the code of every record, and how many there are of each. The number of records, or
// -1 when the stream cannot be encoded.
static int64_t codes_find(struct planes *p, struct trace_cursor c, size_t *text_bytes)
{
    struct trace_record r;
    uint8_t *code = p->codes.at;
    int64_t records = 0;
    int more;
    uint8_t has_child[257] = {0};
    memset(p->counts, 0, sizeof p->counts);
    while ((more = trace_records_next(&c, &r)) > 0) {
        uint8_t found = (uint8_t)r.kind;
        if (r.kind == TRACE_SPAN || r.kind == TRACE_SPAN_LONG) {
            if (r.kind == TRACE_SPAN && has_child[r.span->depth + 1])
                found = COLUMNS_SPAN_PARENT;
            has_child[r.span->depth + 1] = 0;
            has_child[r.span->depth] = 1;
        } else if (r.kind == TRACE_TEXT) {
            *text_bytes += r.text->length_bytes;
        }
        if (r.kind != TRACE_SPAN && !is_exact(p, &r))
            return -1;
        p->counts[columns_row(found)]++;
        code[records++] = found;
    }
    return more < 0 ? -1 : records;
}

// The first moment in the stream, so that the first difference is small too.
static uint64_t base_find(struct trace_cursor c)
{
    struct trace_record r;
    while (trace_records_next(&c, &r) > 0) {
        if (r.kind == TRACE_SPAN)
            return r.span->end_ticks - r.span->dur_ticks;
        const struct columns_shape *shape = &columns_shapes[r.kind];
        for (unsigned i = 0; i < shape->count; i++)
            if (shape->fields[i].coding == COLUMNS_TIME)
                return columns_get(r.at, shape->fields[i]);
    }
    return 0;
}

static void span_store(struct columns_state *s, uint8_t code, const struct trace_span *span,
    uint64_t **columns, size_t at)
{
    const uint64_t start_ticks = span->end_ticks - span->dur_ticks;
    columns[0][at] = span->depth;
    columns[1][at] = span->name;
    if (code == COLUMNS_SPAN_PARENT) {
        columns[2][at] = (uint32_t)(s->first_child_ticks[span->depth + 1] - start_ticks);
        columns[3][at] = columns_zigzag(span->end_ticks - s->last_ticks);
    } else {
        columns[2][at] = span->dur_ticks;
        columns[3][at] = columns_zigzag(start_ticks - s->last_ticks);
    }
    s->last_ticks = span->end_ticks;
    columns_span_closed(s, span->depth, start_ticks);
}

static void attr_store(
    struct columns_state *s, const struct trace_attr *attr, uint64_t **columns, size_t at)
{
    columns[0][at] = attr->depth;
    columns[1][at] = attr->key;
    columns[2][at] = attr->aux;
    columns[3][at] = columns_zigzag(attr->value - s->keyed[attr->key]);
    s->keyed[attr->key] = attr->value;
}

// Second pass: the values of all columns, and the bytes of TEXT records to `text`.
static void columns_fill(
    struct planes *p, struct trace_cursor c, uint64_t base_ticks, uint8_t *text)
{
    const uint8_t *code = p->codes.at;
    size_t filled[COLUMNS_ROWS] = {0};
    struct columns_state *s = &p->state;
    struct trace_record r;
    memset(s, 0, sizeof *s);
    s->last_ticks = base_ticks;
    while (trace_records_next(&c, &r) > 0) {
        const uint8_t row = columns_row(*code);
        const size_t at = filled[row]++;
        if (r.kind == TRACE_SPAN) {
            span_store(s, *code, r.span, p->columns[row], at);
        } else if (r.kind == TRACE_ATTR) {
            attr_store(s, r.attr, p->columns[row], at);
        } else {
            for (unsigned i = 0; i < columns_shapes[row].count; i++)
                p->columns[row][i][at] = columns_store(
                    s, row, i, r.at, columns_get(r.at, columns_shapes[row].fields[i]));
            if (r.kind == TRACE_SPAN_LONG)
                columns_span_closed(
                    s, r.span_long->depth, r.span_long->end_ticks - r.span_long->dur_ticks);
        }
        if (r.kind == TRACE_TEXT) {
            memcpy(text, r.text + 1, r.text->length_bytes);
            text += r.text->length_bytes;
        }
        code++;
    }
}

// Bytes that the largest value of a column needs.
static uint8_t width_find(const uint64_t *values, size_t count)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++)
        all |= values[i];
    return (uint8_t)(all ? 8 - __builtin_clzll(all) / 8 : 0);
}

static void cut_add(struct planes *p, size_t end_bytes)
{
    const size_t last_bytes = p->cut_count ? p->cuts[p->cut_count - 1] : 0;
    if (end_bytes - last_bytes >= CUT_LEAST_BYTES)
        p->cuts[p->cut_count++] = end_bytes;
}

// Writes the widths and planes of all columns at `out`; the end.
static uint8_t *planes_write(struct planes *p, uint8_t *out)
{
    uint8_t *width = out;
    for (unsigned row = 0; row < COLUMNS_ROWS; row++)
        out += p->counts[row] ? columns_shapes[row].count : 0;
    for (unsigned row = 0; row < COLUMNS_ROWS; row++) {
        const size_t count = p->counts[row];
        for (unsigned i = 0; count && i < columns_shapes[row].count; i++) {
            const uint64_t *values = p->columns[row][i];
            *width = width_find(values, count);
            for (unsigned byte = 0; byte < *width; byte++) {
                for (size_t at = 0; at < count; at++)
                    out[at] = (uint8_t)(values[at] >> (8 * byte));
                out += count;
                cut_add(p, (size_t)(out - (uint8_t *)p->bytes.at));
            }
            width++;
        }
    }
    return out;
}

int planes_encode(
    struct planes *p, const void *records, size_t length_bytes, struct planes_output *out)
{
    const struct trace_cursor c = {.at = records, .length_bytes = length_bytes};
    size_t text_bytes = 0;
    p->cut_count = 0;
    if (!planes_room_grow(&p->codes, length_bytes / TRACE_UNIT_BYTES + 1))
        return -1;
    const int64_t count = codes_find(p, c, &text_bytes);
    if (count < 0)
        return 0;
    uint8_t *begin = planes_room_grow(&p->bytes, planes_limit_bytes(length_bytes));
    if (!begin || planes_columns_place(p) < 0)
        return -1;
    const struct planes_header header = {
        .records = (uint32_t)count, .text_bytes = (uint32_t)text_bytes, .base_ticks = base_find(c)};
    memcpy(begin, &header, sizeof header);
    uint8_t *at = begin + sizeof header;
    memcpy(at, p->codes.at, (size_t)count);
    at += count;
    cut_add(p, (size_t)(at - begin));
    // The texts go where they end up only once the planes are there: at the very end of the room.
    uint8_t *text = begin + planes_limit_bytes(length_bytes) - text_bytes;
    columns_fill(p, c, header.base_ticks, text);
    at = planes_write(p, at);
    memmove(at, text, text_bytes);
    at += text_bytes;
    const size_t total_bytes = (size_t)(at - begin);
    if (!p->cut_count || p->cuts[p->cut_count - 1] != total_bytes)
        p->cuts[p->cut_count++] = total_bytes;
    *out = (struct planes_output){
        .bytes = begin, .length_bytes = total_bytes, .cut_bytes = p->cuts, .cuts = p->cut_count};
    return 1;
}
