// SPDX-License-Identifier: Apache-2.0
// Column widths of a table in a line of limited width. Used by the terminal format. Works on
// cleaned cells. Threads: one owner.
#ifndef LIGHTMETER_REPORT_TABLE_H
#define LIGHTMETER_REPORT_TABLE_H

#include "report/document.h"

#define TABLE_GAP_COLUMNS 2       // between two columns
#define TABLE_NAME_MIN_COLUMNS 8  // a name column is not made narrower than this
#define TABLE_NAME_AIM_COLUMNS 14 // nor, for the sake of the bar, than this
#define TABLE_TEXT_MAX_COLUMNS 18 // wider words are cut
#define TABLE_BAR_AIM_COLUMNS 20
#define TABLE_BAR_MIN_COLUMNS 10 // a bar that would be narrower is left out
#define TABLE_BAR_MAX_COLUMNS 40

// A table's cells made safe for the medium, and how wide each column is.
struct table_layout {
    char *cells;     // all cleaned cells, NUL-terminated, one after the other
    const char **at; // [row * columns + column]; the first row holds the titles
    size_t rows, columns;
    int width_columns[DOCUMENT_COLUMNS_MAX]; // 0: the column is left out
};

// Cleans all cells and divides `width_columns`: numbers and words get what they need, the bar and
// the name what is left; when that is too little, columns are left out from the right, the bar
// first.
void table_layout_init(
    struct table_layout *l, const struct document_table *t, int width_columns, int has_utf8);
void table_layout_fini(struct table_layout *l);

#endif
