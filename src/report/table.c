// SPDX-License-Identifier: Apache-2.0
// Dividing a line among the columns of a table. Called by the terminal format. Knows no styles.
// Threads: one owner.
#include "report/table.h"

#include "base/heap.h"
#include "report/typeset.h"

#include <stdlib.h>

static void clean_cells(struct table_layout *l, const struct document_table *t, int has_utf8)
{
    struct buf text = {0};
    size_t *offsets = heap_alloc(l->rows * l->columns, sizeof *offsets);
    for (size_t row = 0; row < l->rows; row++)
        for (size_t column = 0; column < l->columns; column++) {
            const char *cell =
                row == 0 ? t->columns.at[column].title : t->rows.at[row - 1].cells[column];
            offsets[row * l->columns + column] = text.length_bytes;
            if (cell)
                typeset_clean(cell, has_utf8, &text);
            buf_putc(&text, '\0');
        }
    l->at = heap_alloc(l->rows * l->columns, sizeof *l->at);
    for (size_t i = 0; i < l->rows * l->columns; i++)
        l->at[i] = text.at + offsets[i];
    l->cells = text.at;
    free(offsets);
}

// What the column needs; 0 when it has a title only.
static int widest(const struct table_layout *l, size_t column)
{
    int title = typeset_columns(l->at[column]), most = 0;
    for (size_t row = 1; row < l->rows; row++) {
        int columns = typeset_columns(l->at[row * l->columns + column]);
        most = columns > most ? columns : most;
    }
    return most && most < title ? title : most;
}

// Columns that the line takes as it stands.
static int used_columns(const struct table_layout *l)
{
    int used = 0;
    for (size_t c = 0; c < l->columns; c++)
        if (l->width_columns[c])
            used += l->width_columns[c] + (used ? TABLE_GAP_COLUMNS : 0);
    return used;
}

// The first column of that kind; SIZE_MAX when there is none.
static size_t find_column(const struct document_table *t, enum document_column_kind kind)
{
    for (size_t c = 0; c < t->columns.count; c++)
        if (t->columns.at[c].kind == kind)
            return c;
    return SIZE_MAX;
}

// Makes the name narrower, then leaves columns out from the right, until the line fits.
static void shrink(struct table_layout *l, size_t name, int width_columns)
{
    int excess = used_columns(l) - width_columns;
    if (excess > 0 && name != SIZE_MAX) {
        int room = l->width_columns[name] - TABLE_NAME_MIN_COLUMNS;
        int less = excess < room ? excess : room;
        l->width_columns[name] -= less > 0 ? less : 0;
    }
    for (size_t c = l->columns; c-- > 1 && used_columns(l) > width_columns;)
        if (c != name)
            l->width_columns[c] = 0;
}

// Gives the bar the free room; a long name makes way for it, down to a width that still says which.
static void grow_bar(struct table_layout *l, size_t bar, size_t name, int width_columns)
{
    int room = width_columns - used_columns(l) - TABLE_GAP_COLUMNS;
    if (room < TABLE_BAR_AIM_COLUMNS && name != SIZE_MAX) {
        int wanted = TABLE_BAR_AIM_COLUMNS - room;
        int spare = l->width_columns[name] - TABLE_NAME_AIM_COLUMNS;
        int taken = spare < wanted ? spare : wanted;
        if (taken > 0) {
            l->width_columns[name] -= taken;
            room += taken;
        }
    }
    if (room >= TABLE_BAR_MIN_COLUMNS)
        l->width_columns[bar] = room < TABLE_BAR_MAX_COLUMNS ? room : TABLE_BAR_MAX_COLUMNS;
}

void table_layout_init(
    struct table_layout *l, const struct document_table *t, int width_columns, int has_utf8)
{
    *l = (struct table_layout){.rows = t->rows.count + 1, .columns = t->columns.count};
    clean_cells(l, t, has_utf8);
    const size_t name = find_column(t, DOCUMENT_COLUMN_NAME),
                 bar = find_column(t, DOCUMENT_COLUMN_BAR);
    for (size_t c = 0; c < l->columns; c++) {
        const int columns = c == bar ? 0 : widest(l, c);
        const int is_text = t->columns.at[c].kind == DOCUMENT_COLUMN_TEXT;
        l->width_columns[c] =
            is_text && columns > TABLE_TEXT_MAX_COLUMNS ? TABLE_TEXT_MAX_COLUMNS : columns;
    }
    shrink(l, name, width_columns);
    if (bar != SIZE_MAX)
        grow_bar(l, bar, name, width_columns);
}

void table_layout_fini(struct table_layout *l)
{
    free(l->cells);
    free(l->at);
    *l = (struct table_layout){0};
}
