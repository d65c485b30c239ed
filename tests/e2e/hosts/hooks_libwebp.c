// SPDX-License-Identifier: Apache-2.0
// Test host: draws a picture, encodes it as WebP and decodes it in the ways of libwebp's API, and
// prints sums of the pixels. usage: hooks_libwebp. Run by test_hooks_libwebp.py with and without
// the preloaded library.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <webp/decode.h>
#include <webp/encode.h>

#define WIDTH 500
#define HEIGHT 301
#define PIECES 5

static uint8_t pixels[HEIGHT][WIDTH * 4];
static uint8_t out[HEIGHT * WIDTH * 4];

static void draw(void)
{
    for (unsigned y = 0; y < HEIGHT; y++) {
        for (unsigned x = 0; x < WIDTH * 4; x++)
            pixels[y][x] = (uint8_t)(x / 3 + y * (x % 3 + 1) + (x * x >> 11));
    }
}

static unsigned long sum_of(const uint8_t *p, size_t n)
{
    unsigned long sum = 0;
    for (size_t i = 0; p && i < n; i++)
        sum = sum * 31 + p[i];
    return sum;
}

struct webp {
    uint8_t *bytes;
    size_t length_bytes;
};

static struct webp say_encoded(const char *how, size_t length_bytes, uint8_t *bytes)
{
    printf("%s %zu\n", how, length_bytes);
    return (struct webp){bytes, length_bytes};
}

static void say_decoded(const char *how, const uint8_t *bytes, size_t length_bytes)
{
    printf("%s %lu\n", how, sum_of(bytes, length_bytes));
}

