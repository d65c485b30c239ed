// SPDX-License-Identifier: Apache-2.0
// Hook set libavcodec: decoding and encoding with FFmpeg's libavcodec (58 to 61: FFmpeg 4 to 7).
// With a pool of threads a call gives the work away and waits for what was given before: that wait
// is seen inside the call. A frame that came out is told apart from a call that gave none and from
// sound, since only pictures count as items. Time bases, threads and whether a context encodes are
// asked of the library when it is opened. Threads: any; the library's own are not seen apart.
#include "agent/hooks/libav.h"

static struct libav_set set = {.major_low = 58,
    .major_high = 61,
    .library = {.names = {"avcodec_version", "av_codec_is_encoder"}, .version = libav_version_of}};
static struct libav_context contexts[LIBAV_CONTEXTS];

#define IS_ENCODER 1 // in libav_context.flags

typedef int is_encoder_fn(const void *codec);

static int is_encoder(void *function, const struct libav_codec_context *c, const void *codec)
{
    const struct library *l = libav_library_of(&set, function);
    if (!l || !l->at[LIBAV_EXTRA] || !c)
        return 0;
    const void *used = codec ? codec : c->codec;
    return used && ((is_encoder_fn *)l->at[LIBAV_EXTRA])(used);
}

static void note_opened(const struct hook_span *s, void *function, void *context, int encodes)
{
    if (!libav_library_of(&set, function))
        return;
    const struct libav_options o = libav_options_find();
    struct libav_context *c = libav_context_take(contexts, context);
    if (c) {
        c->flags = encodes ? IS_ENCODER : 0;
        c->time_base = libav_option_ratio(&o, context, encodes ? "time_base" : "pkt_timebase");
    }
    if (!s->token)
        return;
    const int64_t threads = libav_option(&o, context, "threads");
    if (threads > 0)
        span_value(s->token, TRACE_ATTR_THREADS, (uint64_t)threads);
    span_value(s->token, TRACE_ATTR_SESSION, (uint64_t)(uintptr_t)context);
}

static struct libav_ratio time_base_of(const void *context)
{
    const struct libav_context *c = libav_context_find(contexts, context);
    return c ? c->time_base : (struct libav_ratio){0, 0};
}

static void note_session(const struct hook_span *s, const void *context)
{
    if (s->token)
        span_value(s->token, TRACE_ATTR_SESSION, (uint64_t)(uintptr_t)context);
}

static void note_packet(const struct hook_span *s, void *function, const void *context,
    const struct libav_packet *p, enum trace_attr_key side)
{
    const unsigned major = libav_major(&set, s, function);
    note_session(s, context);
    if (!major || !p)
        return;
    libav_note_packet(s, p, major, time_base_of(context));
    if (p->data)
        span_value(s->token, side, (uint64_t)(uintptr_t)p->data);
}

// The span is recorded with another name.
static void rename_span(const struct hook_span *s, struct hook_name *name)
{
    const uint16_t id = hook_id(name);
    struct agent_frame *f = span_frame(s->token);
    if (f && id)
        f->what.name = id;
}

