// SPDX-License-Identifier: Apache-2.0
// The launcher's loop while the target runs: packs what it recorded, samples it from outside,
// passes signals on, keeps the limits. Started by collect/run.c after the launch. Never stops the
// target. Threads: one owner.
#ifndef LIGHTMETER_COLLECT_FOLLOW_H
#define LIGHTMETER_COLLECT_FOLLOW_H

#include "base/err.h"
#include "collect/launch.h"
#include "collect/procs.h"
#include "collect/python_stacks.h"
#include "collect/ring.h"
#include "collect/sample.h"
#include "collect/switches.h"
#include "trace/drain.h"
#include "trace/meta.h"
#include "trace/pack.h"

#include <stdint.h>
#include <sys/resource.h>

struct follow {
    // Given by the caller, borrowed:
    pid_t pid; // of the target
    struct launch_signals *signals;
    struct drain *drain;
    struct trace_pack *pack;
    struct procs *procs;
    struct sampler *sampler;
    struct switches *switches; // NULL: none
    struct python_stacks *stacks;
    struct ring *ring;
    const struct trace_clock *clock;
    struct trace_control *control; // see collect/handover.h
    uint64_t max_bytes;            // of the trace; 0: no limit
    uint64_t dir_limit_bytes;      // of what may wait to be packed
    // What came of it:
    int status;          // wait status of the target
    struct rusage usage; // of the target and the children that it waited for
    int is_limited;      // max_bytes was reached, at limit_ns after the start
    uint64_t limit_ns;
    uint64_t crowded;      // times the directory was over its limit
    int is_stopped;        // recording was stopped for want of space
    int is_failing;        // the trace cannot be written at the moment
    struct err trouble;    // why it could not, the first time; "" when it always could
    uint64_t trouble_ns;   // when, after the start
    uint64_t lost_samples; // of /proc, that could not be written
    // Own state:
    uint64_t step_due_ns, flush_due_ns, retry_ns;
    uint32_t control_now;
    uint64_t crowd_step;
    uint64_t file_bytes; // of the trace after the last step
};

// Follows the target until it ended, and reaps it. Whatever fails meanwhile is in *f.
void follow_target(struct follow *f);

// Writes the samples collected so far as a block. 0, or -1 with a message.
int follow_flush_samples(struct follow *f, struct err *e);

#endif
