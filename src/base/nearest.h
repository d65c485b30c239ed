// SPDX-License-Identifier: Apache-2.0
// The known word that a mistyped one was probably meant to be. Used in messages about options,
// commands, formats and hooks. Compares bytes. Threads: no state.
#ifndef LIGHTMETER_BASE_NEAREST_H
#define LIGHTMETER_BASE_NEAREST_H

#include <stddef.h>

// How many single insertions, deletions, replacements or swaps of neighbours turn `a` into `b`;
// words longer than 64 bytes count as wholly different (SIZE_MAX).
size_t nearest_distance(const char *a, const char *b);

// The one of `words` (ended by NULL) that begins with `word` or lies within a third of its length,
// nearest first, earlier first among equals. NULL when none does.
const char *nearest_word(const char *word, const char *const *words);

#endif
