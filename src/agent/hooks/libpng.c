// SPDX-License-Identifier: Apache-2.0
// Hook set libpng: reading and writing PNG with libpng 1.6, both its usual calls and the simplified
// ones (png_image_...). A row at a time is folded. Shapes come from the library's own accessors,
// found in the object that the hooked function is in; no struct of libpng is read. Calls that have
// no info struct (png_read_image) take the shape that the thread last saw for the same png struct.
// An error that leaves by longjmp past these functions is fine: the span stack drops what it
// skipped, at the latest where the png struct is destroyed. Threads: any.
#include "agent/hook.h"
#include "agent/hooks/picture.h"
#include "agent/library.h"

// ---- The accessors of the library that a function is in. ----

enum { GET_WIDTH, GET_HEIGHT, GET_CHANNELS };
static struct library_table library = {
    .names = {"png_get_image_width", "png_get_image_height", "png_get_channels"}};

typedef uint32_t get_pixels_fn(const void *png, const void *info);
typedef uint8_t get_channels_fn(const void *png, const void *info);

// ---- Shapes. ----

// The picture whose header the thread met last.
static __thread struct {
    const void *png; // NULL: none
    uint32_t width, height, channels;
} met __attribute__((tls_model("initial-exec")));

static void note_header(
    const struct hook_span *s, void *function, const void *png, const void *info)
{
    void *const *at = s->token && png ? library_functions(&library, (uintptr_t)function) : NULL;
    if (!at || !at[GET_HEIGHT] || !at[GET_CHANNELS])
        return;
    met.png = png;
    met.width = ((get_pixels_fn *)at[GET_WIDTH])(png, info);
    met.height = ((get_pixels_fn *)at[GET_HEIGHT])(png, info);
    met.channels = ((get_channels_fn *)at[GET_CHANNELS])(png, info);
    if (met.width && met.height)
        span_shape(s->token, met.width, met.height, met.channels, 0);
}

static void note_pixels(const struct hook_span *s, const void *png)
{
    if (s->token && png && met.png == png && met.width && met.height)
        span_shape(s->token, met.width, met.height, met.channels, 0);
}

// The png struct goes away: another picture's may be made at its address.
static void forget(void *const *png)
{
    if (!png || !*png)
        return;
    picture_forget(*png);
    if (*png == met.png)
        met.png = NULL;
}

// Bytes that were made; the caller's number was written by a call that succeeded.
static void note_made(
    const struct hook_span *s, uintptr_t result, const void *memory, const size_t *length_bytes)
{
    if (s->token && (int)result && memory && length_bytes)
        span_bytes(s->token, *length_bytes);
}

#define PNG_CALL(id, stage, flags, before, after, params, args)                                    \
    HOOK_NOTED(uintptr_t, id, stage, (flags) | AGENT_GROUP_LIBPNG, before, after, PARAMS(params),  \
        ARGS(args))

#define NOTHING HOOK_NOTHING
#define HEADER note_header(&span, (void *)real, png, info)
#define PIXELS note_pixels(&span, png)

// ---- Reading. ----
PNG_CALL(png_read_info, "decode", 0, picture_begin(&span, png), HEADER,
    PARAMS(void *png, void *info), ARGS(png, info))
PNG_CALL(png_read_update_info, "decode", AGENT_FOLD_SHORT, NOTHING, HEADER,
    PARAMS(void *png, void *info), ARGS(png, info))
PNG_CALL(png_read_row, "decode", AGENT_FOLD, NOTHING, NOTHING,
    PARAMS(void *png, void *row, void *display), ARGS(png, row, display))
PNG_CALL(png_read_rows, "decode", AGENT_FOLD, NOTHING, NOTHING,
    PARAMS(void *png, void *rows, void *display, uint32_t n), ARGS(png, rows, display, n))
// All rows in one call, which is the picture's time then.
PNG_CALL(png_read_image, "decode", 0, PIXELS, picture_forget(png), PARAMS(void *png, void *rows),
    ARGS(png, rows))
PNG_CALL(png_read_png, "decode", 0, NOTHING, HEADER,
    PARAMS(void *png, void *info, int transforms, void *unused),
    ARGS(png, info, transforms, unused))
PNG_CALL(png_read_end, "decode", AGENT_FOLD_SHORT, NOTHING, picture_end(&span, png, 1),
    PARAMS(void *png, void *info), ARGS(png, info))
PNG_CALL(png_destroy_read_struct, "decode", AGENT_FOLD_SHORT, forget(png), NOTHING,
    PARAMS(void **png, void *info, void *end), ARGS(png, info, end))
