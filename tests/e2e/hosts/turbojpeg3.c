// SPDX-License-Identifier: Apache-2.0
// Test library: the version 3 calls of TurboJPEG, which the system's library may lack. Each call
// prints its arguments, so that the host's output tells whether they arrived whole.
#include <stddef.h>
#include <stdio.h>

struct scale {
    int numerator, denominator;
};
struct region {
    int x, y, width, height;
};

#define SEEN __attribute__((visibility("default")))

SEEN int tj3Decompress8(
    void *tj, const unsigned char *jpeg, size_t n, unsigned char *out, int pitch, int pixel_format);
SEEN int tj3Decompress8(
    void *tj, const unsigned char *jpeg, size_t n, unsigned char *out, int pitch, int pixel_format)
{
    printf("decompress %d %d %zu %d %d %d\n", tj != NULL, jpeg != NULL, n, out != NULL, pitch,
        pixel_format);
    return -7;
}

SEEN int tj3SetScalingFactor(void *tj, struct scale scale);
SEEN int tj3SetScalingFactor(void *tj, struct scale scale)
{
    printf("scale %d %d/%d\n", tj != NULL, scale.numerator, scale.denominator);
    return 0;
}

SEEN int tj3SetCroppingRegion(void *tj, struct region region);
SEEN int tj3SetCroppingRegion(void *tj, struct region region)
{
    printf("crop %d %d %d %d %d\n", tj != NULL, region.x, region.y, region.width, region.height);
    return 0;
}

SEEN int tj3Compress8(void *tj, const unsigned char *in, int width, int pitch, int height,
    int pixel_format, unsigned char **jpeg, size_t *n);
SEEN int tj3Compress8(void *tj, const unsigned char *in, int width, int pitch, int height,
    int pixel_format, unsigned char **jpeg, size_t *n)
{
    printf("compress %d %d %d %d %d %d %d\n", tj != NULL, in != NULL, width, pitch, height,
        pixel_format, jpeg != NULL);
    *n = 4321;
    return 0;
}
