// SPDX-License-Identifier: Apache-2.0
// Text of a report: names from anywhere made safe to print, in UTF-8 or ASCII, measured in terminal
// columns, cut, padded and wrapped so that no line is ever too wide. Used by the document's
// formats; plainer output has base/text.h. What the medium can show is an argument. Threads: no
// state.
#ifndef LIGHTMETER_REPORT_TYPESET_H
#define LIGHTMETER_REPORT_TYPESET_H

#include "base/buf.h"

// Columns of a cleaned text.
int typeset_columns(const char *text);

// Appends `text` in one line that cannot act on a terminal: invalid bytes, control and direction
// characters become U+FFFD, line breaks and tabs spaces. Without `has_utf8` everything becomes
// ASCII: the signs our own texts use are spelled out (µ as u, × as x, … as ...), the rest becomes
// '?'.
void typeset_clean(const char *text, int has_utf8, struct buf *out);

// Appends a cleaned text cut to `columns`, with an ellipsis in place of what is missing, padded
// with spaces to exactly `columns` on the right, or on the left when `is_right`.
void typeset_fit(const char *text, int columns, int is_right, int has_utf8, struct buf *out);

// Appends a cleaned text in lines of at most `width_columns`, each with a final newline. The first
// line continues at column `column` of a line that is already begun, the next are indented by
// `indent`. Breaks at spaces, not between a number and its unit; a longer word is broken.
void typeset_wrap(const char *text, int column, int indent, int width_columns, struct buf *out);

#endif
