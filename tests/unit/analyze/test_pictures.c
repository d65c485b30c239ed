// SPDX-License-Identifier: Apache-2.0
// How many pixels the pictures have of which several calls tell the shape. The calls come from the
// last to the first, as in the walk.
#include "analyze/pictures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct told {
    const char *stage, *name;
    uint64_t pixels;
    int has_elapsed;
};

static uint64_t pixels_of(const struct told *calls, size_t count)
{
    struct pictures p = {0};
    uint64_t sum = 0;
    for (size_t i = count; i > 0; i--) {
        const struct told *c = &calls[i - 1];
        const struct pictures_call call = {
            c->name, pictures_flags(c->stage, c->name), c->has_elapsed};
        sum += pictures_pixels(&p, &call, c->pixels);
    }
    return sum;
}

#define PIXELS_OF(calls) pixels_of(calls, sizeof(calls) / sizeof *(calls))
#define DECODE(name, pixels)                                                                       \
    {                                                                                              \
        "decode", name, pixels, 0                                                                  \
    }
#define DECODE_END(name, pixels)                                                                   \
    {                                                                                              \
        "decode", name, pixels, 1                                                                  \
    }

static void test_one_call_for_each(void **state)
{
    static const struct told calls[] = {DECODE("cv::imread", 10), DECODE("cv::imread", 20),
        DECODE("WebPDecodeRGB", 5), DECODE("jpeg_start_decompress", 7),
        DECODE("jpeg_start_decompress", 7), DECODE("jpeg_read_header", 0)};
    (void)state;
    assert_int_equal(PIXELS_OF(calls), 49);
}

static void test_rows_of_png(void **state)
{
    // With an end, without one, and as a whole.
    static const struct told calls[] = {DECODE("png_read_info", 10),
        DECODE("png_read_update_info", 11), DECODE_END("png_read_end", 0),
        DECODE("png_read_info", 20), DECODE("png_read_update_info", 21),
        DECODE("png_read_info", 30), DECODE("png_read_update_info", 31),
        DECODE("png_read_info", 40), DECODE("png_read_update_info", 41),
        DECODE("png_read_image", 42), DECODE_END("png_read_end", 0)};
    (void)state;
    assert_int_equal(PIXELS_OF(calls), 11 + 21 + 31 + 42);
}

static void test_directories_of_tiff(void **state)
{
    // Two by rows; one as a raster; one opened and closed.
    static const struct told calls[] = {DECODE("TIFFOpen", 10), DECODE_END("TIFFReadDirectory", 20),
        DECODE_END("TIFFClose", 0), DECODE("TIFFOpen", 30), DECODE("TIFFReadRGBAImage", 31),
        DECODE("TIFFReadDirectory", 40), DECODE("TIFFReadRGBAImage", 41), DECODE("TIFFClose", 0)};
    (void)state;
    assert_int_equal(PIXELS_OF(calls), 10 + 20 + 31 + 41);
}

static void test_headers_before_pictures(void **state)
{
    static const struct told calls[] = {DECODE("opj_read_header", 10), DECODE("opj_decode", 10),
        DECODE("avifDecoderParse", 20), DECODE("avifDecoderNextImage", 20),
        DECODE("JxlDecoderProcessInput", 30), DECODE_END("JxlDecoderProcessInput", 30),
        DECODE("JxlDecoderProcessInput", 40), DECODE_END("JxlDecoderProcessInput", 40),
        DECODE_END("WebPIAppend", 50), DECODE_END("WebPIAppend", 50)};
    (void)state;
    assert_int_equal(PIXELS_OF(calls), 10 + 20 + 30 + 40 + 50 + 50);
}

static void test_pictures_that_are_written(void **state)
{
    static const struct told calls[] = {{"encode", "png_write_info", 10, 0},
        {"encode", "png_write_image", 10, 0}, {"encode", "png_write_info", 20, 0},
        {"encode", "png_write_info", 20, 0}, {"encode", "opj_start_compress", 30, 0},
        {"encode", "opj_encode", 30, 0}, {"encode", "cv::imwrite", 40, 0}};
    (void)state;
    assert_int_equal(PIXELS_OF(calls), 10 + 20 + 20 + 30 + 40);
    assert_int_equal(pictures_flags("preprocess", "cv::resize"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_call_for_each),
        cmocka_unit_test(test_rows_of_png),
        cmocka_unit_test(test_directories_of_tiff),
        cmocka_unit_test(test_headers_before_pictures),
        cmocka_unit_test(test_pictures_that_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
