// SPDX-License-Identifier: Apache-2.0
// Hook set swscale: scaling and pixel format conversion with FFmpeg's libswscale (5 to 8: FFmpeg 4
// to 7). Sizes, formats and filter are those that the context was made with: arguments of
// sws_getContext, else options asked of the library when it is prepared. Threads: any; the
// library's own threads are not seen apart.
#include "agent/hooks/libav.h"

static struct libav_set set = {.major_low = 5,
    .major_high = 8,
    .library = {.names = {"swscale_version"}, .version = libav_version_of}};
static struct libav_context contexts[LIBAV_CONTEXTS];

// By the flags of a context (SWS_...), the same in 5 to 8.
static enum trace_filter filter_of(int32_t flags)
{
    enum { ALL = 0x7ff };
    static const struct {
        int32_t flag;
        enum trace_filter filter;
    } filters[] = {{1 | 2, TRACE_FILTER_BILINEAR}, {4, TRACE_FILTER_BICUBIC},
        {0x10, TRACE_FILTER_NEAREST}, {0x20, TRACE_FILTER_AREA}, {0x200, TRACE_FILTER_LANCZOS}};
    if (!(flags & ALL))
        return TRACE_FILTER_BICUBIC; // what the library takes then
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
        if (flags & filters[i].flag)
            return filters[i].filter;
    return TRACE_FILTER_OTHER;
}

static void note_filter(const struct hook_span *s, const struct libav_context *c)
{
    if (c->flags >= 0)
        span_value(s->token, TRACE_ATTR_FILTER, (uint64_t)filter_of(c->flags));
}

// Pixel formats: from << 16 | to.
static void note_formats(const struct hook_span *s, int32_t from, int32_t to)
{
    if (from >= 0 && to >= 0)
        span_value(s->token, TRACE_ATTR_COLOUR, (uint64_t)from << 16 | (uint64_t)to);
}

static void note_context(const struct hook_span *s, const void *context, int in_rows, int out_rows)
{
    if (!s->token)
        return;
    const struct libav_context *c = libav_context_find(contexts, context);
    span_value(s->token, TRACE_ATTR_SESSION, (uint64_t)(uintptr_t)context);
    if (!c)
        return;
    note_formats(s, c->in_format, c->out_format);
    note_filter(s, c);
    if (c->in_width > 0 && in_rows > 0)
        span_source(s->token, (uint32_t)c->in_width, (uint32_t)in_rows);
    if (c->out_width > 0 && out_rows > 0)
        span_shape(s->token, (uint32_t)c->out_width, (uint32_t)out_rows, 0, 0);
}

static void note_frames(const struct hook_span *s, void *function, const void *context,
    const struct libav_frame *out, const struct libav_frame *in)
{
    const struct libav_context *c = s->token ? libav_context_find(contexts, context) : NULL;
    if (c)
        note_filter(s, c);
    if (!libav_major(&set, s, function) || !out || !in)
        return;
    span_value(s->token, TRACE_ATTR_SESSION, (uint64_t)(uintptr_t)context);
    if (libav_kind_of(in) == LIBAV_PICTURE)
        span_source(s->token, (uint32_t)in->width, (uint32_t)in->height);
    if (libav_kind_of(out) == LIBAV_PICTURE)
        span_shape(s->token, (uint32_t)out->width, (uint32_t)out->height, 0, 0);
    note_formats(s, in->format, out->format);
}

// ---- Contexts. ----

struct making {
    int in_width, in_height, in_format, out_width, out_height, out_format, flags;
};

static void note_made(const void *context, const struct making *m)
{
    struct libav_context *c = libav_context_take(contexts, context);
    if (!c)
        return;
    c->in_width = m->in_width;
    c->in_height = m->in_height;
    c->in_format = m->in_format;
    c->out_width = m->out_width;
    c->out_height = m->out_height;
    c->out_format = m->out_format;
    c->flags = m->flags;
}

static void note_init(const struct hook_span *s, void *function, void *context)
{
    if (!libav_major(&set, s, function))
        return;
    const struct libav_options o = libav_options_find();
    const struct making m = {
        .in_width = (int)libav_option(&o, context, "srcw"),
        .in_height = (int)libav_option(&o, context, "srch"),
        .in_format = (int)libav_option(&o, context, "src_format"),
        .out_width = (int)libav_option(&o, context, "dstw"),
        .out_height = (int)libav_option(&o, context, "dsth"),
        .out_format = (int)libav_option(&o, context, "dst_format"),
        .flags = (int)libav_option(&o, context, "sws_flags"),
    };
    note_made(context, &m);
}

