// SPDX-License-Identifier: Apache-2.0
// The connected regions of a map above a threshold (neighbours also across corners), each given by
// the two ends of its runs of pixels in each row: all that a hull needs. Used by boxes.c.
// Threads: no shared state.
#ifndef EXAMPLES_OCR_REGIONS_H
#define EXAMPLES_OCR_REGIONS_H

#include "base/err.h"
#include "ocr/detector.h"

struct run {
    uint32_t y_px;
    uint32_t first_px; // the run's pixels are first_px to last_px, both included
    uint32_t last_px;
    uint32_t region;
};

struct regions {
    struct run *runs; // sorted by region, then by row, then from left to right
    size_t *starts;   // region i has the runs starts[i] to starts[i + 1] - 1
    size_t count;
};

// Finds the regions of pixels above `threshold`, in the order of their first pixels. Fails when
// memory runs out; `out` is then empty. The caller owns `out`.
int regions_find(struct regions *out, const struct text_map *map, float threshold, struct err *e);

void regions_fini(struct regions *regions);

#endif
