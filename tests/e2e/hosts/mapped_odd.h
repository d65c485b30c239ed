// SPDX-License-Identifier: Apache-2.0
// The library of the second stage-map host: what a trampoline could spoil. See mapped_odd_main.c.
#ifndef LIGHTMETER_TESTS_MAPPED_ODD_H
#define LIGHTMETER_TESTS_MAPPED_ODD_H

#include <immintrin.h>

struct wide {
    long a[40];
};
struct aligned {
    _Alignas(64) long a[8];
};

typedef long odd_fn(long x);

extern int odd_table[8];
extern odd_fn *const odd_functions[1];

long odd_table_sum(void);
long odd_wide(struct wide by_value, int times);
long odd_aligned(int first, struct aligned by_value);
long odd_many(long a, long b, long c, long d, long e, long f, long g, long h);
long odd_double(long x);
__attribute__((target("avx2"))) long odd_vector(__m256i by_value, __m256i *result);
__attribute__((target("avx2"))) __m256i odd_vector_of(long x);

#endif
