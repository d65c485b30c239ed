// SPDX-License-Identifier: Apache-2.0
// The META and SUMMARY blocks of a run, as JSON. docs/trace-format.md lists their keys. Filled by
// collect/run.c from what it knows before the launch and after the end. Threads: no shared state.
#ifndef LIGHTMETER_COLLECT_META_H
#define LIGHTMETER_COLLECT_META_H

#include "base/json.h"
#include "collect/follow.h"
#include "collect/run.h"
#include "collect/target.h"

struct meta_facts {
    const struct collect_options *options;
    const struct target *target;
    const char *agent_path;    // NULL: nothing is preloaded
    const char *agent_missing; // why not, when the program is not the reason; "" else
    const struct trace_clock *clock;
    const struct sampler *sampler;
    int has_switches;             // the scheduler's events are followed
    const char *switches_missing; // why not
};

// A new META object, owned by the caller.
struct json *meta_new(const struct meta_facts *m);

struct summary_facts {
    const struct follow *follow;
    uint64_t wall_ns; // launch to the end of the target
    uint64_t cpu_ns;  // own CPU time meanwhile
};

// A new SUMMARY object, owned by the caller.
struct json *summary_new(const struct summary_facts *s);

#endif
