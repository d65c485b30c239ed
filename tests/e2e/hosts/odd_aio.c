// SPDX-License-Identifier: Apache-2.0
// Test library: functions that have names of libaio's and nothing else of them. A hook that took
// them for those would lose their parameters.
#include "odd_aio.h"

double io_submit(int a, double s, int b, int c, int d, int e, int f, int g, int h, double t)
{
    return s * 100 + t + a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

struct many io_getevents(struct many m)
{
    for (int i = 0; i < 8; i++)
        m.words[i] *= 2;
    return m;
}
