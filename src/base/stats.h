// SPDX-License-Identifier: Apache-2.0
// How many samples a claim about the tail of a distribution needs.
// Used by the analyses and the report. Pure functions; they allocate nothing.
#ifndef LIGHTMETER_BASE_STATS_H
#define LIGHTMETER_BASE_STATS_H

#include <stddef.h>

// The smallest sample size for which quantile p can be claimed with `over` values allowed above it:
// P[Bin(n, 1-p) <= over] <= 0.01. p=0.99: 459, 662, 838, ... for over = 0, 1, 2.
size_t stats_tail_min_n(double p, unsigned over);

// Whether n samples can support a claim about quantile p (the rule above with over = 0).
int stats_tail_is_valid(double p, size_t n);

#endif
