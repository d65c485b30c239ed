// SPDX-License-Identifier: Apache-2.0
// OpenCV's own trace of its functions (OPENCV_TRACE), asked for with --opencv-trace: where it is
// written, and what it says, summed up by function. Its times count from a moment inside the
// program that the files do not tell, so they cannot be laid beside ours, and give durations only.
// Called by the launcher before and after the target. Threads: one owner.
#ifndef LIGHTMETER_COLLECT_OPENCV_TRACE_H
#define LIGHTMETER_COLLECT_OPENCV_TRACE_H

#include "base/buf.h"
#include "base/err.h"

struct opencv_trace {
    struct buf folder; // of our own; empty: none
    struct buf prefix; // of the files, for OPENCV_TRACE_LOCATION
};

// Makes a folder in TMPDIR, else /tmp. 0, or -1 with a message.
int opencv_trace_open(struct opencv_trace *t, struct err *e);

// Appends a sentence for the report: the functions that took most, or why there are none.
void opencv_trace_say(const struct opencv_trace *t, struct buf *sentence);

// Removes the folder. Accepts one that was never opened.
void opencv_trace_close(struct opencv_trace *t);

#endif
