// SPDX-License-Identifier: Apache-2.0
// Hook set libavif: reading and writing AVIF with libavif, and its conversions between YUV and RGB.
// Sizes are read from the structs that the library itself made, and only of the versions whose
// layout is known: 0.11 (libavif.so.15) and 1.x (libavif.so.16), as the library's avifVersion says.
// The codec behind it (dav1d, libaom, ...) is part of the call. Threads: any.
#include "agent/hook.h"
#include "agent/library.h"

#include <assert.h>
#include <string.h>

// ---- The structs of these versions: as far as they are the same. ----

struct avif_image {
    uint32_t width, height, depth_bits;
    int32_t yuv_format, yuv_range, chroma_position;
    void *planes[3];
    uint32_t row_bytes[3];
    int32_t owns_planes;
    void *alpha_plane;
};
static_assert(offsetof(struct avif_image, alpha_plane) == 64, "avifImage");

struct avif_rgb {
    uint32_t width, height, depth_bits;
    int32_t format;
};
static_assert(sizeof(struct avif_rgb) == 16, "avifRGBImage");

// The encoder begins in the same way.
struct avif_decoder {
    int32_t codec, threads;
    int32_t settings[9];
    const struct avif_image *image;
};
static_assert(offsetof(struct avif_decoder, image) == 48, "avifDecoder");

struct avif_bytes {
    const uint8_t *data;
    size_t length_bytes;
};

// ---- Whether this is a version that is known. ----

typedef const char *get_version_fn(void);
static struct library_table library = {.names = {"avifVersion"}};

static int is_known(const struct hook_span *s, void *function)
{
    void *const *at = s->token ? library_functions(&library, (uintptr_t)function) : NULL;
    const char *version = at ? ((get_version_fn *)at[0])() : NULL;
    return version && (strncmp(version, "0.11.", 5) == 0 || strncmp(version, "1.", 2) == 0);
}

// ---- Attributes. ----

// By avifPixelFormat: none, 4:4:4, 4:2:2, 4:2:0, grey; one more for alpha.
static uint32_t channels_of(const struct avif_image *image)
{
    static const uint8_t channels[] = {0, 3, 3, 3, 1};
    uint32_t format = (uint32_t)image->yuv_format;
    return (format < sizeof channels ? channels[format] : 0) + (image->alpha_plane ? 1u : 0u);
}

static enum trace_dtype dtype_of(uint32_t depth_bits)
{
    return depth_bits > 8 ? TRACE_DTYPE_U16 : TRACE_DTYPE_U8;
}

static void note_image(
    const struct hook_span *s, void *function, const struct avif_image *image, uint32_t batch)
{
    if (!image || !is_known(s, function) || !image->width || !image->height)
        return;
    uint32_t dtype = dtype_of(image->depth_bits);
    span_shape(s->token, image->width, image->height, channels_of(image), batch);
    span_value_aux(s->token, TRACE_ATTR_DTYPE, dtype, dtype);
}

static void note_threads(const struct hook_span *s, void *function, const void *coder)
{
    const struct avif_decoder *c = coder;
    if (c && is_known(s, function) && c->threads > 0)
        span_value(s->token, TRACE_ATTR_THREADS, (uint64_t)c->threads);
}

// A decoder that has its own image; `done` is avifResult.
static void note_decoder(
    const struct hook_span *s, void *function, uintptr_t done, const struct avif_decoder *decoder)
{
    if ((int)done != 0 || !decoder || !is_known(s, function))
        return;
    note_threads(s, function, decoder);
    note_image(s, function, decoder->image, 0);
}

// A decoder that fills an image of the caller's.
static void note_filled(const struct hook_span *s, void *function, uintptr_t done,
    const struct avif_decoder *decoder, const struct avif_image *image)
{
    if ((int)done != 0)
        return;
    note_threads(s, function, decoder);
    note_image(s, function, image, 0);
}

static void note_made(const struct hook_span *s, uintptr_t done, const struct avif_bytes *made)
{
    if (s->token && (int)done == 0 && made)
        span_bytes(s->token, made->length_bytes);
}

static void note_grid(const struct hook_span *s, void *function,
    const struct avif_image *const *cells, uint32_t count)
{
    if (s->token && cells && count && count <= UINT16_MAX)
        note_image(s, function, cells[0], count);
}

// The RGB side says what the conversion is: its avifRGBFormat and sample depth. It is to or from
// an avifImage of the same size.
static void note_conversion(const struct hook_span *s, void *function,
    const struct avif_image *image, const struct avif_rgb *rgb, int is_to_rgb)
{
    static const uint8_t channels[] = {3, 4, 4, 3, 4, 4, 3};
    if (!image || !rgb || !is_known(s, function) || !image->width || !image->height)
        return;
    uint32_t format = (uint32_t)rgb->format;
    uint32_t rgb_channels = format < sizeof channels ? channels[format] : 0;
    uint32_t yuv = dtype_of(image->depth_bits), other = dtype_of(rgb->depth_bits);
    span_shape(
        s->token, image->width, image->height, is_to_rgb ? rgb_channels : channels_of(image), 0);
    span_value(s->token, TRACE_ATTR_COLOUR, format);
    span_value_aux(s->token, TRACE_ATTR_DTYPE, is_to_rgb ? other : yuv, is_to_rgb ? yuv : other);
}

