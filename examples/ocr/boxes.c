// SPDX-License-Identifier: Apache-2.0
// Threshold, connected regions, smallest rotated rectangles, score, unclip, scale.
// Called by main.c. The limits are those that the model's authors use. Holes in a region are not
// looked at. Threads: no shared state.
#include "ocr/boxes.h"

#include "ocr/geometry.h"
#include "ocr/regions.h"

#include <math.h>
#include <stdlib.h>

#define MAP_THRESHOLD 0.3F
#define SCORE_MIN 0.6F
#define UNCLIP_RATIO 1.5F
#define SIDE_MIN_PX 3       // in the map, before the box is grown; two more after it
#define PHOTO_SIDE_MIN_PX 3 // boxes this narrow in the photograph are left out
#define BOXES_MAX 1000
#define LINE_PX 10 // boxes whose tops differ by less are on one line

struct scale {
    float x;
    float y;
    int x_max_px;
    int y_max_px;
};

// The map's mean over the rectangle's pixels. Its sides run through the centres of pixels, which
// reach half a pixel further.
static float score_of(const struct text_map *map, struct rect rect)
{
    const float reach_px = 0.5F;
    float half_along = rect.along_px / 2 + reach_px;
    float half_across = rect.across_px / 2 + reach_px;
    float half_x = fabsf(rect.axis.x) * half_along + fabsf(rect.axis.y) * half_across;
    float half_y = fabsf(rect.axis.y) * half_along + fabsf(rect.axis.x) * half_across;
    int left = (int)fmaxf(floorf(rect.centre.x - half_x), 0);
    int right = (int)fminf(ceilf(rect.centre.x + half_x), (float)map->width_px - 1);
    int top = (int)fmaxf(floorf(rect.centre.y - half_y), 0);
    int bottom = (int)fminf(ceilf(rect.centre.y + half_y), (float)map->height_px - 1);
    double sum = 0;
    size_t count = 0;
    for (int y = top; y <= bottom; y++) {
        const float *row = map->values + (size_t)y * map->width_px;
        for (int x = left; x <= right; x++) {
            float dx = (float)x - rect.centre.x;
            float dy = (float)y - rect.centre.y;
            float along = fabsf(dx * rect.axis.x + dy * rect.axis.y);
            float across = fabsf(dy * rect.axis.x - dx * rect.axis.y);
            if (along > half_along || across > half_across)
                continue;
            sum += (double)row[x];
            count++;
        }
    }
    return count ? (float)(sum / (double)count) : 0;
}

static int to_photo_px(float map_px, float scale, int max_px)
{
    float scaled = roundf(map_px * scale);
    return scaled < 0 ? 0 : scaled > (float)max_px ? max_px : (int)scaled;
}

// Whether the region is text; then its box.
static int box_of_hull(struct box *out, const struct point *hull, size_t count,
    const struct text_map *map, const struct scale *scale)
{
    struct rect rect = geometry_rect_around(hull, count);
    if (geometry_rect_shorter_px(rect) < SIDE_MIN_PX)
        return 0;
    out->score = score_of(map, rect);
    if (out->score < SCORE_MIN)
        return 0;
    rect = geometry_rect_unclip(rect, UNCLIP_RATIO);
    if (geometry_rect_shorter_px(rect) < SIDE_MIN_PX + 2)
        return 0;
    struct point corners[4];
    geometry_rect_corners(corners, rect);
    for (size_t i = 0; i < 4; i++) {
        out->x_px[i] = to_photo_px(corners[i].x, scale->x, scale->x_max_px);
        out->y_px[i] = to_photo_px(corners[i].y, scale->y, scale->y_max_px);
    }
    double side = hypot(out->x_px[1] - out->x_px[0], out->y_px[1] - out->y_px[0]);
    double other_side = hypot(out->x_px[3] - out->x_px[0], out->y_px[3] - out->y_px[0]);
    return side > PHOTO_SIDE_MIN_PX && other_side > PHOTO_SIDE_MIN_PX;
}

// `points` and `hull` have room for two points a run, and one more.
static size_t hull_of_region(
    struct point *hull, struct point *points, const struct regions *regions, size_t region)
{
    size_t count = 0;
    for (size_t i = regions->starts[region]; i < regions->starts[region + 1]; i++) {
        const struct run *run = &regions->runs[i];
        points[count++] = (struct point){(float)run->first_px, (float)run->y_px};
        points[count++] = (struct point){(float)run->last_px, (float)run->y_px};
    }
    return geometry_hull(hull, points, count);
}

static int by_top_left(const void *a, const void *b)
{
    const struct box *p = a;
    const struct box *q = b;
    if (p->y_px[0] != q->y_px[0])
        return p->y_px[0] < q->y_px[0] ? -1 : 1;
    if (p->x_px[0] != q->x_px[0])
        return p->x_px[0] < q->x_px[0] ? -1 : 1;
    return p->score > q->score ? -1 : p->score < q->score;
}

// From top to bottom; boxes whose tops are about level from left to right.
static void sort_for_reading(struct box_list *list)
{
    qsort(list->boxes, list->count, sizeof *list->boxes, by_top_left);
    for (size_t i = 1; i < list->count; i++) {
        for (size_t j = i; j > 0; j--) {
            struct box *left = &list->boxes[j - 1];
            struct box *right = &list->boxes[j];
            if (right->y_px[0] - left->y_px[0] >= LINE_PX || right->x_px[0] >= left->x_px[0])
                break;
            struct box swapped = *left;
            *left = *right;
            *right = swapped;
        }
    }
}

static size_t longest_region(const struct regions *regions)
{
    size_t longest = 0;
    for (size_t i = 0; i < regions->count; i++)
        if (regions->starts[i + 1] - regions->starts[i] > longest)
            longest = regions->starts[i + 1] - regions->starts[i];
    return longest;
}

static int boxes_of_regions(struct box_list *out, const struct regions *regions,
    const struct text_map *map, const struct scale *scale, struct err *e)
{
    size_t room = 2 * longest_region(regions) + 1;
    size_t count = regions->count < BOXES_MAX ? regions->count : BOXES_MAX;
    struct point *points = malloc(room * sizeof *points);
    struct point *hull = malloc(room * sizeof *hull);
    out->boxes = malloc((count + 1) * sizeof *out->boxes);
    int result = 0;
    if (!points || !hull || !out->boxes)
        result = err_set(e, "out of memory for %zu text boxes", count);
    for (size_t i = 0; i < count && result == 0; i++) {
        size_t corners = hull_of_region(hull, points, regions, i);
        if (corners >= 3 && box_of_hull(&out->boxes[out->count], hull, corners, map, scale))
            out->count++;
    }
    free(points);
    free(hull);
    return result;
}

int boxes_find(struct box_list *out, const struct text_map *map, uint32_t photo_width_px,
    uint32_t photo_height_px, struct err *e)
{
    *out = (struct box_list){0};
    struct scale scale = {
        .x = (float)photo_width_px / (float)map->width_px,
        .y = (float)photo_height_px / (float)map->height_px,
        .x_max_px = (int)photo_width_px - 1,
        .y_max_px = (int)photo_height_px - 1,
    };
    struct regions regions;
    int result = regions_find(&regions, map, MAP_THRESHOLD, e);
    if (result == 0)
        result = boxes_of_regions(out, &regions, map, &scale, e);
    if (result == 0)
        sort_for_reading(out);
    else
        boxes_fini(out);
    regions_fini(&regions);
    return result;
}

void boxes_fini(struct box_list *list)
{
    free(list->boxes);
    *list = (struct box_list){0};
}
