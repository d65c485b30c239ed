// SPDX-License-Identifier: Apache-2.0
// Hook set libwebp: decoding and encoding WebP. The size of a picture is read from its header, in
// the bytes that the hooked call has just decoded. Sizes in the caller's structs are read only
// while every struct that the program prepared was of the ABI that is known. Threads: any.
#include "agent/hook.h"
#include "agent/hooks/picture.h"
#include "agent/library.h"

#include <assert.h>
#include <string.h>

// ---- The caller's structs: the same in every release since 0.4 (ABI 2.x). ----

// WebPDecoderConfig, up to the size of the output.
struct webp_decoder_config {
    int32_t input_width, input_height, input_settings[3];
    uint32_t input_padding[5];
    uint32_t out_space; // WEBP_CSP_MODE
    int32_t out_width, out_height;
};
static_assert(offsetof(struct webp_decoder_config, out_width) == 44, "WebPDecoderConfig");

// WebPPicture.
struct webp_picture {
    int32_t is_argb;
    uint32_t space; // WebPEncCSP
    int32_t width, height;
};
static_assert(offsetof(struct webp_picture, width) == 8, "WebPPicture");

#define ABI_MAJOR 2 // in the upper byte of the version that a program was built for
#define SPACE_HAS_ALPHA 4

enum trust { TRUST_NOTHING_SEEN, TRUST_KNOWN, TRUST_ODD };
static _Atomic int trust_config, trust_picture;

// A struct was prepared, and the library agreed to its version.
static void note_version(_Atomic int *trust, uintptr_t done, int version)
{
    int expected = TRUST_NOTHING_SEEN;
    if (!(int)done)
        return;
    if (version >> 8 == ABI_MAJOR)
        atomic_compare_exchange_strong(trust, &expected, TRUST_KNOWN);
    else
        atomic_store(trust, TRUST_ODD);
}

static int is_readable(const struct hook_span *s, const void *pointer, _Atomic int *trust)
{
    return s->token && pointer && atomic_load_explicit(trust, memory_order_relaxed) == TRUST_KNOWN;
}

// ---- The header of a picture. ----

struct webp_extent {
    uint32_t width, height; // width 0: not known
};

static uint32_t little_endian(const uint8_t *p, int n)
{
    uint32_t value = 0;
    while (n--)
        value = value << 8 | p[n];
    return value;
}

