// SPDX-License-Identifier: Apache-2.0
// Tests of examples/ocr/boxes.h: from maps drawn by hand to boxes whose place can be told on paper.
// No network and no photograph is needed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ocr/boxes.h"
#include "ocr/regions.h"

#include <math.h>
#include <string.h>

enum { SIDE = 160 };

static float values[SIDE * SIDE];

// Clears the map; rectangles are drawn with both ends included.
static struct text_map clear_map(void)
{
    memset(values, 0, sizeof values);
    return (struct text_map){values, SIDE, SIDE};
}

static void draw(int left, int top, int right, int bottom, float value)
{
    for (int y = top; y <= bottom; y++)
        for (int x = left; x <= right; x++)
            values[y * SIDE + x] = value;
}

static struct box_list boxes_of(const struct text_map *map, uint32_t scale)
{
    struct box_list list;
    struct err e = {{0}};
    assert_int_equal(boxes_find(&list, map, scale * SIDE, scale * SIDE, &e), 0);
    return list;
}

static void assert_corners(const struct box *box, int expected[4][2])
{
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(box->x_px[i], expected[i][0]);
        assert_int_equal(box->y_px[i], expected[i][1]);
    }
}

static void finds_nothing_on_an_empty_map(void **state)
{
    (void)state;
    struct text_map map = clear_map();
    struct box_list list = boxes_of(&map, 1);
    assert_int_equal(list.count, 0);
    boxes_fini(&list);
    assert_null(list.boxes);
}

// A region of 41 x 21 pixels is a rectangle of 40 x 20; it grows by 40 * 20 * 1.5 / 120 = 10.
static void grows_a_level_box_by_its_area_and_perimeter(void **state)
{
    (void)state;
    struct text_map map = clear_map();
    draw(50, 60, 90, 80, 0.9F);
    struct box_list list = boxes_of(&map, 1);
    assert_int_equal(list.count, 1);
    assert_corners(&list.boxes[0], (int[4][2]){{40, 50}, {100, 50}, {100, 90}, {40, 90}});
    assert_float_equal(list.boxes[0].score, 0.9, 1e-4);
    boxes_fini(&list);
    list = boxes_of(&map, 3);
    assert_corners(&list.boxes[0], (int[4][2]){{120, 150}, {300, 150}, {300, 270}, {120, 270}});
    boxes_fini(&list);
}

static void cuts_boxes_at_the_photograph(void **state)
{
    (void)state;
    struct text_map map = clear_map();
    draw(0, 0, SIDE - 1, SIDE - 1, 1.0F);
    struct box_list list = boxes_of(&map, 2);
    assert_int_equal(list.count, 1);
    int last = 2 * SIDE - 1;
    assert_corners(&list.boxes[0], (int[4][2]){{0, 0}, {last, 0}, {last, last}, {0, last}});
    boxes_fini(&list);
}

// Pixels between the threshold and the least score belong to a region, but make it no text.
static void leaves_out_the_faint_and_the_thin(void **state)
{
    (void)state;
    struct text_map map = clear_map();
    draw(10, 10, 40, 25, 0.55F); // below the least score
    draw(60, 10, 90, 25, 0.29F); // below the threshold
    draw(10, 60, 90, 62, 0.9F);  // two pixels high, from centre to centre
    draw(120, 20, 120, 120, 1.0F);
    draw(140, 140, 140, 140, 1.0F);
    struct box_list list = boxes_of(&map, 1);
    assert_int_equal(list.count, 0);
    boxes_fini(&list);
    draw(10, 60, 90, 63, 0.9F);
    list = boxes_of(&map, 1);
    assert_int_equal(list.count, 1);
    boxes_fini(&list);
}

// A band along a diagonal. Two corners are equally near the top left: the upper one comes first.
static void fits_a_turned_box(void **state)
{
    (void)state;
    struct text_map map = clear_map();
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            if (x + y >= 120 && x + y <= 200 && y - x >= -10 && y - x <= 10)
                values[y * SIDE + x] = 0.8F;
    struct box_list list = boxes_of(&map, 1);
    assert_int_equal(list.count, 1);
    // The area is 800, the perimeter 200 / sqrt(2): when the sides move by 800 * 1.5 / perimeter,
    // each corner moves by 12 along one axis of the map.
    assert_corners(&list.boxes[0], (int[4][2]){{65, 43}, {117, 95}, {95, 117}, {43, 65}});
    boxes_fini(&list);
}

