// SPDX-License-Identifier: Apache-2.0
// Test host: draws a picture, writes it as PNG and reads it back in the ways of libpng's API, and
// prints sums of the pixels. usage: hooks_libpng MODE [COUNT]. Run by test_hooks_libpng.py with and
// without the preloaded library.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#define WIDTH 500
#define HEIGHT 300
#define ROW_BYTES ((size_t)WIDTH * 3)
#define DAMAGED_HEIGHT 60
#define ROOM_BYTES (WIDTH * HEIGHT * 4 + 100000)

static png_byte pixels[HEIGHT][WIDTH * 3], out[HEIGHT][WIDTH * 4];
static png_bytep rows[HEIGHT], out_rows[HEIGHT];
static unsigned height = HEIGHT;
static long row_calls; // of png_read_row and png_write_row, those that were left among them
static png_byte encoded[ROOM_BYTES], whole[ROOM_BYTES];
static size_t encoded_bytes, limit_bytes = ROOM_BYTES, at;

static void draw(void)
{
    unsigned noise = 1;
    for (unsigned y = 0; y < HEIGHT; y++) {
        rows[y] = pixels[y];
        out_rows[y] = out[y];
        for (unsigned x = 0; x < WIDTH * 3; x++) {
            noise = noise * 1103515245 + 12345;
            pixels[y][x] = (png_byte)(x * 7 + y * (x % 3 + 1) + (noise >> 28));
        }
    }
}

static unsigned long sum_of_pixels(size_t row_bytes)
{
    unsigned long sum = 0;
    for (unsigned y = 0; y < HEIGHT; y++) {
        for (size_t x = 0; x < row_bytes; x++)
            sum = sum * 31 + out[y][x];
    }
    memset(out, 0, sizeof out);
    return sum;
}

// ---- Memory as a file; both ends leave by longjmp where `limit_bytes` are passed. ----

static void put(png_structp png, png_bytep from, size_t n)
{
    if (encoded_bytes + n > limit_bytes)
        png_error(png, "full");
    memcpy(encoded + encoded_bytes, from, n);
    encoded_bytes += n;
}

static void flush(png_structp png)
{
    (void)png;
}

static void get(png_structp png, png_bytep to, size_t n)
{
    if (at + n > limit_bytes || at + n > encoded_bytes)
        png_error(png, "cut");
    memcpy(to, encoded + at, n);
    at += n;
}

static void leave(png_structp png, png_const_charp why)
{
    (void)why;
    png_longjmp(png, 1);
}

static void say_nothing(png_structp png, png_const_charp why)
{
    (void)png;
    (void)why;
}

// ---- Writing. ----

enum way { BY_ROW, BY_ROWS, BY_IMAGE, AT_ONCE };

static void write_pixels(png_structp png, png_infop info, enum way way)
{
    if (way == AT_ONCE) {
        png_set_rows(png, info, rows);
        png_write_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
        return;
    }
    png_write_info(png, info);
    if (way == BY_ROW) {
        for (unsigned y = 0; y < height; y++) {
            row_calls++;
            png_write_row(png, rows[y]);
        }
    } else if (way == BY_ROWS) {
        for (unsigned y = 0; y < height; y += 10)
            png_write_rows(png, rows + y, 10);
    } else {
        png_write_image(png, rows);
    }
    png_write_end(png, info);
}

// 0, or -1 when it was left by longjmp.
static int encode(enum way way, int interlace)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, leave, say_nothing);
    png_infop info = png_create_info_struct(png);
    volatile int status = -1;
    encoded_bytes = 0;
    if (!setjmp(png_jmpbuf(png))) {
        png_set_write_fn(png, NULL, put, flush);
        png_set_IHDR(png, info, WIDTH, height, 8, PNG_COLOR_TYPE_RGB, interlace,
            PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
        write_pixels(png, info, way);
        status = 0;
    }
    png_destroy_write_struct(&png, &info);
    return status;
}

// ---- Reading. ----

static void read_pixels(png_structp png, png_infop info, enum way way)
{
    png_read_info(png, info);
    png_set_add_alpha(png, 0xff, PNG_FILLER_AFTER);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
    if (way == BY_IMAGE) {
        png_read_image(png, out_rows);
    } else {
        for (; passes; passes--) {
            for (unsigned y = 0; y < height; y += way == BY_ROW ? 1 : 10) {
                if (way == BY_ROWS) {
                    png_read_rows(png, out_rows + y, NULL, 10);
                    continue;
                }
                row_calls++;
                png_read_row(png, out_rows[y], NULL);
            }
        }
    }
    png_read_end(png, NULL);
}

