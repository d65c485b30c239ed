// SPDX-License-Identifier: Apache-2.0
// Hook set openjpeg: reading and writing JPEG 2000 with OpenJPEG 2 (libopenjp2.so.7; 1.x has
// functions of the same names, whose calls are timed and nothing else). Sizes are read from
// opj_image_t, which the library itself makes and whose first fields are the same in all of 2.x.
// Calls that have no image (opj_encode) take what the thread last saw for the same codec. Threads:
// any.
#include "agent/hook.h"
#include "agent/library.h"

#include <assert.h>

// ---- The structs: as far as they are read. ----

struct component {
    uint32_t dx, dy, width, height, x0, y0;
    uint32_t bits, bits_obsolete, is_signed;
    uint32_t resolutions_decoded;
    uint32_t reduction; // log2 of how much smaller than stored it is
};
static_assert(offsetof(struct component, reduction) == 40, "opj_image_comp_t");

struct image {
    uint32_t x0, y0, x1, y1; // on the reference grid
    uint32_t component_count;
    int32_t space;
    const struct component *components;
};
static_assert(offsetof(struct image, components) == 24, "opj_image_t");

// ---- Whether the library is of version 2. ----

static struct library_table library = {.names = {"opj_get_decoded_tile"}};

static int is_version_2(const struct hook_span *s, void *function)
{
    return s->token && library_functions(&library, (uintptr_t)function);
}

// ---- Attributes. ----

// The codec that the thread worked with last.
static __thread struct {
    const void *codec; // NULL: none
    uint32_t width, height, channels;
    int threads;
} met __attribute__((tls_model("initial-exec")));

static void note_codec(const struct hook_span *s, const void *codec)
{
    if (s->token && codec && met.codec == codec && met.threads > 0)
        span_value(s->token, TRACE_ATTR_THREADS, (uint64_t)met.threads);
}

static void meet(const void *codec)
{
    if (met.codec == codec)
        return;
    met.codec = codec;
    met.width = met.height = met.channels = 0;
    met.threads = 0;
}

// The codec goes away: another may be made at its address.
static void forget(const void *codec)
{
    if (met.codec == codec)
        met.codec = NULL;
}

static void note_grid(
    const struct hook_span *s, void *function, const void *codec, const struct image *image)
{
    if (!is_version_2(s, function) || !codec || !image || image->x1 <= image->x0 ||
        image->y1 <= image->y0)
        return;
    meet(codec);
    met.width = image->x1 - image->x0;
    met.height = image->y1 - image->y0;
    met.channels = image->component_count;
    span_shape(s->token, met.width, met.height, met.channels, 0);
    note_codec(s, codec);
}

static enum trace_dtype dtype_of(const struct component *c)
{
    if (c->bits <= 8)
        return c->is_signed ? TRACE_DTYPE_I8 : TRACE_DTYPE_U8;
    if (c->bits <= 16)
        return c->is_signed ? TRACE_DTYPE_I16 : TRACE_DTYPE_U16;
    return TRACE_DTYPE_UNKNOWN;
}

// A picture or a tile, decoded into the image: 32-bit numbers, smaller by a power of two perhaps.
static void note_decoded(const struct hook_span *s, void *function, uintptr_t done,
    const void *codec, const struct image *image)
{
    if (!(int)done || !is_version_2(s, function) || !image || !image->component_count ||
        !image->components)
        return;
    const struct component *c = &image->components[0];
    if (!c->width || !c->height)
        return;
    span_shape(s->token, c->width, c->height, image->component_count, 0);
    if (image->x1 > image->x0 && image->y1 > image->y0)
        span_source(s->token, image->x1 - image->x0, image->y1 - image->y0);
    if (c->reduction < 32)
        span_scale(s->token, 1, 1u << c->reduction);
    span_value_aux(s->token, TRACE_ATTR_DTYPE, TRACE_DTYPE_I32, (uint32_t)dtype_of(c));
    note_codec(s, codec);
}

// An encode, or a tile's decode, which has no image: as the thread met it.
static void note_met(const struct hook_span *s, const void *codec)
{
    if (!s->token || !codec || met.codec != codec)
        return;
    if (met.width && met.height)
        span_shape(s->token, met.width, met.height, met.channels, 0);
    note_codec(s, codec);
}

// The place of a tile, which a call that succeeded has written.
struct tile {
    const int32_t *x0, *y0, *x1, *y1;
    const uint32_t *channels;
    const int *is_there;
};

// The tile whose pixels come next.
static void meet_tile(uintptr_t done, const void *codec, struct tile t)
{
    if (!(int)done || !codec || !t.is_there || !*t.is_there || !t.x0 || !t.y0 || !t.x1 || !t.y1 ||
        !t.channels || *t.x1 <= *t.x0 || *t.y1 <= *t.y0)
        return;
    meet(codec);
    met.width = (uint32_t)(*t.x1 - *t.x0);
    met.height = (uint32_t)(*t.y1 - *t.y0);
    met.channels = *t.channels;
}

// A tile's bytes of pixels between memory and the file.
static void note_pixels(
    const struct hook_span *s, enum trace_attr_key side, const void *pixels, const void *codec)
{
    if (s->token && pixels)
        span_value(s->token, side, (uintptr_t)pixels);
    note_codec(s, codec);
}

#define OPJ_CALL(id, stage, flags, before, after, params, args)                                    \
    HOOK_NOTED(uintptr_t, id, stage, (flags) | AGENT_GROUP_OPENJPEG, before, after,                \
        PARAMS(params), ARGS(args))
