// SPDX-License-Identifier: Apache-2.0
// The library of the stage-map test. Each function depends on every argument, so a spoiled one
// shows.
#include "mapped.h"

#include <cstdarg>
#include <ctime>
#include <stdexcept>

#define VISIBLE __attribute__((visibility("default"), noinline))

namespace own
{
VISIBLE double many(int a, double b, long c, float d, int e, int f, int g, int h, long i, double j,
    double k, double l, double m, double n, double o, double p, double q, double r)
{
    return a + 2 * b + 3 * static_cast<double>(c) + 4 * static_cast<double>(d) + 5 * e + 6 * f +
           7 * g + 8 * h + 9 * static_cast<double>(i) + 10 * j + 11 * k + 12 * l + 13 * m + 14 * n +
           15 * o + 16 * p + 17 * q + 18 * r;
}

VISIBLE std::string text(const std::string &from, int n)
{
    std::string all;
    while (n-- > 0)
        all += from;
    return all;
}

VISIBLE big structure(big in, int by)
{
    for (double &v : in.v)
        v *= by;
    return in;
}

VISIBLE int throwing(int level)
{
    if (level == 0)
        throw std::runtime_error("from the bottom");
    struct timespec t = {0, 100000};
    nanosleep(&t, nullptr);
    return throwing(level - 1) + 1;
}

VISIBLE long double wide(long double x)
{
    return x * 3;
}
} // namespace own

extern "C" VISIBLE int plain_sum(int count, ...)
{
    va_list args;
    va_start(args, count);
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += va_arg(args, int);
    va_end(args);
    return sum;
}
