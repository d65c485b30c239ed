// SPDX-License-Identifier: Apache-2.0
// Strict numbers from text: the whole text is one number, in range, in the same notation whatever
// the locale. Used by options, yaml and os. Does not skip blanks. Threads: no shared state.
#ifndef LIGHTMETER_BASE_NUMBER_H
#define LIGHTMETER_BASE_NUMBER_H

#include <stdint.h>

// Each gives 0 and sets *value, or -1 and leaves it when `text` is anything but such a number.
int number_parse_int(const char *text, int64_t *value);   // [+-]digits
int number_parse_uint(const char *text, uint64_t *value); // digits
int number_parse_hex(const char *text, uint64_t *value);  // hexadecimal digits without 0x
int number_parse_real(const char *text, double *value); // [+-]digits[.digits][e[+-]digits], finite

// A size: a non-negative number, with fraction or not, and a unit: none or B, K M G T or KiB MiB
// GiB TiB for powers of 1,024, kB KB MB GB TB for powers of 1,000; case counts only in kB/KB's
// favour.
int number_parse_bytes(const char *text, uint64_t *value);

// A length of time in nanoseconds: a non-negative number, with fraction or not, and a unit: ms, s
// (also none), m or min, h.
int number_parse_time(const char *text, uint64_t *value_ns);

#endif
