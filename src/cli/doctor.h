// SPDX-License-Identifier: Apache-2.0
// What can be collected on this machine: a list of checks, each really tried, with why not and what
// to do. Filled by doctor_checks.c (the preloaded library, by a run), doctor_loaders.c (programs it
// is not built for) and doctor_system.c (the kernel and the machine); printed by cmds/doctor.c.
// Threads: one owner.
#ifndef LIGHTMETER_CLI_DOCTOR_H
#define LIGHTMETER_CLI_DOCTOR_H

#include "base/buf.h"
#include "base/vec.h"

enum doctor_state {
    DOCTOR_WORKS,
    DOCTOR_LIMITED, // works in part, or by a fallback
    DOCTOR_MISSING,
    DOCTOR_STATE_COUNT
};

struct doctor_row {
    const char *name;
    enum doctor_state state;
    struct buf what;   // what was found, and why it does not work
    struct buf advice; // what to do; empty when there is nothing to do
};

struct doctor {
    VEC(struct doctor_row) rows;
};

// A new row; the caller fills the texts. Valid until the next is added.
struct doctor_row *doctor_add(struct doctor *d, const char *name, enum doctor_state state);
void doctor_fini(struct doctor *d);

// Runs /bin/true under the library: preload, switch test, run directory, packing.
void doctor_check_agent(struct doctor *d);

// Programs that the library is not built for: what their loaders make of it. No row where nothing
// is preloaded at all.
void doctor_check_loaders(struct doctor *d);

// Clock, scheduler statistics and events, pressure, control group, perf events, /dev/shm, ONNX
// Runtime, accelerators, and what this build lacks on this architecture.
void doctor_check_system(struct doctor *d);

// Names of the hook sets that a run uses, ended by NULL.
extern const char *const doctor_hook_sets[];

#endif
