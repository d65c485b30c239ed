// SPDX-License-Identifier: Apache-2.0
// How a table divides its line: never wider than told, names cut first, the bar kept. Threads:
// none.
#include "report/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int used(const struct table_layout *l)
{
    int columns = 0;
    for (size_t c = 0; c < l->columns; c++)
        if (l->width_columns[c])
            columns += l->width_columns[c] + (columns ? TABLE_GAP_COLUMNS : 0);
    return columns;
}

static struct document_block make_table(const char *name, const char *number, const char *word)
{
    struct document_block b = {0};
    document_add_column(&b, "name", DOCUMENT_COLUMN_NAME);
    document_add_column(&b, "number", DOCUMENT_COLUMN_NUMBER);
    document_add_column(&b, "word", DOCUMENT_COLUMN_TEXT);
    document_add_column(&b, "", DOCUMENT_COLUMN_BAR);
    struct document_row *row = document_add_row(&b);
    row->cells[0] = name;
    row->cells[1] = number;
    row->cells[2] = word;
    return b;
}

static void free_table(struct document_block *b)
{
    vec_fini(&b->table.columns);
    vec_fini(&b->table.rows);
}

static void test_room_for_all(void **state)
{
    (void)state;
    struct table_layout l;
    struct document_block b = make_table("decode", "12.3", "I/O");
    table_layout_init(&l, &b.table, 78, 1);
    assert_int_equal(l.width_columns[0], 6);
    assert_int_equal(l.width_columns[1], 6); // its title
    assert_int_equal(l.width_columns[2], 4);
    assert_int_equal(l.width_columns[3], TABLE_BAR_MAX_COLUMNS);
    table_layout_fini(&l);
    free_table(&b);
}

static void test_name_makes_way_for_the_bar(void **state)
{
    (void)state;
    struct table_layout l;
    struct document_block b = make_table(
        "a name that is longer than all the room there is in a line of eighty columns, far longer",
        "12.3", "I/O");
    table_layout_init(&l, &b.table, 78, 1);
    assert_int_equal(used(&l), 78);
    assert_int_equal(l.width_columns[3], TABLE_BAR_AIM_COLUMNS);
    assert_true(l.width_columns[0] >= TABLE_NAME_AIM_COLUMNS);
    table_layout_fini(&l);
    free_table(&b);
}

static void test_never_too_wide(void **state)
{
    (void)state;
    struct document_block b = make_table("紫禁城紫禁城紫禁城紫禁城紫禁城", "123,456,789,012,345",
        "a word of ours that is far too long");
    for (int width = TABLE_NAME_MIN_COLUMNS; width < 120; width++) {
        struct table_layout l;
        table_layout_init(&l, &b.table, width, 1);
        assert_true(used(&l) <= width);
        assert_true(l.width_columns[0] >= TABLE_NAME_MIN_COLUMNS);
        assert_true(l.width_columns[2] <= TABLE_TEXT_MAX_COLUMNS);
        table_layout_fini(&l);
    }
    free_table(&b);
}

static void test_empty_columns_are_left_out(void **state)
{
    (void)state;
    struct table_layout l;
    struct document_block b = make_table("decode", "1", NULL);
    table_layout_init(&l, &b.table, 78, 1);
    assert_int_equal(l.width_columns[2], 0);
    assert_string_equal(l.at[1 * l.columns + 2], "");
    table_layout_fini(&l);
    free_table(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room_for_all),
        cmocka_unit_test(test_name_makes_way_for_the_bar),
        cmocka_unit_test(test_never_too_wide),
        cmocka_unit_test(test_empty_columns_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
