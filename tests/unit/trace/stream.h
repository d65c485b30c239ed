// SPDX-License-Identifier: Apache-2.0
// Makes records and small traces for the tests of the trace, the fixture and the fuzzer's seeds.
// Times advance by themselves, so that what is made is valid. Not part of the product.
// Threads: one owner.
#ifndef LIGHTMETER_TESTS_TRACE_STREAM_H
#define LIGHTMETER_TESTS_TRACE_STREAM_H

#include "base/buf.h"
#include "base/err.h"
#include "trace/format.h"
#include "trace/pack.h"

#include <stdint.h>

#define STREAM_START_TICKS UINT64_C(1000000000000)

// Records one after the other; zero it and set `now_ticks` to begin.
struct stream {
    struct buf bytes;
    uint64_t now_ticks;
    uint64_t random; // state; 0 begins with a fixed seed
};

uint64_t stream_random(struct stream *s);

// Appends a record as it is.
void stream_add(struct stream *s, const void *record, size_t length_bytes);

// A span that ends now and began at `start_ticks`.
void stream_span(struct stream *s, unsigned depth, unsigned name, uint64_t start_ticks);
void stream_text(struct stream *s, enum trace_text_use use, unsigned id, uint32_t subject,
    const char *bytes, size_t length_bytes);

// A nest of spans with attributes and splits; `names` different names, from 1.
void stream_work(struct stream *s, unsigned names);

// A thread's whole life with every kind of record that a thread writes.
void stream_thread(struct stream *s, uint32_t tid, unsigned rounds, unsigned names);

// Samples as a launcher takes them, and a note.
void stream_samples(struct stream *s, unsigned count);

// A process block: header and texts that define `names` names.
void stream_process(struct buf *out, uint32_t pid, uint64_t image_ticks, unsigned names);

// Writes a small, complete, valid trace: two threads, one in parts. 0, or -1 with a message.
int stream_trace_write(const char *path, struct err *e);

// The same without its end: packer to go on with. NULL with a message.
struct trace_pack *stream_trace_begin(const char *path, struct err *e);

#endif
