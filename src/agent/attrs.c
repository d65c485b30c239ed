// SPDX-License-Identifier: Apache-2.0
// See attrs.h. Called for spans that carry more than a time. Allocates nothing.
#include "agent/attrs.h"

#include "agent/split.h"

#include <string.h>

// struct trace_attr in two stores; the place behind it.
static inline uint8_t *put(
    uint8_t *room, uint32_t depth, unsigned key, uint32_t aux, uint64_t value)
{
    const uint64_t record[2] = {
        TRACE_ATTR | (uint64_t)depth << 8 | (uint64_t)key << 16 | (uint64_t)aux << 32, value};
    memcpy(room, record, sizeof record);
    return room + sizeof record;
}

static uint8_t *put_values(uint8_t *room, const struct agent_values *v, uint32_t depth)
{
    for (uint32_t bits = v->bits; bits; bits &= bits - 1) {
        const unsigned at = (unsigned)__builtin_ctz(bits);
        room = put(room, depth, TRACE_ATTR_FILE + at, v->aux[at], v->value[at]);
    }
    return room;
}

uint8_t *attrs_fill(
    uint8_t *room, const struct agent_thread *t, const struct agent_frame *f, uint32_t index)
{
    const struct agent_shape *shape = &t->shapes[index];
    const uint32_t depth = index - 1, bits = f->what.attr_bits;
    if (bits & 1u << TRACE_ATTR_BYTES)
        room = put(room, depth, TRACE_ATTR_BYTES, 0, f->bytes);
    if (bits & 1u << TRACE_ATTR_SHAPE)
        room = put(room, depth, TRACE_ATTR_SHAPE, shape->channels_batch, f->extent);
    if (bits & 1u << TRACE_ATTR_SOURCE)
        room = put(room, depth, TRACE_ATTR_SOURCE, 0, shape->source);
    if (bits & 1u << TRACE_ATTR_SCALE)
        room = put(room, depth, TRACE_ATTR_SCALE, 0, shape->scale);
    return bits & AGENT_HAS_VALUES ? put_values(room, &t->values[index], depth) : room;
}

void attrs_write_one(
    struct agent_thread *t, uint32_t depth, enum trace_attr_key key, uint32_t aux, uint64_t value)
{
    struct trace_attr *a = agent_room(t, sizeof *a);
    if (!a)
        return;
    *a = (struct trace_attr){TRACE_ATTR, (uint8_t)depth, (uint8_t)key, 0, aux, value};
    trace_writer_commit(&t->writer, sizeof *a);
}

// What is kept while the span is open is the count at its beginning.
static void settle_faults(struct agent_values *v)
{
    const unsigned at = TRACE_ATTR_FAULTS - TRACE_ATTR_FILE;
    uint64_t minor;
    uint32_t major;
    split_faults(&minor, &major);
    v->value[at] = minor - v->value[at];
    v->aux[at] = major - v->aux[at];
}

void attrs_write(struct agent_thread *t, const struct agent_frame *f, uint32_t index)
{
    if (attrs_have_faults(t, f))
        settle_faults(&t->values[index]);
    uint8_t *room = agent_room(t, ATTRS_BYTES);
    if (room)
        trace_writer_commit(&t->writer, (size_t)(attrs_fill(room, t, f, index) - room));
}
