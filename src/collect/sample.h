// SPDX-License-Identifier: Apache-2.0
// Samples the run from outside: what /proc, the control group and the pressure files say about its
// processes, its threads and the machine, as TRACE_SAMPLE records. Watches its own cost and samples
// less often when a round grows dear. Called by collect/follow.c. Needs no privilege; what cannot
// be read is left out. Threads: one owner.
#ifndef LIGHTMETER_COLLECT_SAMPLE_H
#define LIGHTMETER_COLLECT_SAMPLE_H

#include "base/vec.h"
#include "collect/procs.h"
#include "trace/format.h"

#include <stdint.h>

#define SAMPLE_INTERVAL_NS 100000000u       // at best
#define SAMPLE_INTERVAL_MAX_NS 10000000000u // at worst
#define SAMPLE_COST_RATIO_INVERSE 250       // a round may cost 1/250 of the time between rounds

struct sampler;

// Never NULL. Borrows `procs`, into which the target was put; files of the machine are opened here.
struct sampler *sampler_new(struct procs *procs, int clock_is_tsc);
void sampler_free(struct sampler **s);

// Takes a round when one is due at `now_ns` (monotonic). Nanoseconds until the next is due.
uint64_t sampler_step(struct sampler *s, uint64_t now_ns);

// Takes a last round, due or not, and looks everywhere for processes of the run: exact totals of a
// process that is a zombie by now, and what outlives it.
void sampler_finish(struct sampler *s);

// The records collected since the last sampler_clear, and their number; valid until the next round.
const struct trace_sample *sampler_records(const struct sampler *s);
size_t sampler_pending(const struct sampler *s);
void sampler_clear(struct sampler *s);

// Adds a sample that was taken elsewhere, at this moment.
void sampler_put(struct sampler *s, enum trace_metric metric, uint32_t subject, uint64_t value);

// CPU time of sampling so far, and rounds taken.
uint64_t sampler_cpu_ns(const struct sampler *s);
uint64_t sampler_rounds(const struct sampler *s);

// What can be sampled here, as words for the report ("cpu.stat of the control group"); ended by
// NULL. Sources that are missing are not listed.
const char *const *sampler_sources(const struct sampler *s);

#endif