// 0, or -1 when it was left by longjmp.
static int decode(enum way way)
{
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, leave, say_nothing);
    png_infop info = png_create_info_struct(png);
    volatile int status = -1;
    at = 0;
    if (!setjmp(png_jmpbuf(png))) {
        png_set_read_fn(png, NULL, get);
        if (way == AT_ONCE) {
            png_read_png(png, info, PNG_TRANSFORM_IDENTITY, NULL);
            for (unsigned y = 0; y < height; y++)
                memcpy(out[y], png_get_rows(png, info)[y], ROW_BYTES);
        } else {
            read_pixels(png, info, way);
        }
        status = 0;
    }
    png_destroy_read_struct(&png, &info, NULL);
    return status;
}

static void check_way(enum way way, int interlace)
{
    int wrote = encode(way, interlace);
    printf("%zu bytes, %d", encoded_bytes, wrote);
    int read = decode(way);
    printf(" %d, sum %lu\n", read, sum_of_pixels(way == AT_ONCE ? ROW_BYTES : WIDTH * 4));
}

// ---- The simplified calls. ----

static png_image describe(void)
{
    png_image image;
    memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    return image;
}

static int finish(png_image *image)
{
    image->format = PNG_FORMAT_RGBA;
    return png_image_finish_read(image, NULL, out, WIDTH * 4, NULL);
}

static void check_simple(const char *path)
{
    png_image image = describe();
    image.width = WIDTH;
    image.height = HEIGHT;
    image.format = PNG_FORMAT_RGB;
    size_t n = sizeof encoded;
    int wrote = png_image_write_to_memory(&image, encoded, &n, 0, pixels, WIDTH * 3, NULL);
    printf("%zu bytes, %d", n, wrote);
    printf(" %d\n", png_image_write_to_file(&image, path, 0, pixels, WIDTH * 3, NULL));
    FILE *file = tmpfile();
    printf("%d\n", png_image_write_to_stdio(&image, file, 0, pixels, WIDTH * 3, NULL));
    rewind(file);

    image = describe();
    int began = png_image_begin_read_from_memory(&image, encoded, n);
    printf("%d %d, sum", began, finish(&image));
    printf(" %lu\n", sum_of_pixels(WIDTH * 4));
    image = describe();
    began = png_image_begin_read_from_file(&image, path);
    printf("%d %d, sum", began, finish(&image));
    printf(" %lu\n", sum_of_pixels(WIDTH * 4));
    image = describe();
    began = png_image_begin_read_from_stdio(&image, file);
    printf("%d %d, sum", began, finish(&image));
    printf(" %lu\n", sum_of_pixels(WIDTH * 4));
    fclose(file);
    // Cut in the middle: libpng's own longjmp stays within it.
    image = describe();
    began = png_image_begin_read_from_memory(&image, encoded, n / 2);
    printf("%d %d\n", began, finish(&image));
}

// ---- Damage. ----

// One more frame of stack than its caller, so that spans begin both above and below abandoned ones.
static __attribute__((noinline)) int deeper(int depth, int (*call)(enum way), enum way way)
{
    volatile char room[512];
    room[0] = (char)depth;
    return depth ? deeper(depth - 1, call, way) + (room[0] & 0) : call(way);
}

static int write_one(enum way way)
{
    return encode(way, PNG_INTERLACE_NONE);
}

static void check_damaged(int count)
{
    int left = 0;
    height = DAMAGED_HEIGHT;
    encode(BY_IMAGE, PNG_INTERLACE_NONE);
    size_t whole_bytes = encoded_bytes;
    memcpy(whole, encoded, whole_bytes);
    for (int i = 0; i < count; i++) {
        // Ends in the signature, the header, the end of the file, else somewhere in the pixels.
        limit_bytes = whole_bytes * (size_t)(i % 50 + 10) / 100;
        if (i % 32 < 4)
            limit_bytes = 4;
        else if (i % 32 < 8)
            limit_bytes = 20;
        else if (i % 32 < 12)
            limit_bytes = whole_bytes - 6;
        memcpy(encoded, whole, whole_bytes);
        encoded_bytes = whole_bytes;
        left += deeper(i % 5, decode, (enum way)(i % 4));
        left += deeper(i % 3, write_one, (enum way)(i % 4));
    }
    limit_bytes = ROOM_BYTES;
    printf("%d left, %ld rows\n", -left, row_calls);
    check_way(BY_IMAGE, PNG_INTERLACE_NONE);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    draw();
    if (strcmp(mode, "damaged") == 0 && argc > 2) {
        check_damaged(atoi(argv[2]));
    } else if (strcmp(mode, "simple") == 0 && argc > 2) {
        check_simple(argv[2]);
    } else {
        check_way(BY_ROW, PNG_INTERLACE_NONE);
        check_way(BY_ROWS, PNG_INTERLACE_NONE);
        check_way(BY_IMAGE, PNG_INTERLACE_ADAM7);
        check_way(AT_ONCE, PNG_INTERLACE_NONE);
    }
    return 0;
}
