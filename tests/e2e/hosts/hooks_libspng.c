// SPDX-License-Identifier: Apache-2.0
// Test host: encodes a picture as PNG with libspng, whole and by rows, and decodes it in the same
// ways and into each format; prints sums of the pixels and error numbers. usage: hooks_libspng. Run
// by test_hooks_libspng.py with and without the preloaded library.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <spng.h>

#define WIDTH 320u
#define HEIGHT 240u

static uint8_t pixels[HEIGHT][WIDTH * 4];
static uint8_t out[HEIGHT * WIDTH * 8];

struct png {
    void *bytes;
    size_t length_bytes;
};

static void draw(void)
{
    for (unsigned y = 0; y < HEIGHT; y++) {
        for (unsigned x = 0; x < WIDTH * 4; x++)
            pixels[y][x] = (uint8_t)(x / 4 + y * (x % 4 + 1) + (x * x >> 11));
    }
}

static unsigned long sum_of(const uint8_t *p, size_t n)
{
    unsigned long sum = 0;
    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + p[i];
    return sum;
}

static spng_ctx *encoder(int colour_type, int interlace)
{
    spng_ctx *spng = spng_ctx_new(SPNG_CTX_ENCODER);
    struct spng_ihdr header = {.width = WIDTH,
        .height = HEIGHT,
        .bit_depth = 8,
        .color_type = (uint8_t)colour_type,
        .interlace_method = (uint8_t)interlace};
    spng_set_option(spng, SPNG_ENCODE_TO_BUFFER, 1);
    spng_set_ihdr(spng, &header);
    return spng;
}

static struct png made(spng_ctx *spng)
{
    struct png png = {NULL, 0};
    int error = 0;
    png.bytes = spng_get_png_buffer(spng, &png.length_bytes, &error);
    printf("made %zu, %d\n", png.length_bytes, error);
    spng_ctx_free(spng);
    return png;
}

static struct png encode(int colour_type, int interlace)
{
    spng_ctx *spng = encoder(colour_type, interlace);
    size_t n = WIDTH * HEIGHT * (colour_type == SPNG_COLOR_TYPE_TRUECOLOR_ALPHA ? 4u : 1u);
    int error = spng_encode_image(spng, pixels, n, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE);
    printf("encode %d\n", error);
    return made(spng);
}

static struct png encode_rows(void)
{
    spng_ctx *spng = encoder(SPNG_COLOR_TYPE_TRUECOLOR_ALPHA, SPNG_INTERLACE_NONE);
    int error = spng_encode_image(
        spng, NULL, 0, SPNG_FMT_PNG, SPNG_ENCODE_PROGRESSIVE | SPNG_ENCODE_FINALIZE);
    for (unsigned y = 0; y < HEIGHT && !error; y++)
        error = spng_encode_row(spng, pixels[y], WIDTH * 4);
    printf("rows %d\n", error);
    return made(spng);
}

static spng_ctx *decoder(struct png png)
{
    spng_ctx *spng = spng_ctx_new(0);
    spng_set_png_buffer(spng, png.bytes, png.length_bytes);
    return spng;
}

static void decode(struct png png, int format)
{
    spng_ctx *spng = decoder(png);
    struct spng_ihdr header;
    size_t n = 0;
    int first = spng_get_ihdr(spng, &header), second = spng_decoded_image_size(spng, format, &n);
    int error = spng_decode_image(spng, out, n, format, 0);
    printf("decode %d: %d %d %d, %u x %u, %zu, %lu\n", format, first, second, error, header.width,
        header.height, n, sum_of(out, n));
    spng_ctx_free(spng);
}

typedef int row_fn(spng_ctx *spng, void *row, size_t n);

// `count` rows of it, by a function that makes one.
static void decode_rows(struct png png, row_fn *decode_row, unsigned count)
{
    spng_ctx *spng = decoder(png);
    int error = spng_decode_image(spng, NULL, 0, SPNG_FMT_RGBA8, SPNG_DECODE_PROGRESSIVE);
    unsigned rows = 0;
    while (!error && rows < count)
        error = decode_row(spng, out + WIDTH * 4 * rows++, WIDTH * 4);
    printf("rows %u, %d, chunks %d, %lu\n", rows, error, spng_decode_chunks(spng),
        sum_of(out, WIDTH * HEIGHT * 4));
    spng_ctx_free(spng);
}

// Two pictures in turn.
static void decode_pair(struct png png)
{
    spng_ctx *pair[] = {decoder(png), decoder(png)};
    int errors[2];
    for (int i = 0; i < 2; i++)
        errors[i] = spng_decode_image(pair[i], NULL, 0, SPNG_FMT_RGBA8, SPNG_DECODE_PROGRESSIVE);
    for (unsigned y = 0; y < HEIGHT; y++) {
        for (int i = 0; i < 2 && !errors[i]; i++)
            errors[i] = spng_decode_row(pair[i], out + WIDTH * 4 * y, WIDTH * 4);
    }
    printf("pair %d, %d, %lu\n", errors[0], errors[1], sum_of(out, WIDTH * HEIGHT * 4));
    spng_ctx_free(pair[0]);
    spng_ctx_free(pair[1]);
}

// Cut short, no bytes, and no picture.
static void decode_damaged(struct png png)
{
    struct png cut = {png.bytes, png.length_bytes / 2};
    decode(cut, SPNG_FMT_RGBA8);
    spng_ctx *spng = spng_ctx_new(0);
    printf("nothing %d, no decoder %d\n", spng_decode_image(spng, out, 0, SPNG_FMT_RGBA8, 0),
        spng_decode_image(NULL, out, 0, SPNG_FMT_RGBA8, 0));
    spng_ctx_free(spng);
}

int main(void)
{
    draw();
    struct png colour = encode(SPNG_COLOR_TYPE_TRUECOLOR_ALPHA, SPNG_INTERLACE_NONE);
    struct png grey = encode(SPNG_COLOR_TYPE_GRAYSCALE, SPNG_INTERLACE_NONE);
    struct png rows = encode_rows();
    struct png passes = encode(SPNG_COLOR_TYPE_TRUECOLOR_ALPHA, SPNG_INTERLACE_ADAM7);
    decode(colour, SPNG_FMT_RGBA8);
    decode(colour, SPNG_FMT_RGBA16);
    decode(colour, SPNG_FMT_RGB8);
    decode(colour, SPNG_FMT_PNG);
    decode(grey, SPNG_FMT_G8);
    decode(grey, SPNG_FMT_RAW);
    decode_rows(rows, spng_decode_row, HEIGHT);
    decode_rows(rows, spng_decode_scanline, HEIGHT);
    decode_rows(rows, spng_decode_row, HEIGHT / 2);
    decode_pair(rows);
    decode_rows(passes, spng_decode_row, 2 * HEIGHT); // some rows are made in several passes
    memset((uint8_t *)rows.bytes + rows.length_bytes / 2, 255, 100);
    decode_rows(rows, spng_decode_row, HEIGHT);
    decode_damaged(colour);
    free(colour.bytes);
    free(grey.bytes);
    free(rows.bytes);
    free(passes.bytes);
    return 0;
}
