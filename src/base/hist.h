// SPDX-License-Identifier: Apache-2.0
// A log-linear histogram of durations: fixed memory, relative error of a quantile <= 1/128.
// Used for per-stage latencies. Values are non-negative 64-bit integers, usually nanoseconds.
// Threads: one owner. Allocates nothing after hist_new.
#ifndef LIGHTMETER_BASE_HIST_H
#define LIGHTMETER_BASE_HIST_H

#include <stdint.h>

struct hist;

struct hist *hist_new(void); // never NULL: running out of memory ends the process
void hist_free(struct hist **h);
void hist_add(struct hist *h, uint64_t value);
void hist_add_many(struct hist *h, uint64_t value, uint64_t count); // as `count` times hist_add
uint64_t hist_count(const struct hist *h);
uint64_t hist_max(const struct hist *h); // exact; 0 when empty
uint64_t hist_min(const struct hist *h); // exact; 0 when empty

// The value at quantile q (0..1) by nearest rank; 0 when empty.
uint64_t hist_quantile(const struct hist *h, double q);

#endif
