// SPDX-License-Identifier: Apache-2.0
// What the OpenCV hook sets share: the layout of cv::Mat and cv::_InputArray in OpenCV 4 (the same
// since 4.0; tests compare it with the headers), the attributes read from them, and the rule that a
// call that OpenCV makes inside another of its own calls belongs to the outer one. Reads only what
// the hooked function reads itself, only while every OpenCV that was loaded is of the 4 series, and
// only after the kind and the magic number fit. Threads: none.
#ifndef LIGHTMETER_AGENT_HOOKS_OPENCV_H
#define LIGHTMETER_AGENT_HOOKS_OPENCV_H

#include "agent/hook.h"

#include <assert.h>

// ---- Which OpenCV: opencv_core.c keeps these. ---------------------------------------------------

enum opencv_series { OPENCV_SERIES_UNKNOWN = 0, OPENCV_SERIES_4 = 1, OPENCV_SERIES_OTHER = 2 };
extern _Atomic int opencv_series;  // enum opencv_series of all loaded
extern _Atomic int opencv_threads; // last given to cv::setNumThreads; 0: not known

// Told the file of each libopencv_core that is loaded: "/usr/lib/.../libopencv_core.so.406".
void opencv_see(const char *file_name);

static inline int opencv_is_known(void)
{
    return atomic_load_explicit(&opencv_series, memory_order_relaxed) == OPENCV_SERIES_4;
}

// ---- What arguments look like. ------------------------------------------------------------------

// cv::Mat.
struct opencv_mat {
    int32_t flags, dims, rows, cols;
    uint8_t *data;
    const uint8_t *start, *end, *limit;
    void *allocator, *shared;
    const int32_t *extents; // dims of them
    const size_t *steps;
};
static_assert(offsetof(struct opencv_mat, data) == 16, "cv::Mat");
static_assert(offsetof(struct opencv_mat, extents) == 64, "cv::Mat");

#define OPENCV_MAT_MAGIC 0x42ff0000
#define OPENCV_MAT_MAGIC_MASK 0xffff0000

// cv::_InputArray and what derives from it.
struct opencv_array {
    int32_t flags;
    void *object;
    int32_t width, height;
};
static_assert(offsetof(struct opencv_array, object) == 8, "cv::_InputArray");

#define OPENCV_KIND_MASK (31 << 16)
#define OPENCV_KIND_MAT (1 << 16)
#define OPENCV_KIND_VECTOR (3 << 16)

// std::vector<T> of libstdc++ and libc++.
struct opencv_vector {
    const uint8_t *begin, *end, *room_end;
};

// By value: in one integer and one floating-point register on x86-64, in two on AArch64.
struct opencv_criteria {
    int32_t type, count;
    double epsilon;
};

// cv::Point2f by value.
struct opencv_point {
    float x, y;
};

// width 0: not known.
struct opencv_extent {
    uint32_t width, height, channels, batch;
};

static inline const struct opencv_mat *opencv_mat_check(const void *pointer)
{
    const struct opencv_mat *m = opencv_is_known() ? pointer : NULL;
    return m && ((uint32_t)m->flags & OPENCV_MAT_MAGIC_MASK) == OPENCV_MAT_MAGIC ? m : NULL;
}

// The matrix behind an argument; NULL when it is something else.
static inline const struct opencv_mat *opencv_mat_of(const struct opencv_array *a)
{
    return a && opencv_is_known() && (a->flags & OPENCV_KIND_MASK) == OPENCV_KIND_MAT
               ? opencv_mat_check(a->object)
               : NULL;
}

// An image, or a blob of images in the order batch, channels, height, width.
static inline struct opencv_extent opencv_extent_of(const struct opencv_mat *m)
{
    if (m && m->dims == 2 && m->rows > 0 && m->cols > 0)
        return (struct opencv_extent){
            (uint32_t)m->cols, (uint32_t)m->rows, (((uint32_t)m->flags >> 3) & 511) + 1, 0};
    const int32_t *n = m && m->dims == 4 ? m->extents : NULL;
    if (n && n[0] > 0 && n[1] > 0 && n[2] > 0 && n[3] > 0)
        return (struct opencv_extent){
            (uint32_t)n[3], (uint32_t)n[2], (uint32_t)n[1], (uint32_t)n[0]};
    return (struct opencv_extent){0, 0, 0, 0};
}

