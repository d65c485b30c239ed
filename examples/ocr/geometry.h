// SPDX-License-Identifier: Apache-2.0
// Points, convex hulls and rotated rectangles, in pixels, with y downward. Used by boxes.c.
// Knows nothing of text. Threads: no shared state.
#ifndef EXAMPLES_OCR_GEOMETRY_H
#define EXAMPLES_OCR_GEOMETRY_H

#include <stddef.h>

struct point {
    float x;
    float y;
};

struct rect {
    struct point centre;
    struct point axis; // of length 1, along the first side
    float along_px;    // the length of the sides along the axis
    float across_px;   // and of the others
};

// The convex hull of `count` points that are sorted by y, then by x. Writes at most count + 1
// points to `hull` and returns how many; fewer than three when the points lie on a line.
size_t geometry_hull(struct point *hull, const struct point *points, size_t count);

// The rectangle of the smallest area around a convex hull of three points or more.
struct rect geometry_rect_around(const struct point *hull, size_t count);

// Moves each side outward by the distance that polygon "unclipping" uses, area * ratio / perimeter.
// (Offsetting a rectangle with round corners and taking the smallest rectangle again gives this.)
struct rect geometry_rect_unclip(struct rect rect, float ratio);

float geometry_rect_shorter_px(struct rect rect);

// The corners clockwise, the one nearest the top left (the smallest x + y, then the upper) first.
void geometry_rect_corners(struct point corners[4], struct rect rect);

#endif
