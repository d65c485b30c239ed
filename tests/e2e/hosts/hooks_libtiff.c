// SPDX-License-Identifier: Apache-2.0
// Test host: writes a TIFF in the ways of libtiff's API (rows, strips, tiles, raw, two pages),
// reads each back, and prints sums of the pixels and how many bytes strips and tiles take. A
// damaged one is read too. With `pair`: two files in turn, one alone, and one that is only looked
// through. usage: hooks_libtiff FOLDER [pair]. Run by test_hooks_libtiff.py with and without the
// preloaded library.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tiffio.h>

#define WIDTH 320u
#define HEIGHT 240u
#define ROWS 60u // of a strip
#define TILE 80u

static uint8_t pixels[HEIGHT][WIDTH * 3];
static uint8_t out[HEIGHT * WIDTH * 4];
static uint32_t raster[HEIGHT * WIDTH];
static char path[4096];

static void draw(void)
{
    for (unsigned y = 0; y < HEIGHT; y++) {
        for (unsigned x = 0; x < WIDTH * 3; x++)
            pixels[y][x] = (uint8_t)(x / 3 + y * (x % 3 + 1) + (x * x >> 11));
    }
}

static unsigned long sum_of(const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    unsigned long sum = 0;
    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + p[i];
    return sum;
}

static TIFF *open_or_die(const char *mode)
{
    TIFF *tiff = TIFFOpen(path, mode);
    if (!tiff)
        exit(1);
    return tiff;
}

static void set_fields(TIFF *tiff, unsigned height, int is_tiled)
{
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_LZW);
    if (is_tiled) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, TILE);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, TILE);
    } else {
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, ROWS);
    }
}

// The bytes that the strips or tiles take, as the file's own table says.
static void say_striles(const char *what, TIFF *tiff, unsigned count)
{
    unsigned long long total = 0;
    for (unsigned i = 0; i < count; i++)
        total += TIFFGetStrileByteCount(tiff, i);
    printf("%s %llu\n", what, total);
}

// Two pages: the second one is half as high, and gets no TIFFWriteDirectory of its own.
static void rows(void)
{
    TIFF *tiff = open_or_die("w");
    for (unsigned height = HEIGHT; height >= HEIGHT / 2; height /= 2) {
        set_fields(tiff, height, 0);
        for (unsigned y = 0; y < height; y++)
            TIFFWriteScanline(tiff, pixels[y], y, 0);
        if (height == HEIGHT)
            TIFFWriteDirectory(tiff);
    }
    TIFFClose(tiff);
    tiff = open_or_die("r");
    unsigned long sum = 0;
    do {
        uint32_t height = 0;
        TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
        for (unsigned y = 0; y < height && TIFFReadScanline(tiff, out, y, 0) == 1; y++)
            sum = sum * 31 + sum_of(out, WIDTH * 3);
    } while (TIFFReadDirectory(tiff));
    printf("rows %lu, back to the first: %d\n", sum, TIFFSetDirectory(tiff, 0));
    TIFFClose(tiff);
}

static void strips(void)
{
    TIFF *tiff = open_or_die("w");
    set_fields(tiff, HEIGHT, 0);
    for (unsigned i = 0; i < HEIGHT / ROWS; i++)
        TIFFWriteEncodedStrip(tiff, i, pixels[i * ROWS], ROWS * WIDTH * 3);
    say_striles("strips", tiff, HEIGHT / ROWS);
    TIFFFlush(tiff);
    TIFFClose(tiff);
    tiff = open_or_die("r");
    long total = 0, raw = 0;
    for (unsigned i = 0; i < HEIGHT / ROWS; i++)
        total += TIFFReadEncodedStrip(tiff, i, out + i * ROWS * WIDTH * 3, -1);
    printf("strips %ld %lu\n", total, sum_of(out, sizeof pixels));
    for (unsigned i = 0; i < HEIGHT / ROWS; i++)
        raw += TIFFReadRawStrip(tiff, i, out, sizeof out);
    printf("raw %ld\n", raw);
    errno = 77;
    printf("no such strip %d, errno %d\n", (int)TIFFReadEncodedStrip(tiff, 99, out, -1), errno);
    TIFFClose(tiff);
}