static inline uint64_t opencv_elements(const struct opencv_extent *e)
{
    return (uint64_t)e->width * e->height * e->channels * (e->batch ? e->batch : 1);
}

static inline enum trace_dtype opencv_dtype(const struct opencv_mat *m)
{
    static const uint8_t of_depth[8] = {TRACE_DTYPE_U8, TRACE_DTYPE_I8, TRACE_DTYPE_U16,
        TRACE_DTYPE_I16, TRACE_DTYPE_I32, TRACE_DTYPE_F32, TRACE_DTYPE_F64, TRACE_DTYPE_F16};
    return m ? (enum trace_dtype)of_depth[m->flags & 7] : TRACE_DTYPE_UNKNOWN;
}

// Bytes of an encoded image given as an array; 0: not known.
static inline uint64_t opencv_bytes_of(const struct opencv_array *a)
{
    static const uint8_t depth_bytes[8] = {1, 1, 2, 2, 4, 4, 8, 2};
    const struct opencv_mat *m = opencv_mat_of(a);
    struct opencv_extent e = opencv_extent_of(m);
    if (e.width)
        return m->dims == 2 ? (uint64_t)e.width * e.height * e.channels * depth_bytes[m->flags & 7]
                            : 0;
    if (!a || !opencv_is_known() || (a->flags & OPENCV_KIND_MASK) != OPENCV_KIND_VECTOR ||
        !a->object)
        return 0;
    const struct opencv_vector *v = a->object;
    return v->end > v->begin ? (uint64_t)(v->end - v->begin) : 0;
}

// ---- Attributes. --------------------------------------------------------------------------------

static inline void opencv_shape(const struct hook_span *s, const struct opencv_mat *m)
{
    struct opencv_extent e = opencv_extent_of(m);
    if (s->token && e.width)
        span_shape(s->token, e.width, e.height, e.channels, e.batch);
}

static inline void opencv_source(const struct hook_span *s, const struct opencv_mat *m)
{
    struct opencv_extent e = opencv_extent_of(m);
    if (s->token && e.width)
        span_source(s->token, e.width, e.height);
}

// What goes in: its size and where it lies. Gives its type, which the call may change in place.
static inline enum trace_dtype opencv_before(const struct hook_span *s, const struct opencv_mat *in)
{
    opencv_source(s, in);
    if (s->token && in && in->data)
        span_value(s->token, TRACE_ATTR_INPUT, (uintptr_t)in->data);
    return opencv_dtype(in);
}

// What came out, of what type it was made, and of which.
static inline void opencv_after(
    const struct hook_span *s, enum trace_dtype from, const struct opencv_mat *out)
{
    opencv_shape(s, out);
    if (!s->token || !out || !out->data)
        return;
    span_value(s->token, TRACE_ATTR_OUTPUT, (uintptr_t)out->data);
    span_value_aux(s->token, TRACE_ATTR_DTYPE, opencv_dtype(out), from);
}

// The numbers that a conversion made.
static inline void opencv_count(const struct hook_span *s, const struct opencv_mat *out)
{
    struct opencv_extent e = opencv_extent_of(out);
    if (s->token && e.width)
        span_value(s->token, TRACE_ATTR_ELEMENTS, opencv_elements(&e));
}

// cv::InterpolationFlags with what is added to it (WARP_INVERSE_MAP and the like).
static inline void opencv_filter(const struct hook_span *s, int how)
{
    static const uint8_t filters[8] = {TRACE_FILTER_NEAREST, TRACE_FILTER_BILINEAR,
        TRACE_FILTER_BICUBIC, TRACE_FILTER_AREA, TRACE_FILTER_LANCZOS, TRACE_FILTER_BILINEAR,
        TRACE_FILTER_NEAREST, TRACE_FILTER_OTHER};
    if (s->token)
        span_value(s->token, TRACE_ATTR_FILTER, filters[how & 7]);
}

