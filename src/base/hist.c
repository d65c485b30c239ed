// SPDX-License-Identifier: Apache-2.0
// The histogram: values below 256 have a bucket each; above, each power of two is cut into 128
// buckets, so that a bucket's middle is within 1/256 of any value in it. Called per span by the
// analyses. Does not keep values. Threads: one owner.
#include "base/hist.h"

#include "base/heap.h"

#include <math.h>
#include <stdlib.h>

#define SPLIT_BITS 7u
#define SPLIT (1u << SPLIT_BITS)
#define BUCKETS ((64u - SPLIT_BITS + 1u) * SPLIT)

struct hist {
    uint64_t count, least, most;
    uint64_t buckets[BUCKETS];
};

struct hist *hist_new(void)
{
    struct hist *h = heap_alloc(1, sizeof *h);
    h->least = UINT64_MAX;
    return h;
}

void hist_free(struct hist **h)
{
    if (!h)
        return;
    free(*h);
    *h = NULL;
}

// The bits that a value's bucket leaves out.
static unsigned dropped_bits(uint64_t value)
{
    unsigned top = 63u - (unsigned)__builtin_clzll(value | 1);
    return top > SPLIT_BITS ? top - SPLIT_BITS : 0;
}

static unsigned bucket_of(uint64_t value)
{
    unsigned dropped = dropped_bits(value);
    return dropped * SPLIT + (unsigned)(value >> dropped);
}

static uint64_t middle_of(unsigned bucket)
{
    if (bucket < 2 * SPLIT)
        return bucket;
    unsigned dropped = bucket / SPLIT - 1;
    uint64_t first = (uint64_t)(bucket - dropped * SPLIT) << dropped;
    return first + (((uint64_t)1 << dropped) - 1) / 2;
}

void hist_add(struct hist *h, uint64_t value)
{
    hist_add_many(h, value, 1);
}

void hist_add_many(struct hist *h, uint64_t value, uint64_t count)
{
    if (!count)
        return;
    h->buckets[bucket_of(value)] += count;
    h->count += count;
    if (value < h->least)
        h->least = value;
    if (value > h->most)
        h->most = value;
}

uint64_t hist_count(const struct hist *h)
{
    return h->count;
}

uint64_t hist_max(const struct hist *h)
{
    return h->most;
}

uint64_t hist_min(const struct hist *h)
{
    return h->count ? h->least : 0;
}

uint64_t hist_quantile(const struct hist *h, double q)
{
    if (!h->count)
        return 0;
    // The tolerance keeps 0.07 * 100, which is a little over 7 in binary, at rank 7.
    double rank = ceil(q * (double)h->count * (1 - 1e-12));
    if (!(rank > 1))
        return h->least;
    if (rank >= (double)h->count)
        return h->most;
    uint64_t wanted = (uint64_t)rank, seen = 0;
    unsigned bucket = 0;
    for (; bucket < BUCKETS - 1; bucket++) {
        seen += h->buckets[bucket];
        if (seen >= wanted)
            break;
    }
    uint64_t value = middle_of(bucket);
    value = value < h->least ? h->least : value;
    return value > h->most ? h->most : value;
}
