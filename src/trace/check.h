// SPDX-License-Identifier: Apache-2.0
// Verifies a whole trace: the structure (through the reader) and what the records say: order of
// depths and times on each thread, nesting, names defined, segments without holes. Used by
// `lightmeter dump --check` and the tests. Changes nothing. Threads: one owner.
#ifndef LIGHTMETER_TRACE_CHECK_H
#define LIGHTMETER_TRACE_CHECK_H

#include "base/buf.h"
#include "base/err.h"
#include "trace/format.h"

#include <stdint.h>

struct trace_check {
    uint64_t blocks, processes, threads, records, spans, folds, texts, samples, drops;
    uint64_t dropped_records; // as DROP records say
    uint64_t findings;        // all of them; `text` holds the first 100
    struct buf text;          // one finding a line, each a sentence that says where
    int is_cut;               // no SUMMARY block
};

// 0 when the file could be opened (look at `findings`), or -1 with a message. The caller frees
// *check with trace_check_fini, also on failure.
int trace_check_file(const char *path, struct trace_check *check, struct err *e);
int trace_check_bytes(const void *bytes, size_t length_bytes, const char *name,
    struct trace_check *check, struct err *e);
void trace_check_fini(struct trace_check *check);

#endif