#define NOTHING LIBAV_NOTHING_TO_DO
#define CONVERT(type, id, flags, before, after, params, args)                                      \
    LIBAV_CALL(type, id, "convert", TRACE_CAUSE_OTHER, (flags) | AGENT_GROUP_SWSCALE, before,      \
        after, PARAMS(params), ARGS(args))
#define MAKING                                                                                     \
    (&(const struct making){                                                                       \
        in_width, in_height, in_format, out_width, out_height, out_format, flags})

CONVERT(void *, sws_getContext, AGENT_FOLD_SHORT, NOTHING, note_made(result, MAKING),
    PARAMS(int in_width, int in_height, int in_format, int out_width, int out_height,
        int out_format, int flags, void *in_filter, void *out_filter, const double *parameters),
    ARGS(in_width, in_height, in_format, out_width, out_height, out_format, flags, in_filter,
        out_filter, parameters))
// Gives the context it is given, or frees it and makes another.
CONVERT(void *, sws_getCachedContext, AGENT_FOLD_SHORT, NOTHING,
        if (result != old) libav_context_forget(contexts, old);
        note_made(result, MAKING),
        PARAMS(void *old, int in_width, int in_height, int in_format, int out_width, int out_height,
            int out_format, int flags, void *in_filter, void *out_filter, const double *parameters),
        ARGS(old, in_width, in_height, in_format, out_width, out_height, out_format, flags,
            in_filter, out_filter, parameters))
CONVERT(int, sws_init_context, AGENT_FOLD_SHORT, NOTHING,
    if (result >= 0) note_init(&span, (void *)real, context),
    PARAMS(void *context, void *in_filter, void *out_filter), ARGS(context, in_filter, out_filter))

// Not timed: a context that is gone.
HOOK_TYPE(void, sws_freeContext, PARAMS(void *context))
static inline void sws_freeContext_body(sws_freeContext_fn *real, void *context)
{
    libav_context_forget(contexts, context);
    real(context);
}
HOOK_THUNKS(void, sws_freeContext, PARAMS(void *context), ARGS(context))
// Since libswscale 8.
HOOK_TYPE(void, sws_free_context, PARAMS(void **context))
static inline void sws_free_context_body(sws_free_context_fn *real, void **context)
{
    if (context)
        libav_context_forget(contexts, *context);
    real(context);
}
HOOK_THUNKS(void, sws_free_context, PARAMS(void **context), ARGS(context))

// ---- Work. ----
CONVERT(int, sws_scale, AGENT_FOLD_SHORT, NOTHING, note_context(&span, context, rows, result),
    PARAMS(void *context, const void *in, const int *in_strides, int first, int rows,
        const void *out, const int *out_strides),
    ARGS(context, in, in_strides, first, rows, out, out_strides))
CONVERT(int, sws_scale_frame, AGENT_FOLD_SHORT, NOTHING,
    if (result >= 0) note_frames(&span, (void *)real, context, out, in),
    PARAMS(void *context, struct libav_frame *out, const struct libav_frame *in),
    ARGS(context, out, in))
// In slices: begin, slices in and out, end.
CONVERT(int, sws_send_slice, AGENT_FOLD_SHORT, NOTHING, NOTHING,
    PARAMS(void *context, unsigned first, unsigned rows), ARGS(context, first, rows))
CONVERT(int, sws_receive_slice, AGENT_FOLD_SHORT, NOTHING, NOTHING,
    PARAMS(void *context, unsigned first, unsigned rows), ARGS(context, first, rows))

#define LINE(id, attrs) HOOK_LINE(id, #id, attrs)
#define SCALING                                                                                    \
    (HOOK_SHAPE | HOOK_SOURCE | HOOK_ATTR(COLOUR) | HOOK_ATTR(FILTER) | HOOK_ATTR(SESSION))
static const struct hook_function functions[] = {
    LINE(sws_getContext, 0),
    LINE(sws_getCachedContext, 0),
    LINE(sws_init_context, 0),
    HOOK_LINE_UNTIMED(sws_freeContext, "sws_freeContext"),
    HOOK_LINE_UNTIMED(sws_free_context, "sws_free_context"),
    LINE(sws_scale, SCALING),
    LINE(sws_scale_frame, SCALING),
    LINE(sws_send_slice, 0),
    LINE(sws_receive_slice, 0),
    HOOK_END,
};

static const char *const libraries[] = {"libswscale", NULL};

const struct hook_set hook_swscale = {
    .name = "swscale",
    .help = "scaling and pixel format conversion with FFmpeg's libswscale",
    .libraries = libraries,
    .functions = functions,
};
