// SPDX-License-Identifier: Apache-2.0
// Test host: draws a picture with Leptonica, writes and reads it in memory and in the file that is
// named, scales, converts and thresholds it, and prints sums of the pixels. usage: hooks_leptonica
// FILE. Run by test_hooks_leptonica.py with and without the preloaded library.
#include <stdio.h>
#include <stdlib.h>

#include <leptonica/allheaders.h>

#define WIDTH 300
#define HEIGHT 200

static PIX *draw(void)
{
    PIX *pix = pixCreate(WIDTH, HEIGHT, 32);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++)
            pixSetRGBPixel(pix, x, y, x * 255 / WIDTH, y * 255 / HEIGHT, (x ^ y) & 255);
    }
    return pix;
}

// Prints what a PIX holds; frees it.
static void say(const char *how, PIX *pix)
{
    unsigned long sum = 0;
    if (!pix) {
        printf("%s failed\n", how);
        return;
    }
    const l_uint32 *words = pixGetData(pix);
    for (int i = 0; i < pixGetWpl(pix) * pixGetHeight(pix); i++)
        sum = sum * 31 + words[i];
    printf("%s %d x %d, %d bits: %lu\n", how, pixGetWidth(pix), pixGetHeight(pix), pixGetDepth(pix),
        sum);
    pixDestroy(&pix);
}

static void write_and_read(PIX *pix, const char *file)
{
    l_uint8 *bytes = NULL;
    size_t n = 0;
    printf("pixWriteMem %d", pixWriteMem(&bytes, &n, pix, IFF_PNG));
    printf(" %zu\n", n);
    say("pixReadMem", pixReadMem(bytes, n));
    say("pixReadMemPng", pixReadMemPng(bytes, n));
    free(bytes);
    printf("pixWrite %d\n", pixWrite(file, pix, IFF_JFIF_JPEG));
    say("pixRead", pixRead(file));
    say("pixReadJpeg", pixReadJpeg(file, 0, 2, NULL, 0));
}

static void process(PIX *pix)
{
    PIX *grey = pixConvertTo8(pix, 0), *binary = NULL, *half = pixScale(pix, 0.5F, 0.25F);
    say("pixScaleBySampling", pixScaleBySampling(pix, 0.3F, 0.7F));
    say("pixScaleToSize", pixScaleToSize(pix, 77, 55));
    say("pixConvertRGBToGray", pixConvertRGBToGray(pix, 0.5F, 0.3F, 0.2F));
    say("pixRotate", pixRotate(half, 0.1F, L_ROTATE_AREA_MAP, L_BRING_IN_WHITE, 0, 0));
    say("pixUnsharpMasking", pixUnsharpMasking(grey, 3, 0.4F));
    say("pixGammaTRC", pixGammaTRC(NULL, grey, 1.7F, 10, 240));
    say("pixScale", half);
    PIX *levels = NULL;
    printf("pixOtsuAdaptiveThreshold %d\n",
        pixOtsuAdaptiveThreshold(grey, 64, 48, 2, 3, 0.1F, &levels, &binary));
    say("its thresholds", levels);
    BOXA *boxes = pixConnComp(binary, NULL, 8);
    printf("pixConnComp %d\n", boxaGetCount(boxes));
    boxaDestroy(&boxes);
    say("pixDilateBrick", pixDilateBrick(NULL, binary, 3, 5));
    say("its pixels", binary);
    say("pixConvertTo8", grey);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    setMsgSeverity(L_SEVERITY_NONE);
    PIX *pix = draw();
    write_and_read(pix, argv[1]);
    process(pix);
    say("pixScale of nothing", pixScale(NULL, 0.5F, 0.5F));
    say("pixRead of no file", pixRead("/nonexistent/file"));
    pixDestroy(&pix);
    return 0;
}
