// SPDX-License-Identifier: Apache-2.0
// Edit distance with swaps (optimal string alignment), and the choice of a suggestion by it. Called
// when a name is not known. Does not allocate. Threads: no state.
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

#define WORD_BYTES_MOST 64u

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t nearest_distance(const char *a, const char *b)
{
    size_t a_bytes = strlen(a), b_bytes = strlen(b);
    if (a_bytes > WORD_BYTES_MOST || b_bytes > WORD_BYTES_MOST)
        return SIZE_MAX;
    size_t rows[3][WORD_BYTES_MOST + 1]; // of the distances of prefixes, the last three
    for (size_t j = 0; j <= b_bytes; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_bytes; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_bytes; j++) {
            size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(change, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], two_above[j - 2] + 1);
        }
    }
    return rows[a_bytes % 3][b_bytes];
}

const char *nearest_word(const char *word, const char *const *words)
{
    size_t length = strlen(word), limit = length / 3 ? length / 3 : 1;
    const char *found = NULL;
    size_t found_distance = limit + 1;
    for (; length && *words; words++) {
        size_t distance = nearest_distance(word, *words);
        if (distance < found_distance && distance < strlen(*words)) {
            found = *words;
            found_distance = distance;
        } else if (!found && length > 1 && strncmp(word, *words, length) == 0) {
            found = *words; // a shortened word, however short; anything within the limit beats it
        }
    }
    return found;
}
