// SPDX-License-Identifier: Apache-2.0
// Hook set libavfilter: filter graphs of FFmpeg (libavfilter 7 to 10: FFmpeg 4 to 7). A graph works
// when a frame is put in or asked for: those calls are the stage `preprocess`. Scaling and
// resampling inside it are the stage `convert`, by the sets swscale and swresample. Threads: any; a
// graph's own threads are not seen apart.
#include "agent/hooks/libav.h"

static struct libav_set set = {.major_low = 7,
    .major_high = 10,
    .library = {
        .names = {"avfilter_version", "av_buffersink_get_time_base"}, .version = libav_version_of}};

static void note_in(
    const struct hook_span *s, void *function, const void *source, const struct libav_frame *f)
{
    if (!s->token)
        return;
    span_value(s->token, TRACE_ATTR_SESSION, (uint64_t)(uintptr_t)source);
    if (libav_library_of(&set, function))
        libav_note_frame(s, f, TRACE_ATTR_INPUT, (struct libav_ratio){0, 0});
}

static void note_out(
    const struct hook_span *s, void *function, const void *sink, const struct libav_frame *f)
{
    if (!s->token)
        return;
    const struct library *l = libav_library_of(&set, function);
    span_value(s->token, TRACE_ATTR_SESSION, (uint64_t)(uintptr_t)sink);
    if (!l)
        return;
    struct libav_ratio base = {0, 0};
    if (l->at[LIBAV_EXTRA] && sink)
        base = ((struct libav_ratio(*)(const void *))l->at[LIBAV_EXTRA])(sink);
    libav_note_frame(s, f, TRACE_ATTR_OUTPUT, base);
    if (libav_kind_of(f) == LIBAV_PICTURE)
        libav_keep(s);
}

#define FILTER_CALL(id, flags, before, after, params, args)                                        \
    LIBAV_CALL(int, id, "preprocess", TRACE_CAUSE_OTHER, flags, before, after, PARAMS(params),     \
        ARGS(args))
#define NOTHING LIBAV_NOTHING_TO_DO
#define IN note_in(&span, (void *)real, source, frame)
#define OUT                                                                                        \
    if (result >= 0)                                                                               \
    note_out(&span, (void *)real, sink, frame)

// ---- Frames into a graph; the frame may be gone after the call. ----
FILTER_CALL(av_buffersrc_add_frame, AGENT_FOLD_SHORT, IN, NOTHING,
    PARAMS(void *source, struct libav_frame *frame), ARGS(source, frame))
FILTER_CALL(av_buffersrc_add_frame_flags, AGENT_FOLD_SHORT, IN, NOTHING,
    PARAMS(void *source, struct libav_frame *frame, int flags), ARGS(source, frame, flags))
FILTER_CALL(av_buffersrc_write_frame, AGENT_FOLD_SHORT, IN, NOTHING,
    PARAMS(void *source, const struct libav_frame *frame), ARGS(source, frame))

// ---- Frames out of it. ----
FILTER_CALL(av_buffersink_get_frame, AGENT_FOLD_SHORT, NOTHING, OUT,
    PARAMS(void *sink, struct libav_frame *frame), ARGS(sink, frame))
FILTER_CALL(av_buffersink_get_frame_flags, AGENT_FOLD_SHORT, NOTHING, OUT,
    PARAMS(void *sink, struct libav_frame *frame, int flags), ARGS(sink, frame, flags))
FILTER_CALL(av_buffersink_get_samples, AGENT_FOLD_SHORT, NOTHING, OUT,
    PARAMS(void *sink, struct libav_frame *frame, int n), ARGS(sink, frame, n))
FILTER_CALL(avfilter_graph_request_oldest, AGENT_FOLD_SHORT, NOTHING, NOTHING, PARAMS(void *graph),
    ARGS(graph))

// ---- Making it. ----
FILTER_CALL(
    avfilter_graph_config, 0, NOTHING, NOTHING, PARAMS(void *graph, void *log), ARGS(graph, log))
FILTER_CALL(avfilter_graph_parse2, AGENT_FOLD_SHORT, NOTHING, NOTHING,
    PARAMS(void *graph, const char *text, void **in, void **out), ARGS(graph, text, in, out))
FILTER_CALL(avfilter_graph_parse_ptr, AGENT_FOLD_SHORT, NOTHING, NOTHING,
    PARAMS(void *graph, const char *text, void **in, void **out, void *log),
    ARGS(graph, text, in, out, log))
FILTER_CALL(avfilter_graph_create_filter, AGENT_FOLD_SHORT, NOTHING, NOTHING,
    PARAMS(void **filter, const void *kind, const char *name, const char *arguments, void *opaque,
        void *graph),
    ARGS(filter, kind, name, arguments, opaque, graph))

HOOK_TYPE(void, avfilter_graph_free, PARAMS(void **graph))
HOOK_NAME(
    avfilter_graph_free, "avfilter_graph_free", "preprocess", TRACE_CAUSE_OTHER, AGENT_FOLD_SHORT);
static inline void avfilter_graph_free_body(avfilter_graph_free_fn *real, void **graph)
{
    HOOK_SPAN_OF(avfilter_graph_free, span);
    real(graph);
}
HOOK_THUNKS(void, avfilter_graph_free, PARAMS(void **graph), ARGS(graph))

#define LINE(id, attrs) HOOK_LINE(id, #id, attrs)
#define FRAME                                                                                      \
    (HOOK_SHAPE | HOOK_ATTR(COLOUR) | HOOK_ATTR(ELEMENTS) | HOOK_ATTR(DTYPE) | HOOK_ATTR(SESSION))

static const struct hook_function functions[] = {
    LINE(av_buffersrc_add_frame, FRAME | HOOK_ATTR(INPUT)),
    LINE(av_buffersrc_add_frame_flags, FRAME | HOOK_ATTR(INPUT)),
    LINE(av_buffersrc_write_frame, FRAME | HOOK_ATTR(INPUT)),
    LINE(av_buffersink_get_frame, FRAME | HOOK_ATTR(OUTPUT) | HOOK_ATTR(PTS)),
    LINE(av_buffersink_get_frame_flags, FRAME | HOOK_ATTR(OUTPUT) | HOOK_ATTR(PTS)),
    LINE(av_buffersink_get_samples, FRAME | HOOK_ATTR(OUTPUT) | HOOK_ATTR(PTS)),
    LINE(avfilter_graph_request_oldest, 0),
    LINE(avfilter_graph_config, 0),
    LINE(avfilter_graph_parse2, 0),
    LINE(avfilter_graph_parse_ptr, 0),
    LINE(avfilter_graph_create_filter, 0),
    LINE(avfilter_graph_free, 0),
    HOOK_END,
};

static const char *const libraries[] = {"libavfilter", NULL};

const struct hook_set hook_libavfilter = {
    .name = "libavfilter",
    .help = "filter graphs of FFmpeg's libavfilter",
    .libraries = libraries,
    .functions = functions,
};
