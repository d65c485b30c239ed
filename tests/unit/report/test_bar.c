// SPDX-License-Identifier: Apache-2.0
// Bars: cells in proportion, none lost, signs that differ. Threads: none.
#include "report/bar.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct facts_split make_split(uint64_t cpu, uint64_t runq, uint64_t io, uint64_t other)
{
    struct facts_split s = {.wall_ns = cpu + runq + io + other, .cpu_ns = cpu, .runq_ns = runq};
    s.cause_ns[TRACE_CAUSE_IO] = io;
    s.cause_ns[TRACE_CAUSE_OTHER] = other;
    return s;
}

static int count_of(const enum bar_part *cells, int count, enum bar_part part)
{
    int found = 0;
    for (int i = 0; i < count; i++)
        found += cells[i] == part;
    return found;
}

static void test_cells_are_in_proportion(void **state)
{
    (void)state;
    enum bar_part cells[BAR_CELLS_MAX];
    const struct facts_split s = make_split(50, 25, 15, 10);
    const int count = bar_cells(&s, 1, 20, cells);
    assert_int_equal(count, 20);
    assert_int_equal(count_of(cells, count, BAR_CPU), 10);
    assert_int_equal(count_of(cells, count, BAR_RUNQ), 5);
    assert_int_equal(count_of(cells, count, BAR_IO), 3);
    assert_int_equal(count_of(cells, count, BAR_OTHER), 2);
    for (int i = 1; i < count; i++)
        assert_true(cells[i - 1] <= cells[i]);
}

// Rounding never loses or adds a cell, whatever the parts.
static void test_cells_are_all_handed_out(void **state)
{
    (void)state;
    enum bar_part cells[BAR_CELLS_MAX];
    for (uint64_t cpu = 0; cpu < 7; cpu++)
        for (uint64_t io = 0; io < 7; io++)
            for (int width = 0; width <= 70; width += 7) {
                const struct facts_split s = make_split(cpu, 1, io, 3);
                const int expected = width > BAR_CELLS_MAX ? BAR_CELLS_MAX : width;
                assert_int_equal(bar_cells(&s, 1, width, cells), expected);
                assert_int_equal(bar_cells(&s, 7.5, width, cells), expected);
            }
}

static void test_nothing_to_show(void **state)
{
    (void)state;
    enum bar_part cells[BAR_CELLS_MAX];
    const struct facts_split none = {0}, some = make_split(1, 0, 0, 0);
    assert_int_equal(bar_cells(&none, 1, 20, cells), 0);
    assert_int_equal(bar_cells(&some, 0.01, 20, cells), 0);
    assert_int_equal(bar_cells(&some, 0, 20, cells), 0);
    assert_int_equal(bar_cells(&some, -1, 20, cells), 0);
    assert_int_equal(bar_cells(&some, 0.0 / 0.0, 20, cells), 0);
}

static void test_main_wait(void **state)
{
    (void)state;
    struct facts_split s = make_split(100, 0, 0, 0);
    assert_int_equal(bar_main_wait(&s), BAR_CPU);
    s = make_split(96, 0, 4, 0);
    assert_int_equal(bar_main_wait(&s), BAR_CPU);
    s = make_split(80, 9, 11, 0);
    assert_int_equal(bar_main_wait(&s), BAR_IO);
    s = make_split(80, 11, 9, 0);
    assert_int_equal(bar_main_wait(&s), BAR_RUNQ);
}

static void test_signs_differ(void **state)
{
    (void)state;
    for (int p = 0; p < BAR_PART_COUNT; p++)
        for (int q = 0; q < p; q++)
            for (int utf8 = 0; utf8 < 2; utf8++)
                assert_string_not_equal(
                    bar_part_glyph((enum bar_part)p, utf8), bar_part_glyph((enum bar_part)q, utf8));
    for (int p = 0; p < BAR_PART_COUNT; p++) {
        assert_int_equal(strlen(bar_part_glyph((enum bar_part)p, 0)), 1);
        assert_true(*bar_part_label((enum bar_part)p) != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_are_in_proportion),
        cmocka_unit_test(test_cells_are_all_handed_out),
        cmocka_unit_test(test_nothing_to_show),
        cmocka_unit_test(test_main_wait),
        cmocka_unit_test(test_signs_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
