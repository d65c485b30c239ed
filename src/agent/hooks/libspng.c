// SPDX-License-Identifier: Apache-2.0
// Hook set libspng: reading and writing PNG with libspng (libspng.so.0, 0.6 and 0.7). A row at a
// time is folded; the one that ends a picture has the time since the first call for its rows.
// Shapes come from the library's own spng_get_ihdr, asked only after a call that has met the
// header: it reads nothing then. No struct of libspng is read but the one that the accessor fills,
// which is part of its interface. Threads: any.
#include "agent/hook.h"
#include "agent/hooks/picture.h"
#include "agent/library.h"

#include <assert.h>

// struct spng_ihdr, with room for what a later version may append.
struct header {
    uint32_t width, height;
    uint8_t bit_depth, colour_type, compression, filter, interlace;
    uint8_t room[51];
};
static_assert(sizeof(struct header) == 64, "spng_ihdr with room");

typedef int get_header_fn(void *spng, struct header *h);
static struct library_table library = {.names = {"spng_get_ihdr"}};

// enum spng_format: of the pixels in memory.
enum format {
    FORMAT_RGBA8 = 1,
    FORMAT_RGBA16 = 2,
    FORMAT_RGB8 = 4,
    FORMAT_GA8 = 16,
    FORMAT_GA16 = 32,
    FORMAT_G8 = 64,
    FORMAT_PNG = 256, // as in the file
    FORMAT_RAW = 512,
};

static uint32_t channels_of(int format, const struct header *h)
{
    static const uint8_t by_colour_type[] = {1, 0, 3, 1, 2, 0, 4};
    switch (format) {
    case FORMAT_RGBA8:
    case FORMAT_RGBA16:
        return 4;
    case FORMAT_RGB8:
        return 3;
    case FORMAT_GA8:
    case FORMAT_GA16:
        return 2;
    case FORMAT_G8:
        return 1;
    default:
        return h->colour_type < sizeof by_colour_type ? by_colour_type[h->colour_type] : 0;
    }
}

static enum trace_dtype dtype_of(int is_wide)
{
    return is_wide ? TRACE_DTYPE_U16 : TRACE_DTYPE_U8;
}

// A whole picture between a file and memory, as `format` there.
static void note_picture(
    const struct hook_span *s, void *function, void *spng, int format, int is_decode)
{
    struct header h = {.width = 0};
    void *const *at = s->token && spng ? library_functions(&library, (uintptr_t)function) : NULL;
    if (!at || ((get_header_fn *)at[0])(spng, &h) != 0 || !h.width || !h.height)
        return;
    int is_file_wide = h.bit_depth == 16, is_as_file = format & (FORMAT_PNG | FORMAT_RAW);
    enum trace_dtype file = dtype_of(is_file_wide);
    enum trace_dtype memory =
        dtype_of(is_as_file ? is_file_wide : format == FORMAT_RGBA16 || format == FORMAT_GA16);
    span_shape(s->token, h.width, h.height, channels_of(format, &h), 0);
    span_value_aux(s->token, TRACE_ATTR_DTYPE, is_decode ? memory : file,
        (uint32_t)(is_decode ? file : memory));
}

// Bytes that were made; the caller's number was written by a call that gave a buffer.
static void note_made(const struct hook_span *s, uintptr_t done, const size_t *length_bytes)
{
    if (s->token && done && length_bytes)
        span_bytes(s->token, *length_bytes);
}

// A row was the picture's last one (SPNG_EOI), or an error gave the picture up. What
// spng_decode_row asks spng_decode_scanline for is its own affair.
#define END_OF_IMAGE 75
static void note_row(const struct hook_span *s, const void *spng, int done)
{
    if (s->token && done != 0)
        picture_end(s, spng, done == END_OF_IMAGE);
}

#define SPNG_CALL(id, stage, flags, before, after, params, args)                                   \
    HOOK_NOTED(uintptr_t, id, stage, (flags) | AGENT_GROUP_LIBSPNG, before, after, PARAMS(params), \
        ARGS(args))
#define PLAIN(id, stage, flags, params, args)                                                      \
    SPNG_CALL(id, stage, flags, HOOK_NOTHING, HOOK_NOTHING, PARAMS(params), ARGS(args))

// ---- Reading. All results are error numbers. ----
// A whole picture, or the first of the calls that make it row by row.
#define DECODE_PROGRESSIVE 256
HOOK_TYPE(
    uintptr_t, spng_decode_image, PARAMS(void *spng, void *out, size_t n, int format, int flags))
