// SPDX-License-Identifier: Apache-2.0
// The functions of odd_aio.c.
#ifndef LIGHTMETER_TESTS_ODD_AIO_H
#define LIGHTMETER_TESTS_ODD_AIO_H

struct many {
    long words[8];
};

#pragma GCC visibility push(default)
double io_submit(int a, double s, int b, int c, int d, int e, int f, int g, int h, double t);
struct many io_getevents(struct many m);
#pragma GCC visibility pop

#endif
