// SPDX-License-Identifier: Apache-2.0
// Fills error messages. Called where a fault is detected; callers further up pass the struct on.
// Does not allocate and does not print. Control bytes (of a hostile file name, say) become '?', so
// that a message cannot steer a terminal. Threads: no shared state.
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Ends `text`, which was cut at `length` bytes, with "..." and not inside a UTF-8 sequence.
static void cut(char *text, size_t length)
{
    size_t end = length - 3;
    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    memcpy(text + end, "...", 4);
}

__attribute__((format(printf, 2, 0))) static void store(
    struct err *e, const char *format, va_list args, const char *reason)
{
    char text[sizeof e->text]; // beside e->text, which may be among the arguments
    int wrote = vsnprintf(text, sizeof text, format, args);
    size_t wanted = wrote < 0 ? 0 : (size_t)wrote;
    if (wrote < 0)
        text[0] = 0;
    if (reason && wanted < sizeof text) {
        int more = snprintf(text + wanted, sizeof text - wanted, ": %s", reason);
        wanted += more < 0 ? 0 : (size_t)more;
    }
    if (wanted >= sizeof text)
        cut(text, sizeof text - 1);
    for (char *c = text; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f)
            *c = '?';
    }
    memcpy(e->text, text, sizeof text);
}

int err_set(struct err *e, const char *format, ...)
{
    if (!e)
        return -1;
    va_list args;
    va_start(args, format);
    store(e, format, args, NULL);
    va_end(args);
    return -1;
}

int err_set_errno(struct err *e, int errnum, const char *format, ...)
{
    if (!e)
        return -1;
    const char *reason = strerrordesc_np(errnum); // not translated, takes no lock
    char number[40];
    if (!reason) {
        snprintf(number, sizeof number, "error number %d", errnum);
        reason = number;
    }
    va_list args;
    va_start(args, format);
    store(e, format, args, reason);
    va_end(args);
    return -1;
}

const char *err_text(const struct err *e)
{
    return e ? e->text : "";
}
