// SPDX-License-Identifier: Apache-2.0
// The sample size that a claim about a quantile needs, from the binomial distribution. Called by
// the analyses and the report. Computes no quantiles: see hist.h. Threads: pure functions.
#include "base/stats.h"

#include <math.h>
#include <stdint.h>

#define TAIL_ERROR 0.01 // the chance that is taken of claiming wrongly

// P[Bin(n, 1-p) <= over], term by term from logarithms, as the terms underflow.
static double tail_chance(double p, size_t n, unsigned over)
{
    double log_term = (double)n * log(p), log_odds = log1p(-p) - log(p), sum = exp(log_term);
    for (unsigned k = 1; k <= over; k++) {
        log_term += log((double)(n - k + 1) / k) + log_odds;
        sum += exp(log_term);
    }
    return sum;
}

static int suffices(double p, size_t n, unsigned over)
{
    return n > over && tail_chance(p, n, over) <= TAIL_ERROR;
}

size_t stats_tail_min_n(double p, unsigned over)
{
    if (!(p < 1))
        return SIZE_MAX;
    if (p <= 0)
        return (size_t)over + 1;
    size_t low = over, high = (size_t)over + 1; // low does not suffice
    while (!suffices(p, high, over)) {
        if (high > SIZE_MAX / 4)
            return SIZE_MAX;
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (suffices(p, middle, over))
            high = middle;
        else
            low = middle;
    }
    return high;
}

int stats_tail_is_valid(double p, size_t n)
{
    return n >= stats_tail_min_n(p, 0);
}
