// SPDX-License-Identifier: Apache-2.0
// One run from beginning to end: judge the command, open the trace and the run directory, launch,
// follow, finish. Called by `lightmeter run`. Prints nothing: what is to be said is in the result.
// Threads: one owner; the process must be single-threaded.
#ifndef LIGHTMETER_COLLECT_RUN_H
#define LIGHTMETER_COLLECT_RUN_H

#include "base/buf.h"
#include "base/err.h"
#include "collect/stagemap.h"

#include <stddef.h>
#include <stdint.h>

#define COLLECT_FAILED 125 // exit status when Lightmeter itself fails

struct collect_options {
    char *const *argv;           // the command, ended by NULL
    const char *output;          // path of the trace
    const char *item_stage;      // kept in the trace for the report; NULL: none
    const char *stage_map_path;  // for the record; NULL: none
    const struct stagemap *map;  // NULL: none
    const char *const *no_hooks; // hook sets to leave out
    size_t no_hook_count;
    uint64_t max_bytes;    // of the trace; 0: no limit
    int no_scheduler;      // leave out the scheduler's events
    uint64_t keep_last_ns; // of the run; 0: all of it
    int opencv_trace;      // have OpenCV trace its functions
    int cuda_activity;     // ask CUPTI for the device time of CUDA
};

struct collect_result {
    int launch_status; // 0: the target ran; else the exit status that says why not: 125, 126, 127
    int wait_status;   // of the target
    struct buf trace;  // path of the trace, whole or cut; empty when there is none
    int is_whole;      // it has its final name and its summary
    struct buf notes;  // what the trace itself does not tell, one sentence a line
    struct buf losses; // what went wrong after the launch, and what was lost; one sentence a line
};

// 0 when the target ran (also when something was lost later: see losses), else -1 with a message
// and launch_status set. The caller frees *r with collect_result_fini in both cases.
int collect_run(const struct collect_options *o, struct collect_result *r, struct err *e);
void collect_result_fini(struct collect_result *r);

// Appends the path of the library to preload: LIGHTMETER_AGENT, else beside this program, else in
// ../lib/lightmeter/. 0, or -1 with a message.
int collect_agent_find(struct buf *path, struct err *e);

#endif
