// SPDX-License-Identifier: Apache-2.0
// Hook set libavformat: reading and writing media files and streams with FFmpeg's libavformat (58
// to 61: FFmpeg 4 to 7), and so the devices of libavdevice, which are its demuxers. What a demuxer
// asks of another library of FFmpeg (decoding, to find what a stream is; the filters of the device
// lavfi) is recorded as that library's. Threads: any.
#include "agent/hooks/libav.h"

#include <string.h>

static struct libav_set set = {.major_low = 58,
    .major_high = 61,
    .library = {.names = {"avformat_version"}, .version = libav_version_of}};

// All 0 where it is not known.
static struct libav_ratio stream_time_base(
    const struct libav_format_context *c, int32_t stream, unsigned major)
{
    static const uint8_t offsets[] = {
        LIBAV_STREAM_TIME_BASE_58, LIBAV_STREAM_TIME_BASE_59, 0, LIBAV_STREAM_TIME_BASE_61};
    struct libav_ratio base = {0, 0};
    const size_t offset = offsets[major - 58];
    if (offset && c && c->streams && stream >= 0 && (uint32_t)stream < c->stream_count)
        memcpy(&base, c->streams[stream] + offset, sizeof base);
    return base;
}

// libavcodec's major version is the same number.
static void note_packet(
    const struct hook_span *s, void *function, const void *context, const struct libav_packet *p)
{
    const unsigned major = libav_major(&set, s, function);
    if (!s->token)
        return;
    span_value(s->token, TRACE_ATTR_SESSION, (uint64_t)(uintptr_t)context);
    if (major && p)
        libav_note_packet(s, p, major, stream_time_base(context, p->stream, major));
}

static void note_context(const struct hook_span *s, const void *context)
{
    if (s->token && context)
        span_value(s->token, TRACE_ATTR_SESSION, (uint64_t)(uintptr_t)context);
}

#define LOAD(type, id, flags, before, after, params, args)                                         \
    LIBAV_CALL(type, id, "load", TRACE_CAUSE_IO, (flags) | AGENT_GROUP_LIBAV, before, after,       \
        PARAMS(params), ARGS(args))
#define SAVE(type, id, flags, before, after, params, args)                                         \
    LIBAV_CALL(type, id, "save", TRACE_CAUSE_IO, (flags) | AGENT_GROUP_LIBAV, before, after,       \
        PARAMS(params), ARGS(args))
#define NOTHING LIBAV_NOTHING_TO_DO

// ---- Reading. ----
LOAD(int, avformat_open_input, 0, NOTHING, note_context(&span, context ? *context : NULL),
    PARAMS(void **context, const char *url, const void *format, void **options),
    ARGS(context, url, format, options))
LOAD(int, avformat_find_stream_info, 0, note_context(&span, context), NOTHING,
    PARAMS(void *context, void **options), ARGS(context, options))
LOAD(int, av_read_frame, AGENT_FOLD_SHORT, NOTHING,
    if (result >= 0) note_packet(&span, (void *)real, context, packet),
    PARAMS(void *context, struct libav_packet *packet), ARGS(context, packet))
LOAD(int, av_seek_frame, AGENT_FOLD_SHORT, note_context(&span, context), NOTHING,
    PARAMS(void *context, int stream, int64_t at, int flags), ARGS(context, stream, at, flags))
LOAD(int, avformat_seek_file, AGENT_FOLD_SHORT, note_context(&span, context), NOTHING,
    PARAMS(void *context, int stream, int64_t low, int64_t at, int64_t high, int flags),
    ARGS(context, stream, low, at, high, flags))

