// SPDX-License-Identifier: Apache-2.0
// Test host: makes a picture with libvips, scales it, has its pixels made in the ways of the API,
// saves and loads it in memory, and prints sums of the pixels. usage: hooks_libvips. Run by
// test_hooks_libvips.py with and without the preloaded library. What that reads of public structs
// is compared with the headers here.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include <vips/vips.h>

static_assert(offsetof(VipsRegion, im) == 80, "the region's image");
static_assert(offsetof(VipsImage, Xsize) == 80 && offsetof(VipsImage, BandFmt) == 92, "extent");
static_assert(sizeof(VipsRect) == 16, "four integers");

#define WIDTH 500
#define HEIGHT 301

static void check(int failed)
{
    if (failed)
        vips_error_exit(NULL);
}

static unsigned long sum_of(const unsigned char *p, size_t n)
{
    unsigned long sum = 0;
    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + p[i];
    return sum;
}

// Three bands of bytes, half as wide and high as WIDTH and HEIGHT tell.
static VipsImage *draw(void)
{
    VipsImage *xy, *grey, *bytes, *bands;
    check(vips_xyz(&xy, WIDTH, HEIGHT, NULL));
    check(vips_extract_band(xy, &grey, 0, "n", 1, NULL));
    check(vips_cast(grey, &bytes, VIPS_FORMAT_UCHAR, "shift", FALSE, NULL));
    check(vips_bandjoin2(bytes, bytes, &bands, NULL));
    VipsImage *coloured;
    check(vips_bandjoin2(bands, bytes, &coloured, NULL));
    VipsImage *tagged;
    check(vips_copy(coloured, &tagged, "interpretation", VIPS_INTERPRETATION_sRGB, NULL));
    VipsImage *half;
    check(vips_resize(tagged, &half, 0.5, NULL));
    VipsImage *all[] = {xy, grey, bytes, bands, coloured, tagged};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        g_object_unref(all[i]);
    return half;
}

static void write_to_memory(VipsImage *image)
{
    size_t n = 0;
    void *pixels = vips_image_write_to_memory(image, &n);
    check(!pixels);
    printf("memory %zu %lu\n", n, sum_of(pixels, n));
    g_free(pixels);
}

static void prepare(VipsImage *image)
{
    const VipsRect rect = {10, 20, 60, 40};
    VipsRegion *region = vips_region_new(image);
    check(!region || vips_region_prepare(region, &rect));
    printf("region %lu\n", sum_of(VIPS_REGION_ADDR_TOPLEFT(region), 60 * 3));
    g_object_unref(region);
}

static void copy(VipsImage *image)
{
    VipsImage *made = vips_image_copy_memory(image);
    check(!made);
    double mean;
    check(vips_avg(made, &mean, NULL));
    printf("copy %.3f\n", mean);
    g_object_unref(made);
}

static void save_and_load(VipsImage *image)
{
    void *bytes;
    size_t n;
    check(vips_image_write_to_buffer(image, ".png", &bytes, &n, NULL));
    printf("png %zu %lu %s\n", n, sum_of(bytes, n), vips_foreign_find_load_buffer(bytes, n));
    VipsImage *loaded = vips_image_new_from_buffer(bytes, n, "", NULL);
    check(!loaded);
    VipsImage *grey;
    check(vips_colourspace(loaded, &grey, VIPS_INTERPRETATION_B_W, NULL));
    write_to_memory(grey);
    g_object_unref(grey);
    g_object_unref(loaded);
    g_free(bytes);
}

// By the entry that bindings for other languages use.
static void build_directly(VipsImage *image)
{
    VipsOperation *made = vips_operation_new("invert");
    g_object_set(made, "in", image, NULL);
    VipsOperation *built = vips_cache_operation_build(made);
    check(!built);
    VipsImage *out = NULL;
    g_object_get(built, "out", &out, NULL);
    write_to_memory(out);
    g_object_unref(out);
    vips_object_unref_outputs(VIPS_OBJECT(built));
    g_object_unref(built);
    g_object_unref(made);
}

static void fail(void)
{
    unsigned char nothing[40] = {0};
    VipsImage *image = vips_image_new_from_buffer(nothing, sizeof nothing, "", NULL);
    printf("%s, %s", image ? "loaded" : "refused", vips_error_buffer());
    vips_error_clear();
    VipsImage *xy, *out = NULL;
    check(vips_xyz(&xy, 10, 10, NULL));
    printf("%d\n", vips_extract_area(xy, &out, 5, 5, 10, 10, NULL));
    g_object_unref(xy);
    vips_error_clear();
}

int main(int argc, char **argv)
{
    (void)argc;
    check(VIPS_INIT(argv[0]));
    VipsImage *image = draw();
    write_to_memory(image);
    prepare(image);
    copy(image);
    save_and_load(image);
    build_directly(image);
    fail();
    g_object_unref(image);
    vips_shutdown();
    return 0;
}
