// SPDX-License-Identifier: Apache-2.0
// Hook set swresample: converting and resampling sound with FFmpeg's libswresample (3 to 5: FFmpeg
// 4 to 7). Sample types are asked of the library when a context is prepared. Threads: any.
#include "agent/hooks/libav.h"

static struct libav_set set = {.major_low = 3,
    .major_high = 5,
    .library = {.names = {"swresample_version"}, .version = libav_version_of}};
static struct libav_context contexts[LIBAV_CONTEXTS];

// Prepared: what it converts is settled.
static void note_init(const struct hook_span *s, void *function, void *context)
{
    struct libav_context *c =
        libav_major(&set, s, function) ? libav_context_take(contexts, context) : NULL;
    if (!c)
        return;
    const struct libav_options o = libav_options_find();
    c->in_format = (int32_t)libav_option(&o, context, "in_sample_fmt");
    c->out_format = (int32_t)libav_option(&o, context, "out_sample_fmt");
}

static void note_samples(const struct hook_span *s, const void *context, int samples)
{
    if (!s->token || samples <= 0)
        return;
    const struct libav_context *c = libav_context_find(contexts, context);
    span_value(s->token, TRACE_ATTR_ELEMENTS, (uint64_t)samples);
    span_value(s->token, TRACE_ATTR_SESSION, (uint64_t)(uintptr_t)context);
    if (c)
        span_value_aux(s->token, TRACE_ATTR_DTYPE, (uint64_t)libav_dtype(c->out_format),
            (uint32_t)libav_dtype(c->in_format));
}

static void note_frames(const struct hook_span *s, void *function, const void *context,
    const struct libav_frame *out, const struct libav_frame *in)
{
    if (!libav_major(&set, s, function))
        return;
    const struct libav_frame *counted = out ? out : in;
    span_value(s->token, TRACE_ATTR_SESSION, (uint64_t)(uintptr_t)context);
    if (counted && counted->samples > 0)
        span_value(s->token, TRACE_ATTR_ELEMENTS, (uint64_t)counted->samples);
    if (out && in)
        span_value_aux(s->token, TRACE_ATTR_DTYPE, (uint64_t)libav_dtype(out->format),
            (uint32_t)libav_dtype(in->format));
}

#define NOTHING LIBAV_NOTHING_TO_DO
#define CONVERT(id, flags, after, params, args)                                                    \
    LIBAV_CALL(int, id, "convert", TRACE_CAUSE_OTHER, (flags) | AGENT_GROUP_SWSCALE, NOTHING,      \
        after, PARAMS(params), ARGS(args))

CONVERT(swr_init, 0, if (result >= 0) note_init(&span, (void *)real, context),
    PARAMS(void *context), ARGS(context))
CONVERT(swr_convert, AGENT_FOLD_SHORT, note_samples(&span, context, result),
    PARAMS(void *context, void *out, int out_samples, void *in, int in_samples),
    ARGS(context, out, out_samples, in, in_samples))
CONVERT(swr_convert_frame, AGENT_FOLD_SHORT,
    if (result >= 0) note_frames(&span, (void *)real, context, out, in),
    PARAMS(void *context, struct libav_frame *out, const struct libav_frame *in),
    ARGS(context, out, in))

// Not timed: a context that is gone.
HOOK_TYPE(void, swr_free, PARAMS(void **context))
static inline void swr_free_body(swr_free_fn *real, void **context)
{
    if (context)
        libav_context_forget(contexts, *context);
    real(context);
}
HOOK_THUNKS(void, swr_free, PARAMS(void **context), ARGS(context))

#define SOUND (HOOK_ATTR(ELEMENTS) | HOOK_ATTR(DTYPE) | HOOK_ATTR(SESSION))
static const struct hook_function functions[] = {
    HOOK_LINE(swr_init, "swr_init", 0),
    HOOK_LINE(swr_convert, "swr_convert", SOUND),
    HOOK_LINE(swr_convert_frame, "swr_convert_frame", SOUND),
    HOOK_LINE_UNTIMED(swr_free, "swr_free"),
    HOOK_END,
};

static const char *const libraries[] = {"libswresample", NULL};

const struct hook_set hook_swresample = {
    .name = "swresample",
    .help = "conversion and resampling of sound with FFmpeg's libswresample",
    .libraries = libraries,
    .functions = functions,
};
