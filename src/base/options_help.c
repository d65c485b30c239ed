// SPDX-License-Identifier: Apache-2.0
// The help text of an option table: names on the left, wrapped sentences on the right. Called by
// the subcommand `help`. Does not print. Threads: no shared state.
#include "base/options.h"
#include "base/text.h"

#include <string.h>

#define NAMES_COLUMNS 26 // longer names put their sentences on the next line

static void add_names(const struct option_spec *s, struct buf *out)
{
    if (s->short_name)
        buf_printf(out, "  -%c, --%s", s->short_name, s->name);
    else
        buf_printf(out, "      --%s", s->name);
    if (s->argument_name)
        buf_printf(out, " %s", s->argument_name);
}

void options_help(const struct option_spec *specs, int columns, struct buf *out)
{
    for (; specs->name; specs++) {
        struct buf names = {0};
        add_names(specs, &names);
        if (text_width(buf_text(&names)) + 2 > NAMES_COLUMNS) {
            buf_puts(out, buf_text(&names));
            buf_putc(out, '\n');
            buf_fini(&names);
        }
        struct buf prefix = {0};
        text_add_padded(&prefix, buf_text(&names), NAMES_COLUMNS, TEXT_LEFT);
        text_add_wrapped(out, buf_text(&prefix), specs->help, columns);
        buf_fini(&prefix);
        buf_fini(&names);
    }
}
