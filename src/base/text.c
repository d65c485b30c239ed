// SPDX-License-Identifier: Apache-2.0
// Text in terminal columns: width, cutting, padding, wrapping. Called by reports and help. Does not
// ask libc for widths: its answer depends on the locale, and reports must not. Threads: no state.
#include "base/text.h"

#include "base/text_columns.h"
#include "base/utf8.h"

#include <string.h>

// A character, or a byte that cannot be shown, at the start of a text.
struct glyph {
    size_t length_bytes;
    int columns;
    int is_printable;
};

static struct glyph glyph_at(const char *text, size_t length_bytes)
{
    uint32_t point;
    size_t length = utf8_decode(text, length_bytes, &point);
    if (!length)
        return (struct glyph){.length_bytes = 1, .columns = 1};
    int columns = text_columns_of(point);
    return (struct glyph){
        .length_bytes = length, .columns = columns < 0 ? 1 : columns, .is_printable = columns >= 0};
}

static int width_of(const char *text, size_t length_bytes)
{
    int columns = 0;
    for (size_t i = 0; i < length_bytes;) {
        struct glyph g = glyph_at(text + i, length_bytes - i);
        columns += g.columns;
        i += g.length_bytes;
    }
    return columns;
}

int text_width(const char *text)
{
    return width_of(text, strlen(text));
}

static void add_printable(struct buf *out, const char *text, size_t length_bytes)
{
    for (size_t i = 0; i < length_bytes;) {
        struct glyph g = glyph_at(text + i, length_bytes - i);
        if (g.is_printable)
            buf_add(out, text + i, g.length_bytes);
        else
            buf_putc(out, '?');
        i += g.length_bytes;
    }
}

// The bytes of `text` that fit into `columns`, with the combining characters of the last one.
static size_t fitting_bytes(const char *text, size_t length_bytes, int columns)
{
    size_t i = 0;
    while (i < length_bytes) {
        struct glyph g = glyph_at(text + i, length_bytes - i);
        if (g.columns > columns)
            break;
        columns -= g.columns;
        i += g.length_bytes;
    }
    return i;
}

void text_add_cut(struct buf *out, const char *text, int columns)
{
    size_t length = strlen(text);
    if (columns <= 0)
        return;
    if (width_of(text, length) <= columns) {
        add_printable(out, text, length);
        return;
    }
    add_printable(out, text, fitting_bytes(text, length, columns - 1));
    buf_puts(out, "\xe2\x80\xa6");
}

static void add_blanks(struct buf *out, int count)
{
    for (int i = 0; i < count; i++)
        buf_putc(out, ' ');
}

void text_add_padded(struct buf *out, const char *text, int columns, enum text_align align)
{
    struct buf shown = {0};
    text_add_cut(&shown, text, columns);
    int blanks = columns - text_width(buf_text(&shown));
    if (align == TEXT_RIGHT)
        add_blanks(out, blanks);
    buf_puts(out, buf_text(&shown));
    if (align == TEXT_LEFT)
        add_blanks(out, blanks);
    buf_fini(&shown);
}

// One paragraph, without '\n' in it. `*prefix` becomes NULL once it is written.
static void wrap_line(struct buf *out, const char **prefix, int indent, const char *text,
    size_t length_bytes, int columns)
{
    int used = -1; // columns filled in the open line; -1: none is open
    for (size_t i = 0; i <= length_bytes;) {
        size_t word = 0;
        while (i + word < length_bytes && text[i + word] != ' ')
            word++;
        int width = width_of(text + i, word);
        if (used > indent && word && used + 1 + width > columns) {
            buf_putc(out, '\n');
            used = -1;
        }
        if (used < 0) {
            if (*prefix)
                buf_puts(out, *prefix);
            else if (word)
                add_blanks(out, indent);
            *prefix = NULL;
            used = indent;
        } else if (word && used > indent) {
            buf_putc(out, ' ');
            used++;
        }
        add_printable(out, text + i, word);
        used += width;
        i += word + 1;
    }
    buf_putc(out, '\n');
}

void text_add_wrapped(struct buf *out, const char *prefix, const char *text, int columns)
{
    int indent = text_width(prefix);
    for (;;) {
        size_t length = strcspn(text, "\n");
        wrap_line(out, &prefix, indent, text, length, columns);
        if (!text[length] || !text[length + 1])
            return;
        text += length + 1;
    }
}
