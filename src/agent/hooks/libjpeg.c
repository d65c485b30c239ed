// SPDX-License-Identifier: Apache-2.0
// Hook set libjpeg: decoding and encoding with the libjpeg API (libjpeg-turbo, IJG's, mozjpeg). A
// row at a time is folded: a photograph makes thousands of such calls. Shapes are read from the
// caller's structs only while every struct created so far had a layout that is known. An error
// handler that leaves by longjmp past these functions is fine: the span stack drops what it
// skipped. Threads: any.
#include "agent/hook.h"
#include "agent/hooks/picture.h"

#include <assert.h>

// The first fields of the structs; the same in the versions of the API listed below.
struct jpeg_common {
    void *error, *memory, *progress, *client;
    int is_decompressor, state;
};

struct jpeg_decompress {
    struct jpeg_common common;
    void *source;
    unsigned image_width, image_height;
    int components, file_space, out_space;
    unsigned scale_numerator, scale_denominator;
    double gamma;
    int settings[12];
    unsigned output_width, output_height;
    int out_colour_components, output_components;
};
static_assert(offsetof(struct jpeg_decompress, image_width) == 48, "jpeg_decompress_struct");
static_assert(offsetof(struct jpeg_decompress, scale_numerator) == 68, "jpeg_decompress_struct");
static_assert(offsetof(struct jpeg_decompress, output_width) == 136, "jpeg_decompress_struct");
static_assert(offsetof(struct jpeg_decompress, output_components) == 148, "jpeg_decompress_struct");

struct jpeg_compress {
    struct jpeg_common common;
    void *destination;
    unsigned image_width, image_height;
    int components;
};
static_assert(offsetof(struct jpeg_compress, image_width) == 48, "jpeg_compress_struct");

// JPEG_LIB_VERSION and what the structs take on 64-bit machines, as the library checks them itself.
static const struct layout {
    int version;
    size_t decompress_bytes, compress_bytes;
} layouts[] = {{62, 632, 520}, {70, 640, 568}, {80, 656, 584}};

enum trust { TRUST_NOTHING_SEEN, TRUST_KNOWN, TRUST_ODD };
static _Atomic int trust;

// A struct was made, and the library agreed to its version and length.
static void note_layout(int version, size_t length_bytes, int is_decompressor)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        const struct layout *l = &layouts[i];
        size_t wanted = is_decompressor ? l->decompress_bytes : l->compress_bytes;
        if (version == l->version && length_bytes == wanted) {
            int expected = TRUST_NOTHING_SEEN;
            atomic_compare_exchange_strong(&trust, &expected, TRUST_KNOWN);
            return;
        }
    }
    atomic_store(&trust, TRUST_ODD);
}

static inline int is_readable(const struct hook_span *s, const struct jpeg_common *common, int kind)
{
    return s->token && common &&
           atomic_load_explicit(&trust, memory_order_relaxed) == TRUST_KNOWN &&
           (common->is_decompressor != 0) == kind;
}

static inline void note_decode(const struct hook_span *s, const struct jpeg_decompress *d)
{
    if (!is_readable(s, &d->common, 1))
        return;
    span_shape(s->token, d->output_width, d->output_height, (uint32_t)d->output_components, 0);
    span_source(s->token, d->image_width, d->image_height);
    span_scale(s->token, d->scale_numerator, d->scale_denominator);
}

static inline void note_encode(const struct hook_span *s, const struct jpeg_compress *c)
{
    if (is_readable(s, &c->common, 0))
        span_shape(s->token, c->image_width, c->image_height, (uint32_t)c->components, 0);
}

#define JPEG_CALL(id, stage, flags, after, params, args)                                           \
    HOOK_NOTED(uintptr_t, id, stage, (flags) | AGENT_GROUP_LIBJPEG, HOOK_NOTHING, after,           \
        PARAMS(params), ARGS(args))

#define NOTHING HOOK_NOTHING
#define DECODE(id, params, args)                                                                   \
    JPEG_CALL(id, "decode", AGENT_FOLD_SHORT, NOTHING, PARAMS(params), ARGS(args))
#define ENCODE(id, params, args)                                                                   \
    JPEG_CALL(id, "encode", AGENT_FOLD_SHORT, NOTHING, PARAMS(params), ARGS(args))
#define ROWS(id, stage)                                                                            \
    JPEG_CALL(id, stage, AGENT_FOLD, NOTHING, PARAMS(void *jpeg, void *rows, unsigned n),          \
        ARGS(jpeg, rows, n))
#define ONE(kind, id) kind(id, PARAMS(void *jpeg), ARGS(jpeg))

// The first call on a picture, and the last.
#define FIRST(id, params, args)                                                                    \
    HOOK_NOTED(uintptr_t, id, "decode", AGENT_FOLD_SHORT | AGENT_GROUP_LIBJPEG,                    \
        picture_begin(&span, jpeg), HOOK_NOTHING, PARAMS(params), ARGS(args))
#define LAST(id, is_made)                                                                          \
    HOOK_NOTED(uintptr_t, id, "decode", AGENT_FOLD_SHORT | AGENT_GROUP_LIBJPEG, HOOK_NOTHING,      \
        picture_end(&span, jpeg, is_made), PARAMS(void *jpeg), ARGS(jpeg))

// ---- Decoding. ----
HOOK_NOTED(uintptr_t, jpeg_start_decompress, "decode", AGENT_GROUP_LIBJPEG,
    picture_begin(&span, jpeg), note_decode(&span, jpeg), PARAMS(struct jpeg_decompress *jpeg),
    ARGS(jpeg))