#define REAL (void *)real

// ---- Reading. Results are true when all went well. ----
OPJ_CALL(opj_read_header, "decode", 0, HOOK_NOTHING,
    if ((int)done && image) note_grid(&span, REAL, codec, *image),
    PARAMS(void *stream, void *codec, struct image **image), ARGS(stream, codec, image))
OPJ_CALL(opj_decode, "decode", 0, HOOK_NOTHING, note_decoded(&span, REAL, done, codec, image),
    PARAMS(void *codec, void *stream, void *image), ARGS(codec, stream, image))
OPJ_CALL(opj_get_decoded_tile, "decode", 0, HOOK_NOTHING,
    note_decoded(&span, REAL, done, codec, image),
    PARAMS(void *codec, void *stream, void *image, uint32_t tile), ARGS(codec, stream, image, tile))
OPJ_CALL(opj_read_tile_header, "decode", AGENT_FOLD_SHORT, HOOK_NOTHING,
    meet_tile(done, codec, (struct tile){x0, y0, x1, y1, channels, is_there}),
    PARAMS(void *codec, void *stream, uint32_t *tile, uint32_t *n, int32_t *x0, int32_t *y0,
        int32_t *x1, int32_t *y1, uint32_t *channels, int *is_there),
    ARGS(codec, stream, tile, n, x0, y0, x1, y1, channels, is_there))
OPJ_CALL(opj_decode_tile_data, "decode", 0, note_pixels(&span, TRACE_ATTR_OUTPUT, out, codec),
    if ((int)done) note_met(&span, codec),
    PARAMS(void *codec, uint32_t tile, void *out, uint32_t n, void *stream),
    ARGS(codec, tile, out, n, stream))
OPJ_CALL(opj_end_decompress, "decode", AGENT_FOLD_SHORT, HOOK_NOTHING, HOOK_NOTHING,
    PARAMS(void *codec, void *stream), ARGS(codec, stream))

// ---- Writing. In 1.x opj_encode had two more arguments. ----
OPJ_CALL(opj_start_compress, "encode", 0, note_grid(&span, REAL, codec, image), HOOK_NOTHING,
    PARAMS(void *codec, struct image *image, void *stream), ARGS(codec, image, stream))
OPJ_CALL(opj_encode, "encode", 0, note_met(&span, codec), HOOK_NOTHING,
    PARAMS(void *codec, void *stream, void *image, void *index), ARGS(codec, stream, image, index))
OPJ_CALL(opj_write_tile, "encode", 0, note_pixels(&span, TRACE_ATTR_INPUT, in, codec), HOOK_NOTHING,
    PARAMS(void *codec, uint32_t tile, const void *in, uint32_t n, void *stream),
    ARGS(codec, tile, in, n, stream))
OPJ_CALL(opj_end_compress, "encode", AGENT_FOLD_SHORT, HOOK_NOTHING, HOOK_NOTHING,
    PARAMS(void *codec, void *stream), ARGS(codec, stream))

// ---- What else is to know of a codec; no time to speak of. ----
HOOK_TYPE(uintptr_t, opj_codec_set_threads, PARAMS(void *codec, int threads))
static inline uintptr_t opj_codec_set_threads_body(
    opj_codec_set_threads_fn *real, void *codec, int threads)
{
    uintptr_t done = real(codec, threads);
    if ((int)done) {
        meet(codec);
        met.threads = threads;
    }
    return done;
}
HOOK_THUNKS(
    uintptr_t, opj_codec_set_threads, PARAMS(void *codec, int threads), ARGS(codec, threads))

HOOK_TYPE(uintptr_t, opj_destroy_codec, PARAMS(void *codec))
static inline uintptr_t opj_destroy_codec_body(opj_destroy_codec_fn *real, void *codec)
{
    forget(codec);
    return real(codec);
}
HOOK_THUNKS(uintptr_t, opj_destroy_codec, PARAMS(void *codec), ARGS(codec))

#define LINE(id, attrs) HOOK_LINE(id, #id, attrs)
#define DECODED (HOOK_SHAPE | HOOK_SOURCE | HOOK_SCALE | HOOK_ATTR(DTYPE) | HOOK_ATTR(THREADS))
static const struct hook_function functions[] = {
    LINE(opj_read_header, HOOK_SHAPE | HOOK_ATTR(THREADS)),
    LINE(opj_decode, DECODED),
    LINE(opj_get_decoded_tile, DECODED),
    LINE(opj_read_tile_header, 0),
    LINE(opj_decode_tile_data, HOOK_SHAPE | HOOK_ATTR(OUTPUT) | HOOK_ATTR(THREADS)),
    LINE(opj_end_decompress, 0),
    LINE(opj_start_compress, HOOK_SHAPE | HOOK_ATTR(THREADS)),
    LINE(opj_encode, HOOK_SHAPE | HOOK_ATTR(THREADS)),
    LINE(opj_write_tile, HOOK_ATTR(INPUT) | HOOK_ATTR(THREADS)),
    LINE(opj_end_compress, 0),
    HOOK_LINE_UNTIMED(opj_codec_set_threads, "opj_codec_set_threads"),
    HOOK_LINE_UNTIMED(opj_destroy_codec, "opj_destroy_codec"),
    HOOK_END,
};

static const char *const libraries[] = {"libopenjp2.so", NULL};

const struct hook_set hook_openjpeg = {
    .name = "openjpeg",
    .help = "JPEG 2000 decoding and encoding with OpenJPEG",
    .libraries = libraries,
    .functions = functions,
};
