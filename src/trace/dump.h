// SPDX-License-Identifier: Apache-2.0
// Prints blocks and records of a trace as text, one a line, for `lightmeter dump`. Shows what is
// there, damage included; interprets only names and times. Threads: one owner.
#ifndef LIGHTMETER_TRACE_DUMP_H
#define LIGHTMETER_TRACE_DUMP_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

// Takes some text (whole lines). Non-zero stops the dump.
typedef int (*trace_dump_fn)(void *context, const char *text, size_t length_bytes);

struct trace_dump_options {
    int is_blocks_only;    // no records
    int is_raw_time;       // ticks instead of nanoseconds since the start
    uint64_t record_limit; // records printed per block; 0: all
};

// 0 (also when the callback stopped it), or -1 with a message when the file cannot be opened.
int trace_dump_file(const char *path, const struct trace_dump_options *options,
    trace_dump_fn write_fn, void *context, struct err *e);
int trace_dump_bytes(const void *bytes, size_t length_bytes, const char *name,
    const struct trace_dump_options *options, trace_dump_fn write_fn, void *context, struct err *e);

#endif
