// SPDX-License-Identifier: Apache-2.0
// See attrs.h. Called for spans that carry more than a time. Allocates nothing.
#include "agent/attrs.h"

#include "agent/split.h"

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

static void write_values(struct agent_thread *t, struct agent_values *v, uint32_t depth)
{
    if (v->bits & 1u << (TRACE_ATTR_FAULTS - TRACE_ATTR_FILE))
        settle_faults(v);
    for (uint32_t bits = v->bits; bits; bits &= bits - 1) {
        const unsigned at = (unsigned)__builtin_ctz(bits);
        attrs_write_one(
            t, depth, (enum trace_attr_key)(TRACE_ATTR_FILE + at), v->aux[at], v->value[at]);
    }
}

void attrs_write(struct agent_thread *t, const struct agent_frame *f, uint32_t index)
{
    const struct agent_shape *shape = &t->shapes[index];
    uint32_t depth = index - 1;
    if (f->what.attr_bits & 1u << TRACE_ATTR_BYTES)
        attrs_write_one(t, depth, TRACE_ATTR_BYTES, 0, f->bytes);
    if (f->what.attr_bits & 1u << TRACE_ATTR_SHAPE)
        attrs_write_one(t, depth, TRACE_ATTR_SHAPE, shape->channels_batch, f->extent);
    if (f->what.attr_bits & 1u << TRACE_ATTR_SOURCE)
        attrs_write_one(t, depth, TRACE_ATTR_SOURCE, 0, shape->source);
    if (f->what.attr_bits & 1u << TRACE_ATTR_SCALE)
        attrs_write_one(t, depth, TRACE_ATTR_SCALE, 0, shape->scale);
    if (f->what.attr_bits & AGENT_HAS_VALUES)
        write_values(t, &t->values[index], depth);
}
