// SPDX-License-Identifier: Apache-2.0
// Which processes may still write to a run directory: it must stay for them. Used by recover.c.
// Threads: no shared state.
#ifndef LIGHTMETER_TRACE_RECOVER_WRITERS_H
#define LIGHTMETER_TRACE_RECOVER_WRITERS_H

#include "base/buf.h"

// Adds a sentence for each process that writes to the directory `dir` (open as `dir_fd`), or that
// was started with it and has not come so far. How many there are.
unsigned recover_writers_note(int dir_fd, const char *dir, struct buf *notes);

#endif
