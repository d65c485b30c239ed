// SPDX-License-Identifier: Apache-2.0
// Hook set turbojpeg: libjpeg-turbo's own API, the tj calls of version 2 and the tj3 calls of
// version 3. The size of a JPEG image is read from its frame header, in the bytes that the hooked
// call is about to read anyway; what scaling makes of it follows from the arguments. Threads: any.
#include "agent/hook.h"

#define MARKER_LIMIT 256 // segments looked at before the frame header is given up

struct jpeg_extent {
    uint32_t width, height, channels; // width 0: not known
};

// SOF0 to SOF15 without DHT (C4), JPG (C8) and DAC (CC).
static int is_frame_header(uint8_t marker)
{
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

// Walks the segments from the start of the image to the frame header.
static struct jpeg_extent read_extent(const uint8_t *p, size_t length_bytes)
{
    size_t at = 2;
    if (!p || length_bytes < 4 || p[0] != 0xff || p[1] != 0xd8)
        return (struct jpeg_extent){0, 0, 0};
    for (int i = 0; i < MARKER_LIMIT && length_bytes - at >= 10; i++) {
        if (p[at] != 0xff)
            break;
        uint8_t marker = p[at + 1];
        if (marker == 0xff) {
            at++; // a fill byte
            continue;
        }
        if (is_frame_header(marker))
            return (struct jpeg_extent){(uint32_t)p[at + 7] << 8 | p[at + 8],
                (uint32_t)p[at + 5] << 8 | p[at + 6], p[at + 9]};
        if (marker == 0xda || marker == 0xd9)
            break; // pixels or the end without a frame header
        size_t step = 2 + ((size_t)p[at + 2] << 8 | p[at + 3]);
        if (step < 4 || step > length_bytes - at)
            break;
        at += step;
    }
    return (struct jpeg_extent){0, 0, 0};
}

// By TJPF: RGB BGR RGBX BGRX XBGR XRGB GRAY RGBA BGRA ABGR ARGB CMYK; 0: not known.
static uint32_t channels_of(int pixel_format)
{
    static const uint8_t channels[] = {3, 3, 4, 4, 4, 4, 1, 4, 4, 4, 4, 4};
    return pixel_format >= 0 && (size_t)pixel_format < sizeof channels ? channels[pixel_format] : 0;
}

// The eighths that tjDecompress2 scales by: the largest that fits what was asked for.
static uint32_t eighths_of(struct jpeg_extent e, int width, int height)
{
    uint32_t wanted_width = width > 0 ? (uint32_t)width : e.width;
    uint32_t wanted_height = height > 0 ? (uint32_t)height : e.height;
    for (uint32_t n = 16; n > 0; n--) {
        if ((e.width * n + 7) / 8 <= wanted_width && (e.height * n + 7) / 8 <= wanted_height)
            return n;
    }
    return 0;
}

// Shape of a decode of version 2, before it.
static void note_scaled(const struct hook_span *s, const uint8_t *bytes, size_t length_bytes,
    int width, int height, uint32_t channels)
{
    if (!s->token)
        return;
    span_bytes(s->token, length_bytes);
    struct jpeg_extent e = read_extent(bytes, length_bytes);
    if (!e.width || !e.height)
        return;
    span_source(s->token, e.width, e.height);
    uint32_t n = eighths_of(e, width, height);
    if (!n)
        return; // the call will fail
    span_shape(s->token, (e.width * n + 7) / 8, (e.height * n + 7) / 8,
        channels ? channels : e.channels, 0);
    span_scale(s->token, n == 8 ? 1 : n, n == 8 ? 1 : 8);
}

// Version 3 keeps scale and crop in its handle; once a program used them, the shape is not known.
static _Atomic int has_scaled;

static void note_whole(
    const struct hook_span *s, const uint8_t *bytes, size_t length_bytes, uint32_t channels)
{
    if (!s->token)
        return;
    span_bytes(s->token, length_bytes);
    struct jpeg_extent e = read_extent(bytes, length_bytes);
    if (!e.width || !e.height)
        return;
    span_source(s->token, e.width, e.height);
    if (!atomic_load_explicit(&has_scaled, memory_order_relaxed))
        span_shape(s->token, e.width, e.height, channels ? channels : e.channels, 0);
}

static void note_pixels(const struct hook_span *s, int width, int height, uint32_t channels)
{
    if (s->token && width > 0 && height > 0)
        span_shape(s->token, (uint32_t)width, (uint32_t)height, channels, 0);
}

// Bytes that were made; the caller's pointer was written by a call that succeeded.
static void note_made(
    const struct hook_span *s, uintptr_t result, const unsigned long *length_bytes)
{
    if (s->token && (int)result == 0 && length_bytes)
        span_bytes(s->token, *length_bytes);
}

#define TJ_CALL(id, stage, before, after, params, args)                                            \
    HOOK_NOTED(                                                                                    \
        uintptr_t, id, stage, AGENT_GROUP_TURBOJPEG, before, after, PARAMS(params), ARGS(args))

#define SHORT_CALL(id, stage, params, args)                                                        \
    HOOK_CALL(uintptr_t, id, #id, stage, TRACE_CAUSE_OTHER,                                        \
        AGENT_FOLD_SHORT | AGENT_GROUP_TURBOJPEG, PARAMS(params), ARGS(args))

#define NOTHING HOOK_NOTHING
#define JPEG const uint8_t *jpeg, unsigned long n

// ---- Version 2. ----
SHORT_CALL(tjDecompressHeader, "decode", PARAMS(void *tj, JPEG, int *width, int *height),
    ARGS(tj, jpeg, n, width, height))
SHORT_CALL(tjDecompressHeader2, "decode",
    PARAMS(void *tj, JPEG, int *width, int *height, int *sampling),
    ARGS(tj, jpeg, n, width, height, sampling))
SHORT_CALL(tjDecompressHeader3, "decode",
    PARAMS(void *tj, JPEG, int *width, int *height, int *sampling, int *space),
    ARGS(tj, jpeg, n, width, height, sampling, space))
TJ_CALL(tjDecompress2, "decode",
    note_scaled(&span, jpeg, n, width, height, channels_of(pixel_format)), NOTHING,
    PARAMS(
        void *tj, JPEG, void *out, int width, int pitch, int height, int pixel_format, int flags),
    ARGS(tj, jpeg, n, out, width, pitch, height, pixel_format, flags))
TJ_CALL(tjDecompress, "decode", note_scaled(&span, jpeg, n, width, height, (uint32_t)pixel_bytes),
    NOTHING,
    PARAMS(void *tj, JPEG, void *out, int width, int pitch, int height, int pixel_bytes, int flags),
    ARGS(tj, jpeg, n, out, width, pitch, height, pixel_bytes, flags))
TJ_CALL(tjDecompressToYUV, "decode", note_scaled(&span, jpeg, n, 0, 0, 0), NOTHING,
    PARAMS(void *tj, JPEG, void *out, int flags), ARGS(tj, jpeg, n, out, flags))
TJ_CALL(tjDecompressToYUV2, "decode", note_scaled(&span, jpeg, n, width, height, 0), NOTHING,
    PARAMS(void *tj, JPEG, void *out, int width, int align, int height, int flags),
    ARGS(tj, jpeg, n, out, width, align, height, flags))
TJ_CALL(tjDecompressToYUVPlanes, "decode", note_scaled(&span, jpeg, n, width, height, 0), NOTHING,
    PARAMS(void *tj, JPEG, void *planes, int width, int *strides, int height, int flags),
    ARGS(tj, jpeg, n, planes, width, strides, height, flags))
TJ_CALL(tjDecodeYUV, "convert", note_pixels(&span, width, height, channels_of(pixel_format)),
    NOTHING,
    PARAMS(void *tj, const void *in, int align, int sampling, void *out, int width, int pitch,
        int height, int pixel_format, int flags),
    ARGS(tj, in, align, sampling, out, width, pitch, height, pixel_format, flags))
TJ_CALL(tjDecodeYUVPlanes, "convert", note_pixels(&span, width, height, channels_of(pixel_format)),
    NOTHING,
    PARAMS(void *tj, const void *planes, const int *strides, int sampling, void *out, int width,
        int pitch, int height, int pixel_format, int flags),
    ARGS(tj, planes, strides, sampling, out, width, pitch, height, pixel_format, flags))
TJ_CALL(tjCompress2, "encode", note_pixels(&span, width, height, channels_of(pixel_format)),
    note_made(&span, done, made),
    PARAMS(void *tj, const void *in, int width, int pitch, int height, int pixel_format, void *out,
        unsigned long *made, int sampling, int quality, int flags),
    ARGS(tj, in, width, pitch, height, pixel_format, out, made, sampling, quality, flags))
TJ_CALL(tjCompress, "encode", note_pixels(&span, width, height, (uint32_t)pixel_bytes),
    note_made(&span, done, made),
    PARAMS(void *tj, void *in, int width, int pitch, int height, int pixel_bytes, void *out,
        unsigned long *made, int sampling, int quality, int flags),
    ARGS(tj, in, width, pitch, height, pixel_bytes, out, made, sampling, quality, flags))
TJ_CALL(tjCompressFromYUV, "encode", note_pixels(&span, width, height, 0),
    note_made(&span, done, made),
    PARAMS(void *tj, const void *in, int width, int align, int height, int sampling, void *out,
        unsigned long *made, int quality, int flags),
    ARGS(tj, in, width, align, height, sampling, out, made, quality, flags))
TJ_CALL(tjCompressFromYUVPlanes, "encode", note_pixels(&span, width, height, 0),
    note_made(&span, done, made),
    PARAMS(void *tj, const void *planes, int width, const int *strides, int height, int sampling,
        void *out, unsigned long *made, int quality, int flags),
    ARGS(tj, planes, width, strides, height, sampling, out, made, quality, flags))
TJ_CALL(tjEncodeYUV, "convert", note_pixels(&span, width, height, (uint32_t)pixel_bytes), NOTHING,
    PARAMS(void *tj, void *in, int width, int pitch, int height, int pixel_bytes, void *out,
        int sampling, int flags),
    ARGS(tj, in, width, pitch, height, pixel_bytes, out, sampling, flags))
TJ_CALL(tjEncodeYUV2, "convert", note_pixels(&span, width, height, channels_of(pixel_format)),
    NOTHING,
    PARAMS(void *tj, void *in, int width, int pitch, int height, int pixel_format, void *out,
        int sampling, int flags),
    ARGS(tj, in, width, pitch, height, pixel_format, out, sampling, flags))
TJ_CALL(tjEncodeYUV3, "convert", note_pixels(&span, width, height, channels_of(pixel_format)),
    NOTHING,
    PARAMS(void *tj, const void *in, int width, int pitch, int height, int pixel_format, void *out,
        int align, int sampling, int flags),
    ARGS(tj, in, width, pitch, height, pixel_format, out, align, sampling, flags))
TJ_CALL(tjEncodeYUVPlanes, "convert", note_pixels(&span, width, height, channels_of(pixel_format)),
    NOTHING,
    PARAMS(void *tj, const void *in, int width, int pitch, int height, int pixel_format,
        void *planes, int *strides, int sampling, int flags),
    ARGS(tj, in, width, pitch, height, pixel_format, planes, strides, sampling, flags))
// Without decoding to pixels: the coefficients are read, turned and written.
TJ_CALL(tjTransform, "encode", if (span.token) span_bytes(span.token, n), NOTHING,
    PARAMS(
        void *tj, JPEG, int count, void *outs, unsigned long *lengths, void *transforms, int flags),
    ARGS(tj, jpeg, n, count, outs, lengths, transforms, flags))
TJ_CALL(tjLoadImage, "load", NOTHING, NOTHING,
    PARAMS(const char *path, int *width, int align, int *height, int *pixel_format, int flags),
    ARGS(path, width, align, height, pixel_format, flags))
TJ_CALL(tjSaveImage, "save", note_pixels(&span, width, height, channels_of(pixel_format)), NOTHING,
    PARAMS(
        const char *path, void *in, int width, int pitch, int height, int pixel_format, int flags),
    ARGS(path, in, width, pitch, height, pixel_format, flags))

// ---- Version 3. ----
SHORT_CALL(tj3DecompressHeader, "decode", PARAMS(void *tj, JPEG), ARGS(tj, jpeg, n))
#define DECOMPRESS(id)                                                                             \
    TJ_CALL(id, "decode", note_whole(&span, jpeg, n, channels_of(pixel_format)), NOTHING,          \
        PARAMS(void *tj, JPEG, void *out, int pitch, int pixel_format),                            \
        ARGS(tj, jpeg, n, out, pitch, pixel_format))
DECOMPRESS(tj3Decompress8)
DECOMPRESS(tj3Decompress12)
DECOMPRESS(tj3Decompress16)
TJ_CALL(tj3DecompressToYUV8, "decode", note_whole(&span, jpeg, n, 0), NOTHING,
    PARAMS(void *tj, JPEG, void *out, int align), ARGS(tj, jpeg, n, out, align))
TJ_CALL(tj3DecompressToYUVPlanes8, "decode", note_whole(&span, jpeg, n, 0), NOTHING,
    PARAMS(void *tj, JPEG, void *planes, int *strides), ARGS(tj, jpeg, n, planes, strides))
TJ_CALL(tj3DecodeYUV8, "convert", note_pixels(&span, width, height, channels_of(pixel_format)),
    NOTHING,
    PARAMS(void *tj, const void *in, int align, void *out, int width, int pitch, int height,
        int pixel_format),
    ARGS(tj, in, align, out, width, pitch, height, pixel_format))
TJ_CALL(tj3DecodeYUVPlanes8, "convert",
    note_pixels(&span, width, height, channels_of(pixel_format)), NOTHING,
    PARAMS(void *tj, const void *planes, const int *strides, void *out, int width, int pitch,
        int height, int pixel_format),
    ARGS(tj, planes, strides, out, width, pitch, height, pixel_format))
#define COMPRESS(id)                                                                               \
    TJ_CALL(id, "encode", note_pixels(&span, width, height, channels_of(pixel_format)),            \
        note_made(&span, done, made),                                                              \
        PARAMS(void *tj, const void *in, int width, int pitch, int height, int pixel_format,       \
            void *out, unsigned long *made),                                                       \
        ARGS(tj, in, width, pitch, height, pixel_format, out, made))
COMPRESS(tj3Compress8)
COMPRESS(tj3Compress12)
COMPRESS(tj3Compress16)
TJ_CALL(tj3CompressFromYUV8, "encode", note_pixels(&span, width, height, 0),
    note_made(&span, done, made),
    PARAMS(
        void *tj, const void *in, int width, int align, int height, void *out, unsigned long *made),
    ARGS(tj, in, width, align, height, out, made))
TJ_CALL(tj3CompressFromYUVPlanes8, "encode", note_pixels(&span, width, height, 0),
    note_made(&span, done, made),
    PARAMS(void *tj, const void *planes, int width, const int *strides, int height, void *out,
        unsigned long *made),
    ARGS(tj, planes, width, strides, height, out, made))
TJ_CALL(tj3EncodeYUV8, "convert", note_pixels(&span, width, height, channels_of(pixel_format)),
    NOTHING,
    PARAMS(void *tj, const void *in, int width, int pitch, int height, int pixel_format, void *out,
        int align),
    ARGS(tj, in, width, pitch, height, pixel_format, out, align))
TJ_CALL(tj3EncodeYUVPlanes8, "convert",
    note_pixels(&span, width, height, channels_of(pixel_format)), NOTHING,
    PARAMS(void *tj, const void *in, int width, int pitch, int height, int pixel_format,
        void *planes, int *strides),
    ARGS(tj, in, width, pitch, height, pixel_format, planes, strides))
TJ_CALL(tj3Transform, "encode", if (span.token) span_bytes(span.token, n), NOTHING,
    PARAMS(void *tj, JPEG, int count, void *outs, size_t *lengths, const void *transforms),
    ARGS(tj, jpeg, n, count, outs, lengths, transforms))
#define LOAD_IMAGE(id)                                                                             \
    TJ_CALL(id, "load", NOTHING, NOTHING,                                                          \
        PARAMS(void *tj, const char *path, int *width, int align, int *height, int *pixel_format), \
        ARGS(tj, path, width, align, height, pixel_format))
LOAD_IMAGE(tj3LoadImage8)
LOAD_IMAGE(tj3LoadImage12)
LOAD_IMAGE(tj3LoadImage16)
#define SAVE_IMAGE(id)                                                                             \
    TJ_CALL(id, "save", note_pixels(&span, width, height, channels_of(pixel_format)), NOTHING,     \
        PARAMS(void *tj, const char *path, const void *in, int width, int pitch, int height,       \
            int pixel_format),                                                                     \
        ARGS(tj, path, in, width, pitch, height, pixel_format))
SAVE_IMAGE(tj3SaveImage8)
SAVE_IMAGE(tj3SaveImage12)
SAVE_IMAGE(tj3SaveImage16)

// Not timed: from here on the shape of decoded images is not known.
struct tj_region {
    int x, y, width, height;
};
#define SETS_SCALE(id, type)                                                                       \
    HOOK_TYPE(uintptr_t, id, PARAMS(void *tj, type value))                                         \
    static inline uintptr_t id##_body(id##_fn *real, void *tj, type value)                         \
    {                                                                                              \
        atomic_store(&has_scaled, 1);                                                              \
        return real(tj, value);                                                                    \
    }                                                                                              \
    HOOK_THUNKS(uintptr_t, id, PARAMS(void *tj, type value), ARGS(tj, value))
SETS_SCALE(tj3SetScalingFactor, uint64_t) // two ints in one register
SETS_SCALE(tj3SetCroppingRegion, struct tj_region)

#define LINE(id, attrs) HOOK_LINE(id, #id, attrs)
#define LINE_UNTIMED(id) HOOK_LINE_UNTIMED(id, #id)
static const struct hook_function functions[] = {
    LINE(tjDecompressHeader, 0),
    LINE(tjDecompressHeader2, 0),
    LINE(tjDecompressHeader3, 0),
    LINE(tjDecompress, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE | HOOK_SCALE),
    LINE(tjDecompress2, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE | HOOK_SCALE),
    LINE(tjDecompressToYUV, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE | HOOK_SCALE),
    LINE(tjDecompressToYUV2, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE | HOOK_SCALE),
    LINE(tjDecompressToYUVPlanes, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE | HOOK_SCALE),
    LINE(tjDecodeYUV, HOOK_SHAPE),
    LINE(tjDecodeYUVPlanes, HOOK_SHAPE),
    LINE(tjCompress, HOOK_BYTES | HOOK_SHAPE),
    LINE(tjCompress2, HOOK_BYTES | HOOK_SHAPE),
    LINE(tjCompressFromYUV, HOOK_BYTES | HOOK_SHAPE),
    LINE(tjCompressFromYUVPlanes, HOOK_BYTES | HOOK_SHAPE),
    LINE(tjEncodeYUV, HOOK_SHAPE),
    LINE(tjEncodeYUV2, HOOK_SHAPE),
    LINE(tjEncodeYUV3, HOOK_SHAPE),
    LINE(tjEncodeYUVPlanes, HOOK_SHAPE),
    LINE(tjTransform, HOOK_BYTES),
    LINE(tjLoadImage, 0),
    LINE(tjSaveImage, HOOK_SHAPE),
    LINE(tj3DecompressHeader, 0),
    LINE(tj3Decompress8, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE),
    LINE(tj3Decompress12, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE),
    LINE(tj3Decompress16, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE),
    LINE(tj3DecompressToYUV8, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE),
    LINE(tj3DecompressToYUVPlanes8, HOOK_BYTES | HOOK_SHAPE | HOOK_SOURCE),
    LINE(tj3DecodeYUV8, HOOK_SHAPE),
    LINE(tj3DecodeYUVPlanes8, HOOK_SHAPE),
    LINE(tj3Compress8, HOOK_BYTES | HOOK_SHAPE),
    LINE(tj3Compress12, HOOK_BYTES | HOOK_SHAPE),
    LINE(tj3Compress16, HOOK_BYTES | HOOK_SHAPE),
    LINE(tj3CompressFromYUV8, HOOK_BYTES | HOOK_SHAPE),
    LINE(tj3CompressFromYUVPlanes8, HOOK_BYTES | HOOK_SHAPE),
    LINE(tj3EncodeYUV8, HOOK_SHAPE),
    LINE(tj3EncodeYUVPlanes8, HOOK_SHAPE),
    LINE(tj3Transform, HOOK_BYTES),
    LINE(tj3LoadImage8, 0),
    LINE(tj3LoadImage12, 0),
    LINE(tj3LoadImage16, 0),
    LINE(tj3SaveImage8, HOOK_SHAPE),
    LINE(tj3SaveImage12, HOOK_SHAPE),
    LINE(tj3SaveImage16, HOOK_SHAPE),
    LINE_UNTIMED(tj3SetScalingFactor),
    LINE_UNTIMED(tj3SetCroppingRegion),
    HOOK_END,
};

static const char *const libraries[] = {"libturbojpeg.so", NULL};

const struct hook_set hook_turbojpeg = {
    .name = "turbojpeg",
    .help = "JPEG decoding and encoding with the TurboJPEG API",
    .libraries = libraries,
    .functions = functions,
};
