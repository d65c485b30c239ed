// SPDX-License-Identifier: Apache-2.0
// The report as GitHub Markdown, for issue trackers and pull requests: the same content as at the
// terminal, tables as tables, bars as text. Names cannot break out of their cell. Called through
// report_write. Threads: no state.
#include "report/document.h"
#include "report/report.h"
#include "report/typeset.h"

#include <stdio.h>
#include <string.h>

#define BAR_COLUMNS 20
#define TITLE_MAX_COLUMNS 100

// Characters that begin or end something in Markdown or HTML are escaped, so that text stays text.
static void escape(const char *text, int has_utf8, struct buf *out)
{
    struct buf clean = {0};
    typeset_clean(text, has_utf8, &clean);
    for (const char *c = buf_text(&clean); *c; c++) {
        if (*c == '<')
            buf_puts(out, "&lt;");
        else if (*c == '&')
            buf_puts(out, "&amp;");
        else if (*c == '@')
            buf_puts(out, "&#64;"); // no mention of a person
        else if (*c == '#' && c[1] >= '0' && c[1] <= '9')
            buf_puts(out, "&#35;"); // nor of an issue
        else {
            if (strchr("\\`*_[]|~$", *c))
                buf_putc(out, '\\');
            buf_putc(out, *c);
        }
    }
    buf_fini(&clean);
}

