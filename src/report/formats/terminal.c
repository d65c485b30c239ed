// SPDX-License-Identifier: Apache-2.0
// The report for a person at a terminal, a pipe or a log: plain words first, then tables with bars.
// No line is wider than asked for; colour adds nothing that signs and words do not say. Called
// through report_write. Threads: no state.
#include "report/report.h"
#include "report/table.h"
#include "report/typeset.h"

#include <stdio.h>
#include <string.h>

#define INDENT_COLUMNS 2
#define KEY_MAX_COLUMNS 14

#define STYLE_HEADLINE "\033[1m"
#define STYLE_HEADING "\033[1;36m"
#define STYLE_STRONG "\033[1m"
#define STYLE_DIM "\033[2m"
#define STYLE_END "\033[0m"

struct terminal {
    const struct report_options *o;
    struct buf *out;
    int has_bars; // whether the last table had room for its bars
};

static const char *const part_styles[BAR_PART_COUNT] = {
    [BAR_CPU] = "\033[36m",
    [BAR_RUNQ] = "\033[33m",
    [BAR_IO] = "\033[35m",
    [BAR_NET] = "\033[95m",
    [BAR_LOCK] = "\033[31m",
    [BAR_GIL] = "\033[91m",
    [BAR_ACCEL] = "\033[32m",
    [BAR_SLEEP] = "\033[34m",
    [BAR_OTHER] = "\033[90m",
};

static void style(const struct terminal *t, const char *code)
{
    if (t->o->has_colour)
        buf_puts(t->out, code);
}

static void put(const struct terminal *t, const char *text, int times)
{
    for (int i = 0; i < times; i++)
        buf_puts(t->out, text);
}

// Ends the line without the spaces that padding left.
static void end_line(const struct terminal *t)
{
    while (t->out->length_bytes && t->out->at[t->out->length_bytes - 1] == ' ')
        t->out->at[--t->out->length_bytes] = 0;
    buf_putc(t->out, '\n');
}

// Cleans `text` and wraps it; the line has been begun up to `column`.
static void wrap(const struct terminal *t, const char *text, int column, int indent)
{
    struct buf clean = {0};
    typeset_clean(text, t->o->has_utf8, &clean);
    typeset_wrap(buf_text(&clean), column, indent, t->o->width_columns, t->out);
    buf_fini(&clean);
}

static void fit(const struct terminal *t, const char *text, int columns, int is_right)
{
    struct buf clean = {0};
    typeset_clean(text, t->o->has_utf8, &clean);
    typeset_fit(buf_text(&clean), columns, is_right, t->o->has_utf8, t->out);
    buf_fini(&clean);
}

static void rule(const struct terminal *t, int indent, int columns)
{
    put(t, " ", indent);
    style(t, STYLE_DIM);
    put(t, t->o->has_utf8 ? "─" : "-", columns);
    style(t, STYLE_END);
    buf_putc(t->out, '\n');
}

static void write_title(const struct terminal *t, const struct document_block *b)
{
    static const char product[] = "lightmeter";
    const char *end = b->pairs.at[0].text;
    const int end_columns = typeset_columns(end), product_columns = (int)sizeof product - 1;
    int room = t->o->width_columns - product_columns - end_columns - 2 * TABLE_GAP_COLUMNS;
    style(t, STYLE_STRONG);
    buf_puts(t->out, product);
    style(t, STYLE_END);
    put(t, " ", TABLE_GAP_COLUMNS);
    fit(t, b->text, room, 0);
    put(t, " ", TABLE_GAP_COLUMNS);
    style(t, STYLE_DIM);
    fit(t, end, end_columns, 1);
    style(t, STYLE_END);
    end_line(t);
    rule(t, 0, t->o->width_columns);
}

static void write_headline(const struct terminal *t, const struct document_block *b)
{
    style(t, STYLE_HEADLINE);
    wrap(t, b->text, 0, 0);
    style(t, STYLE_END);
    buf_putc(t->out, '\n');
}