// RIFF, its length, WEBP; then a chunk: its name, its length, and by the name one of three headers.
static struct webp_extent read_extent(const uint8_t *p, size_t length_bytes)
{
    if (!p || length_bytes < 30 || memcmp(p, "RIFF", 4) != 0 || memcmp(p + 8, "WEBP", 4) != 0)
        return (struct webp_extent){0, 0};
    const uint8_t *body = p + 20;
    if (memcmp(p + 12, "VP8X", 4) == 0)
        return (struct webp_extent){little_endian(body + 4, 3) + 1, little_endian(body + 7, 3) + 1};
    if (memcmp(p + 12, "VP8L", 4) == 0) {
        uint32_t bits = little_endian(body + 1, 4);
        return (struct webp_extent){(bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1};
    }
    if (memcmp(p + 12, "VP8 ", 4) == 0)
        return (struct webp_extent){
            little_endian(body + 6, 2) & 0x3fff, little_endian(body + 8, 2) & 0x3fff};
    return (struct webp_extent){0, 0};
}

// ---- Attributes. ----

// A decode at full size; `is_done` when it succeeded, and so found a header.
static void note_whole(const struct hook_span *s, int is_done, const uint8_t *bytes,
    size_t length_bytes, uint32_t channels)
{
    if (!s->token)
        return;
    span_bytes(s->token, length_bytes);
    struct webp_extent e = is_done ? read_extent(bytes, length_bytes) : (struct webp_extent){0, 0};
    if (!e.width || !e.height)
        return;
    span_source(s->token, e.width, e.height);
    span_shape(s->token, e.width, e.height, channels, 0);
}

// By WEBP_CSP_MODE: RGB RGBA BGR BGRA ARGB RGBA_4444 RGB_565 rgbA bgrA Argb rgbA_4444 YUV YUVA.
static uint32_t channels_of(uint32_t space)
{
    static const uint8_t channels[] = {3, 4, 3, 4, 4, 4, 3, 4, 4, 4, 4, 3, 4};
    return space < sizeof channels ? channels[space] : 0;
}

// A decode as configured: the library wrote what scaling and cropping make of the picture.
static void note_configured(const struct hook_span *s, int is_done, const uint8_t *bytes,
    size_t length_bytes, const struct webp_decoder_config *c)
{
    if (!s->token)
        return;
    span_bytes(s->token, length_bytes);
    if (!is_done)
        return;
    struct webp_extent e = read_extent(bytes, length_bytes);
    if (e.width && e.height)
        span_source(s->token, e.width, e.height);
    if (is_readable(s, c, &trust_config) && c->out_width > 0 && c->out_height > 0)
        span_shape(s->token, (uint32_t)c->out_width, (uint32_t)c->out_height,
            channels_of(c->out_space), 0);
}

static void note_picture(const struct hook_span *s, const struct webp_picture *p)
{
    if (!is_readable(s, p, &trust_picture) || p->width <= 0 || p->height <= 0)
        return;
    uint32_t channels = p->is_argb || p->space & SPACE_HAS_ALPHA ? 4 : 3;
    span_shape(s->token, (uint32_t)p->width, (uint32_t)p->height, channels, 0);
}

static void note_pixels(const struct hook_span *s, int width, int height, uint32_t channels)
{
    if (s->token && width > 0 && height > 0)
        span_shape(s->token, (uint32_t)width, (uint32_t)height, channels, 0);
}

static void note_made(const struct hook_span *s, size_t length_bytes)
{
    if (s->token && length_bytes)
        span_bytes(s->token, length_bytes);
}

// ---- What a decoder that was fed piece by piece has made: its library's own accessor says. ----

typedef const void *decoded_area_fn(
    const void *decoder, int *left, int *top, int *width, int *height);

static struct library_table library = {.names = {"WebPIDecodedArea"}};

static void note_fed(const struct hook_span *s, void *function, const void *decoder)
{
    int left = 0, top = 0, width = 0, height = 0;
    void *const *at = s->token ? library_functions(&library, (uintptr_t)function) : NULL;
    if (!at)
        return;
    ((decoded_area_fn *)at[0])(decoder, &left, &top, &width, &height);
    note_pixels(s, width, height, 0);
}

// The picture is whole (VP8_STATUS_OK), waits for more, or is given up.
#define STATUS_SUSPENDED 5
static void note_status(const struct hook_span *s, const void *decoder, int status)
{
    if (status != STATUS_SUSPENDED)
        picture_end(s, decoder, status == 0);
}

#define WEBP_CALL(id, stage, flags, before, after, params, args)                                   \
    HOOK_NOTED(uintptr_t, id, stage, (flags) | AGENT_GROUP_LIBWEBP, before, after, PARAMS(params), \
        ARGS(args))

#define NOTHING HOOK_NOTHING
#define WEBP const uint8_t *webp, size_t n

// ---- Decoding. Pointers and sizes are NULL and 0, statuses are not, when a call failed. ----
#define DECODE(id, channels)                                                                       \
    WEBP_CALL(id, "decode", 0, NOTHING, note_whole(&span, done != 0, webp, n, channels),           \
        PARAMS(WEBP, int *width, int *height), ARGS(webp, n, width, height))
DECODE(WebPDecodeRGB, 3)
DECODE(WebPDecodeRGBA, 4)
DECODE(WebPDecodeBGR, 3)
DECODE(WebPDecodeBGRA, 4)
DECODE(WebPDecodeARGB, 4)
#define DECODE_INTO(id, channels)                                                                  \
    WEBP_CALL(id, "decode", 0, NOTHING, note_whole(&span, done != 0, webp, n, channels),           \
        PARAMS(WEBP, void *out, size_t out_bytes, int stride),                                     \
        ARGS(webp, n, out, out_bytes, stride))
DECODE_INTO(WebPDecodeRGBInto, 3)
DECODE_INTO(WebPDecodeRGBAInto, 4)
DECODE_INTO(WebPDecodeBGRInto, 3)
DECODE_INTO(WebPDecodeBGRAInto, 4)
DECODE_INTO(WebPDecodeARGBInto, 4)
WEBP_CALL(WebPDecodeYUV, "decode", 0, NOTHING, note_whole(&span, done != 0, webp, n, 3),
    PARAMS(WEBP, int *width, int *height, void *u, void *v, int *stride, int *uv_stride),
    ARGS(webp, n, width, height, u, v, stride, uv_stride))
WEBP_CALL(WebPDecodeYUVInto, "decode", 0, NOTHING, note_whole(&span, done != 0, webp, n, 3),
    PARAMS(WEBP, void *y, size_t y_bytes, int y_stride, void *u, size_t u_bytes, int u_stride,
        void *v, size_t v_bytes, int v_stride),
    ARGS(webp, n, y, y_bytes, y_stride, u, u_bytes, u_stride, v, v_bytes, v_stride))
WEBP_CALL(WebPDecode, "decode", 0, NOTHING, note_configured(&span, (int)done == 0, webp, n, config),
    PARAMS(WEBP, struct webp_decoder_config *config), ARGS(webp, n, config))
// Each piece once; the last one has the shape.
WEBP_CALL(
    WebPIAppend, "decode", 0,
    {
        picture_begin(&span, decoder);
        span_bytes(span.token, n);
    },
    {
        if ((int)done == 0)
            note_fed(&span, (void *)real, decoder);
        note_status(&span, decoder, (int)done);
    },
    PARAMS(void *decoder, WEBP), ARGS(decoder, webp, n))
// All pieces so far: counted when the picture is whole.
WEBP_CALL(
    WebPIUpdate, "decode", 0, picture_begin(&span, decoder),
    {
        if ((int)done == 0) {
            span_bytes(span.token, n);
            note_fed(&span, (void *)real, decoder);
        }
        note_status(&span, decoder, (int)done);
    },
    PARAMS(void *decoder, WEBP), ARGS(decoder, webp, n))
// No time to speak of.
HOOK_TYPE(uintptr_t, WebPIDelete, PARAMS(void *decoder))
static inline uintptr_t WebPIDelete_body(WebPIDelete_fn *real, void *decoder)
{
    picture_forget(decoder);
    return real(decoder);
}
HOOK_THUNKS(uintptr_t, WebPIDelete, PARAMS(void *decoder), ARGS(decoder))
WEBP_CALL(WebPGetInfo, "decode", AGENT_FOLD, NOTHING, NOTHING,
    PARAMS(WEBP, int *width, int *height), ARGS(webp, n, width, height))
WEBP_CALL(WebPGetFeaturesInternal, "decode", AGENT_FOLD, NOTHING, NOTHING,
    PARAMS(WEBP, void *features, int version), ARGS(webp, n, features, version))

// ---- Encoding. ----
#define ENCODE(id, channels)                                                                       \
    WEBP_CALL(id, "encode", 0, note_pixels(&span, width, height, channels),                        \
        note_made(&span, done),                                                                    \
        PARAMS(const void *in, int width, int height, int stride, float quality, void *out),       \
        ARGS(in, width, height, stride, quality, out))
ENCODE(WebPEncodeRGB, 3)
ENCODE(WebPEncodeRGBA, 4)
ENCODE(WebPEncodeBGR, 3)
ENCODE(WebPEncodeBGRA, 4)
#define ENCODE_LOSSLESS(id, channels)                                                              \
    WEBP_CALL(id, "encode", 0, note_pixels(&span, width, height, channels),                        \
        note_made(&span, done),                                                                    \
        PARAMS(const void *in, int width, int height, int stride, void *out),                      \
        ARGS(in, width, height, stride, out))
ENCODE_LOSSLESS(WebPEncodeLosslessRGB, 3)
ENCODE_LOSSLESS(WebPEncodeLosslessRGBA, 4)
ENCODE_LOSSLESS(WebPEncodeLosslessBGR, 3)
ENCODE_LOSSLESS(WebPEncodeLosslessBGRA, 4)
WEBP_CALL(WebPEncode, "encode", 0, note_picture(&span, picture), NOTHING,
    PARAMS(const void *config, struct webp_picture *picture), ARGS(config, picture))

// ---- Where the ABI becomes known; no time to speak of. ----
#define PREPARE(id, trust)                                                                         \
    HOOK_TYPE(uintptr_t, id, PARAMS(void *object, int version))                                    \
    static inline uintptr_t id##_body(id##_fn *real, void *object, int version)                    \
    {                                                                                              \
        uintptr_t done = real(object, version);                                                    \
        note_version(trust, done, version);                                                        \
        return done;                                                                               \
    }                                                                                              \
    HOOK_THUNKS(uintptr_t, id, PARAMS(void *object, int version), ARGS(object, version))
PREPARE(WebPInitDecoderConfigInternal, &trust_config)
PREPARE(WebPPictureInitInternal, &trust_picture)

#define LINE(id, attrs) HOOK_LINE(id, #id, attrs)
#define LINE_UNTIMED(id) HOOK_LINE_UNTIMED(id, #id)
static const struct hook_function functions[] = {
    LINE(WebPDecodeRGB, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE),
    LINE(WebPDecodeRGBA, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE),
    LINE(WebPDecodeBGR, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE),
    LINE(WebPDecodeBGRA, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE),
    LINE(WebPDecodeARGB, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE),
    LINE(WebPDecodeRGBInto, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE),
    LINE(WebPDecodeRGBAInto, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE),
    LINE(WebPDecodeBGRInto, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE),
    LINE(WebPDecodeBGRAInto, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE),
    LINE(WebPDecodeARGBInto, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE),
    LINE(WebPDecodeYUV, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE),
    LINE(WebPDecodeYUVInto, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE),
    LINE(WebPDecode, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE),
    LINE(WebPIAppend, HOOK_BYTES | HOOK_SHAPE | HOOK_ATTR(ELAPSED)),
    LINE(WebPIUpdate, HOOK_BYTES | HOOK_SHAPE | HOOK_ATTR(ELAPSED)),
    LINE_UNTIMED(WebPIDelete),
    LINE(WebPGetInfo, 0),
    LINE(WebPGetFeaturesInternal, 0),
    LINE(WebPEncodeRGB, HOOK_BYTES | HOOK_SHAPE),
    LINE(WebPEncodeRGBA, HOOK_BYTES | HOOK_SHAPE),
    LINE(WebPEncodeBGR, HOOK_BYTES | HOOK_SHAPE),
    LINE(WebPEncodeBGRA, HOOK_BYTES | HOOK_SHAPE),
    LINE(WebPEncodeLosslessRGB, HOOK_BYTES | HOOK_SHAPE),
    LINE(WebPEncodeLosslessRGBA, HOOK_BYTES | HOOK_SHAPE),
    LINE(WebPEncodeLosslessBGR, HOOK_BYTES | HOOK_SHAPE),
    LINE(WebPEncodeLosslessBGRA, HOOK_BYTES | HOOK_SHAPE),
    LINE(WebPEncode, HOOK_SHAPE),
    LINE_UNTIMED(WebPInitDecoderConfigInternal),
    LINE_UNTIMED(WebPPictureInitInternal),
    HOOK_END,
};

static const char *const libraries[] = {"libwebp.so", "libwebpdecoder.so", NULL};

const struct hook_set hook_libwebp = {
    .name = "libwebp",
    .help = "WebP decoding and encoding with libwebp",
    .libraries = libraries,
    .functions = functions,
};
