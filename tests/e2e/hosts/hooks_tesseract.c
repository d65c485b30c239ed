// SPDX-License-Identifier: Apache-2.0
// Test host: reads the text in a picture with Tesseract's C API, in the ways that it has, and
// prints it. usage: hooks_tesseract PICTURE. Exit status 77 where there is no model for English.
// Run by test_hooks_tesseract.py with and without the preloaded library.
#include <stdio.h>
#include <stdlib.h>

#include <leptonica/allheaders.h>
#include <tesseract/capi.h>

static void say(const char *how, char *text)
{
    printf("%s: %s\n", how, text ? text : "(none)");
    TessDeleteText(text);
}

// The picture as bytes, one for each pixel.
static unsigned char *bytes_of(PIX *pix, int width, int height)
{
    unsigned char *bytes = malloc((size_t)width * (size_t)height);
    for (int y = 0; bytes && y < height; y++) {
        for (int x = 0; x < width; x++) {
            l_uint32 value = 0;
            pixGetPixel(pix, x, y, &value);
            bytes[y * width + x] = (unsigned char)value;
        }
    }
    return bytes;
}

static void recognize_pix(TessBaseAPI *api, PIX *pix)
{
    TessBaseAPISetImage2(api, pix);
    printf("TessBaseAPIRecognize %d\n", TessBaseAPIRecognize(api, NULL));
    say("TessBaseAPIGetUTF8Text", TessBaseAPIGetUTF8Text(api));
    say("TessBaseAPIGetTsvText", TessBaseAPIGetTsvText(api, 0));
    say("TessBaseAPIGetHOCRText", TessBaseAPIGetHOCRText(api, 0));
    TessBaseAPIClear(api);
}

// Without the call to recognize: asking for the text does it.
static void recognize_bytes(TessBaseAPI *api, PIX *pix)
{
    const int width = pixGetWidth(pix), height = pixGetHeight(pix);
    unsigned char *bytes = bytes_of(pix, width, height);
    TessBaseAPISetImage(api, bytes, width, height, 1, width);
    TessBaseAPISetSourceResolution(api, 70);
    TessPageIterator *blocks = TessBaseAPIAnalyseLayout(api);
    printf("TessBaseAPIAnalyseLayout %d\n", blocks != NULL);
    TessPageIteratorDelete(blocks);
    say("TessBaseAPIGetUTF8Text", TessBaseAPIGetUTF8Text(api));
    free(bytes);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    setMsgSeverity(L_SEVERITY_NONE);
    PIX *read = pixRead(argv[1]), *pix = pixConvertTo8(read, 0);
    TessBaseAPI *api = TessBaseAPICreate();
    if (!pix || TessBaseAPIInit3(api, NULL, "eng") != 0)
        return 77;
    recognize_pix(api, pix);
    recognize_bytes(api, pix);
    TessBaseAPIEnd(api);
    printf("%d\n", TessBaseAPIInit3(api, "/nonexistent", "no-language"));
    TessBaseAPIDelete(api);
    pixDestroy(&pix);
    pixDestroy(&read);
    return 0;
}
