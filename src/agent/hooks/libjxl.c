// SPDX-License-Identifier: Apache-2.0
// Hook set libjxl: reading and writing JPEG XL with libjxl (0.5 to 0.11). A picture's size comes
// from the library's own JxlDecoderGetBasicInfo; of the caller's structs only the first fields are
// read, which are the same in all of these. What is set on a coder before it works (the format of
// the pixels) is kept for the thread's last one. Threads: any.
#include "agent/hook.h"
#include "agent/hooks/picture.h"
#include "agent/library.h"

#include <assert.h>

// JxlBasicInfo, with room for what a later version may append.
struct basic_info {
    int32_t has_container;
    uint32_t width, height;
    uint32_t bits, exponent_bits;
    uint32_t settings[8];
    uint32_t colour_channels, extra_channels, alpha_bits;
    uint8_t room[960];
};
static_assert(offsetof(struct basic_info, colour_channels) == 52, "JxlBasicInfo");
static_assert(sizeof(struct basic_info) == 1024, "JxlBasicInfo with room");

// JxlPixelFormat.
struct pixel_format {
    uint32_t channels;
    int32_t type; // JxlDataType
};

typedef int get_info_fn(const void *decoder, struct basic_info *info);
static struct library_table library = {.names = {"JxlDecoderGetBasicInfo"}};

enum { STATUS_SUCCESS = 0, STATUS_ERROR = 1, STATUS_BASIC_INFO = 0x40, STATUS_FULL_IMAGE = 0x1000 };

// By JxlDataType: float, -, 8 bits, 16 bits, -, half.
static enum trace_dtype dtype_of(int32_t type)
{
    static const uint8_t dtypes[] = {TRACE_DTYPE_F32, TRACE_DTYPE_UNKNOWN, TRACE_DTYPE_U8,
        TRACE_DTYPE_U16, TRACE_DTYPE_UNKNOWN, TRACE_DTYPE_F16};
    return (uint32_t)type < sizeof dtypes ? (enum trace_dtype)dtypes[type] : TRACE_DTYPE_UNKNOWN;
}

static enum trace_dtype dtype_of_info(const struct basic_info *info)
{
    if (info->exponent_bits)
        return info->bits > 16 ? TRACE_DTYPE_F32 : TRACE_DTYPE_F16;
    return info->bits <= 8 ? TRACE_DTYPE_U8 : TRACE_DTYPE_U16;
}

static uint32_t channels_of_info(const struct basic_info *info)
{
    return info->colour_channels + (info->alpha_bits ? 1u : 0u);
}

// ---- What the thread's last decoder and encoder were told. ----

static __thread struct {
    const void *decoder; // NULL: none
    struct pixel_format format;
    const void *out; // NULL: the pixels go to a function
    const void *encoder;
    uint32_t width, height, channels;
} met __attribute__((tls_model("initial-exec")));

static void meet_output(const void *decoder, const struct pixel_format *format, const void *out)
{
    if (!decoder || !format)
        return;
    met.decoder = decoder;
    met.format = *format;
    met.out = out;
}

static void meet_input(const void *encoder, const struct basic_info *info)
{
    if (!encoder || !info)
        return;
    met.encoder = encoder;
    met.width = info->width;
    met.height = info->height;
    met.channels = channels_of_info(info);
}

static void forget(const void *coder)
{
    picture_forget(coder);
    if (met.decoder == coder)
        met.decoder = NULL;
    if (met.encoder == coder)
        met.encoder = NULL;
}

// ---- Attributes. ----

// The header was read, or the picture.
static void note_decoded(
    const struct hook_span *s, void *function, uintptr_t done, const void *decoder)
{
    struct basic_info info = {.width = 0};
    if (!s->token || !decoder || ((int)done != STATUS_BASIC_INFO && (int)done != STATUS_FULL_IMAGE))
        return;
    void *const *at = library_functions(&library, (uintptr_t)function);
    if (!at || ((get_info_fn *)at[0])(decoder, &info) != STATUS_SUCCESS || !info.width ||
        !info.height)
        return;
    enum trace_dtype stored = dtype_of_info(&info), made = stored;
    uint32_t channels = channels_of_info(&info);
    if ((int)done == STATUS_FULL_IMAGE && met.decoder == decoder) {
        channels = met.format.channels;
        made = dtype_of(met.format.type);
        if (met.out)
            span_value(s->token, TRACE_ATTR_OUTPUT, (uintptr_t)met.out);
    }
    span_shape(s->token, info.width, info.height, channels, 0);
    span_value_aux(s->token, TRACE_ATTR_DTYPE, made, (uint32_t)stored);
}

// A picture handed over; the library copies it.
static void note_frame(
    const struct hook_span *s, const struct pixel_format *format, const void *pixels)
{
    if (!s->token || !format)
        return;
    uint32_t dtype = dtype_of(format->type);
    span_value_aux(s->token, TRACE_ATTR_DTYPE, dtype, dtype);
    span_value(s->token, TRACE_ATTR_INPUT, (uintptr_t)pixels);
}

// Bytes made, and the shape when all of the pictures handed over were written.
static void note_made(
    const struct hook_span *s, uintptr_t done, const void *encoder, size_t before, size_t after)
{
    if (!s->token)
        return;
    span_bytes(s->token, before > after ? before - after : 0);
    if ((int)done == STATUS_SUCCESS && met.encoder == encoder && met.width && met.height)
        span_shape(s->token, met.width, met.height, met.channels, 0);
}