#define END_CALL(id, stage, params, args)                                                          \
    HOOK_TYPE(void, id, PARAMS(params))                                                            \
    HOOK_NAME(id, #id, stage, TRACE_CAUSE_IO, AGENT_FOLD_SHORT | AGENT_GROUP_LIBAV);               \
    static inline void id##_body(id##_fn *real, params)                                            \
    {                                                                                              \
        HOOK_SPAN_OF(id, span);                                                                    \
        real(args);                                                                                \
    }                                                                                              \
    HOOK_THUNKS(void, id, PARAMS(params), ARGS(args))
END_CALL(avformat_close_input, "load", PARAMS(void **context), ARGS(context))

// ---- Writing. A packet may be gone after the call: it is looked at before. ----
SAVE(int, avformat_init_output, 0, note_context(&span, context), NOTHING,
    PARAMS(void *context, void **options), ARGS(context, options))
SAVE(int, avformat_write_header, 0, note_context(&span, context), NOTHING,
    PARAMS(void *context, void **options), ARGS(context, options))
SAVE(int, av_write_frame, AGENT_FOLD_SHORT, note_packet(&span, (void *)real, context, packet),
    NOTHING, PARAMS(void *context, struct libav_packet *packet), ARGS(context, packet))
SAVE(int, av_interleaved_write_frame, AGENT_FOLD_SHORT,
    note_packet(&span, (void *)real, context, packet), NOTHING,
    PARAMS(void *context, struct libav_packet *packet), ARGS(context, packet))
SAVE(int, av_write_trailer, 0, note_context(&span, context), NOTHING, PARAMS(void *context),
    ARGS(context))

// ---- Files that a program opens for the library: reading or writing, as it says. ----
#define OPEN_FOR_WRITING 2
#define OPEN_CALL(id, params, args)                                                                \
    HOOK_TYPE(int, id, PARAMS(params))                                                             \
    static struct hook_name id##_names[] = {                                                       \
        {#id, "load", TRACE_CAUSE_IO, AGENT_FOLD_SHORT | AGENT_GROUP_LIBAV, 0},                    \
        {#id, "save", TRACE_CAUSE_IO, AGENT_FOLD_SHORT | AGENT_GROUP_LIBAV, 0}};                   \
    static inline int id##_body(id##_fn *real, params)                                             \
    {                                                                                              \
        __attribute__((cleanup(hook_end), unused)) struct hook_span span =                         \
            hook_begin_outer(&id##_names[(flags & OPEN_FOR_WRITING) != 0], SPAN_STACK);            \
        return real(args);                                                                         \
    }                                                                                              \
    HOOK_THUNKS(int, id, PARAMS(params), ARGS(args))
OPEN_CALL(avio_open, PARAMS(void **io, const char *url, int flags), ARGS(io, url, flags))
OPEN_CALL(avio_open2,
    PARAMS(void **io, const char *url, int flags, const void *interrupt, void **options),
    ARGS(io, url, flags, interrupt, options))
LIBAV_CALL(int, avio_close, "save", TRACE_CAUSE_IO, AGENT_FOLD_SHORT | AGENT_GROUP_LIBAV, NOTHING,
    NOTHING, PARAMS(void *io), ARGS(io))
LIBAV_CALL(int, avio_closep, "save", TRACE_CAUSE_IO, AGENT_FOLD_SHORT | AGENT_GROUP_LIBAV, NOTHING,
    NOTHING, PARAMS(void **io), ARGS(io))
END_CALL(avio_flush, "save", PARAMS(void *io), ARGS(io))

#define OPEN_LINE(id)                                                                              \
    {                                                                                              \
#id, id##_thunks, (void **)id##_real, id##_names, 2, 0                                     \
    }
#define LINE(id, attrs) HOOK_LINE(id, #id, attrs)
#define PACKET (HOOK_BYTES | HOOK_ATTR(SESSION) | HOOK_ATTR(PTS))

static const struct hook_function functions[] = {
    LINE(avformat_open_input, HOOK_ATTR(SESSION)),
    LINE(avformat_find_stream_info, HOOK_ATTR(SESSION)),
    LINE(av_read_frame, PACKET),
    LINE(av_seek_frame, HOOK_ATTR(SESSION)),
    LINE(avformat_seek_file, HOOK_ATTR(SESSION)),
    LINE(avformat_close_input, 0),
    LINE(avformat_init_output, HOOK_ATTR(SESSION)),
    LINE(avformat_write_header, HOOK_ATTR(SESSION)),
    LINE(av_write_frame, PACKET),
    LINE(av_interleaved_write_frame, PACKET),
    LINE(av_write_trailer, HOOK_ATTR(SESSION)),
    OPEN_LINE(avio_open),
    OPEN_LINE(avio_open2),
    LINE(avio_close, 0),
    LINE(avio_closep, 0),
    LINE(avio_flush, 0),
    HOOK_END,
};

static const char *const libraries[] = {"libavformat", "libavdevice", NULL};

const struct hook_set hook_libavformat = {
    .name = "libavformat",
    .help = "demuxing and muxing with FFmpeg's libavformat and libavdevice",
    .libraries = libraries,
    .functions = functions,
};
