// SPDX-License-Identifier: Apache-2.0
// The ring policy of a run (`--keep-last`): of the trace only the last stretch is kept, so that a
// program can be followed for as long as it likes in bounded space. Called by the launcher's loop
// and at the end of the run. What is kept of each moment is all or nothing: the trace tells from
// when on (META key "kept_from_ns"). Threads: one owner.
#ifndef LIGHTMETER_COLLECT_RING_H
#define LIGHTMETER_COLLECT_RING_H

#include "base/err.h"
#include "trace/drain.h"
#include "trace/meta.h"
#include "trace/pack.h"

#include <stdint.h>

struct ring {
    // Given by the caller, borrowed:
    struct trace_pack *pack;
    struct drain *drain;
    const struct trace_clock *clock;
    uint64_t keep_ns;   // 0: no ring, all is kept
    uint64_t max_bytes; // of the trace; 0: no limit but keep_ns
    // What came of it:
    uint64_t kept_from_ns; // since the start of the run; 0: all is kept so far
    // Own state:
    uint64_t due_ns;
};

// Called before the first block.
void ring_start(const struct ring *r);

// Drops what is too old when it is worth it: more than half of the file, or the file is near its
// limit. 0, or -1 with a message: the trace stays as it was.
int ring_step(struct ring *r, uint64_t now_ns, struct err *e);

// Drops all that is too old: at the end of the run, before the summary.
int ring_finish(struct ring *r, struct err *e);

#endif
