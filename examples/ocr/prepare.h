// SPDX-License-Identifier: Apache-2.0
// From a photograph to the network's input: resized so that its longer side fits the limit and both
// sides are multiples of 32, normalised, and laid out in planes.
// Used by main.c for each photograph. Threads: a tensor belongs to one thread at a time.
#ifndef EXAMPLES_OCR_PREPARE_H
#define EXAMPLES_OCR_PREPARE_H

#include "base/err.h"
#include "photo/photo.h"

struct tensor {
    float *values; // three planes, blue first, of height_px rows of width_px values
    uint8_t *resized_rgb;
    uint32_t width_px;
    uint32_t height_px;
    size_t capacity_px; // the room in both, kept from photograph to photograph
};

// Fills `out` (starts as {0}, keeps its memory between calls). A photograph smaller than
// `limit_side_px` is not enlarged, but for the rounding to 32. Fails when memory runs out.
int prepare_photo(
    struct tensor *out, const struct photo_image *photo, uint32_t limit_side_px, struct err *e);

void prepare_fini(struct tensor *tensor);

#endif
