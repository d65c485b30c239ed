// SPDX-License-Identifier: Apache-2.0
// Test host: makes a picture, encodes it and decodes it in the ways of the libjpeg API, and prints
// sums of the pixels. usage: hooks_libjpeg MODE [COUNT]. Run by test_hooks_libjpeg.py with and
// without the preloaded library.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#define WIDTH 1024
#define HEIGHT 768

static unsigned width = WIDTH, height = HEIGHT;
static unsigned char *encoded;
static unsigned long encoded_bytes;

static void encode(int is_progressive)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &encoded, &encoded_bytes);
    c.image_width = width;
    c.image_height = height;
    c.input_components = 3;
    c.in_color_space = JCS_RGB;
    jpeg_set_defaults(&c);
    jpeg_set_quality(&c, 90, TRUE);
    if (is_progressive)
        jpeg_simple_progression(&c);
    jpeg_start_compress(&c, TRUE);
    static unsigned char row[WIDTH * 3];
    while (c.next_scanline < height) {
        for (unsigned x = 0; x < sizeof row; x++)
            row[x] = (unsigned char)(x * 7 + c.next_scanline * (x % 3 + 1) + (x * x >> 9));
        JSAMPROW rows[] = {row};
        jpeg_write_scanlines(&c, rows, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
}

static unsigned long read_rows(struct jpeg_decompress_struct *d)
{
    static unsigned char row[WIDTH * 4];
    unsigned long sum = 0;
    JSAMPROW rows[] = {row};
    while (d->output_scanline < d->output_height) {
        jpeg_read_scanlines(d, rows, 1);
        for (unsigned x = 0; x < d->output_width * (unsigned)d->output_components; x++)
            sum = sum * 31 + row[x];
    }
    return sum;
}

static void decode(unsigned eighths, FILE *file)
{
    struct jpeg_decompress_struct d;
    struct jpeg_error_mgr errors;
    d.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&d);
    if (file)
        jpeg_stdio_src(&d, file);
    else
        jpeg_mem_src(&d, encoded, encoded_bytes);
    jpeg_read_header(&d, TRUE);
    d.scale_num = eighths;
    d.scale_denom = 8;
    jpeg_start_decompress(&d);
    unsigned long sum = read_rows(&d);
    jpeg_finish_decompress(&d);
    printf("%u x %u: %lu\n", d.output_width, d.output_height, sum);
    jpeg_destroy_decompress(&d);
}

struct leaving {
    struct jpeg_error_mgr errors;
    jmp_buf back;
};

static void leave(j_common_ptr common)
{
    longjmp(((struct leaving *)(void *)common->err)->back, 1);
}

static void say_nothing(j_common_ptr common, int level)
{
    (void)common;
    (void)level;
}

// A source that ends in the middle of the pixels: the error handler leaves by longjmp.
static boolean fail_to_fill(j_decompress_ptr d)
{
    d->err->error_exit((j_common_ptr)d);
    return FALSE;
}

static int decode_damaged(unsigned long length_bytes)
{
    struct jpeg_decompress_struct d;
    struct leaving leaving;
    volatile int rows = 0;
    d.err = jpeg_std_error(&leaving.errors);
    leaving.errors.error_exit = leave;
    leaving.errors.emit_message = say_nothing;
    jpeg_create_decompress(&d);
    if (!setjmp(leaving.back)) {
        static unsigned char row[WIDTH * 3];
        JSAMPROW pointers[] = {row};
        jpeg_mem_src(&d, encoded, length_bytes);
        d.src->fill_input_buffer = fail_to_fill;
        jpeg_read_header(&d, TRUE);
        jpeg_start_decompress(&d);
        for (; d.output_scanline < d.output_height; rows++)
            jpeg_read_scanlines(&d, pointers, 1);
    }
    jpeg_destroy_decompress(&d);
    return rows;
}

// One more frame of stack than its caller, so that spans begin both above and below abandoned ones.
static __attribute__((noinline)) int deeper(int depth, unsigned long length_bytes)
{
    volatile char room[512];
    room[0] = (char)depth;
    return depth ? deeper(depth - 1, length_bytes) + (room[0] & 0) : decode_damaged(length_bytes);
}

static void check_damaged(int count)
{
    long rows = 0;
    for (int i = 0; i < count; i++)
        rows += deeper(i % 5, encoded_bytes * (unsigned)(i % 50 + 20) / 100);
    printf("%d damaged pictures, %ld rows\n", count, rows);
    decode(8, NULL);
}

static void transcode(void)
{
    struct jpeg_decompress_struct d;
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned char *out = NULL;
    unsigned long out_bytes = 0;
    d.err = c.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&d);
    jpeg_create_compress(&c);
    jpeg_mem_src(&d, encoded, encoded_bytes);
    jpeg_read_header(&d, TRUE);
    jvirt_barray_ptr *arrays = jpeg_read_coefficients(&d);
    jpeg_copy_critical_parameters(&d, &c);
    jpeg_mem_dest(&c, &out, &out_bytes);
    jpeg_write_coefficients(&c, arrays);
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    jpeg_finish_decompress(&d);
    jpeg_destroy_decompress(&d);
    printf("transcoded to %lu bytes\n", out_bytes);
    free(out);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "damaged") == 0) {
        width = WIDTH / 4;
        height = HEIGHT / 4;
    }
    encode(strcmp(mode, "progressive") == 0);
    printf("%lu bytes\n", encoded_bytes);
    if (strcmp(mode, "damaged") == 0) {
        check_damaged(argc > 2 ? atoi(argv[2]) : 1);
    } else if (strcmp(mode, "transcode") == 0) {
        transcode();
    } else if (strcmp(mode, "stream") == 0) {
        FILE *file = tmpfile();
        if (!file || fwrite(encoded, 1, encoded_bytes, file) != encoded_bytes)
            return 1;
        rewind(file);
        decode(8, file);
        fclose(file);
    } else {
        decode(8, NULL);
        decode(4, NULL);
    }
    free(encoded);
    return 0;
}
