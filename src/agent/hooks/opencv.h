// SPDX-License-Identifier: Apache-2.0
// What the OpenCV hook sets share: the layout of cv::Mat and cv::_InputArray in OpenCV 4 (the same
// since 4.0; tests compare it with the headers), the attributes read from them, and the rule that a
// call that OpenCV makes inside another of its own calls belongs to the outer one. Reads only what
// the hooked function reads itself, and only after the kind and the magic number fit. Threads:
// none.
#ifndef LIGHTMETER_AGENT_HOOKS_OPENCV_H
#define LIGHTMETER_AGENT_HOOKS_OPENCV_H

#include "agent/hook.h"

#include <assert.h>

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

// width 0: not known.
struct opencv_extent {
    uint32_t width, height, channels, batch;
};

static inline const struct opencv_mat *opencv_mat_check(const void *pointer)
{
    const struct opencv_mat *m = pointer;
    return m && ((uint32_t)m->flags & OPENCV_MAT_MAGIC_MASK) == OPENCV_MAT_MAGIC ? m : NULL;
}

// The matrix behind an argument; NULL when it is something else.
static inline const struct opencv_mat *opencv_mat_of(const struct opencv_array *a)
{
    return a && (a->flags & OPENCV_KIND_MASK) == OPENCV_KIND_MAT ? opencv_mat_check(a->object)
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

// Bytes of an encoded image given as an array; 0: not known.
static inline uint64_t opencv_bytes_of(const struct opencv_array *a)
{
    static const uint8_t depth_bytes[8] = {1, 1, 2, 2, 4, 4, 8, 2};
    const struct opencv_mat *m = opencv_mat_of(a);
    struct opencv_extent e = opencv_extent_of(m);
    if (e.width)
        return m->dims == 2 ? (uint64_t)e.width * e.height * e.channels * depth_bytes[m->flags & 7]
                            : 0;
    if (!a || (a->flags & OPENCV_KIND_MASK) != OPENCV_KIND_VECTOR || !a->object)
        return 0;
    const struct opencv_vector *v = a->object;
    return v->end > v->begin ? (uint64_t)(v->end - v->begin) : 0;
}

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

#define OPENCV_SPAN(variable, text, stage, flags)                                                  \
    HOOK_SPAN_OUTER(variable, text, stage, (flags) | AGENT_GROUP_OPENCV)

// A call that is only timed.
#define OPENCV_CALL(ret, id, text, stage, flags, params, args)                                     \
    HOOK_TYPE(ret, id, PARAMS(params))                                                             \
    static inline ret id##_body(id##_fn *real, params)                                             \
    {                                                                                              \
        OPENCV_SPAN(span, text, stage, flags);                                                     \
        return real(args);                                                                         \
    }                                                                                              \
    HOOK_THUNKS(ret, id, PARAMS(params), ARGS(args))

// A call that makes the array `out` from the array `in`.
#define OPENCV_FILTER(ret, id, text, stage, flags, in, out, params, args)                          \
    HOOK_TYPE(ret, id, PARAMS(params))                                                             \
    static inline ret id##_body(id##_fn *real, params)                                             \
    {                                                                                              \
        OPENCV_SPAN(span, text, stage, flags);                                                     \
        opencv_source(&span, opencv_mat_of(in));                                                   \
        ret done = real(args);                                                                     \
        opencv_shape(&span, opencv_mat_of(out));                                                   \
        return done;                                                                               \
    }                                                                                              \
    HOOK_THUNKS(ret, id, PARAMS(params), ARGS(args))

// Names of types in mangled symbols.
#define OPENCV_STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
#define OPENCV_IN "RKNS_11_InputArrayE"
#define OPENCV_OUT "RKNS_12_OutputArrayE"
#define OPENCV_INOUT "RKNS_17_InputOutputArrayE"

typedef const struct opencv_array *opencv_in;
typedef const struct opencv_array *opencv_out;

#endif
