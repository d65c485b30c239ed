// SPDX-License-Identifier: Apache-2.0
// Text for people: numbers with units, columns on a terminal, wrapped sentences, commands as a
// shell reads them. Used by report, cli and doctor. Not for machines: JSON has raw numbers.
// Independent of the locale. What is appended is always printable: control bytes and broken UTF-8
// become '?'. Threads: no shared state.
#ifndef LIGHTMETER_BASE_TEXT_H
#define LIGHTMETER_BASE_TEXT_H

#include "base/buf.h"

#include <stdint.h>

// Room for any of the numbers below. Each function writes into `out` and returns it.
#define TEXT_NUMBER_BYTES 40

// "0 ns", "850 ns", "2.40 us", "12.3 ms", "59.9 s", "1 m 04 s", "2 h 05 m", "3 d 04 h"; three
// digits that count, "-" before negative ones, "n/a" for NaN and infinities.
const char *text_duration(char out[TEXT_NUMBER_BYTES], double duration_ns);

// "512 B", "1.50 KiB", "12.3 MiB", "2.00 GiB" (powers of 1,024); as text_duration otherwise.
const char *text_bytes(char out[TEXT_NUMBER_BYTES], double length_bytes);

// Of a ratio: "71 %", "3.4 %" below 10 and from 99 on, "0 %", "100 %"; "<0.1 %" for what is not 0.
const char *text_percent(char out[TEXT_NUMBER_BYTES], double ratio);

// "1,234,567".
const char *text_count(char out[TEXT_NUMBER_BYTES], int64_t count);

// Three digits that count, without exponent while readable: "0.0123", "41.2", "1,234", "2.50e+20".
const char *text_number(char out[TEXT_NUMBER_BYTES], double value);

// Columns on a terminal: 2 for East Asian wide characters and emoji, 0 for combining ones, 1 for
// others, and 1 for each byte that is not printable.
int text_width(const char *text);

// Appends `text` cut to `columns`; when something had to go, the last column is an ellipsis.
void text_add_cut(struct buf *out, const char *text, int columns);

// Appends `text` in exactly `columns` columns: cut, or filled with blanks.
enum text_align { TEXT_LEFT, TEXT_RIGHT };
void text_add_padded(struct buf *out, const char *text, int columns, enum text_align align);

// Appends `text` in lines of at most `columns`, broken at blanks, each ended by '\n'. The first
// begins with `prefix`, the others with as many blanks. '\n' in the text begins a new line. A word
// that is longer than a line stays whole, so that names can be copied. Blanks at breaks are
// dropped.
void text_add_wrapped(struct buf *out, const char *prefix, const char *text, int columns);

// Appends a word, or the words of `argv` (ended by NULL), such that a shell reads them back
// unchanged; plain where possible, else in '...', or $'...' for control bytes and broken UTF-8.
void text_add_shell_word(struct buf *out, const char *word);
void text_add_command(struct buf *out, const char *const *argv);

#endif
