// SPDX-License-Identifier: Apache-2.0
// Convex hulls by monotone chains, the smallest rectangle by trying each side of the hull.
// Called by boxes.c for each region of text. Does not allocate.
// Threads: no shared state.
#include "ocr/geometry.h"

#include <math.h>

// Above 0 when the way from a over b to c turns to one side, below 0 when to the other.
static float turn(struct point a, struct point b, struct point c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

// Adds `next` to the chain hull[start..count), dropping the points that it makes needless.
static size_t extend(struct point *hull, size_t start, size_t count, struct point next)
{
    while (count >= start + 2 && turn(hull[count - 2], hull[count - 1], next) <= 0)
        count--;
    hull[count] = next;
    return count + 1;
}

size_t geometry_hull(struct point *hull, const struct point *points, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        n = extend(hull, 0, n, points[i]);
    size_t start = n > 0 ? n - 1 : 0;
    for (size_t i = count; i-- > 0;)
        n = extend(hull, start, n, points[i]);
    return n > 1 ? n - 1 : n; // the last point is the first again
}

// The rectangle around the hull whose first side runs along `axis`.
static struct rect rect_along(const struct point *hull, size_t count, struct point axis)
{
    float along_low = INFINITY;
    float along_high = -INFINITY;
    float across_low = INFINITY;
    float across_high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        float along = hull[i].x * axis.x + hull[i].y * axis.y;
        float across = hull[i].y * axis.x - hull[i].x * axis.y;
        along_low = fminf(along_low, along);
        along_high = fmaxf(along_high, along);
        across_low = fminf(across_low, across);
        across_high = fmaxf(across_high, across);
    }
    float u = (along_low + along_high) / 2;
    float v = (across_low + across_high) / 2;
    return (struct rect){
        .centre = {u * axis.x - v * axis.y, u * axis.y + v * axis.x},
        .axis = axis,
        .along_px = along_high - along_low,
        .across_px = across_high - across_low,
    };
}

struct rect geometry_rect_around(const struct point *hull, size_t count)
{
    struct rect best = {0};
    float best_area = INFINITY;
    for (size_t i = 0; i < count; i++) {
        struct point from = hull[i];
        struct point to = hull[i + 1 < count ? i + 1 : 0];
        float length = hypotf(to.x - from.x, to.y - from.y);
        if (!(length > 0))
            continue;
        struct point axis = {(to.x - from.x) / length, (to.y - from.y) / length};
        struct rect rect = rect_along(hull, count, axis);
        if (rect.along_px * rect.across_px < best_area) {
            best_area = rect.along_px * rect.across_px;
            best = rect;
        }
    }
    return best;
}

struct rect geometry_rect_unclip(struct rect rect, float ratio)
{
    float perimeter_px = 2 * (rect.along_px + rect.across_px);
    float distance_px = rect.along_px * rect.across_px * ratio / perimeter_px;
    rect.along_px += 2 * distance_px;
    rect.across_px += 2 * distance_px;
    return rect;
}

float geometry_rect_shorter_px(struct rect rect)
{
    return fminf(rect.along_px, rect.across_px);
}

void geometry_rect_corners(struct point corners[4], struct rect rect)
{
    static const float signs[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    const float tie = 1.001F; // at 45 degrees the upper of two corners wins
    struct point all[4];
    size_t first = 0;
    for (size_t i = 0; i < 4; i++) {
        float u = signs[i][0] * rect.along_px / 2;
        float v = signs[i][1] * rect.across_px / 2;
        all[i].x = rect.centre.x + u * rect.axis.x - v * rect.axis.y;
        all[i].y = rect.centre.y + u * rect.axis.y + v * rect.axis.x;
        if (all[i].x + all[i].y * tie < all[first].x + all[first].y * tie)
            first = i;
    }
    for (size_t i = 0; i < 4; i++)
        corners[i] = all[(first + i) % 4];
}
