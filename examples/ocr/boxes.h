// SPDX-License-Identifier: Apache-2.0
// From the network's map to boxes around text in the photograph: the postprocessing of "Real-time
// scene text detection with differentiable binarization". Used by main.c for each photograph.
// Threads: a list belongs to one thread at a time.
#ifndef EXAMPLES_OCR_BOXES_H
#define EXAMPLES_OCR_BOXES_H

#include "base/err.h"
#include "ocr/detector.h"

struct box {
    int x_px[4]; // in the photograph: clockwise from the corner nearest the top left
    int y_px[4];
    float score; // from 0 to 1: the map's mean inside the box, before it is grown
};

struct box_list {
    struct box *boxes; // in reading order: by line, from left to right
    size_t count;
};

// The boxes over a photograph of this size. Fails when memory runs out; `out` is then empty.
// The caller owns `out`.
int boxes_find(struct box_list *out, const struct text_map *map, uint32_t photo_width_px,
    uint32_t photo_height_px, struct err *e);

void boxes_fini(struct box_list *list);

#endif
