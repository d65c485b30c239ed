// SPDX-License-Identifier: Apache-2.0
// What the kernel's scheduler tells of the target's threads: how long each was off the CPU and in
// which state (asleep, uninterruptible, runnable), and which thread woke it. An account of waiting
// that is independent of the hooks. Needs CAP_PERFMON (or root, or perf_event_paranoid -1) and
// tracefs; without them there is none, and the reason is told. Called by the launcher. Threads: one
// owner.
#ifndef LIGHTMETER_COLLECT_SWITCHES_H
#define LIGHTMETER_COLLECT_SWITCHES_H

#include "base/err.h"
#include "collect/sample.h"

#include <stdint.h>
#include <sys/types.h>

struct switches;

// Finds out whether it can be had here. NULL with the reason in *why.
struct switches *switches_open(struct err *why);
void switches_close(struct switches **s); // accepts NULL in it

// Follows process `pid` and all that it will start. Called while it waits to exec. 0, or -1 with
// the reason.
int switches_attach(struct switches *s, pid_t pid, struct err *why);

// Takes what was recorded, and now and then puts the sums so far to the samples, as
// TRACE_METRIC_THREAD_SLEEP_NS and its neighbours. Turns itself off when the target switches so
// often, or starts so many threads and processes, that following it would cost it time.
void switches_step(struct switches *s, uint64_t now_ns, struct sampler *into);

// The last sums, and who woke whom; or that it was turned off.
void switches_finish(struct switches *s, uint64_t now_ns, struct sampler *into);

// Records that the kernel could not keep, and why it was turned off, as the end of a sentence;
// NULL: it was not.
uint64_t switches_lost(const struct switches *s);
const char *switches_given_up(const struct switches *s);

#endif