static void write_heading(const struct terminal *t, const struct document_block *b)
{
    buf_putc(t->out, '\n');
    style(t, STYLE_HEADING);
    buf_puts(t->out, b->text);
    style(t, STYLE_END);
    if (b->pairs.count) {
        const int column = typeset_columns(b->text) + TABLE_GAP_COLUMNS;
        put(t, " ", TABLE_GAP_COLUMNS);
        style(t, STYLE_DIM);
        wrap(t, b->pairs.at[0].text, column, INDENT_COLUMNS);
        style(t, STYLE_END);
    } else {
        buf_putc(t->out, '\n');
    }
}

static const char *kind_word(enum document_kind kind)
{
    static const char *const words[] = {"", "measured", "derived", "estimated"};
    return words[kind];
}

// Text behind a mark or key that takes `columns`.
static void write_marked(const struct terminal *t, const char *mark, int columns,
    const char *mark_style, const char *text)
{
    put(t, " ", INDENT_COLUMNS);
    style(t, mark_style);
    fit(t, mark, columns, 0);
    style(t, STYLE_END);
    put(t, " ", *mark || columns ? TABLE_GAP_COLUMNS - 1 : 0);
    const int column = INDENT_COLUMNS + columns + TABLE_GAP_COLUMNS - 1;
    wrap(t, text, column, column);
}

static void write_list(const struct terminal *t, const struct document_block *b)
{
    char mark[24];
    for (size_t i = 0; i < b->pairs.count; i++) {
        if (b->kind == DOCUMENT_STEPS)
            snprintf(mark, sizeof mark, "%zu.", i + 1);
        else
            snprintf(mark, sizeof mark, "-");
        write_marked(t, mark, (int)strlen(mark), "", b->pairs.at[i].text);
    }
}

static void write_evidence(const struct terminal *t, const struct document_block *b)
{
    for (size_t i = 0; i < b->pairs.count; i++)
        write_marked(t, kind_word(b->pairs.at[i].kind), 10, STYLE_DIM, b->pairs.at[i].text);
}

static void write_pairs(const struct terminal *t, const struct document_block *b)
{
    int columns = 0;
    struct buf text = {0};
    for (size_t i = 0; i < b->pairs.count; i++) {
        int key = typeset_columns(b->pairs.at[i].key);
        columns = key > columns ? key : columns;
    }
    columns = (columns > KEY_MAX_COLUMNS ? KEY_MAX_COLUMNS : columns) + 1;
    for (size_t i = 0; i < b->pairs.count; i++) {
        const struct document_pair *p = &b->pairs.at[i];
        text.length_bytes = 0;
        buf_puts(&text, p->text);
        if (p->kind == DOCUMENT_DERIVED || p->kind == DOCUMENT_ESTIMATED)
            buf_printf(&text, " (%s)", kind_word(p->kind));
        write_marked(t, p->key, columns, STYLE_STRONG, buf_text(&text));
    }
    buf_fini(&text);
}

static void write_bar(const struct terminal *t, const struct document_row *row, int columns)
{
    enum bar_part cells[BAR_CELLS_MAX], last = BAR_PART_COUNT;
    const int count = bar_cells(&row->split, row->bar_ratio, columns, cells);
    for (int i = 0; i < count; i++) {
        if (cells[i] != last)
            style(t, part_styles[cells[i]]);
        last = cells[i];
        buf_puts(t->out, bar_part_glyph(cells[i], t->o->has_utf8));
    }
    if (!count && row->split.wall_ns)
        buf_puts(t->out, bar_sliver(t->o->has_utf8));
    if (count)
        style(t, STYLE_END);
}

static void write_cells(const struct terminal *t, const struct document_table *table,
    const struct table_layout *l, size_t row, const char *row_style)
{
    int is_first = 1;
    put(t, " ", INDENT_COLUMNS);
    style(t, row_style);
    for (size_t c = 0; c < l->columns; c++) {
        const enum document_column_kind kind = table->columns.at[c].kind;
        if (!l->width_columns[c] || kind == DOCUMENT_COLUMN_BAR)
            continue;
        put(t, " ", is_first ? 0 : TABLE_GAP_COLUMNS);
        typeset_fit(l->at[row * l->columns + c], l->width_columns[c],
            kind == DOCUMENT_COLUMN_NUMBER, t->o->has_utf8, t->out);
        is_first = 0;
    }
    style(t, STYLE_END);
}

