// SPDX-License-Identifier: Apache-2.0
// Box averaging in whole numbers, so that the result is the same everywhere. Called by pipeline.c.
// Does not enlarge. Threads: no shared state.
#include "threads/shrink.h"

#include <stdlib.h>

static uint32_t scaled(uint32_t length_px, uint32_t side_px, uint32_t longer_px)
{
    uint32_t result = (uint32_t)(((uint64_t)length_px * side_px + longer_px / 2) / longer_px);
    return result ? result : 1;
}

// The first input pixel that output pixel `out_px` stands for.
static uint32_t edge(uint32_t out_px, uint32_t in_length_px, uint32_t out_length_px)
{
    return (uint32_t)((uint64_t)out_px * in_length_px / out_length_px);
}

static void average(uint8_t to[3], const struct photo_image *photo, uint32_t left_px,
    uint32_t right_px, uint32_t top_px, uint32_t bottom_px)
{
    uint64_t sums[3] = {0};
    for (uint32_t y = top_px; y < bottom_px; y++) {
        const uint8_t *from = photo->rgb + ((size_t)y * photo->width_px + left_px) * 3;
        for (uint32_t x = left_px; x < right_px; x++, from += 3) {
            sums[0] += from[0];
            sums[1] += from[1];
            sums[2] += from[2];
        }
    }
    uint64_t count = (uint64_t)(right_px - left_px) * (bottom_px - top_px);
    for (size_t c = 0; c < 3; c++)
        to[c] = (uint8_t)((sums[c] + count / 2) / count);
}

int shrink_photo(struct photo_image *out, const struct photo_image *photo, uint32_t side_px,
    const char *path, struct err *e)
{
    uint32_t longer_px = photo->width_px > photo->height_px ? photo->width_px : photo->height_px;
    uint32_t wanted_px = longer_px < side_px ? longer_px : side_px;
    *out = (struct photo_image){
        .width_px = scaled(photo->width_px, wanted_px, longer_px),
        .height_px = scaled(photo->height_px, wanted_px, longer_px),
    };
    out->rgb = malloc((size_t)out->width_px * out->height_px * 3);
    if (!out->rgb) {
        photo_image_fini(out);
        return err_set(e, "%s: out of memory for the small picture", path);
    }
    uint8_t *to = out->rgb;
    for (uint32_t y = 0; y < out->height_px; y++) {
        uint32_t top_px = edge(y, photo->height_px, out->height_px);
        uint32_t bottom_px = edge(y + 1, photo->height_px, out->height_px);
        for (uint32_t x = 0; x < out->width_px; x++, to += 3)
            average(to, photo, edge(x, photo->width_px, out->width_px),
                edge(x + 1, photo->width_px, out->width_px), top_px, bottom_px);
    }
    return 0;
}

uint64_t shrink_checksum(const struct photo_image *image)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    size_t count = (size_t)image->width_px * image->height_px * 3;
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ image->rgb[i]) * UINT64_C(0x100000001b3);
    return sum;
}
