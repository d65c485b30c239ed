// SPDX-License-Identifier: Apache-2.0
// Cleaning, measuring, cutting and wrapping of text. Called by the formats. Names come from
// programs and files that nobody vouches for, so cleaning comes first and the rest takes cleaned
// text only. Threads: no state.
#include "report/typeset.h"

#include "base/text_columns.h"
#include "base/utf8.h"

#include <string.h>

#define REPLACEMENT 0xFFFDu
#define REPLACEMENT_UTF8 "\xEF\xBF\xBD"
#define ELLIPSIS_UTF8 "\xE2\x80\xA6"

static int columns_of(uint32_t point)
{
    const int columns = text_columns_of(point);
    return columns < 0 ? 1 : columns;
}

// The next character of a NUL-terminated text; a byte that begins none counts as U+FFFD.
static size_t next_point(const char *text, uint32_t *point)
{
    // Four bytes are enough for any character, and strnlen keeps within the text.
    size_t length = utf8_decode(text, strnlen(text, 4), point);
    if (length)
        return length;
    *point = REPLACEMENT;
    return 1;
}

int typeset_columns(const char *text)
{
    int columns = 0;
    uint32_t point;
    while (*text) {
        text += next_point(text, &point);
        columns += columns_of(point);
    }
    return columns;
}

// Characters that would move the cursor, reorder or hide what follows.
static int is_harmful(uint32_t point)
{
    return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x200B || point == 0x200E ||
           point == 0x200F || (point >= 0x2028 && point <= 0x202E) ||
           (point >= 0x2060 && point <= 0x206F) || point == 0xFEFF || point == 0xAD ||
           (point >= 0xFFF9 && point <= 0xFFFB) || (point >= 0xE0000 && point <= 0xE007F);
}

static const char *ascii_for(uint32_t point)
{
    static const struct {
        uint32_t point;
        const char *text;
    } signs[] = {{0xA0, " "}, {0xB5, "u"}, {0xB7, "-"}, {0xD7, "x"}, {0x3BC, "u"}, {0x2013, "-"},
        {0x2014, "-"}, {0x2018, "'"}, {0x2019, "'"}, {0x201C, "\""}, {0x201D, "\""},
        {0x2026, "..."}, {0x2192, "->"}, {0x2212, "-"}, {0x2248, "~"}, {0x2264, "<="},
        {0x2265, ">="}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (signs[i].point == point)
            return signs[i].text;
    return "?";
}

void typeset_clean(const char *text, int has_utf8, struct buf *out)
{
    uint32_t point;
    for (size_t length; *text; text += length) {
        length = next_point(text, &point);
        if (point == '\n' || point == '\t' || point == '\r' || point == 0xA0)
            buf_putc(out, ' ');
        else if (point >= 0x20 && point < 0x7F)
            buf_putc(out, (char)point);
        else if (!has_utf8)
            buf_puts(out, is_harmful(point) ? "?" : ascii_for(point));
        else if (is_harmful(point) || point == REPLACEMENT)
            buf_puts(out, REPLACEMENT_UTF8);
        else
            buf_add(out, text, length);
    }
}

// How many bytes of `text` fit into `columns`; *used: the columns they take.
static size_t fitting(const char *text, int columns, int *used)
{
    size_t at = 0;
    uint32_t point;
    for (*used = 0; text[at];) {
        size_t length = next_point(text + at, &point);
        int more = columns_of(point);
        if (*used + more > columns)
            break;
        *used += more;
        at += length;
    }
    return at;
}

static void pad(int columns, struct buf *out)
{
    for (int i = 0; i < columns; i++)
        buf_putc(out, ' ');
}

void typeset_fit(const char *text, int columns, int is_right, int has_utf8, struct buf *out)
{
    const char *ellipsis = has_utf8 ? ELLIPSIS_UTF8 : columns >= 6 ? "..." : ".";
    int used, more = 0, whole = typeset_columns(text);
    size_t length = strlen(text);
    if (whole <= columns) {
        used = whole;
    } else {
        more = typeset_columns(ellipsis) <= columns ? typeset_columns(ellipsis) : 0;
        length = fitting(text, columns - more, &used);
    }
    if (is_right)
        pad(columns - used - more, out);
    buf_add(out, text, length);
    if (more)
        buf_puts(out, ellipsis);
    if (!is_right)
        pad(columns - used - more, out);
}

// Whether the word at `text` is a unit, which stays with the number before it.
static int is_unit(const char *text)
{
    static const char *const units[] = {"%", "ns", "us", "\xC2\xB5s", "ms", "s", "B", "kB", "MB",
        "GB", "TB", "KiB", "MiB", "GiB", "h", "m", "d", "TiB", "px", "MP", "Hz", "GHz", "items/s",
        "MB/s", "MP/s", NULL};
    size_t length = strcspn(text, " ,;.:)");
    for (size_t i = 0; units[i]; i++)
        if (strlen(units[i]) == length && strncmp(text, units[i], length) == 0)
            return 1;
    return 0;
}

// Bytes of the next piece that stays in one line: a word, with the units that follow it.
static size_t piece_length(const char *text)
{
    size_t length = strcspn(text, " ");
    while (length && text[length] == ' ' && text[length - 1] >= '0' && text[length - 1] <= '9' &&
           is_unit(text + length + 1))
        length += 1 + strcspn(text + length + 1, " ");
    return length;
}

static int piece_columns(const char *text, size_t length)
{
    int columns = 0;
    uint32_t point;
    for (size_t at = 0; at < length;) {
        at += next_point(text + at, &point);
        columns += columns_of(point);
    }
    return columns;
}

static int new_line(int indent, struct buf *out)
{
    buf_putc(out, '\n');
    pad(indent, out);
    return indent;
}

void typeset_wrap(const char *text, int column, int indent, int width_columns, struct buf *out)
{
    int is_line_empty = 1, used;
    if (width_columns < indent + 2)
        width_columns = indent + 2; // room for one wide character
    while (*(text += strspn(text, " "))) {
        size_t length = piece_length(text);
        int columns = piece_columns(text, length);
        if (!is_line_empty && column + 1 + columns > width_columns) {
            column = new_line(indent, out);
            is_line_empty = 1;
        } else if (!is_line_empty) {
            buf_putc(out, ' ');
            column++;
        }
        while (column + columns > width_columns) {
            size_t part = fitting(text, width_columns - column, &used);
            buf_add(out, text, part);
            text += part;
            length -= part;
            columns -= used;
            column = new_line(indent, out);
        }
        buf_add(out, text, length);
        column += columns;
        text += length;
        is_line_empty = 0;
    }
    buf_putc(out, '\n');
}