static void tiles(void)
{
    TIFF *tiff = open_or_die("w");
    set_fields(tiff, HEIGHT, 1);
    unsigned count = (WIDTH / TILE) * (HEIGHT / TILE);
    for (unsigned y = 0; y < HEIGHT; y += TILE) {
        for (unsigned x = 0; x < WIDTH; x += TILE)
            TIFFWriteTile(tiff, pixels[y] + x, x, y, 0, 0);
    }
    say_striles("tiles", tiff, count);
    TIFFClose(tiff);
    tiff = open_or_die("r");
    unsigned long sum = 0;
    for (unsigned y = 0; y < HEIGHT; y += TILE) {
        for (unsigned x = 0; x < WIDTH; x += TILE) {
            TIFFReadTile(tiff, out, x, y, 0, 0);
            sum = sum * 31 + sum_of(out, TILE * TILE * 3);
        }
    }
    for (unsigned i = 0; i < count; i++) {
        TIFFReadEncodedTile(tiff, i, out, -1);
        sum = sum * 31 + sum_of(out, TILE * TILE * 3);
    }
    printf("tiles %lu\n", sum);
    TIFFClose(tiff);
}

// As RGBA, through a client's own functions.
static tmsize_t client_read(thandle_t file, void *to, tmsize_t n)
{
    return (tmsize_t)fread(to, 1, (size_t)n, (FILE *)file);
}

static tmsize_t client_write(thandle_t file, void *from, tmsize_t n)
{
    (void)file;
    (void)from;
    (void)n;
    return -1;
}

static toff_t client_seek(thandle_t file, toff_t offset, int whence)
{
    return fseek((FILE *)file, (long)offset, whence) == 0 ? (toff_t)ftell((FILE *)file) : 0;
}

static int client_close(thandle_t file)
{
    return fclose((FILE *)file);
}

static toff_t client_size(thandle_t file)
{
    long at = ftell((FILE *)file);
    fseek((FILE *)file, 0, SEEK_END);
    long end = ftell((FILE *)file);
    fseek((FILE *)file, at, SEEK_SET);
    return (toff_t)end;
}

static void rgba(void)
{
    TIFF *tiff = TIFFClientOpen("client", "rm", fopen(path, "rb"), client_read, client_write,
        client_seek, client_close, client_size, NULL, NULL);
    if (!tiff)
        exit(1);
    int done = TIFFReadRGBAImage(tiff, WIDTH, HEIGHT, raster, 0);
    printf("rgba %d %lu\n", done, sum_of(raster, sizeof raster));
    TIFFRGBAImage image;
    char message[1024] = "";
    done = TIFFRGBAImageBegin(&image, tiff, 0, message) &&
           TIFFRGBAImageGet(&image, raster, WIDTH / 2, HEIGHT / 2);
    TIFFRGBAImageEnd(&image);
    printf("part %d %lu\n", done, sum_of(raster, sizeof raster));
    TIFFClose(tiff);
}

__attribute__((format(printf, 2, 0))) static void say_error(
    const char *module, const char *format, va_list arguments)
{
    printf("%s: ", module);
    vprintf(format, arguments);
    printf("\n");
}

// Cut in the middle of its pixels; and no TIFF at all. The errors are the host's to see.
static void damaged(void)
{
    FILE *file = fopen(path, "r+b");
    TIFFSetErrorHandler(say_error);
    TIFF *tiff = open_or_die("r");
    for (int i = 0; i < 3000 && file; i++) {
        fseek(file, 8 + i, SEEK_SET);
        fputc(255, file);
    }
    if (file)
        fclose(file);
    printf("damaged %d\n", (int)TIFFReadEncodedTile(tiff, 0, out, -1));
    TIFFClose(tiff);
    errno = 0;
    printf("not there %d, ", TIFFOpen("/nonexistent/picture.tif", "r") != NULL);
    printf("errno %d\n", errno);
}

static long read_strip(TIFF *tiff, unsigned i)
{
    return (long)TIFFReadEncodedStrip(tiff, i, out + i * ROWS * WIDTH * 3, -1);
}

static void pair(void)
{
    TIFF *tiffs[] = {open_or_die("r"), open_or_die("r")};
    long total = 0;
    for (unsigned i = 0; i < HEIGHT / ROWS; i++)
        total += read_strip(tiffs[0], i) + read_strip(tiffs[1], i);
    TIFFClose(tiffs[0]);
    TIFFClose(tiffs[1]);
    TIFF *tiff = open_or_die("r");
    for (unsigned i = 0; i < HEIGHT / ROWS; i++)
        total += read_strip(tiff, i);
    TIFFClose(tiff);
    tiff = open_or_die("r");
    printf("pair %ld, %lu, more %d\n", total, sum_of(out, sizeof pixels), TIFFReadDirectory(tiff));
    TIFFClose(tiff);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    snprintf(path, sizeof path, "%s/picture.tif", argv[1]);
    draw();
    if (argc > 2) {
        strips();
        pair();
        return 0;
    }
    rows();
    strips();
    tiles();
    rgba();
    damaged();
    return 0;
}
