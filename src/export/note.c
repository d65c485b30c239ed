// SPDX-License-Identifier: Apache-2.0
// What is known of a span. Called once per span by the exporters. Threads: no state.
#include "export/note.h"

#include <inttypes.h>
#include <stdio.h>

const char *note_name(enum note_key key)
{
    static const char *const names[NOTE_KEY_COUNT] = {"calls", "self_ns", "off_cpu_ns", "runq_ns",
        "waited_for", "switches", "longest_ns", "bytes", "width_px", "height_px", "channels",
        "batch", "source_width_px", "source_height_px", "scale", "item", "file", "offset_bytes",
        "resident_pages", "colour_code", "filter", "dtype", "elements", "session", "input",
        "output", "threads", "faults", "fresh_bytes", "accelerator_ns", "pts_us", "calls_of",
        "elapsed_ns"};
    return names[key];
}

static void add(struct note *notes, size_t *count, enum note_key key, uint64_t value)
{
    notes[*count].key = key;
    notes[*count].value = value;
    notes[(*count)++].text[0] = 0;
}

static void add_text(struct note *notes, size_t *count, enum note_key key, const char *text)
{
    add(notes, count, key, 0);
    snprintf(notes[*count - 1].text, sizeof notes->text, "%s", text);
}

static void add_known(struct note *notes, size_t *count, enum note_key key, uint64_t value)
{
    if (value)
        add(notes, count, key, value);
}

static void add_split(struct note *notes, size_t *count, const struct model_split *split)
{
    static const char *const causes[TRACE_CAUSE_COUNT] = {
        "other", "io", "network", "lock", "gil", "accelerator", "sleep"};
    add(notes, count, NOTE_OFF_CPU_NS, split->off_ns);
    add_known(notes, count, NOTE_RUNQ_NS, split->runq_ns);
    if (split->off_ns > split->runq_ns && (unsigned)split->cause < TRACE_CAUSE_COUNT)
        add_text(notes, count, NOTE_WAITED_FOR, causes[split->cause]);
    add_known(notes, count, NOTE_SWITCHES, split->switches);
}

static void add_attrs(struct note *notes, size_t *count, const struct model_attrs *a)
{
    char scale[32];
    add_known(notes, count, NOTE_LONGEST_NS, a->max_ns);
    add_known(notes, count, NOTE_BYTES, a->bytes);
    add_known(notes, count, NOTE_WIDTH_PX, a->width_px);
    add_known(notes, count, NOTE_HEIGHT_PX, a->height_px);
    add_known(notes, count, NOTE_CHANNELS, a->channels);
    add_known(notes, count, NOTE_BATCH, a->batch);
    add_known(notes, count, NOTE_SOURCE_WIDTH_PX, a->source_width_px);
    add_known(notes, count, NOTE_SOURCE_HEIGHT_PX, a->source_height_px);
    if (a->scale_den) {
        snprintf(scale, sizeof scale, "%" PRIu32 "/%" PRIu32, a->scale_num, a->scale_den);
        add_text(notes, count, NOTE_SCALE, scale);
    }
    if (a->has_item)
        add(notes, count, NOTE_ITEM, a->item);
}

static void add_resident(struct note *notes, size_t *count, enum note_key key, uint64_t value)
{
    char text[32];
    snprintf(
        text, sizeof text, "%" PRIu32 " of %" PRIu32, (uint32_t)value, (uint32_t)(value >> 32));
    add_text(notes, count, key, text);
}

// The others are numbers; where an attribute has two, only the first.
static void add_value(struct note *notes, size_t *count, const struct model_value *v)
{
    const enum note_key key = (enum note_key)(NOTE_VALUE + (v->key - TRACE_ATTR_FILE));
    if (v->key == TRACE_ATTR_RESIDENT)
        add_resident(notes, count, key, v->value);
    else if (v->key == TRACE_ATTR_DTYPE && v->value < TRACE_DTYPE_COUNT)
        add_text(notes, count, key, model_dtype_text((enum trace_dtype)v->value));
    else if (v->key == TRACE_ATTR_FILTER && v->value < TRACE_FILTER_COUNT)
        add_text(notes, count, key, model_filter_text((enum trace_filter)v->value));
    else
        add(notes, count, key, v->value);
}

static void add_values(
    struct note *notes, size_t *count, const struct model_thread *t, uint32_t first)
{
    uint32_t seen = 0;
    for (uint32_t at = first; at; at = t->values.at[at - 1].next) {
        const struct model_value *v = &t->values.at[at - 1];
        const uint32_t bit = 1u << v->key;
        if (!(seen & bit) && v->key < TRACE_ATTR_KEY_COUNT && v->key != TRACE_ATTR_CALLS_OF)
            add_value(notes, count, v);
        seen |= bit;
    }
}

size_t note_collect(
    const struct model_thread *t, const struct model_span *s, struct note notes[NOTE_KEY_COUNT])
{
    size_t count = 0;
    if (s->is_fold)
        add(notes, &count, NOTE_CALLS, s->calls);
    if (s->self_ns != s->dur_ns)
        add(notes, &count, NOTE_SELF_NS, s->self_ns);
    if (s->split != MODEL_NONE)
        add_split(notes, &count, &t->splits.at[s->split]);
    if (s->attrs != MODEL_NONE)
        add_attrs(notes, &count, &t->attrs.at[s->attrs]);
    if (s->attrs != MODEL_NONE)
        add_values(notes, &count, t, t->attrs.at[s->attrs].values);
    return count;
}
