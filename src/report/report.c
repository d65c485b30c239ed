// SPDX-License-Identifier: Apache-2.0
// The formats by name, what suits a stream, and the way from facts to text. Called by the commands.
// Threads: no shared state.
#include "report/report.h"

#include "report/document.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define ROW(name) extern const struct report_format format_##name;
#include "report/formats/registry.def"
#undef ROW

static const struct report_format *const formats[] = {
#define ROW(name) &format_##name,
#include "report/formats/registry.def"
#undef ROW
    NULL};

const struct report_format *const *report_format_all(void)
{
    return formats;
}

const struct report_format *report_format_find(const char *name, struct err *e)
{
    struct buf names = {0};
    for (size_t i = 0; formats[i]; i++) {
        if (strcmp(formats[i]->name, name) == 0) {
            buf_fini(&names);
            return formats[i];
        }
        buf_printf(&names, "%s%s", i ? ", " : "", formats[i]->name);
    }
    err_set(e, "there is no report format '%s'; use one of %s", name, buf_text(&names));
    buf_fini(&names);
    return NULL;
}

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

// By the variables' own order: the first one that is set counts.
static int locale_is_utf8(void)
{
    const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < 3; i++) {
        const char *value = environment(names[i]);
        if (*value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return 0;
}

static int terminal_width(int fd)
{
    struct winsize size = {0};
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_col < REPORT_WIDTH_COLUMNS)
        return size.ws_col;
    return REPORT_WIDTH_COLUMNS;
}

struct report_options report_options_for_fd(int fd)
{
    struct report_options o = {.width_columns = REPORT_WIDTH_COLUMNS};
    const char *term = environment("TERM");
    o.has_utf8 = locale_is_utf8();
    if (isatty(fd)) {
        o.width_columns = terminal_width(fd);
        o.has_colour = *term && strcmp(term, "dumb") != 0 && !*environment("NO_COLOR");
    }
    return o;
}

void report_write(const struct report_format *format, const struct facts *facts,
    const struct verdict *verdict, const char *source, const struct report_options *o,
    struct buf *out)
{
    struct report_options fitted = *o;
    struct document *d = document_new(facts, verdict, source);
    if (fitted.width_columns == 0)
        fitted.width_columns = REPORT_WIDTH_COLUMNS;
    if (fitted.width_columns < REPORT_WIDTH_MIN_COLUMNS)
        fitted.width_columns = REPORT_WIDTH_MIN_COLUMNS;
    if (fitted.width_columns > REPORT_WIDTH_MAX_COLUMNS)
        fitted.width_columns = REPORT_WIDTH_MAX_COLUMNS;
    format->write_fn(d, &fitted, out);
    document_free(&d);
}
