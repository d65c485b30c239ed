// SPDX-License-Identifier: Apache-2.0
// Test host: encodes, decodes, scales and transforms a picture with TurboJPEG's version 2 calls and
// prints sums of what comes out. Run by test_hooks_turbojpeg.py.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <turbojpeg.h>

#define WIDTH 1000
#define HEIGHT 601

static unsigned char pixels[WIDTH * HEIGHT * 4], planes[WIDTH * HEIGHT * 4];

static void print_sum(const char *what, const unsigned char *bytes, size_t n)
{
    unsigned long sum = 0;
    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + bytes[i];
    printf("%s %lu\n", what, sum);
}

static void check(int failed, const char *what)
{
    if (failed)
        printf("%s failed: %s\n", what, tjGetErrorStr());
}

static void decode(tjhandle d, const unsigned char *jpeg, unsigned long n)
{
    int width, height, sampling, space;
    check(tjDecompressHeader3(d, jpeg, n, &width, &height, &sampling, &space), "header");
    printf("%d x %d, %d, %d\n", width, height, sampling, space);
    check(tjDecompress2(d, jpeg, n, pixels, 0, 0, 0, TJPF_RGBA, 0), "decode");
    print_sum("full", pixels, sizeof pixels);
    memset(pixels, 0, sizeof pixels);
    check(tjDecompress2(d, jpeg, n, pixels, 400, 0, 400, TJPF_BGR, 0), "scaled");
    print_sum("scaled", pixels, sizeof pixels);
    check(tjDecompressToYUV2(d, jpeg, n, planes, WIDTH, 4, HEIGHT, 0), "planes");
    print_sum("planes", planes, sizeof planes);
    check(tjDecodeYUV(d, planes, 4, TJSAMP_420, pixels, WIDTH, 0, HEIGHT, TJPF_GRAY, 0), "grey");
    check(tjDecompress2(d, jpeg, 20, pixels, 0, 0, 0, TJPF_RGB, 0), "cut");
    check(tjDecompress2(d, NULL, 0, pixels, 0, 0, 0, TJPF_RGB, 0), "nothing");
}

int main(void)
{
    unsigned char *jpeg = NULL, *turned = NULL;
    unsigned long n = 0, turned_bytes = 0;
    tjhandle c = tjInitCompress(), d = tjInitDecompress(), t = tjInitTransform();
    for (size_t i = 0; i < (size_t)WIDTH * HEIGHT * 3; i++)
        pixels[i] = (unsigned char)(i * 5 + (i >> 8));
    check(
        tjCompress2(c, pixels, WIDTH, 0, HEIGHT, TJPF_RGB, &jpeg, &n, TJSAMP_420, 85, 0), "encode");
    printf("%lu\n", n);
    decode(d, jpeg, n);
    tjtransform turn = {.op = TJXOP_HFLIP, .options = TJXOPT_TRIM};
    check(tjTransform(t, jpeg, n, 1, &turned, &turned_bytes, &turn, 0), "turn");
    printf("%lu\n", turned_bytes);
    tjFree(turned);
    tjFree(jpeg);
    tjDestroy(c);
    tjDestroy(d);
    tjDestroy(t);
    return 0;
}
