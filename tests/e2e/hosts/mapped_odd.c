// SPDX-License-Identifier: Apache-2.0
// The library of the second stage-map host: an exported table, arguments that fill the stack, are
// aligned or lie in wide registers, and a function whose address is compared.
#include "mapped_odd.h"

#define VISIBLE __attribute__((visibility("default")))
#define FUNCTION VISIBLE __attribute__((noinline))

VISIBLE int odd_table[8] = {3, 1, 4, 1, 5, 9, 2, 6};

// Through the GOT, where the table's address is.
FUNCTION long odd_table_sum(void)
{
    int *table = odd_table;
    long sum = 0;
    for (int i = 0; i < 8; i++)
        sum += table[i];
    return sum;
}

FUNCTION long odd_wide(struct wide by_value, int times)
{
    long sum = 0;
    for (int i = 0; i < 40; i++)
        sum += by_value.a[i];
    return sum * times;
}

FUNCTION long odd_aligned(int first, struct aligned by_value)
{
    long sum = first;
    for (int i = 0; i < 8; i++)
        sum += by_value.a[i];
    unsigned long address = (unsigned long)(void *)&by_value;
    __asm__("" : "+r"(address)); // else the compiler knows the remainder
    return sum + (long)(address % 64);
}

FUNCTION long odd_many(long a, long b, long c, long d, long e, long f, long g, long h)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

FUNCTION long odd_double(long x)
{
    return 2 * x;
}

VISIBLE odd_fn *const odd_functions[1] = {odd_double};

FUNCTION __attribute__((target("avx2"))) long odd_vector(__m256i by_value, __m256i *result)
{
    *result = _mm256_add_epi64(by_value, by_value);
    return _mm256_extract_epi64(*result, 3);
}

FUNCTION __attribute__((target("avx2"))) __m256i odd_vector_of(long x)
{
    return _mm256_set_epi64x(4 * x, 3 * x, 2 * x, x);
}
