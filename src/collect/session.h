// SPDX-License-Identifier: Apache-2.0
// All that one run has open, and its end: pack what is left, say what happened, give the trace its
// name, remove the run directory. Filled by collect/run.c. Threads: one owner.
#ifndef LIGHTMETER_COLLECT_SESSION_H
#define LIGHTMETER_COLLECT_SESSION_H

#include "base/buf.h"
#include "base/err.h"
#include "collect/follow.h"
#include "collect/launch.h"
#include "collect/meta.h"
#include "collect/opencv_trace.h"
#include "collect/procs.h"
#include "collect/ring.h"
#include "collect/run.h"
#include "collect/sample.h"
#include "collect/switches.h"
#include "collect/target.h"
#include "trace/drain.h"
#include "trace/meta.h"
#include "trace/pack.h"

struct session {
    const struct collect_options *options; // borrowed
    struct target target;
    struct buf agent;      // the library to preload, as LD_PRELOAD names it; empty: none
    struct buf agent_file; // its own path
    struct opencv_trace opencv;
    struct err agent_missing; // why, when Lightmeter is the reason
    struct trace_clock clock;
    struct buf dir; // the run directory
    int dir_fd;     // -1 when not open
    uint64_t dir_limit_bytes;
    struct procs procs;
    struct sampler *sampler;
    struct python_stacks *stacks;
    struct switches *switches;   // NULL: not followed
    struct err switches_missing; // why not
    int is_switches_lost;        // META says they are followed, but then they could not be
    struct trace_pack *pack;
    struct ring ring;
    struct trace_control *control;
    struct drain *drain;
    struct launch_signals signals;
    struct follow follow;
    uint64_t launch_cpu_ns; // own CPU time before the target ran
};

// After the target ended: packs the rest, writes the summary, commits the trace. What is to be said
// goes to *r; cannot fail otherwise.
void session_finish(struct session *s, struct collect_result *r);

// Nothing was launched: removes the trace and the directory.
void session_abandon(struct session *s);

// Closes what is open.
void session_fini(struct session *s);

#endif