static int table_columns(const struct table_layout *l)
{
    int columns = -TABLE_GAP_COLUMNS;
    for (size_t c = 0; c < l->columns; c++)
        columns += l->width_columns[c] ? l->width_columns[c] + TABLE_GAP_COLUMNS : 0;
    return columns;
}

static void write_table(struct terminal *t, const struct document_block *b)
{
    const struct document_table *table = &b->table;
    struct table_layout l;
    table_layout_init(&l, table, t->o->width_columns - INDENT_COLUMNS, t->o->has_utf8);
    const int bar_columns = l.width_columns[l.columns - 1];
    t->has_bars = table->columns.at[l.columns - 1].kind == DOCUMENT_COLUMN_BAR && bar_columns;
    write_cells(t, table, &l, 0, STYLE_DIM);
    end_line(t);
    for (size_t i = 0; i < table->rows.count; i++) {
        const struct document_row *row = &table->rows.at[i];
        if (row->is_total)
            rule(t, INDENT_COLUMNS, table_columns(&l));
        write_cells(t, table, &l, i + 1, row->is_total ? STYLE_STRONG : "");
        if (t->has_bars) {
            put(t, " ", TABLE_GAP_COLUMNS);
            write_bar(t, row, bar_columns);
        }
        end_line(t);
    }
    table_layout_fini(&l);
}

static void write_legend(const struct terminal *t, const struct document_block *b)
{
    int column = INDENT_COLUMNS;
    put(t, " ", INDENT_COLUMNS);
    for (int p = 0; p < BAR_PART_COUNT; p++) {
        if (!(b->parts & (1u << p)))
            continue;
        const char *label = p == BAR_OTHER && *b->text ? b->text : bar_part_label((enum bar_part)p);
        const int columns = 2 + typeset_columns(label);
        if (column + columns > t->o->width_columns) {
            end_line(t);
            put(t, " ", column = INDENT_COLUMNS);
        }
        style(t, part_styles[p]);
        buf_puts(t->out, bar_part_glyph((enum bar_part)p, t->o->has_utf8));
        style(t, STYLE_END);
        buf_printf(t->out, " %s  ", label);
        column += columns + TABLE_GAP_COLUMNS;
    }
    end_line(t);
}

static void write_block(struct terminal *t, const struct document_block *b)
{
    switch (b->kind) {
    case DOCUMENT_TITLE:
        write_title(t, b);
        break;
    case DOCUMENT_HEADLINE:
        write_headline(t, b);
        break;
    case DOCUMENT_HEADING:
        write_heading(t, b);
        break;
    case DOCUMENT_TEXT:
        put(t, " ", INDENT_COLUMNS);
        wrap(t, b->text, INDENT_COLUMNS, INDENT_COLUMNS);
        break;
    case DOCUMENT_LIST:
    case DOCUMENT_STEPS:
        write_list(t, b);
        break;
    case DOCUMENT_EVIDENCE:
        write_evidence(t, b);
        break;
    case DOCUMENT_PAIRS:
        write_pairs(t, b);
        break;
    case DOCUMENT_TABLE:
        write_table(t, b);
        break;
    case DOCUMENT_LEGEND:
        if (t->has_bars)
            write_legend(t, b);
        break;
    }
}

static void write_report(const struct document *d, const struct report_options *o, struct buf *out)
{
    struct terminal t = {o, out, 0};
    for (size_t i = 0; i < d->blocks.count; i++)
        write_block(&t, &d->blocks.at[i]);
}

const struct report_format format_terminal = {
    .name = "terminal",
    .help = "for people: plain words, then tables with bars; at most 80 columns",
    .write_fn = write_report,
};
