// SPDX-License-Identifier: Apache-2.0
// Test host: encodes a picture with libheif (HEVC, else AV1), reads it back from memory, from a
// file and through a reader, decodes it into several layouts and scales it; prints sums of the
// pixels and error codes. usage: hooks_libheif FOLDER. Run by test_hooks_libheif.py with and
// without the preloaded library. Status 77: there is no encoder.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libheif/heif.h>

#define WIDTH 192
#define HEIGHT 128

static struct {
    uint8_t bytes[1 << 20];
    size_t length_bytes, at;
} file;

static unsigned long sum_of(const uint8_t *p, int width, int height, int stride)
{
    unsigned long sum = 0;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++)
            sum = sum * 31 + p[y * stride + x];
    }
    return sum;
}

static struct heif_image *draw(void)
{
    struct heif_image *image = NULL;
    int stride = 0;
    heif_image_create(WIDTH, HEIGHT, heif_colorspace_RGB, heif_chroma_interleaved_RGB, &image);
    heif_image_add_plane(image, heif_channel_interleaved, WIDTH, HEIGHT, 8);
    uint8_t *p = heif_image_get_plane(image, heif_channel_interleaved, &stride);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH * 3; x++)
            p[y * stride + x] = (uint8_t)(x / 3 + y * (x % 3 + 1));
    }
    return image;
}

static struct heif_error keep(
    struct heif_context *context, const void *data, size_t n, void *unused)
{
    static const struct heif_error good = {heif_error_Ok, heif_suberror_Unspecified, "kept"};
    (void)context;
    (void)unused;
    memcpy(file.bytes, data, n);
    file.length_bytes = n;
    return good;
}

static void encode(const char *path)
{
    struct heif_context *context = heif_context_alloc();
    struct heif_encoder *encoder = NULL;
    struct heif_image *image = draw();
    struct heif_image_handle *handle = NULL, *thumb = NULL;
    struct heif_writer writer = {.writer_api_version = 1, .write = keep};
    if (heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder).code != 0 &&
        heif_context_get_encoder_for_format(context, heif_compression_AV1, &encoder).code != 0)
        exit(77);
    heif_encoder_set_lossy_quality(encoder, 60);
    printf(
        "encode %d\n", (int)heif_context_encode_image(context, image, encoder, NULL, &handle).code);
    printf("thumbnail %d\n",
        (int)heif_context_encode_thumbnail(context, image, handle, encoder, NULL, 64, &thumb).code);
    printf("write %d, ", (int)heif_context_write_to_file(context, path).code);
    printf("%d\n", (int)heif_context_write(context, &writer, NULL).code);
    if (thumb)
        heif_image_handle_release(thumb);
    heif_image_handle_release(handle);
    heif_image_release(image);
    heif_encoder_release(encoder);
    heif_context_free(context);
}

static void scale(const struct heif_image *image)
{
    struct heif_image *small = NULL;
    int stride = 0;
    int code = (int)heif_image_scale_image(image, &small, WIDTH / 2, HEIGHT / 4, NULL).code;
    const uint8_t *p = heif_image_get_plane_readonly(small, heif_channel_interleaved, &stride);
    printf("scale %d %lu\n", code, sum_of(p, WIDTH / 2 * 3, HEIGHT / 4, stride));
    heif_image_release(small);
}

static void decode(
    struct heif_context *context, enum heif_colorspace space, enum heif_chroma chroma)
{
    struct heif_image_handle *handle = NULL;
    struct heif_image *image = NULL;
    int stride = 0;
    heif_context_get_primary_image_handle(context, &handle);
    struct heif_error e = heif_decode_image(handle, &image, space, chroma, NULL);
    enum heif_channel channel =
        space == heif_colorspace_RGB ? heif_channel_interleaved : heif_channel_Y;
    const uint8_t *p = heif_image_get_plane_readonly(image, channel, &stride);
    printf("decode %d %d %s %lu\n", (int)e.code, (int)e.subcode, e.message,
        sum_of(p, WIDTH, HEIGHT, stride));
    if (chroma == heif_chroma_interleaved_RGB)
        scale(image);
    heif_image_release(image);
    heif_image_handle_release(handle);
}

static int64_t reader_position(void *unused)
{
    (void)unused;
    return (int64_t)file.at;
}

static int reader_read(void *to, size_t n, void *unused)
{
    (void)unused;
    if (n > file.length_bytes - file.at)
        return 1;
    memcpy(to, file.bytes + file.at, n);
    file.at += n;
    return 0;
}

static int reader_seek(int64_t position, void *unused)
{
    (void)unused;
    file.at = (size_t)position;
    return 0;
}

static enum heif_reader_grow_status reader_wait(int64_t wanted, void *unused)
{
    (void)unused;
    return (size_t)wanted > file.length_bytes ? heif_reader_grow_status_size_beyond_eof
                                              : heif_reader_grow_status_size_reached;
}

static void read_back(const char *path)
{
    const struct heif_reader reader = {1, reader_position, reader_read, reader_seek, reader_wait};
    struct heif_context *contexts[4];
    int codes[4];
    for (int i = 0; i < 4; i++)
        contexts[i] = heif_context_alloc();
    codes[0] = (int)heif_context_read_from_file(contexts[0], path, NULL).code;
    codes[1] =
        (int)heif_context_read_from_memory(contexts[1], file.bytes, file.length_bytes, NULL).code;
    codes[2] = (int)heif_context_read_from_memory_without_copy(
        contexts[2], file.bytes, file.length_bytes, NULL)
                   .code;
    codes[3] = (int)heif_context_read_from_reader(contexts[3], &reader, NULL, NULL).code;
    printf("read %d %d %d %d of %zu\n", codes[0], codes[1], codes[2], codes[3], file.length_bytes);
    decode(contexts[0], heif_colorspace_RGB, heif_chroma_interleaved_RGB);
    decode(contexts[1], heif_colorspace_RGB, heif_chroma_interleaved_RGBA);
    decode(contexts[2], heif_colorspace_YCbCr, heif_chroma_420);
    decode(contexts[3], heif_colorspace_RGB, heif_chroma_interleaved_RRGGBB_LE);
    for (int i = 0; i < 4; i++)
        heif_context_free(contexts[i]);
}

// Cut in the middle; and a conversion that there is not.
static void read_damaged(void)
{
    struct heif_context *context = heif_context_alloc();
    struct heif_image_handle *handle = NULL;
    struct heif_image *image = NULL;
    struct heif_error e =
        heif_context_read_from_memory(context, file.bytes, file.length_bytes / 2, NULL);
    printf("damaged %d %d %s\n", (int)e.code, (int)e.subcode, e.message);
    heif_context_free(context);
    context = heif_context_alloc();
    heif_context_read_from_memory(context, file.bytes, file.length_bytes, NULL);
    heif_context_get_primary_image_handle(context, &handle);
    e = heif_decode_image(handle, &image, heif_colorspace_monochrome, heif_chroma_monochrome, NULL);
    printf("no such conversion %d %d %s\n", (int)e.code, (int)e.subcode, e.message);
    heif_image_handle_release(handle);
    heif_context_free(context);
}

int main(int argc, char **argv)
{
    char path[4096];
    if (argc != 2)
        return 2;
    snprintf(path, sizeof path, "%s/picture.heic", argv[1]);
    encode(path);
    read_back(path);
    read_damaged();
    return 0;
}
