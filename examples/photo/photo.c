// SPDX-License-Identifier: Apache-2.0
// Reads a file with stdio and decodes it with libjpeg. Called by the C examples for each photo.
// Does not resize, and does not use libjpeg's scaling: it is the plain way to do it.
// Threads: no shared state; libjpeg's errors come back through setjmp within one call.
#include "photo/photo.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#define READ_STEP_BYTES ((size_t)1 << 20)
#define PIXELS_MAX UINT64_C(400000000)

struct decoder {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jmp_buf failed;
    char text[JMSG_LENGTH_MAX]; // of the error, or of the first warning
};

static int read_all(struct photo_bytes *out, FILE *file, const char *path, struct err *e)
{
    size_t capacity_bytes = 0;
    for (;;) {
        if (out->length_bytes == capacity_bytes) {
            capacity_bytes += capacity_bytes ? capacity_bytes : READ_STEP_BYTES;
            unsigned char *data = realloc(out->data, capacity_bytes);
            if (!data)
                return err_set(e, "%s: out of memory at %zu bytes", path, out->length_bytes);
            out->data = data;
        }
        size_t got_bytes =
            fread(out->data + out->length_bytes, 1, capacity_bytes - out->length_bytes, file);
        out->length_bytes += got_bytes;
        if (got_bytes == 0)
            break;
    }
    if (ferror(file))
        return err_set_errno(e, errno, "%s: cannot be read", path);
    if (out->length_bytes == 0)
        return err_set(e, "%s: the file is empty", path);
    return 0;
}

int photo_bytes_read(struct photo_bytes *out, const char *path, struct err *e)
{
    *out = (struct photo_bytes){0};
    FILE *file = fopen(path, "rb");
    if (!file)
        return err_set_errno(e, errno, "%s: cannot be opened", path);
    int result = read_all(out, file, path, e);
    fclose(file);
    if (result < 0)
        photo_bytes_fini(out);
    return result;
}

static void on_error(j_common_ptr jpeg)
{
    struct decoder *decoder = jpeg->client_data;
    jpeg->err->format_message(jpeg, decoder->text);
    longjmp(decoder->failed, 1);
}

// Level -1 is a warning: the data is damaged, and libjpeg goes on with what it has.
static void on_message(j_common_ptr jpeg, int level)
{
    struct decoder *decoder = jpeg->client_data;
    if (level < 0 && jpeg->err->num_warnings++ == 0)
        jpeg->err->format_message(jpeg, decoder->text);
}

// Leaves by longjmp on a libjpeg error; `out->rgb` is then freed by the caller.
static int decode(struct decoder *decoder, struct photo_image *out, const struct photo_bytes *bytes,
    const char *path, struct err *e)
{
    struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    jpeg_mem_src(jpeg, bytes->data, bytes->length_bytes);
    jpeg_read_header(jpeg, TRUE);
    if ((uint64_t)jpeg->image_width * jpeg->image_height > PIXELS_MAX)
        return err_set(e, "%s: %u x %u pixels are more than this program takes", path,
            jpeg->image_width, jpeg->image_height);
    jpeg->out_color_space = JCS_RGB;
    jpeg_start_decompress(jpeg);
    out->width_px = jpeg->output_width;
    out->height_px = jpeg->output_height;
    size_t row_bytes = (size_t)out->width_px * 3;
    out->rgb = malloc(row_bytes * out->height_px);
    if (!out->rgb)
        return err_set(
            e, "%s: out of memory for %u x %u pixels", path, out->width_px, out->height_px);
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = out->rgb + jpeg->output_scanline * row_bytes;
        jpeg_read_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_decompress(jpeg);
    if (decoder->errors.num_warnings > 0)
        return err_set(e, "%s: damaged JPEG: %s", path, decoder->text);
    return 0;
}

int photo_image_decode(
    struct photo_image *out, const struct photo_bytes *bytes, const char *path, struct err *e)
{
    *out = (struct photo_image){0};
    if (bytes->length_bytes < 3 || memcmp(bytes->data, "\xff\xd8\xff", 3) != 0)
        return err_set(e, "%s: not a JPEG file", path);
    struct decoder decoder = {0};
    decoder.jpeg.err = jpeg_std_error(&decoder.errors);
    decoder.errors.error_exit = on_error;
    decoder.errors.emit_message = on_message;
    decoder.jpeg.client_data = &decoder;
    int result;
    if (setjmp(decoder.failed)) {
        result = err_set(e, "%s: damaged or unsupported JPEG: %s", path, decoder.text);
    } else {
        jpeg_create_decompress(&decoder.jpeg);
        result = decode(&decoder, out, bytes, path, e);
    }
    jpeg_destroy_decompress(&decoder.jpeg);
    if (result < 0)
        photo_image_fini(out);
    return result;
}

void photo_bytes_fini(struct photo_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct photo_bytes){0};
}

void photo_image_fini(struct photo_image *image)
{
    free(image->rgb);
    *image = (struct photo_image){0};
}
