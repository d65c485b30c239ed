// SPDX-License-Identifier: Apache-2.0
// Bilinear resizing and normalisation in plain C loops, as they stand in many programs.
// Called by main.c for each photograph. Like the model's own program it does not average when it
// shrinks. Threads: no shared state.
#include "ocr/prepare.h"

#include <math.h>
#include <stdlib.h>

// The model was trained with these, applied in this order to blue, green and red.
static const float mean[3] = {0.485F, 0.456F, 0.406F};
static const float deviation[3] = {0.229F, 0.224F, 0.225F};

// The position of an output pixel's centre in the input: two neighbours and the weight of the
// second.
struct tap {
    uint32_t low_px;
    uint32_t high_px;
    float high_ratio;
};

static struct tap tap_at(uint32_t out_px, float scale, uint32_t length_px)
{
    float at = ((float)out_px + 0.5F) * scale - 0.5F;
    float last = (float)(length_px - 1);
    at = at < 0 ? 0 : at > last ? last : at;
    struct tap tap = {.low_px = (uint32_t)at};
    tap.high_px = tap.low_px + 1 < length_px ? tap.low_px + 1 : tap.low_px;
    tap.high_ratio = at - (float)tap.low_px;
    return tap;
}

static uint32_t rounded_to_32(float side_px)
{
    uint32_t side = (uint32_t)floorf(side_px / 32 + 0.5F) * 32;
    return side < 32 ? 32 : side;
}

static int make_room(struct tensor *out, size_t count_px, struct err *e)
{
    if (count_px <= out->capacity_px)
        return 0;
    prepare_fini(out);
    out->values = malloc(count_px * 3 * sizeof *out->values);
    out->resized_rgb = malloc(count_px * 3);
    if (!out->values || !out->resized_rgb) {
        prepare_fini(out);
        return err_set(e, "out of memory for a network input of %zu pixels", count_px);
    }
    out->capacity_px = count_px;
    return 0;
}

static void resize(struct tensor *out, const struct photo_image *photo)
{
    float scale_x = (float)photo->width_px / (float)out->width_px;
    float scale_y = (float)photo->height_px / (float)out->height_px;
    size_t row_bytes = (size_t)photo->width_px * 3;
    uint8_t *to = out->resized_rgb;
    for (uint32_t y = 0; y < out->height_px; y++) {
        struct tap v = tap_at(y, scale_y, photo->height_px);
        const uint8_t *upper = photo->rgb + v.low_px * row_bytes;
        const uint8_t *lower = photo->rgb + v.high_px * row_bytes;
        for (uint32_t x = 0; x < out->width_px; x++) {
            struct tap h = tap_at(x, scale_x, photo->width_px);
            for (uint32_t c = 0; c < 3; c++) {
                size_t left = (size_t)h.low_px * 3 + c;
                size_t right = (size_t)h.high_px * 3 + c;
                float top = (float)upper[left] + h.high_ratio * (float)(upper[right] - upper[left]);
                float low = (float)lower[left] + h.high_ratio * (float)(lower[right] - lower[left]);
                *to++ = (uint8_t)(top + v.high_ratio * (low - top) + 0.5F);
            }
        }
    }
}

static void normalise(struct tensor *out)
{
    size_t count_px = (size_t)out->width_px * out->height_px;
    for (size_t plane = 0; plane < 3; plane++) {
        const uint8_t *from = out->resized_rgb + (2 - plane);
        float *to = out->values + plane * count_px;
        for (size_t i = 0; i < count_px; i++)
            to[i] = ((float)from[3 * i] / 255.0F - mean[plane]) / deviation[plane];
    }
}

int prepare_photo(
    struct tensor *out, const struct photo_image *photo, uint32_t limit_side_px, struct err *e)
{
    uint32_t longer_px = photo->width_px > photo->height_px ? photo->width_px : photo->height_px;
    float ratio = longer_px > limit_side_px ? (float)limit_side_px / (float)longer_px : 1.0F;
    uint32_t width_px = rounded_to_32((float)photo->width_px * ratio);
    uint32_t height_px = rounded_to_32((float)photo->height_px * ratio);
    if (make_room(out, (size_t)width_px * height_px, e) < 0)
        return -1;
    out->width_px = width_px;
    out->height_px = height_px;
    resize(out, photo);
    normalise(out);
    return 0;
}

void prepare_fini(struct tensor *tensor)
{
    free(tensor->values);
    free(tensor->resized_rgb);
    *tensor = (struct tensor){0};
}