#define AVIF_CALL(id, stage, flags, before, after, params, args)                                   \
    HOOK_NOTED(uintptr_t, id, stage, (flags) | AGENT_GROUP_LIBHEIF, before, after, PARAMS(params), \
        ARGS(args))
#define REAL (void *)real

// ---- Reading. Up to 0.8, avifDecoderParse and avifDecoderRead had one more argument. ----
#define DECODER(id, params, args)                                                                  \
    AVIF_CALL(id, "decode", 0, HOOK_NOTHING, note_decoder(&span, REAL, done, decoder),             \
        PARAMS(params), ARGS(args))
// The boxes of the file, not its pixels.
DECODER(avifDecoderParse, PARAMS(void *decoder, void *more), ARGS(decoder, more))
DECODER(avifDecoderNextImage, PARAMS(void *decoder), ARGS(decoder))
DECODER(avifDecoderNthImage, PARAMS(void *decoder, uint32_t index), ARGS(decoder, index))
#define FILLED(id, before, params, args)                                                           \
    AVIF_CALL(id, "decode", 0, before, note_filled(&span, REAL, done, decoder, image),             \
        PARAMS(params), ARGS(args))
FILLED(avifDecoderRead, HOOK_NOTHING, PARAMS(void *decoder, void *image, void *more),
    ARGS(decoder, image, more))
FILLED(avifDecoderReadMemory, span_bytes(span.token, n),
    PARAMS(void *decoder, void *image, const uint8_t *memory, size_t n),
    ARGS(decoder, image, memory, n))
FILLED(avifDecoderReadFile, HOOK_NOTHING, PARAMS(void *decoder, void *image, const char *path),
    ARGS(decoder, image, path))
// A picture in memory: the bytes that are decoded from.
AVIF_CALL(avifDecoderSetIOMemory, "decode", AGENT_FOLD, span_bytes(span.token, n), HOOK_NOTHING,
    PARAMS(void *decoder, const uint8_t *memory, size_t n), ARGS(decoder, memory, n))

// ---- Writing. ----
AVIF_CALL(avifEncoderWrite, "encode", 0, note_image(&span, REAL, image, 0);
          note_threads(&span, REAL, encoder), note_made(&span, done, made),
          PARAMS(void *encoder, const void *image, void *made), ARGS(encoder, image, made))
AVIF_CALL(avifEncoderAddImage, "encode", 0, note_image(&span, REAL, image, 0);
          note_threads(&span, REAL, encoder), HOOK_NOTHING,
          PARAMS(void *encoder, const void *image, uint64_t duration, uint32_t flags),
          ARGS(encoder, image, duration, flags))
AVIF_CALL(
    avifEncoderAddImageGrid, "encode", 0,
    note_grid(&span, REAL, cells, columns <= UINT16_MAX && rows <= UINT16_MAX ? columns * rows : 0);
    note_threads(&span, REAL, encoder), HOOK_NOTHING,
    PARAMS(void *encoder, uint32_t columns, uint32_t rows, const struct avif_image *const *cells,
        uint32_t flags),
    ARGS(encoder, columns, rows, cells, flags))
AVIF_CALL(avifEncoderFinish, "encode", 0, HOOK_NOTHING, note_made(&span, done, made),
    PARAMS(void *encoder, void *made), ARGS(encoder, made))

// ---- Between YUV and RGB. ----
AVIF_CALL(avifImageYUVToRGB, "convert", 0, note_conversion(&span, REAL, image, rgb, 1),
    HOOK_NOTHING, PARAMS(const void *image, void *rgb), ARGS(image, rgb))
AVIF_CALL(avifImageRGBToYUV, "convert", 0, note_conversion(&span, REAL, image, rgb, 0),
    HOOK_NOTHING, PARAMS(void *image, const void *rgb), ARGS(image, rgb))

#define LINE(id, attrs) HOOK_LINE(id, #id, attrs)
#define OF_IMAGE (HOOK_SHAPE | HOOK_ATTR(DTYPE) | HOOK_ATTR(THREADS))
#define OF_CONVERSION (HOOK_SHAPE | HOOK_ATTR(DTYPE) | HOOK_ATTR(COLOUR))
static const struct hook_function functions[] = {
    LINE(avifDecoderParse, OF_IMAGE),
    LINE(avifDecoderNextImage, OF_IMAGE),
    LINE(avifDecoderNthImage, OF_IMAGE),
    LINE(avifDecoderRead, OF_IMAGE),
    LINE(avifDecoderReadMemory, OF_IMAGE | HOOK_BYTES),
    LINE(avifDecoderReadFile, OF_IMAGE),
    LINE(avifDecoderSetIOMemory, HOOK_BYTES),
    LINE(avifEncoderWrite, OF_IMAGE | HOOK_BYTES),
    LINE(avifEncoderAddImage, OF_IMAGE),
    LINE(avifEncoderAddImageGrid, OF_IMAGE),
    LINE(avifEncoderFinish, HOOK_BYTES),
    LINE(avifImageYUVToRGB, OF_CONVERSION),
    LINE(avifImageRGBToYUV, OF_CONVERSION),
    HOOK_END,
};

static const char *const libraries[] = {"libavif.so", NULL};

const struct hook_set hook_libavif = {
    .name = "libavif",
    .help = "AVIF decoding and encoding with libavif",
    .libraries = libraries,
    .functions = functions,
};