FIRST(jpeg_read_header, PARAMS(void *jpeg, int need_image), ARGS(jpeg, need_image))
ONE(DECODE, jpeg_consume_input)
DECODE(jpeg_start_output, PARAMS(void *jpeg, int scan), ARGS(jpeg, scan))
ONE(DECODE, jpeg_finish_output)
LAST(jpeg_finish_decompress, (int)done)
ONE(DECODE, jpeg_read_coefficients)
LAST(jpeg_abort_decompress, 0)
LAST(jpeg_destroy_decompress, 0)
DECODE(jpeg_skip_scanlines, PARAMS(void *jpeg, unsigned n), ARGS(jpeg, n))
DECODE(jpeg_crop_scanline, PARAMS(void *jpeg, unsigned *x, unsigned *width), ARGS(jpeg, x, width))
DECODE(jpeg12_skip_scanlines, PARAMS(void *jpeg, unsigned n), ARGS(jpeg, n))
DECODE(jpeg12_crop_scanline, PARAMS(void *jpeg, unsigned *x, unsigned *width), ARGS(jpeg, x, width))
ROWS(jpeg_read_scanlines, "decode")
ROWS(jpeg12_read_scanlines, "decode")
ROWS(jpeg16_read_scanlines, "decode")
ROWS(jpeg_read_raw_data, "decode")
ROWS(jpeg12_read_raw_data, "decode")

// ---- Encoding. ----
JPEG_CALL(jpeg_start_compress, "encode", 0, note_encode(&span, jpeg),
    PARAMS(struct jpeg_compress *jpeg, int all_tables), ARGS(jpeg, all_tables))
ONE(ENCODE, jpeg_finish_compress)
ONE(ENCODE, jpeg_abort_compress)
ONE(ENCODE, jpeg_destroy_compress)
ENCODE(jpeg_write_coefficients, PARAMS(void *jpeg, void *arrays), ARGS(jpeg, arrays))
ROWS(jpeg_write_scanlines, "encode")
ROWS(jpeg12_write_scanlines, "encode")
ROWS(jpeg16_write_scanlines, "encode")
ROWS(jpeg_write_raw_data, "encode")
ROWS(jpeg12_write_raw_data, "encode")

// ---- Where the layout and the source become known; no time to speak of. ----
#define CREATE(id, kind)                                                                           \
    HOOK_TYPE(uintptr_t, id, PARAMS(void *jpeg, int version, size_t length_bytes))                 \
    static inline uintptr_t id##_body(id##_fn *real, void *jpeg, int version, size_t length_bytes) \
    {                                                                                              \
        uintptr_t done = real(jpeg, version, length_bytes);                                        \
        note_layout(version, length_bytes, kind);                                                  \
        return done;                                                                               \
    }                                                                                              \
    HOOK_THUNKS(uintptr_t, id, PARAMS(void *jpeg, int version, size_t length_bytes),               \
        ARGS(jpeg, version, length_bytes))
CREATE(jpeg_CreateDecompress, 1)
CREATE(jpeg_CreateCompress, 0)

// A picture in memory: the bytes that are decoded from.
JPEG_CALL(jpeg_mem_src, "decode", AGENT_FOLD, span_bytes(span.token, length_bytes),
    PARAMS(void *jpeg, const void *bytes, unsigned long length_bytes),
    ARGS(jpeg, bytes, length_bytes))

#define LINE(id, attrs) HOOK_LINE(id, #id, attrs)
#define LINE_UNTIMED(id) HOOK_LINE_UNTIMED(id, #id)
static const struct hook_function functions[] = {
    LINE(jpeg_start_decompress, HOOK_SHAPE | HOOK_SOURCE | HOOK_SCALE),
    LINE(jpeg_read_header, 0),
    LINE(jpeg_consume_input, 0),
    LINE(jpeg_start_output, 0),
    LINE(jpeg_finish_output, 0),
    LINE(jpeg_finish_decompress, HOOK_ATTR(ELAPSED)),
    LINE(jpeg_read_coefficients, 0),
    LINE(jpeg_abort_decompress, 0),
    LINE(jpeg_destroy_decompress, 0),
    LINE(jpeg_skip_scanlines, 0),
    LINE(jpeg_crop_scanline, 0),
    LINE(jpeg12_skip_scanlines, 0),
    LINE(jpeg12_crop_scanline, 0),
    LINE(jpeg_read_scanlines, 0),
    LINE(jpeg12_read_scanlines, 0),
    LINE(jpeg16_read_scanlines, 0),
    LINE(jpeg_read_raw_data, 0),
    LINE(jpeg12_read_raw_data, 0),
    LINE(jpeg_start_compress, HOOK_SHAPE),
    LINE(jpeg_finish_compress, 0),
    LINE(jpeg_abort_compress, 0),
    LINE(jpeg_destroy_compress, 0),
    LINE(jpeg_write_coefficients, 0),
    LINE(jpeg_write_scanlines, 0),
    LINE(jpeg12_write_scanlines, 0),
    LINE(jpeg16_write_scanlines, 0),
    LINE(jpeg_write_raw_data, 0),
    LINE(jpeg12_write_raw_data, 0),
    LINE_UNTIMED(jpeg_CreateDecompress),
    LINE_UNTIMED(jpeg_CreateCompress),
    LINE(jpeg_mem_src, HOOK_BYTES),
    HOOK_END,
};

static const char *const libraries[] = {"libjpeg.so", "libmozjpeg.so", NULL};

const struct hook_set hook_libjpeg = {
    .name = "libjpeg",
    .help = "JPEG decoding and encoding with the libjpeg API",
    .libraries = libraries,
    .functions = functions,
};