static inline void opencv_workers(const struct hook_span *s)
{
    int threads = atomic_load_explicit(&opencv_threads, memory_order_relaxed);
    if (s->token && threads > 0)
        span_value(s->token, TRACE_ATTR_THREADS, (uint64_t)threads);
}

// What these give, for the tables.
#define OPENCV_IN_ATTRS (HOOK_SOURCE | HOOK_ATTR(INPUT))
#define OPENCV_OUT_ATTRS (HOOK_SHAPE | HOOK_ATTR(OUTPUT) | HOOK_ATTR(DTYPE))
#define OPENCV_ATTRS (OPENCV_IN_ATTRS | OPENCV_OUT_ATTRS)

// ---- Kinds of hooks. ----------------------------------------------------------------------------

#define OPENCV_NAME(id, text, stage, flags)                                                        \
    HOOK_NAME(id, text, stage, TRACE_CAUSE_OTHER, (flags) | AGENT_GROUP_OPENCV)

#define OPENCV_NOTHING ((void)0)

// A call with more to note than its time: `before` and `after` are statements with `span`.
#define OPENCV_DETAILED(ret, id, text, stage, flags, before, after, params, args)                  \
    HOOK_TYPE(ret, id, PARAMS(params))                                                             \
    OPENCV_NAME(id, text, stage, flags);                                                           \
    static inline ret id##_body(id##_fn *real, params)                                             \
    {                                                                                              \
        HOOK_SPAN_OF(id, span);                                                                    \
        before;                                                                                    \
        ret done = real(args);                                                                     \
        after;                                                                                     \
        return done;                                                                               \
    }                                                                                              \
    HOOK_THUNKS(ret, id, PARAMS(params), ARGS(args))

// A call that is only timed.
#define OPENCV_CALL(ret, id, text, stage, flags, params, args)                                     \
    HOOK_CALL(ret, id, text, stage, TRACE_CAUSE_OTHER, (flags) | AGENT_GROUP_OPENCV,               \
        PARAMS(params), ARGS(args))

// A call that makes the array `out` from the array `in`; `more` notes what else is known.
#define OPENCV_FILTER(ret, id, text, stage, in, out, more, params, args)                           \
    OPENCV_DETAILED(ret, id, text, stage, AGENT_FOLD_SHORT,                                        \
                    enum trace_dtype from = opencv_before(&span, opencv_mat_of(in)),               \
                    opencv_after(&span, from, opencv_mat_of(out));                                 \
                    more, PARAMS(params), ARGS(args))

// A call that looks at the array `in`.
#define OPENCV_FROM(ret, id, text, stage, in, params, args)                                        \
    OPENCV_DETAILED(ret, id, text, stage, AGENT_FOLD_SHORT,                                        \
        opencv_before(&span, opencv_mat_of(in)), OPENCV_NOTHING, PARAMS(params), ARGS(args))

// Names of types in mangled symbols.
#define OPENCV_STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
#define OPENCV_IN "RKNS_11_InputArrayE"
#define OPENCV_OUT "RKNS_12_OutputArrayE"
#define OPENCV_INOUT "RKNS_17_InputOutputArrayE"
#define OPENCV_SIZE "NS_5Size_IiEE"
#define OPENCV_POINT "NS_6Point_IiEE"
#define OPENCV_SCALAR "RKNS_7Scalar_IdEE"
#define OPENCV_CRITERIA "NS_12TermCriteriaE"
#define OPENCV_HINT "NS_13AlgorithmHintE"

typedef const struct opencv_array *opencv_in;
typedef const struct opencv_array *opencv_out;

// Libraries of a set: the module's own and the one that holds them all.
#define OPENCV_LIBRARIES(module)                                                                   \
    static const char *const libraries[] = {"libopencv_" module ".so", "libopencv_world.so", NULL}

#endif
