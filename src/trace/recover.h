// SPDX-License-Identifier: Apache-2.0
// Makes a trace of what a killed launcher left: the intact blocks of its part file, and what still
// lies in the run directory. Nothing is removed before the new trace has its final name, and doing
// it twice does no harm. Used by `lightmeter recover`. Threads: one owner.
#ifndef LIGHTMETER_TRACE_RECOVER_H
#define LIGHTMETER_TRACE_RECOVER_H

#include "base/buf.h"
#include "base/err.h"

#include <stdint.h>

struct recover_options {
    const char *dir;    // the run directory
    const char *output; // NULL: the path that the run was going to write
};

struct recover_result {
    struct buf output; // path of the trace; the caller frees it (recover_result_fini)
    struct buf
        notes; // sentences, one a line: damage found, processes still alive, files left; or ""
    uint64_t spans, records, threads, processes;
    uint64_t copied_blocks; // taken over from the part file
    int was_done;           // the run had been packed already; only tidied up (into an `output`
                            // that is empty where its name was removed already)
    int was_nothing;        // it was killed before its program was started: there is no trace
    int is_kept;            // the directory was kept: a process still writes to it
};

// 0, or -1 with a message and nothing changed.
int recover_run(
    const struct recover_options *options, struct recover_result *result, struct err *e);
void recover_result_fini(struct recover_result *result);

#endif
