// SPDX-License-Identifier: Apache-2.0
// The user's own library in the stage-map test: functions of many shapes behind a PLT.
#ifndef LIGHTMETER_TESTS_MAPPED_H
#define LIGHTMETER_TESTS_MAPPED_H

#include <string>

namespace own
{
struct big {
    double v[4];
};
double many(int a, double b, long c, float d, int e, int f, int g, int h, long i, double j,
    double k, double l, double m, double n, double o, double p, double q, double r);
std::string text(const std::string &from, int n);
big structure(big in, int by);
int throwing(int level);
long double wide(long double x);
} // namespace own

extern "C" int plain_sum(int count, ...);

#endif
