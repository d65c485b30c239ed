// SPDX-License-Identifier: Apache-2.0
// A library that calls itself OpenCV 5 and has one function of it, for
// test_hooks_opencv_modules.py: its arrays carry the magic number of OpenCV 4, and the rest of them
// must not be read.
#include <stdint.h>

struct array {
    int32_t flags;
    const int32_t *object;
};

__attribute__((visibility("default"))) int resize5(const struct array *in, const struct array *out,
    uint64_t extent, double x, double y,
    int how) __asm__("_ZN2cv6resizeERKNS_11_InputArrayERKNS_12_OutputArrayENS_5Size_IiEEddi");
int resize5(
    const struct array *in, const struct array *out, uint64_t extent, double x, double y, int how)
{
    return in->object[0] + out->flags + (int)extent + (int)(x * y) + how;
}