static size_t longest_run(const char *text, char of)
{
    size_t longest = 0, run = 0;
    for (; *text; text++) {
        run = *text == of ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

// A code span of at most `columns`: fenced by more backticks than the text has in a row. A space
// keeps the fence apart from a backtick or, as one of each end is taken off, from a space.
static void write_code(const char *text, int columns, int has_utf8, struct buf *out)
{
    struct buf clean = {0}, cut = {0};
    typeset_clean(text, has_utf8, &clean);
    if (typeset_columns(buf_text(&clean)) > columns)
        typeset_fit(buf_text(&clean), columns, 0, has_utf8, &cut);
    else
        buf_puts(&cut, buf_text(&clean));
    const char *shown = buf_text(&cut);
    const size_t fence = longest_run(shown, '`') + 1;
    const char first = *shown, last = first ? shown[strlen(shown) - 1] : 0;
    const char *gap = first == '`' || last == '`' || (first == ' ' && last == ' ') ? " " : "";
    for (size_t i = 0; i < fence; i++)
        buf_putc(out, '`');
    buf_printf(out, "%s%s%s", gap, shown, gap);
    for (size_t i = 0; i < fence; i++)
        buf_putc(out, '`');
    buf_fini(&clean);
    buf_fini(&cut);
}

static void write_bar(const struct document_row *row, int has_utf8, struct buf *out)
{
    enum bar_part cells[BAR_CELLS_MAX];
    const int count = bar_cells(&row->split, row->bar_ratio, BAR_COLUMNS, cells);
    if (!count && !row->split.wall_ns)
        return;
    buf_putc(out, '`');
    for (int i = 0; i < count; i++)
        buf_puts(out, bar_part_glyph(cells[i], has_utf8));
    if (!count)
        buf_puts(out, bar_sliver(has_utf8));
    buf_putc(out, '`');
}

static void write_title(const struct document_block *b, int has_utf8, struct buf *out)
{
    buf_puts(out, "## Lightmeter report\n\n");
    write_code(b->text, TITLE_MAX_COLUMNS, has_utf8, out);
    buf_puts(out, ", ");
    escape(b->pairs.at[0].text, has_utf8, out);
    buf_puts(out, "\n\n");
}

static void write_heading(const struct document_block *b, int has_utf8, struct buf *out)
{
    buf_printf(out, "### %s\n\n", b->text);
    if (b->pairs.count) {
        escape(b->pairs.at[0].text, has_utf8, out);
        buf_puts(out, "\n\n");
    }
}

static const char *kind_word(enum document_kind kind)
{
    static const char *const words[] = {"", "measured", "derived", "estimated"};
    return words[kind];
}

static void write_points(const struct document_block *b, int has_utf8, struct buf *out)
{
    for (size_t i = 0; i < b->pairs.count; i++) {
        const struct document_pair *p = &b->pairs.at[i];
        if (b->kind == DOCUMENT_STEPS)
            buf_printf(out, "%zu. ", i + 1);
        else
            buf_puts(out, "- ");
        if (b->kind == DOCUMENT_EVIDENCE)
            buf_printf(out, "*%s*: ", kind_word(p->kind));
        escape(p->text, has_utf8, out);
        buf_putc(out, '\n');
    }
    buf_putc(out, '\n');
}

static void write_pairs(const struct document_block *b, int has_utf8, struct buf *out)
{
    buf_puts(out, "| | |\n|---|---|\n");
    for (size_t i = 0; i < b->pairs.count; i++) {
        const struct document_pair *p = &b->pairs.at[i];
        buf_puts(out, "| ");
        if (*p->key) {
            buf_puts(out, "**");
            escape(p->key, has_utf8, out);
            buf_puts(out, "**");
        }
        buf_puts(out, " | ");
        escape(p->text, has_utf8, out);
        if (p->kind == DOCUMENT_DERIVED || p->kind == DOCUMENT_ESTIMATED)
            buf_printf(out, " (%s)", kind_word(p->kind));
        buf_puts(out, " |\n");
    }
    buf_putc(out, '\n');
}

static void write_row(
    const struct document_table *t, const struct document_row *row, int has_utf8, struct buf *out)
{
    for (size_t c = 0; c < t->columns.count; c++) {
        const char *cell = row->cells[c];
        buf_puts(out, c ? " " : "| ");
        if (t->columns.at[c].kind == DOCUMENT_COLUMN_BAR) {
            write_bar(row, has_utf8, out);
        } else if (cell && *cell) {
            buf_puts(out, row->is_total ? "**" : "");
            escape(cell, has_utf8, out);
            buf_puts(out, row->is_total ? "**" : "");
        }
        buf_puts(out, " |");
    }
    buf_putc(out, '\n');
}

static void write_table(const struct document_block *b, int has_utf8, struct buf *out)
{
    const struct document_table *t = &b->table;
    buf_putc(out, '|');
    for (size_t c = 0; c < t->columns.count; c++) {
        buf_putc(out, ' ');
        escape(t->columns.at[c].title, has_utf8, out);
        buf_puts(out, " |");
    }
    buf_puts(out, "\n|");
    for (size_t c = 0; c < t->columns.count; c++)
        buf_puts(out, t->columns.at[c].kind == DOCUMENT_COLUMN_NUMBER ? "---:|" : "---|");
    buf_putc(out, '\n');
    for (size_t i = 0; i < t->rows.count; i++)
        write_row(t, &t->rows.at[i], has_utf8, out);
    buf_putc(out, '\n');
}

static void write_legend(const struct document_block *b, int has_utf8, struct buf *out)
{
    const char *gap = "";
    for (int p = 0; p < BAR_PART_COUNT; p++)
        if (b->parts & (1u << p)) {
            buf_printf(out, "%s`%s` %s", gap, bar_part_glyph((enum bar_part)p, has_utf8),
                p == BAR_OTHER && *b->text ? b->text : bar_part_label((enum bar_part)p));
            gap = ", ";
        }
    buf_puts(out, "\n\n");
}

static void write_text(
    const struct document_block *b, const char *mark, int has_utf8, struct buf *out)
{
    buf_puts(out, mark);
    escape(b->text, has_utf8, out);
    buf_printf(out, "%s\n\n", mark);
}

static void write_block(const struct document_block *b, int has_utf8, struct buf *out)
{
    switch (b->kind) {
    case DOCUMENT_TITLE:
        write_title(b, has_utf8, out);
        break;
    case DOCUMENT_HEADLINE:
        write_text(b, "**", has_utf8, out);
        break;
    case DOCUMENT_HEADING:
        write_heading(b, has_utf8, out);
        break;
    case DOCUMENT_TEXT:
        write_text(b, "", has_utf8, out);
        break;
    case DOCUMENT_LIST:
    case DOCUMENT_STEPS:
    case DOCUMENT_EVIDENCE:
        write_points(b, has_utf8, out);
        break;
    case DOCUMENT_PAIRS:
        write_pairs(b, has_utf8, out);
        break;
    case DOCUMENT_TABLE:
        write_table(b, has_utf8, out);
        break;
    case DOCUMENT_LEGEND:
        write_legend(b, has_utf8, out);
        break;
    }
}

static void write_report(const struct document *d, const struct report_options *o, struct buf *out)
{
    for (size_t i = 0; i < d->blocks.count; i++)
        write_block(&d->blocks.at[i], o->has_utf8, out);
}

const struct report_format format_markdown = {
    .name = "markdown",
    .help = "for issue trackers: GitHub Markdown with tables",
    .write_fn = write_report,
};
