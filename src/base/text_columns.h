// SPDX-License-Identifier: Apache-2.0
// Terminal columns of one character. Used by text and text_shell. Threads: no state.
// Does not know what a given terminal does with sequences that it joins.
#ifndef LIGHTMETER_BASE_TEXT_COLUMNS_H
#define LIGHTMETER_BASE_TEXT_COLUMNS_H

#include <stdint.h>

// 0, 1 or 2; -1 for a control character (also line and paragraph separators, and the marks that
// reorder text, which could make a line read as another).
int text_columns_of(uint32_t point);

#endif