// ---- Reading. A picture takes many calls; the one that completes it has the time since the first.
static void note_progress(const struct hook_span *s, const void *decoder, uintptr_t done)
{
    if (!s->token)
        return;
    picture_begin(s, decoder);
    if ((int)done == STATUS_FULL_IMAGE)
        picture_end(s, decoder, 1);
    else if ((int)done == STATUS_SUCCESS || (int)done == STATUS_ERROR)
        picture_forget(decoder); // there is no more
}

HOOK_NOTED(
    uintptr_t, JxlDecoderProcessInput, "decode", AGENT_FOLD_SHORT, HOOK_NOTHING,
    {
        note_decoded(&span, (void *)real, done, decoder);
        note_progress(&span, decoder, done);
    },
    PARAMS(void *decoder), ARGS(decoder))
HOOK_NOTED(uintptr_t, JxlDecoderSetInput, "decode", AGENT_FOLD, span_bytes(span.token, n),
    HOOK_NOTHING, PARAMS(void *decoder, const void *bytes, size_t n), ARGS(decoder, bytes, n))
HOOK_NOTED(uintptr_t, JxlDecoderFlushImage, "decode", AGENT_FOLD_SHORT, HOOK_NOTHING, HOOK_NOTHING,
    PARAMS(void *decoder), ARGS(decoder))

// ---- Writing. ----
HOOK_NOTED(uintptr_t, JxlEncoderAddImageFrame, "encode", AGENT_FOLD_SHORT,
    note_frame(&span, format, pixels), HOOK_NOTHING,
    PARAMS(const void *settings, const void *format, const void *pixels, size_t n),
    ARGS(settings, format, pixels, n))
HOOK_NOTED(uintptr_t, JxlEncoderAddJPEGFrame, "encode", 0,
    span_value(span.token, TRACE_ATTR_INPUT, (uintptr_t)jpeg), HOOK_NOTHING,
    PARAMS(const void *settings, const void *jpeg, size_t n), ARGS(settings, jpeg, n))
HOOK_NOTED(uintptr_t, JxlEncoderProcessOutput, "encode", 0, const size_t before = left ? *left : 0,
    note_made(&span, done, encoder, before, left ? *left : 0),
    PARAMS(void *encoder, void **out, size_t *left), ARGS(encoder, out, left))

// ---- What is set on a coder, and its end; no time to speak of. ----
#define TELL(id, before, params, args)                                                             \
    HOOK_TYPE(uintptr_t, id, PARAMS(params))                                                       \
    static inline uintptr_t id##_body(id##_fn *real, params)                                       \
    {                                                                                              \
        before;                                                                                    \
        return real(args);                                                                         \
    }                                                                                              \
    HOOK_THUNKS(uintptr_t, id, PARAMS(params), ARGS(args))
TELL(JxlDecoderSetImageOutBuffer, meet_output(decoder, format, out),
    PARAMS(void *decoder, const void *format, void *out, size_t n), ARGS(decoder, format, out, n))
TELL(JxlDecoderSetImageOutCallback, meet_output(decoder, format, NULL),
    PARAMS(void *decoder, const void *format, void *callback, void *user),
    ARGS(decoder, format, callback, user))
TELL(JxlDecoderSetMultithreadedImageOutCallback, meet_output(decoder, format, NULL),
    PARAMS(void *decoder, const void *format, void *begin, void *run, void *end, void *user),
    ARGS(decoder, format, begin, run, end, user))
TELL(JxlEncoderSetBasicInfo, meet_input(encoder, info), PARAMS(void *encoder, const void *info),
    ARGS(encoder, info))
TELL(JxlDecoderReset, forget(decoder), PARAMS(void *decoder), ARGS(decoder))
TELL(JxlDecoderDestroy, forget(decoder), PARAMS(void *decoder), ARGS(decoder))
TELL(JxlEncoderReset, forget(encoder), PARAMS(void *encoder), ARGS(encoder))
TELL(JxlEncoderDestroy, forget(encoder), PARAMS(void *encoder), ARGS(encoder))

#define LINE(id, attrs) HOOK_LINE(id, #id, attrs)
#define TOLD(id) HOOK_LINE_UNTIMED(id, #id)
static const struct hook_function functions[] = {
    LINE(JxlDecoderProcessInput,
        HOOK_SHAPE | HOOK_ATTR(DTYPE) | HOOK_ATTR(OUTPUT) | HOOK_ATTR(ELAPSED)),
    LINE(JxlDecoderSetInput, HOOK_BYTES),
    LINE(JxlDecoderFlushImage, 0),
    LINE(JxlEncoderAddImageFrame, HOOK_ATTR(DTYPE) | HOOK_ATTR(INPUT)),
    LINE(JxlEncoderAddJPEGFrame, HOOK_ATTR(INPUT)),
    LINE(JxlEncoderProcessOutput, HOOK_BYTES | HOOK_SHAPE),
    TOLD(JxlDecoderSetImageOutBuffer),
    TOLD(JxlDecoderSetImageOutCallback),
    TOLD(JxlDecoderSetMultithreadedImageOutCallback),
    TOLD(JxlEncoderSetBasicInfo),
    TOLD(JxlDecoderReset),
    TOLD(JxlDecoderDestroy),
    TOLD(JxlEncoderReset),
    TOLD(JxlEncoderDestroy),
    HOOK_END,
};

static const char *const libraries[] = {"libjxl.so", NULL};

const struct hook_set hook_libjxl = {
    .name = "libjxl",
    .help = "JPEG XL decoding and encoding with libjxl",
    .libraries = libraries,
    .functions = functions,
};
