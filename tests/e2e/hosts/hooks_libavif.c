// SPDX-License-Identifier: Apache-2.0
// Test host: makes an AVIF from RGB with libavif, whole and as a sequence, and decodes it in the
// ways of its API, with the conversions to and from RGB; prints sums of the pixels and results.
// usage: hooks_libavif FOLDER. Run by test_hooks_libavif.py with and without the preloaded library.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <avif/avif.h>

#define WIDTH 192u
#define HEIGHT 128u
#define THREADS 2

static unsigned long sum_of(const uint8_t *p, size_t width, size_t height, size_t stride)
{
    unsigned long sum = 0;
    for (size_t y = 0; y < height; y++) {
        for (size_t x = 0; p && x < width; x++)
            sum = sum * 31 + p[y * stride + x];
    }
    return sum;
}

static void say_image(const char *how, avifResult result, const avifImage *image)
{
    printf("%s %d, %u x %u, %lu\n", how, (int)result, image->width, image->height,
        sum_of(image->yuvPlanes[0], image->width, image->height, image->yuvRowBytes[0]));
}

static avifImage *draw(avifPixelFormat format, avifRGBFormat rgb_format)
{
    avifImage *image = avifImageCreate(WIDTH, HEIGHT, 8, format);
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, image);
    rgb.format = rgb_format;
    avifRGBImageAllocatePixels(&rgb);
    for (unsigned y = 0; y < HEIGHT; y++) {
        for (unsigned x = 0; x < rgb.rowBytes; x++)
            rgb.pixels[y * rgb.rowBytes + x] = (uint8_t)(x / 3 + y * (x % 3 + 1));
    }
    say_image("from RGB", avifImageRGBToYUV(image, &rgb), image);
    avifRGBImageFreePixels(&rgb);
    return image;
}

static avifEncoder *encoder(void)
{
    avifEncoder *e = avifEncoderCreate();
    e->speed = AVIF_SPEED_FASTEST;
    e->maxThreads = THREADS;
    return e;
}

static avifRWData encode(const avifImage *image)
{
    avifRWData made = AVIF_DATA_EMPTY;
    avifEncoder *e = encoder();
    printf("write %d, ", (int)avifEncoderWrite(e, image, &made));
    printf("%zu bytes\n", made.size);
    avifEncoderDestroy(e);
    return made;
}

// Two pictures one after the other; and four as one.
static avifRWData encode_sequence(const avifImage *image)
{
    avifRWData made = AVIF_DATA_EMPTY;
    avifEncoder *e = encoder();
    e->timescale = 10;
    for (int i = 0; i < 2; i++)
        printf("add %d\n", (int)avifEncoderAddImage(e, image, 1, AVIF_ADD_IMAGE_FLAG_NONE));
    printf("finish %d, ", (int)avifEncoderFinish(e, &made));
    printf("%zu bytes\n", made.size);
    avifEncoderDestroy(e);
    const avifImage *cells[4] = {image, image, image, image};
    e = encoder();
    printf("grid %d\n", (int)avifEncoderAddImageGrid(e, 2, 2, cells, AVIF_ADD_IMAGE_FLAG_SINGLE));
    avifEncoderDestroy(e);
    return made;
}

static void to_rgb(const avifImage *image, avifRGBFormat format, uint32_t depth_bits)
{
    avifRGBImage rgb;
    avifRGBImageSetDefaults(&rgb, image);
    rgb.format = format;
    rgb.depth = depth_bits;
    avifRGBImageAllocatePixels(&rgb);
    int result = (int)avifImageYUVToRGB(image, &rgb);
    printf("to RGB %d, %lu\n", result, sum_of(rgb.pixels, rgb.rowBytes, HEIGHT, rgb.rowBytes));
    avifRGBImageFreePixels(&rgb);
}

static avifDecoder *decoder(void)
{
    avifDecoder *d = avifDecoderCreate();
    d->maxThreads = THREADS;
    return d;
}

static void decode_sequence(avifRWData avif)
{
    avifDecoder *d = decoder();
    int set = (int)avifDecoderSetIOMemory(d, avif.data, avif.size);
    printf("set %d, parse %d\n", set, (int)avifDecoderParse(d));
    say_image("next", avifDecoderNextImage(d), d->image);
    say_image("next", avifDecoderNextImage(d), d->image);
    printf("last %d\n", (int)avifDecoderNextImage(d));
    say_image("first", avifDecoderNthImage(d, 0), d->image);
    to_rgb(d->image, AVIF_RGB_FORMAT_BGR, 8);
    to_rgb(d->image, AVIF_RGB_FORMAT_RGBA, 16);
    avifDecoderDestroy(d);
}

static void decode(avifRWData avif, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(avif.data, 1, avif.size, file) != avif.size || fclose(file) != 0)
        exit(1);
    avifImage *image = avifImageCreateEmpty();
    avifDecoder *d = decoder();
    say_image("memory", avifDecoderReadMemory(d, image, avif.data, avif.size), image);
    avifDecoderDestroy(d);
    d = decoder();
    say_image("file", avifDecoderReadFile(d, image, path), image);
    avifDecoderDestroy(d);
    d = decoder();
    avifDecoderSetIOMemory(d, avif.data, avif.size);
    say_image("read", avifDecoderRead(d, image), image);
    avifDecoderDestroy(d);
    d = decoder();
    printf("damaged %d, ", (int)avifDecoderReadMemory(d, image, avif.data, avif.size / 2));
    printf("%s\n", d->diag.error);
    avifDecoderDestroy(d);
    avifImageDestroy(image);
}

int main(int argc, char **argv)
{
    char path[4096];
    if (argc != 2)
        return 2;
    snprintf(path, sizeof path, "%s/picture.avif", argv[1]);
    avifImage *colour = draw(AVIF_PIXEL_FORMAT_YUV420, AVIF_RGB_FORMAT_RGB);
    avifImage *grey = draw(AVIF_PIXEL_FORMAT_YUV400, AVIF_RGB_FORMAT_BGRA);
    avifRWData whole = encode(grey), sequence = encode_sequence(colour);
    decode(whole, path);
    decode_sequence(sequence);
    avifRWDataFree(&whole);
    avifRWDataFree(&sequence);
    avifImageDestroy(colour);
    avifImageDestroy(grey);
    return 0;
}
