// SPDX-License-Identifier: Apache-2.0
// Lengths and names of the record kinds, and the words for what is wrong with a stream. The walk
// itself is inline in the header. Used wherever records are read. Threads: no state.
#include "trace/records.h"

#include <stdio.h>
#include <string.h>

const uint8_t trace_kind_bytes[256] = {
    [TRACE_SPAN] = sizeof(struct trace_span),
    [TRACE_SPAN_LONG] = sizeof(struct trace_span_long),
    [TRACE_SPLIT] = sizeof(struct trace_split),
    [TRACE_FOLD] = sizeof(struct trace_fold),
    [TRACE_ATTR] = sizeof(struct trace_attr),
    [TRACE_ITEM] = sizeof(struct trace_item),
    [TRACE_QUEUE] = sizeof(struct trace_queue),
    [TRACE_COUNTER] = sizeof(struct trace_counter),
    [TRACE_TEXT] = sizeof(struct trace_text),
    [TRACE_THREAD] = sizeof(struct trace_thread),
    [TRACE_DROP] = sizeof(struct trace_drop),
    [TRACE_SAMPLE] = sizeof(struct trace_sample),
};

static const char *const kind_names[TRACE_KIND_COUNT] = {
    [TRACE_NONE] = "NONE",
    [TRACE_SPAN] = "SPAN",
    [TRACE_SPAN_LONG] = "SPAN_LONG",
    [TRACE_SPLIT] = "SPLIT",
    [TRACE_FOLD] = "FOLD",
    [TRACE_ATTR] = "ATTR",
    [TRACE_ITEM] = "ITEM",
    [TRACE_QUEUE] = "QUEUE",
    [TRACE_COUNTER] = "COUNTER",
    [TRACE_TEXT] = "TEXT",
    [TRACE_THREAD] = "THREAD",
    [TRACE_DROP] = "DROP",
    [TRACE_SAMPLE] = "SAMPLE",
};

const char *trace_kind_name(uint32_t kind)
{
    return kind < TRACE_KIND_COUNT ? kind_names[kind] : "unknown";
}

const char *trace_records_fault(const struct trace_cursor *c, char *text, size_t room_bytes)
{
    const size_t left_bytes = c->length_bytes - c->offset_bytes;
    const uint8_t *at = c->at + c->offset_bytes;
    if (left_bytes < TRACE_UNIT_BYTES)
        snprintf(text, room_bytes, "%zu bytes that are no whole record", left_bytes);
    else if (!trace_kind_bytes[at[0]])
        snprintf(text, room_bytes, "a record of unknown kind %u", at[0]);
    else
        snprintf(text, room_bytes, "a %s record that is longer than the %zu bytes that are left",
            trace_kind_name(at[0]), left_bytes);
    return text;
}

struct trace_field trace_text_field(const struct trace_text *text, unsigned index)
{
    const char *at = (const char *)(text + 1);
    size_t left_bytes = text->length_bytes;
    for (;;) {
        const char *end = left_bytes ? memchr(at, 0, left_bytes) : NULL;
        const size_t length_bytes = end ? (size_t)(end - at) : left_bytes;
        if (index == 0)
            return (struct trace_field){.at = at, .length_bytes = length_bytes};
        if (!end)
            return (struct trace_field){.at = "", .length_bytes = 0};
        at += length_bytes + 1;
        left_bytes -= length_bytes + 1;
        index--;
    }
}