#define ENCODE(how)                                                                                \
    say_encoded("WebPEncode" #how,                                                                 \
        WebPEncode##how(pixels[0], WIDTH, HEIGHT, WIDTH * 4, 75, &bytes), bytes)
#define ENCODE_LOSSLESS(how)                                                                       \
    say_encoded("WebPEncodeLossless" #how,                                                         \
        WebPEncodeLossless##how(pixels[0], WIDTH, HEIGHT, WIDTH * 4, &bytes), bytes)

// The same picture in all ways; the last one, lossless with alpha, is kept for the decodes.
static struct webp encode(void)
{
    uint8_t *bytes = NULL;
    struct webp made = ENCODE(RGB);
    WebPFree(made.bytes);
    made = ENCODE(BGR);
    WebPFree(made.bytes);
    made = ENCODE(RGBA);
    WebPFree(made.bytes);
    made = ENCODE(BGRA);
    WebPFree(made.bytes);
    made = ENCODE_LOSSLESS(RGB);
    WebPFree(made.bytes);
    made = ENCODE_LOSSLESS(BGR);
    WebPFree(made.bytes);
    made = ENCODE_LOSSLESS(BGRA);
    WebPFree(made.bytes);
    return ENCODE_LOSSLESS(RGBA);
}

// By the structs: lossy without alpha, which has the plain header.
static struct webp encode_configured(void)
{
    static WebPMemoryWriter writer;
    WebPConfig config;
    WebPPicture picture;
    WebPMemoryWriterInit(&writer);
    if (!WebPConfigInit(&config) || !WebPPictureInit(&picture))
        exit(1);
    config.method = 2;
    picture.width = WIDTH;
    picture.height = HEIGHT;
    picture.writer = WebPMemoryWrite;
    picture.custom_ptr = &writer;
    WebPPictureImportRGB(&picture, pixels[0], WIDTH * 4);
    printf("WebPEncode %d\n", WebPEncode(&config, &picture));
    WebPPictureFree(&picture);
    return say_encoded("WebPEncode", writer.size, writer.mem);
}

#define DECODE(how, channels)                                                                      \
    do {                                                                                           \
        int width = 0, height = 0;                                                                 \
        uint8_t *got = WebPDecode##how(w.bytes, w.length_bytes, &width, &height);                  \
        say_decoded("WebPDecode" #how, got, (size_t)width *(size_t)height *(channels));            \
        WebPFree(got);                                                                             \
    } while (0)

#define DECODE_INTO(how, channels)                                                                 \
    say_decoded("WebPDecode" #how "Into",                                                          \
        WebPDecode##how##Into(w.bytes, w.length_bytes, out, sizeof out, WIDTH *(channels)),        \
        (size_t)HEIGHT *WIDTH *(channels))

static void decode(struct webp w)
{
    DECODE(RGB, 3);
    DECODE(BGR, 3);
    DECODE(RGBA, 4);
    DECODE(BGRA, 4);
    DECODE(ARGB, 4);
    DECODE_INTO(RGB, 3);
    DECODE_INTO(BGR, 3);
    DECODE_INTO(RGBA, 4);
    DECODE_INTO(BGRA, 4);
    DECODE_INTO(ARGB, 4);
}

#define HALF_WIDTH ((WIDTH + 1) / 2)
#define HALF_HEIGHT ((HEIGHT + 1) / 2)

static void decode_yuv(struct webp w)
{
    int width, height, stride, uv_stride;
    uint8_t *u, *v;
    uint8_t *y =
        WebPDecodeYUV(w.bytes, w.length_bytes, &width, &height, &u, &v, &stride, &uv_stride);
    say_decoded("WebPDecodeYUV", y, (size_t)stride * (size_t)height);
    WebPFree(y);
    u = out + HEIGHT * WIDTH;
    v = u + HALF_HEIGHT * HALF_WIDTH;
    y = WebPDecodeYUVInto(w.bytes, w.length_bytes, out, HEIGHT * WIDTH, WIDTH, u,
        HALF_HEIGHT * HALF_WIDTH, HALF_WIDTH, v, HALF_HEIGHT * HALF_WIDTH, HALF_WIDTH);
    say_decoded("WebPDecodeYUVInto", y, HEIGHT * WIDTH + 2 * HALF_HEIGHT * HALF_WIDTH);
}

static void decode_configured(struct webp w, int width, int height, WEBP_CSP_MODE space)
{
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config))
        exit(1);
    config.options.use_scaling = width != 0;
    config.options.scaled_width = width;
    config.options.scaled_height = height;
    config.output.colorspace = space;
    int status = (int)WebPDecode(w.bytes, w.length_bytes, &config);
    printf("WebPDecode %d, %d x %d\n", status, config.output.width, config.output.height);
    WebPFreeDecBuffer(&config.output);
}

// Fed in pieces: each append brings a new one, each update all so far.
static void decode_pieces(struct webp w, int is_update)
{
    WebPIDecoder *decoder = WebPINewRGB(MODE_RGBA, NULL, 0, 0);
    int status = -1, width = 0, height = 0, stride = 0;
    for (size_t i = 0; i < PIECES; i++) {
        size_t low = w.length_bytes * i / PIECES, high = w.length_bytes * (i + 1) / PIECES;
        status = is_update ? (int)WebPIUpdate(decoder, w.bytes, high)
                           : (int)WebPIAppend(decoder, w.bytes + low, high - low);
    }
    uint8_t *got = WebPIDecGetRGB(decoder, NULL, &width, &height, &stride);
    printf("%s %d, %d x %d", is_update ? "WebPIUpdate" : "WebPIAppend", status, width, height);
    say_decoded("", got, (size_t)stride * (size_t)height);
    WebPIDelete(decoder);
}

// Headers alone, often.
static void read_headers(struct webp w)
{
    int width = 0, height = 0;
    WebPBitstreamFeatures features;
    for (int i = 0; i < 1000; i++) {
        if (!WebPGetInfo(w.bytes, w.length_bytes, &width, &height) ||
            WebPGetFeatures(w.bytes, w.length_bytes, &features) != VP8_STATUS_OK)
            exit(1);
    }
    printf("%d x %d, alpha %d\n", width, height, features.has_alpha);
}

// Cut short in the header and in the pixels, and no bytes at all.
static void decode_damaged(struct webp w)
{
    int left = 0;
    for (size_t n = 0; n < 40; n++)
        left += WebPDecodeBGR(w.bytes, n, NULL, NULL) == NULL;
    left += WebPDecodeBGR(w.bytes, w.length_bytes / 2, NULL, NULL) == NULL;
    left += WebPDecodeBGR(NULL, 0, NULL, NULL) == NULL;
    printf("%d damaged\n", left);
}

int main(void)
{
    draw();
    struct webp lossless = encode(), lossy = encode_configured();
    decode(lossless);
    decode_yuv(lossy);
    decode_configured(lossy, 0, 0, MODE_RGB);
    decode_configured(lossless, WIDTH / 2, HEIGHT / 3, MODE_BGRA);
    decode_pieces(lossless, 0);
    decode_pieces(lossy, 1);
    read_headers(lossless);
    decode_damaged(lossless);
    WebPFree(lossless.bytes);
    WebPFree(lossy.bytes);
    return 0;
}