static size_t regions_of(const struct text_map *map)
{
    struct regions regions;
    struct err e = {{0}};
    assert_int_equal(regions_find(&regions, map, 0.3F, &e), 0);
    size_t count = regions.count;
    for (size_t i = 0; i < count; i++)
        for (size_t k = regions.starts[i]; k < regions.starts[i + 1]; k++)
            assert_int_equal(regions.runs[k].region, i);
    regions_fini(&regions);
    return count;
}

static void joins_pixels_that_touch_at_a_corner_only(void **state)
{
    (void)state;
    struct text_map map = clear_map();
    draw(40, 40, 60, 60, 1.0F);
    draw(61, 61, 81, 81, 1.0F);
    draw(39, 61, 39, 61, 1.0F);
    assert_int_equal(regions_of(&map), 1);
    map = clear_map();
    draw(40, 40, 60, 60, 1.0F);
    draw(62, 61, 82, 81, 1.0F);
    draw(38, 61, 38, 70, 1.0F);
    assert_int_equal(regions_of(&map), 3);
}

// Arms that meet only at their lower ends are one region, whichever began first.
static void joins_arms_that_meet_below(void **state)
{
    (void)state;
    static const int tops[2][3] = {{50, 40, 30}, {30, 40, 50}};
    for (size_t i = 0; i < 2; i++) {
        struct text_map map = clear_map();
        draw(30, tops[i][0], 45, 90, 1.0F);
        draw(60, tops[i][1], 75, 90, 1.0F);
        draw(90, tops[i][2], 105, 90, 1.0F);
        assert_int_equal(regions_of(&map), 3);
        draw(30, 91, 105, 100, 1.0F);
        draw(0, 0, 3, 3, 1.0F);
        assert_int_equal(regions_of(&map), 2);
    }
}

// Regions are found by their first rows; boxes come by their first corners, level ones from the
// left.
static void sorts_boxes_for_reading(void **state)
{
    (void)state;
    struct text_map map = clear_map();
    draw(100, 20, 130, 30, 1.0F);
    draw(20, 24, 50, 34, 1.0F);
    for (int i = 0; i < 40; i++) // falls to the left: begins early, has its first corner far below
        draw(110 - 2 * i, 50 + i, 117 - 2 * i, 56 + i, 1.0F);
    draw(130, 62, 155, 72, 1.0F);
    struct box_list list = boxes_of(&map, 1);
    assert_int_equal(list.count, 4);
    assert_true(list.boxes[0].x_px[0] < 30 && list.boxes[0].y_px[0] < 30);
    assert_true(list.boxes[1].x_px[0] > 80 && list.boxes[1].y_px[0] < 30);
    for (size_t i = 2; i < list.count; i++)
        assert_true(list.boxes[i].y_px[0] >= list.boxes[i - 1].y_px[0]);
    boxes_fini(&list);
}

static void survives_a_chequerboard_and_nonsense(void **state)
{
    (void)state;
    struct text_map map = clear_map();
    for (int i = 0; i < SIDE * SIDE; i++)
        values[i] = (i / SIDE + i) % 2 ? 1.0F : 0.0F;
    struct box_list list = boxes_of(&map, 1);
    assert_int_equal(list.count, 0); // one region, half of it dark
    boxes_fini(&list);
    for (int i = 0; i < SIDE * SIDE; i++)
        values[i] = i % 3 ? NAN : INFINITY;
    list = boxes_of(&map, 1);
    assert_true(list.count <= 1000);
    boxes_fini(&list);
}

static void takes_no_more_than_a_thousand(void **state)
{
    (void)state;
    struct text_map map = clear_map();
    for (int y = 0; y + 4 <= SIDE; y += 5)
        for (int x = 0; x + 4 <= SIDE; x += 5)
            draw(x, y, x + 3, y + 3, 1.0F);
    struct box_list list = boxes_of(&map, 1);
    assert_int_equal(list.count, 1000);
    boxes_fini(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_nothing_on_an_empty_map),
        cmocka_unit_test(grows_a_level_box_by_its_area_and_perimeter),
        cmocka_unit_test(cuts_boxes_at_the_photograph),
        cmocka_unit_test(leaves_out_the_faint_and_the_thin),
        cmocka_unit_test(fits_a_turned_box),
        cmocka_unit_test(joins_pixels_that_touch_at_a_corner_only),
        cmocka_unit_test(joins_arms_that_meet_below),
        cmocka_unit_test(sorts_boxes_for_reading),
        cmocka_unit_test(survives_a_chequerboard_and_nonsense),
        cmocka_unit_test(takes_no_more_than_a_thousand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
