// SPDX-License-Identifier: Apache-2.0
// Lines by the tables that CPython 3.9, 3.10 and 3.12 wrote for the same two functions, and tables
// that hold anything.
#include "collect/python_layout.h"
#include "collect/python_lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

struct where {
    int64_t at_bytes;
    int32_t line;
};

struct table {
    enum python_lines_kind kind;
    int32_t first;
    const uint8_t *bytes;
    size_t length_bytes;
    const struct where *starts; // of the ranges
    size_t start_count;
    int64_t end_bytes;
};

static const uint8_t pairs_f[] = {
    0, 1, 4, 2, 12, 1, 4, 1, 2, 255, 8, 2, 2, 1, 12, 1, 12, 1, 6, 5, 6, 1, 2, 255};
static const struct where starts_39[] = {{0, 2}, {4, 4}, {16, 5}, {20, 6}, {22, 5}, {30, 7},
    {32, 8}, {44, 9}, {56, 10}, {62, 15}, {68, 16}, {70, 15}};
static const uint8_t pairs_h[] = {0, 1, 8, 127, 0, 74};
static const struct where starts_h[] = {{0, 318}, {8, 519}};
static const uint8_t ranges_f[] = {
    4, 1, 12, 2, 4, 1, 2, 1, 8, 255, 2, 2, 12, 1, 12, 1, 4, 1, 2, 255, 6, 6, 2, 1, 6, 255};
static const struct where starts_310[] = {{0, 2}, {4, 4}, {16, 5}, {20, 6}, {22, 5}, {30, 7},
    {32, 8}, {44, 9}, {56, 10}, {60, 9}, {62, 15}, {68, 16}, {70, 15}};
static const uint8_t ranges_h[] = {8, 1, 0, 127, 4, 74};
static const uint8_t places_f[] = {128, 0, 216, 8, 9, 128, 65, 228, 13, 18, 144, 49, 139, 88, 242,
    0, 2, 5, 17, 136, 1, 216, 8, 9, 136, 97, 216, 14, 15, 241, 3, 1, 15, 16, 241, 0, 1, 9, 17, 137,
    1, 240, 3, 2, 5, 17, 240, 6, 3, 5, 13, 220, 8, 9, 136, 33, 140, 4, 240, 16, 0, 22, 28, 246, 3,
    1, 12, 29, 216, 16, 17, 242, 3, 0, 13, 14, 242, 0, 1, 12, 29, 240, 0, 1, 5, 29, 248, 244, 13, 0,
    12, 22, 242, 0, 1, 5, 13, 217, 8, 12, 240, 3, 1, 5, 13, 252, 242, 12, 1, 12, 29};
static const struct where starts_312[] = {{0, 1}, {2, 2}, {6, 4}, {34, 5}, {38, 6}, {40, 5},
    {52, 4}, {54, 7}, {56, 8}, {78, 16}, {80, 15}, {94, 16}, {96, 15}, {110, 0}, {112, 9},
    {128, 10}, {132, 9}, {134, 0}, {144, 15}};
static const uint8_t places_h[] = {
    128, 0, 216, 8, 9, 136, 65, 137, 5, 128, 65, 240, 82, 6, 0, 12, 13, 128, 72};
static const struct where starts_h_312[] = {{0, 317}, {2, 318}, {12, 519}};

#define TABLE(kind, first, bytes, starts, end)                                                     \
    {                                                                                              \
        kind, first, bytes, sizeof(bytes), starts, COUNT(starts), end                              \
    }
static const struct table tables[] = {
    TABLE(PYTHON_LINES_PAIRS, 1, pairs_f, starts_39, 76),
    TABLE(PYTHON_LINES_PAIRS, 317, pairs_h, starts_h, 12),
    TABLE(PYTHON_LINES_RANGES, 1, ranges_f, starts_310, 76),
    TABLE(PYTHON_LINES_RANGES, 317, ranges_h, starts_h, 12),
    TABLE(PYTHON_LINES_PLACES, 1, places_f, starts_312, 150),
    TABLE(PYTHON_LINES_PLACES, 317, places_h, starts_h_312, 16),
};

static void test_every_instruction(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(tables); i++) {
        const struct table *t = &tables[i];
        size_t range = 0;
        for (int64_t at = 0; at < t->end_bytes; at += 2) {
            while (range + 1 < t->start_count && t->starts[range + 1].at_bytes <= at)
                range++;
            assert_int_equal(python_lines_find(t->kind, t->bytes, t->length_bytes, t->first, at),
                t->starts[range].line);
        }
    }
}

static void test_edges(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(tables); i++) {
        const struct table *t = &tables[i];
        // Before the first instruction; without a table.
        assert_int_equal(
            python_lines_find(t->kind, t->bytes, t->length_bytes, t->first, -2), t->first);
        assert_true(python_lines_find(t->kind, NULL, 0, t->first, 4) >= 0);
    }
    assert_int_equal(python_lines_find(PYTHON_LINES_RANGES, ranges_f, sizeof ranges_f, 1, 1000), 0);
    assert_int_equal(python_lines_find(PYTHON_LINES_PLACES, places_f, sizeof places_f, 1, 1000), 0);
}

// Memory of another process may be anything: no read beyond it (the sanitizers look), and an end.
static void test_anything(void **state)
{
    (void)state;
    uint32_t dice = 1;
    for (int round = 0; round < 20000; round++) {
        const size_t length_bytes = dice % 40;
        uint8_t *bytes = malloc(length_bytes ? length_bytes : 1);
        assert_non_null(bytes);
        for (size_t i = 0; i < length_bytes; i++)
            bytes[i] = (uint8_t)((dice = dice * 1664525u + 1013904223u) >> 24);
        for (int kind = PYTHON_LINES_PAIRS; kind <= PYTHON_LINES_PLACES; kind++)
            (void)python_lines_find(
                (enum python_lines_kind)kind, bytes, length_bytes, 1, (int64_t)(dice >> 20));
        free(bytes);
        dice = dice * 1664525u + 1013904223u;
    }
}

static void test_releases(void **state)
{
    (void)state;
    for (uint64_t minor = 8; minor <= 13; minor++) {
        const struct python_layout *l = python_layout_find(0x03000000 | minor << 16 | 0x05f0);
        assert_non_null(l);
        assert_int_equal(l->version, 0x0300 | minor);
        assert_true(l->frame_bytes <= 128);
        assert_true(l->code_lines > l->code_name && l->code_name > l->code_line);
    }
    assert_null(python_layout_find(0x03070af0));
    assert_null(python_layout_find(0x030e00f0));
    assert_null(python_layout_find(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_instruction),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_anything),
        cmocka_unit_test(test_releases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