PNG_CALL(png_image_begin_read_from_file, "decode", AGENT_FOLD_SHORT, NOTHING, NOTHING,
    PARAMS(void *image, const char *path), ARGS(image, path))
PNG_CALL(png_image_begin_read_from_stdio, "decode", AGENT_FOLD_SHORT, NOTHING, NOTHING,
    PARAMS(void *image, void *file), ARGS(image, file))
PNG_CALL(png_image_begin_read_from_memory, "decode", AGENT_FOLD_SHORT, span_bytes(span.token, n),
    NOTHING, PARAMS(void *image, const void *memory, size_t n), ARGS(image, memory, n))
PNG_CALL(png_image_finish_read, "decode", 0, NOTHING, NOTHING,
    PARAMS(void *image, const void *background, void *out, int32_t stride, void *colours),
    ARGS(image, background, out, stride, colours))

// ---- Writing. ----
PNG_CALL(
    png_write_info, "encode", 0, HEADER, NOTHING, PARAMS(void *png, void *info), ARGS(png, info))
PNG_CALL(png_write_row, "encode", AGENT_FOLD, NOTHING, NOTHING, PARAMS(void *png, const void *row),
    ARGS(png, row))
PNG_CALL(png_write_rows, "encode", AGENT_FOLD, NOTHING, NOTHING,
    PARAMS(void *png, void *rows, uint32_t n), ARGS(png, rows, n))
PNG_CALL(
    png_write_image, "encode", 0, PIXELS, NOTHING, PARAMS(void *png, void *rows), ARGS(png, rows))
PNG_CALL(png_write_png, "encode", 0, HEADER, NOTHING,
    PARAMS(void *png, void *info, int transforms, void *unused),
    ARGS(png, info, transforms, unused))
PNG_CALL(png_write_end, "encode", AGENT_FOLD_SHORT, NOTHING, NOTHING, PARAMS(void *png, void *info),
    ARGS(png, info))
PNG_CALL(png_destroy_write_struct, "encode", AGENT_FOLD_SHORT, forget(png), NOTHING,
    PARAMS(void **png, void *info), ARGS(png, info))
PNG_CALL(png_image_write_to_file, "encode", 0, NOTHING, NOTHING,
    PARAMS(void *image, const char *path, int to_8bit, const void *in, int32_t stride,
        const void *colours),
    ARGS(image, path, to_8bit, in, stride, colours))
PNG_CALL(png_image_write_to_stdio, "encode", 0, NOTHING, NOTHING,
    PARAMS(
        void *image, void *file, int to_8bit, const void *in, int32_t stride, const void *colours),
    ARGS(image, file, to_8bit, in, stride, colours))
PNG_CALL(png_image_write_to_memory, "encode", 0, NOTHING, note_made(&span, done, memory, n),
    PARAMS(void *image, void *memory, size_t *n, int to_8bit, const void *in, int32_t stride,
        const void *colours),
    ARGS(image, memory, n, to_8bit, in, stride, colours))

#define LINE(id, attrs) HOOK_LINE(id, #id, attrs)
static const struct hook_function functions[] = {
    LINE(png_read_info, HOOK_SHAPE),
    LINE(png_read_update_info, HOOK_SHAPE),
    LINE(png_read_row, 0),
    LINE(png_read_rows, 0),
    LINE(png_read_image, HOOK_SHAPE),
    LINE(png_read_png, HOOK_SHAPE),
    LINE(png_read_end, HOOK_ATTR(ELAPSED)),
    LINE(png_destroy_read_struct, 0),
    LINE(png_image_begin_read_from_file, 0),
    LINE(png_image_begin_read_from_stdio, 0),
    LINE(png_image_begin_read_from_memory, HOOK_BYTES),
    LINE(png_image_finish_read, 0),
    LINE(png_write_info, HOOK_SHAPE),
    LINE(png_write_row, 0),
    LINE(png_write_rows, 0),
    LINE(png_write_image, HOOK_SHAPE),
    LINE(png_write_png, HOOK_SHAPE),
    LINE(png_write_end, 0),
    LINE(png_destroy_write_struct, 0),
    LINE(png_image_write_to_file, 0),
    LINE(png_image_write_to_stdio, 0),
    LINE(png_image_write_to_memory, HOOK_BYTES),
    HOOK_END,
};

static const char *const libraries[] = {"libpng16.so", NULL};

const struct hook_set hook_libpng = {
    .name = "libpng",
    .help = "PNG decoding and encoding with libpng",
    .libraries = libraries,
    .functions = functions,
};
