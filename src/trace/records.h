// SPDX-License-Identifier: Apache-2.0
// Walks a stream of records and checks that each is whole and of a known kind. Used by everything
// that looks into decoded blocks: model, checker, dump, packer. Does not judge what records say
// (trace/check.h does). Inline, because it runs once for each of millions of spans. Threads: none.
#ifndef LIGHTMETER_TRACE_RECORDS_H
#define LIGHTMETER_TRACE_RECORDS_H

#include "trace/format.h"

#include <stddef.h>
#include <stdint.h>

// One record, in place. `at` and the typed views point into the stream.
struct trace_record {
    uint32_t kind; // enum trace_kind
    uint32_t length_bytes;
    union {
        const void *at;
        const struct trace_span *span;
        const struct trace_span_long *span_long;
        const struct trace_split *split;
        const struct trace_fold *fold;
        const struct trace_attr *attr;
        const struct trace_item *item;
        const struct trace_queue *queue;
        const struct trace_counter *counter;
        const struct trace_text *text; // its bytes follow: trace_text_field
        const struct trace_thread *thread;
        const struct trace_drop *drop;
        const struct trace_sample *sample;
    };
};

// `at` is aligned to 8 (decoded payloads are); set offset_bytes to 0 to begin.
struct trace_cursor {
    const uint8_t *at;
    size_t length_bytes;
    size_t offset_bytes; // of the next record; on a fault, of the faulty one
};

// Bytes of a record of this kind, without a TEXT's own bytes; 0 for an unknown kind.
extern const uint8_t trace_kind_bytes[256];

// The name of a kind ("SPAN"), or "unknown".
const char *trace_kind_name(uint32_t kind);

// The next record. 1; 0 at the end; -1 when what follows is no whole record of a known kind: the
// cursor stays there, and trace_records_fault says why.
static inline int trace_records_next(struct trace_cursor *c, struct trace_record *r)
{
    const size_t left_bytes = c->length_bytes - c->offset_bytes;
    if (left_bytes < TRACE_UNIT_BYTES)
        return left_bytes ? -1 : 0;
    const uint8_t *at = c->at + c->offset_bytes;
    size_t length_bytes = trace_kind_bytes[at[0]];
    r->kind = at[0];
    r->at = at;
    if (at[0] == TRACE_TEXT)
        length_bytes += ((size_t)r->text->length_bytes + 15u) & ~(size_t)15u;
    if (length_bytes == 0 || length_bytes > left_bytes)
        return -1;
    r->length_bytes = (uint32_t)length_bytes;
    c->offset_bytes += length_bytes;
    return 1;
}

// Why the last trace_records_next gave -1, as a phrase ("a record of unknown kind 77").
// Writes at most `room_bytes` into `text` and returns it.
const char *trace_records_fault(const struct trace_cursor *c, char *text, size_t room_bytes);

// One of the strings of a TEXT record, which are separated by '\0'; not terminated itself.
// {"", 0} when there are fewer. `text` must come from trace_records_next.
struct trace_field {
    const char *at;
    size_t length_bytes;
};
struct trace_field trace_text_field(const struct trace_text *text, unsigned index);

#endif
