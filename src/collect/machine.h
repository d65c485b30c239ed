// SPDX-License-Identifier: Apache-2.0
// The machine's and the control group's counters, from files that are kept open. Used by the
// sampler and `doctor`. Missing files are no failure: their metrics are left out. Threads: one
// owner.
#ifndef LIGHTMETER_COLLECT_MACHINE_H
#define LIGHTMETER_COLLECT_MACHINE_H

#include "base/buf.h"
#include "trace/format.h"

#include <stdint.h>

struct machine {
    int stat_fd, loadavg_fd; // -1: not there
    int psi_cpu_fd, psi_io_fd, psi_memory_fd;
    int cgroup_fd;          // cpu.stat of the group whose quota binds
    struct buf cgroup_path; // of that cpu.stat, "" when there is none
    uint64_t jiffy_ns;
};

void machine_open(struct machine *m);
void machine_close(struct machine *m);

// Calls take_fn once per value that can be read now.
typedef void (*machine_take_fn)(void *context, enum trace_metric metric, uint64_t value);
void machine_read(const struct machine *m, machine_take_fn take_fn, void *context);

// The number behind `key ` at the start of a line, or 0 and -1 as the result.
int machine_field(const char *text, const char *key, uint64_t *value);

#endif
