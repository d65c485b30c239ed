// SPDX-License-Identifier: Apache-2.0
// Records and traces made by hand, for tests of the model. A clock of one tick per nanosecond whose
// zero is at tick RECORDS_ORIGIN. Included by the tests. Threads: none.
#ifndef LIGHTMETER_TESTS_MODEL_RECORDS_H
#define LIGHTMETER_TESTS_MODEL_RECORDS_H

#include "base/buf.h"
#include "trace/format.h"

#include <string.h>

#define RECORDS_ORIGIN 1000000u

#define RECORDS_UNUSED __attribute__((unused)) static

RECORDS_UNUSED void add_span(
    struct buf *b, unsigned depth, unsigned name, uint64_t start, uint64_t end)
{
    struct trace_span s = {
        TRACE_SPAN, (uint8_t)depth, (uint16_t)name, (uint32_t)(end - start), RECORDS_ORIGIN + end};
    buf_add(b, &s, sizeof s);
}

RECORDS_UNUSED void add_fold(struct buf *b, unsigned depth, unsigned name, uint32_t calls,
    uint64_t self, uint64_t first, uint64_t last)
{
    struct trace_fold f = {.kind = TRACE_FOLD,
        .depth = (uint8_t)depth,
        .name = (uint16_t)name,
        .calls = calls,
        .self_ticks = self,
        .first_start_ticks = RECORDS_ORIGIN + first,
        .last_end_ticks = RECORDS_ORIGIN + last,
        .max_ticks = calls ? self / calls : 0};
    buf_add(b, &f, sizeof f);
}

RECORDS_UNUSED void add_split(
    struct buf *b, unsigned depth, enum trace_cause cause, uint64_t off, uint64_t runq)
{
    struct trace_split s = {.kind = TRACE_SPLIT,
        .depth = (uint8_t)depth,
        .cause = (uint8_t)cause,
        .switches = 1,
        .off_ns = off,
        .runq_ns = runq};
    buf_add(b, &s, sizeof s);
}

RECORDS_UNUSED void add_attr(
    struct buf *b, unsigned depth, enum trace_attr_key key, uint32_t aux, uint64_t value)
{
    struct trace_attr a = {TRACE_ATTR, (uint8_t)depth, (uint8_t)key, 0, aux, value};
    buf_add(b, &a, sizeof a);
}

RECORDS_UNUSED void add_thread(
    struct buf *b, enum trace_thread_op op, uint32_t tid, uint64_t at, uint64_t cpu, uint64_t runq)
{
    struct trace_thread t = {TRACE_THREAD, (uint8_t)op, 0, tid, RECORDS_ORIGIN + at, cpu, runq};
    buf_add(b, &t, sizeof t);
}

// `text` of `length_bytes` with its inner NULs.
RECORDS_UNUSED void add_text(struct buf *b, enum trace_text_use use, unsigned id, uint32_t subject,
    uint32_t aux, const char *text, size_t length_bytes)
{
    static const char zero[16];
    struct trace_text t = {
        TRACE_TEXT, (uint8_t)use, (uint16_t)id, (uint32_t)length_bytes, subject, aux};
    buf_add(b, &t, sizeof t);
    buf_add(b, text, length_bytes);
    buf_add(b, zero, (16 - length_bytes % 16) % 16);
}

#endif
