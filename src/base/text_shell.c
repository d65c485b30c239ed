// SPDX-License-Identifier: Apache-2.0
// Words and commands as a shell reads them. Called to show the command of a run. Does not run one.
// Threads: no state.
#include "base/text.h"

#include "base/text_columns.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

static int is_plain(const char *word)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
    return *word && !word[strspn(word, plain)];
}

// Whether every character can be shown as it is.
static int is_printable(const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0, step; i < length; i += step) {
        uint32_t point;
        step = utf8_decode(word + i, length - i, &point);
        if (!step || text_columns_of(point) < 0)
            return 0;
    }
    return 1;
}

static void add_quoted(struct buf *out, const char *word)
{
    buf_putc(out, '\'');
    for (; *word; word++) {
        if (*word == '\'')
            buf_puts(out, "'\\''");
        else
            buf_putc(out, *word);
    }
    buf_putc(out, '\'');
}

static void add_escaped(struct buf *out, const char *word)
{
    buf_puts(out, "$'");
    for (; *word; word++) {
        unsigned char c = (unsigned char)*word;
        if (c == '\n')
            buf_puts(out, "\\n");
        else if (c == '\t')
            buf_puts(out, "\\t");
        else if (c == '\'' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            buf_printf(out, "\\%03o", c);
        else
            buf_putc(out, (char)c);
    }
    buf_putc(out, '\'');
}

void text_add_shell_word(struct buf *out, const char *word)
{
    if (is_plain(word))
        buf_puts(out, word);
    else if (is_printable(word))
        add_quoted(out, word);
    else
        add_escaped(out, word);
}

void text_add_command(struct buf *out, const char *const *argv)
{
    for (size_t i = 0; argv[i]; i++) {
        if (i)
            buf_putc(out, ' ');
        // NAME=value in front would be an assignment.
        if (i == 0 && is_plain(argv[0]) && strchr(argv[0], '='))
            add_quoted(out, argv[0]);
        else
            text_add_shell_word(out, argv[i]);
    }
}
