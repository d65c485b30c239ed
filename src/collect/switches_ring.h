// SPDX-License-Identifier: Apache-2.0
// One CPU's ring of scheduler events, and where their fields lie. Used by switches.c. Threads: one
// owner.
#ifndef LIGHTMETER_COLLECT_SWITCHES_RING_H
#define LIGHTMETER_COLLECT_SWITCHES_RING_H

#include "base/err.h"
#include "collect/switches_threads.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// The tracepoints, as tracefs describes them.
struct switches_format {
    uint64_t switch_id, waking_id;
    uint32_t prev_pid_at, prev_state_at, prev_state_bytes, woken_pid_at;
};

struct switches_ring {
    int switch_fd, waking_fd; // waking_fd -1: not to be had
    void *map;
    size_t data_bytes; // a power of two, behind the first page
};

// 0, or -1 with the reason.
int switches_format_read(struct switches_format *f, struct err *why);

// Whether such events may be opened at all: tries it on this process. 0, or -1 with the reason.
int switches_ring_try(const struct switches_format *f, struct err *why);

// 1; 0 when the CPU is offline; -1 with the reason.
int switches_ring_open(struct switches_ring *ring, const struct switches_format *f, pid_t pid,
    int cpu, struct err *why);
void switches_ring_close(struct switches_ring *ring);

// The next event of the ring. 1, or 0 when there is none now; adds what was lost to *lost.
int switches_ring_next(struct switches_ring *ring, const struct switches_format *f,
    struct switches_event *event, uint64_t *lost);

#endif
