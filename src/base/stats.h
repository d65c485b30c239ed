// SPDX-License-Identifier: Apache-2.0
// Small statistics with stated definitions: quantiles, tail validity, bootstrap intervals.
// Used by the analyses and the benchmarks. Pure functions; no allocation but in
// stats_bootstrap_median.
#ifndef LIGHTMETER_BASE_STATS_H
#define LIGHTMETER_BASE_STATS_H

#include <stddef.h>
#include <stdint.h>

double stats_mean(const double *x, size_t n);         // NaN when n is 0
double stats_median(double *x, size_t n);             // sorts x; NaN when n is 0
double stats_quantile(double *x, size_t n, double q); // sorts x; linear interpolation (type 7)

// The smallest sample size for which quantile p can be claimed with `over` values allowed above it:
// P[Bin(n, 1-p) <= over] <= 0.01. p=0.99: 459, 662, 838, ... for over = 0, 1, 2.
size_t stats_tail_min_n(double p, unsigned over);

// Whether n samples can support a claim about quantile p (the rule above with over = 0).
int stats_tail_is_valid(double p, size_t n);

struct stats_interval {
    double low, mid, high;
};

// Percentile bootstrap of the median, 95 %, 2,000 resamples, fixed seed; NaNs when n is 0.
struct stats_interval stats_bootstrap_median(const double *x, size_t n, uint64_t seed);

#endif