// What a call that decodes is recorded as: it gave a picture, sound, or nothing.
#define DECODE_NAMES(id, cause)                                                                    \
    static struct hook_name id##_names[] = {                                                       \
        {#id, "decode", cause, AGENT_FOLD_SHORT, 0},                                               \
        {#id " (sound)", "decode", cause, AGENT_FOLD_SHORT, 0},                                    \
        {#id " (no frame)", "decode", cause, AGENT_FOLD_SHORT, 0},                                 \
    }
enum { NAME_SOUND = 1, NAME_NO_FRAME };

static void note_decoded(const struct hook_span *s, void *function, const void *context,
    int is_made, const struct libav_frame *f, struct hook_name *names)
{
    const unsigned major = libav_major(&set, s, function);
    note_session(s, context);
    if (!s->token)
        return;
    if (!is_made) {
        rename_span(s, &names[NAME_NO_FRAME]);
        return;
    }
    if (!major)
        return;
    if (libav_kind_of(f) == LIBAV_SOUND)
        rename_span(s, &names[NAME_SOUND]);
    libav_note_frame(s, f, TRACE_ATTR_OUTPUT, time_base_of(context));
    if (libav_kind_of(f) == LIBAV_PICTURE)
        libav_keep(s);
}

static void note_encoded(
    const struct hook_span *s, void *function, const void *context, const struct libav_frame *f)
{
    note_session(s, context);
    if (libav_major(&set, s, function))
        libav_note_frame(s, f, TRACE_ATTR_INPUT, time_base_of(context));
}

#define NOTHING LIBAV_NOTHING_TO_DO
#define CODEC_CALL(id, stage, flags, before, after, params, args)                                  \
    LIBAV_CALL(int, id, stage, TRACE_CAUSE_OTHER, flags, before, after, PARAMS(params), ARGS(args))
#define LIBRARY (void *)real
#define CONTEXT void *context

// ---- Decoding. ----
CODEC_CALL(avcodec_send_packet, "decode", AGENT_FOLD_SHORT,
    note_packet(&span, LIBRARY, context, packet, TRACE_ATTR_INPUT), NOTHING,
    PARAMS(CONTEXT, const struct libav_packet *packet), ARGS(context, packet))

#define DECODE_CALL(id, before, is_made, params, args)                                             \
    HOOK_TYPE(int, id, PARAMS(params))                                                             \
    DECODE_NAMES(id, TRACE_CAUSE_OTHER);                                                           \
    static inline int id##_body(id##_fn *real, params)                                             \
    {                                                                                              \
        __attribute__((cleanup(hook_end), unused)) struct hook_span span =                         \
            hook_begin_outer(&id##_names[0], SPAN_STACK);                                          \
        before;                                                                                    \
        int result = real(args);                                                                   \
        note_decoded(&span, LIBRARY, context, is_made, frame, id##_names);                         \
        return result;                                                                             \
    }                                                                                              \
    HOOK_THUNKS(int, id, PARAMS(params), ARGS(args))
DECODE_CALL(avcodec_receive_frame, NOTHING, result >= 0, PARAMS(CONTEXT, struct libav_frame *frame),
    ARGS(context, frame))
// Until libavcodec 58.
#define DECODE_OLD(id)                                                                             \
    DECODE_CALL(id, note_packet(&span, LIBRARY, context, packet, TRACE_ATTR_INPUT),                \
        result >= 0 && made && *made,                                                              \
        PARAMS(CONTEXT, struct libav_frame * frame, int *made, const struct libav_packet *packet), \
        ARGS(context, frame, made, packet))
DECODE_OLD(avcodec_decode_video2)
DECODE_OLD(avcodec_decode_audio4)

CODEC_CALL(avcodec_decode_subtitle2, "decode", AGENT_FOLD_SHORT,
    note_packet(&span, LIBRARY, context, packet, TRACE_ATTR_INPUT), NOTHING,
    PARAMS(CONTEXT, void *made, int *is_made, struct libav_packet *packet),
    ARGS(context, made, is_made, packet))

// ---- Encoding. ----
CODEC_CALL(avcodec_send_frame, "encode", AGENT_FOLD_SHORT,
    note_encoded(&span, LIBRARY, context, frame), NOTHING,
    PARAMS(CONTEXT, const struct libav_frame *frame), ARGS(context, frame))
CODEC_CALL(avcodec_receive_packet, "encode", AGENT_FOLD_SHORT, NOTHING,
    if (result >= 0) note_packet(&span, LIBRARY, context, packet, TRACE_ATTR_OUTPUT),
    PARAMS(CONTEXT, struct libav_packet *packet), ARGS(context, packet))
// Until libavcodec 58.
#define ENCODE_OLD(id)                                                                             \
    CODEC_CALL(id, "encode", AGENT_FOLD_SHORT, note_encoded(&span, LIBRARY, context, frame),       \
        if (result >= 0 && made && *made)                                                          \
            note_packet(&span, LIBRARY, context, packet, TRACE_ATTR_OUTPUT),                       \
        PARAMS(CONTEXT, struct libav_packet *packet, const struct libav_frame *frame, int *made),  \
        ARGS(context, packet, frame, made))
ENCODE_OLD(avcodec_encode_video2)
ENCODE_OLD(avcodec_encode_audio2)
CODEC_CALL(avcodec_encode_subtitle, "encode", AGENT_FOLD_SHORT, NOTHING,
    if (result > 0) span_bytes(span.token, (uint64_t)result),
    PARAMS(CONTEXT, uint8_t *out, int out_bytes, const void *subtitle),
    ARGS(context, out, out_bytes, subtitle))

// ---- Opening and closing: an encoder's, or a decoder's. ----
#define EITHER(id)                                                                                 \
    static struct hook_name id##_names[] = {                                                       \
        {#id, "decode", TRACE_CAUSE_OTHER, AGENT_FOLD_SHORT, 0},                                   \
        {#id, "encode", TRACE_CAUSE_OTHER, AGENT_FOLD_SHORT, 0}}
#define EITHER_SPAN(id, variable, encodes)                                                         \
    __attribute__((cleanup(hook_end), unused)) struct hook_span variable =                         \
        hook_begin_outer(&id##_names[(encodes) != 0], SPAN_STACK)

static int was_encoder(const void *context)
{
    const struct libav_context *c = libav_context_find(contexts, context);
    return c && c->flags == IS_ENCODER;
}

HOOK_TYPE(int, avcodec_open2, PARAMS(CONTEXT, const void *codec, void **options))
EITHER(avcodec_open2);
static inline int avcodec_open2_body(
    avcodec_open2_fn *real, void *context, const void *codec, void **options)
{
    const int encodes = is_encoder(LIBRARY, context, codec);
    EITHER_SPAN(avcodec_open2, span, encodes);
    int result = real(context, codec, options);
    if (result >= 0)
        note_opened(&span, LIBRARY, context, encodes);
    return result;
}
HOOK_THUNKS(int, avcodec_open2, PARAMS(CONTEXT, const void *codec, void **options),
    ARGS(context, codec, options))

HOOK_TYPE(int, avcodec_close, PARAMS(CONTEXT))
EITHER(avcodec_close);
static inline int avcodec_close_body(avcodec_close_fn *real, void *context)
{
    EITHER_SPAN(avcodec_close, span, was_encoder(context));
    libav_context_forget(contexts, context);
    return real(context);
}
HOOK_THUNKS(int, avcodec_close, PARAMS(CONTEXT), ARGS(context))

HOOK_TYPE(void, avcodec_free_context, PARAMS(void **context))
EITHER(avcodec_free_context);
static inline void avcodec_free_context_body(avcodec_free_context_fn *real, void **context)
{
    EITHER_SPAN(avcodec_free_context, span, context && was_encoder(*context));
    if (context)
        libav_context_forget(contexts, *context);
    real(context);
}
HOOK_THUNKS(void, avcodec_free_context, PARAMS(void **context), ARGS(context))

HOOK_TYPE(void, avcodec_flush_buffers, PARAMS(CONTEXT))
EITHER(avcodec_flush_buffers);
static inline void avcodec_flush_buffers_body(avcodec_flush_buffers_fn *real, void *context)
{
    EITHER_SPAN(avcodec_flush_buffers, span, was_encoder(context));
    real(context);
}
HOOK_THUNKS(void, avcodec_flush_buffers, PARAMS(CONTEXT), ARGS(context))

// ---- Packets: finding them in a stream of bytes, and changing their form. Part of the call when a
// demuxer or a muxer does it. ----
CODEC_CALL(av_parser_parse2, "load", AGENT_FOLD | AGENT_GROUP_LIBAV, NOTHING, NOTHING,
    PARAMS(void *parser, CONTEXT, uint8_t **out, int *out_bytes, const uint8_t *in, int in_bytes,
        int64_t pts, int64_t dts, int64_t position),
    ARGS(parser, context, out, out_bytes, in, in_bytes, pts, dts, position))
CODEC_CALL(av_bsf_send_packet, "convert", AGENT_FOLD_SHORT | AGENT_GROUP_LIBAV, NOTHING, NOTHING,
    PARAMS(void *filter, struct libav_packet *packet), ARGS(filter, packet))
CODEC_CALL(av_bsf_receive_packet, "convert", AGENT_FOLD_SHORT | AGENT_GROUP_LIBAV, NOTHING, NOTHING,
    PARAMS(void *filter, struct libav_packet *packet), ARGS(filter, packet))

// ---- Of libavutil: frames to and from an accelerator's memory. ----
CODEC_CALL(av_hwframe_transfer_data, "transfer", AGENT_FOLD_SHORT, NOTHING, NOTHING,
    PARAMS(void *to, const void *from, int flags), ARGS(to, from, flags))

#define LINE(id, attrs) HOOK_LINE(id, #id, attrs)
#define NAMES_LINE(id, attrs)                                                                      \
    {                                                                                              \
#id, id##_thunks, (void **)id##_real, id##_names, sizeof id##_names / sizeof *id##_names,  \
            attrs                                                                                  \
    }
#define SESSION HOOK_ATTR(SESSION)
#define PACKET (HOOK_BYTES | SESSION | HOOK_ATTR(PTS))
#define FRAME                                                                                      \
    (HOOK_SHAPE | SESSION | HOOK_ATTR(COLOUR) | HOOK_ATTR(ELEMENTS) | HOOK_ATTR(DTYPE) |           \
        HOOK_ATTR(PTS))

static const struct hook_function functions[] = {
    LINE(avcodec_send_packet, PACKET | HOOK_ATTR(INPUT)),
    NAMES_LINE(avcodec_receive_frame, FRAME | HOOK_ATTR(OUTPUT)),
    NAMES_LINE(avcodec_decode_video2, PACKET | FRAME | HOOK_ATTR(INPUT) | HOOK_ATTR(OUTPUT)),
    NAMES_LINE(avcodec_decode_audio4, PACKET | FRAME | HOOK_ATTR(INPUT) | HOOK_ATTR(OUTPUT)),
    LINE(avcodec_decode_subtitle2, PACKET | HOOK_ATTR(INPUT)),
    LINE(avcodec_send_frame, FRAME | HOOK_ATTR(INPUT)),
    LINE(avcodec_receive_packet, PACKET | HOOK_ATTR(OUTPUT)),
    LINE(avcodec_encode_video2, PACKET | FRAME | HOOK_ATTR(INPUT) | HOOK_ATTR(OUTPUT)),
    LINE(avcodec_encode_audio2, PACKET | FRAME | HOOK_ATTR(INPUT) | HOOK_ATTR(OUTPUT)),
    LINE(avcodec_encode_subtitle, HOOK_BYTES),
    NAMES_LINE(avcodec_open2, SESSION | HOOK_ATTR(THREADS)),
    NAMES_LINE(avcodec_close, 0),
    NAMES_LINE(avcodec_free_context, 0),
    NAMES_LINE(avcodec_flush_buffers, 0),
    LINE(av_parser_parse2, 0),
    LINE(av_bsf_send_packet, 0),
    LINE(av_bsf_receive_packet, 0),
    LINE(av_hwframe_transfer_data, 0),
    HOOK_END,
};

static const char *const libraries[] = {"libavcodec", NULL};

const struct hook_set hook_libavcodec = {
    .name = "libavcodec",
    .help = "decoding and encoding with FFmpeg's libavcodec",
    .libraries = libraries,
    .functions = functions,
};
