// SPDX-License-Identifier: Apache-2.0
// Quantiles, the sample size that a tail claim needs, and the bootstrap. Called by the analyses, by
// trials and benchmarks. Does not drop outliers. Threads: pure functions.
#include "base/stats.h"

#include "base/heap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TAIL_ERROR 0.01 // the chance that is taken of claiming wrongly
#define RESAMPLES 2000u

double stats_mean(const double *x, size_t n)
{
    double sum = 0, lost = 0; // Neumaier's sum: long runs of small values stay exact
    for (size_t i = 0; i < n; i++) {
        double next = sum + x[i];
        lost += fabs(sum) >= fabs(x[i]) ? (sum - next) + x[i] : (x[i] - next) + sum;
        sum = next;
    }
    return n ? (sum + lost) / (double)n : NAN;
}

static int compare(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void sort(double *x, size_t n)
{
    if (n > 1)
        qsort(x, n, sizeof *x, compare);
}

// Type 7 of sorted values.
static double quantile(const double *x, size_t n, double q)
{
    double at = (double)(n - 1) * q;
    at = at > 0 ? at : 0;
    size_t low = (size_t)at;
    if (low >= n - 1)
        return x[n - 1];
    double part = at - (double)low;
    return part > 0 ? x[low] + part * (x[low + 1] - x[low]) : x[low];
}

double stats_quantile(double *x, size_t n, double q)
{
    if (!n || isnan(q))
        return NAN;
    sort(x, n);
    return quantile(x, n, q < 1 ? q : 1);
}

double stats_median(double *x, size_t n)
{
    return stats_quantile(x, n, 0.5);
}

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

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u; // splitmix64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// The value of rank `rank` (from 0) in a sample that takes x[i] times[i] times.
static double value_at(const double *x, const size_t *times, size_t rank)
{
    size_t i = 0;
    for (size_t seen = times[0]; seen <= rank; seen += times[++i])
        ;
    return x[i];
}

static double resampled_median(const double *x, size_t n, size_t *times, uint64_t *state)
{
    memset(times, 0, n * sizeof *times);
    for (size_t i = 0; i < n; i++)
        times[next_random(state) % n]++; // the remainder's bias is below n / 2^64
    double upper = value_at(x, times, n / 2);
    return n % 2 ? upper : (value_at(x, times, n / 2 - 1) + upper) / 2;
}

struct stats_interval stats_bootstrap_median(const double *x, size_t n, uint64_t seed)
{
    if (!n)
        return (struct stats_interval){NAN, NAN, NAN};
    double *sorted = heap_alloc(n, sizeof *sorted);
    size_t *times = heap_alloc(n, sizeof *times);
    double *medians = heap_alloc(RESAMPLES, sizeof *medians);
    memcpy(sorted, x, n * sizeof *sorted);
    sort(sorted, n);
    for (size_t i = 0; i < RESAMPLES; i++)
        medians[i] = resampled_median(sorted, n, times, &seed);
    sort(medians, RESAMPLES);
    struct stats_interval result = {.low = quantile(medians, RESAMPLES, 0.025),
        .mid = quantile(sorted, n, 0.5),
        .high = quantile(medians, RESAMPLES, 0.975)};
    free(sorted);
    free(times);
    free(medians);
    return result;
}
