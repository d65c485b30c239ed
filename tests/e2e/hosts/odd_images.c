// SPDX-License-Identifier: Apache-2.0
// Test library: functions that have names of ImageMagick's and nothing else of them. A hook that
// took them for those would lose their parameters.
#include "odd_images.h"

long ReadImage(struct place p, int a, int b, int c, int d, int e, int f, int g, int h, int i)
{
    long sum = 0;
    for (int k = 0; k < 6; k++)
        sum = sum * 7 + p.words[k];
    return sum + a + 2L * b + 3L * c + 4L * d + 5L * e + 6L * f + 7L * g + 8L * h + 9L * i;
}

double BlurImage(double a, double b, double c, double d, double e, double f, struct place p)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + (double)p.words[5];
}