static struct hook_name spng_decode_image_names[2] = {
    {"spng_decode_image", "decode", TRACE_CAUSE_OTHER, AGENT_GROUP_LIBSPNG, 0},
    {"spng_decode_image (progressive)", "decode", TRACE_CAUSE_OTHER, AGENT_GROUP_LIBSPNG, 0}};
static inline uintptr_t spng_decode_image_body(
    spng_decode_image_fn *real, void *spng, void *out, size_t n, int format, int flags)
{
    const int is_progressive = (flags & DECODE_PROGRESSIVE) != 0;
    __attribute__((cleanup(hook_end), unused)) struct hook_span span =
        hook_begin_outer(&spng_decode_image_names[is_progressive], SPAN_STACK);
    if (!is_progressive)
        span_value(span.token, TRACE_ATTR_OUTPUT, (uintptr_t)out);
    const uintptr_t done = real(spng, out, n, format, flags);
    if ((int)done != 0)
        return done;
    note_picture(&span, (void *)real, spng, format, 1);
    if (is_progressive)
        picture_restart(&span, spng);
    return done;
}
HOOK_THUNKS(uintptr_t, spng_decode_image,
    PARAMS(void *spng, void *out, size_t n, int format, int flags),
    ARGS(spng, out, n, format, flags))
#define ROW(id)                                                                                    \
    SPNG_CALL(id, "decode", AGENT_FOLD, HOOK_NOTHING, note_row(&span, spng, (int)done),            \
        PARAMS(void *spng, void *out, size_t n), ARGS(spng, out, n))
ROW(spng_decode_row)
ROW(spng_decode_scanline)
PLAIN(spng_decode_chunks, "decode", AGENT_FOLD_SHORT, PARAMS(void *spng), ARGS(spng))
PLAIN(
    spng_get_ihdr, "decode", AGENT_FOLD_SHORT, PARAMS(void *spng, void *header), ARGS(spng, header))
PLAIN(spng_decoded_image_size, "decode", AGENT_FOLD_SHORT,
    PARAMS(void *spng, int format, size_t *n), ARGS(spng, format, n))
// A picture in memory: the bytes that are decoded from.
SPNG_CALL(spng_set_png_buffer, "decode", AGENT_FOLD, span_bytes(span.token, n), HOOK_NOTHING,
    PARAMS(void *spng, const void *png, size_t n), ARGS(spng, png, n))

// ---- Writing. ----
SPNG_CALL(spng_encode_image, "encode", 0, span_value(span.token, TRACE_ATTR_INPUT, (uintptr_t)in),
    if ((int)done == 0) note_picture(&span, (void *)real, spng, format, 0),
    PARAMS(void *spng, const void *in, size_t n, int format, int flags),
    ARGS(spng, in, n, format, flags))
PLAIN(spng_encode_row, "encode", AGENT_FOLD, PARAMS(void *spng, const void *in, size_t n),
    ARGS(spng, in, n))
PLAIN(spng_encode_scanline, "encode", AGENT_FOLD, PARAMS(void *spng, const void *in, size_t n),
    ARGS(spng, in, n))
PLAIN(spng_encode_chunks, "encode", AGENT_FOLD_SHORT, PARAMS(void *spng), ARGS(spng))
SPNG_CALL(spng_get_png_buffer, "encode", AGENT_FOLD_SHORT, HOOK_NOTHING, note_made(&span, done, n),
    PARAMS(void *spng, size_t *n, int *error), ARGS(spng, n, error))

#define LINE(id, attrs) HOOK_LINE(id, #id, attrs)
static const struct hook_function functions[] = {
    {"spng_decode_image", spng_decode_image_thunks, (void **)spng_decode_image_real,
        spng_decode_image_names, 2, HOOK_SHAPE | HOOK_ATTR(DTYPE) | HOOK_ATTR(OUTPUT)},
    LINE(spng_decode_row, HOOK_ATTR(ELAPSED)),
    LINE(spng_decode_scanline, HOOK_ATTR(ELAPSED)),
    LINE(spng_decode_chunks, 0),
    LINE(spng_get_ihdr, 0),
    LINE(spng_decoded_image_size, 0),
    LINE(spng_set_png_buffer, HOOK_BYTES),
    LINE(spng_encode_image, HOOK_SHAPE | HOOK_ATTR(DTYPE) | HOOK_ATTR(INPUT)),
    LINE(spng_encode_row, 0),
    LINE(spng_encode_scanline, 0),
    LINE(spng_encode_chunks, 0),
    LINE(spng_get_png_buffer, HOOK_BYTES),
    HOOK_END,
};

static const char *const libraries[] = {"libspng.so", NULL};

const struct hook_set hook_libspng = {
    .name = "libspng",
    .help = "PNG decoding and encoding with libspng",
    .libraries = libraries,
    .functions = functions,
};
