// SPDX-License-Identifier: Apache-2.0
// Test host: calls the library of turbojpeg3.c. The JPEG is no more than its headers.
#include <stddef.h>
#include <stdio.h>

struct scale {
    int numerator, denominator;
};
struct region {
    int x, y, width, height;
};
int tj3Decompress8(
    void *tj, const unsigned char *jpeg, size_t n, unsigned char *out, int pitch, int pixel_format);
int tj3SetScalingFactor(void *tj, struct scale scale);
int tj3SetCroppingRegion(void *tj, struct region region);
int tj3Compress8(void *tj, const unsigned char *in, int width, int pitch, int height,
    int pixel_format, unsigned char **jpeg, size_t *n);

static const unsigned char jpeg[] = {0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xff, 0xc2, 0, 17, 8,
    0x01, 0x02, 0x03, 0x04, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

int main(void)
{
    unsigned char out[4], *made = NULL;
    size_t n = 0;
    printf("%d\n", tj3Decompress8(out, jpeg, sizeof jpeg, out, 11, 7));
    printf("%d\n", tj3Compress8(out, out, 640, 0, 480, 6, &made, &n));
    printf("%d\n", tj3SetScalingFactor(out, (struct scale){3, 8}));
    printf("%d\n", tj3SetCroppingRegion(out, (struct region){16, 32, 64, 128}));
    printf("%d\n", tj3Decompress8(out, jpeg, sizeof jpeg, out, 12, 0));
    return 0;
}
