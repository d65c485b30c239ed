// SPDX-License-Identifier: Apache-2.0
// Hook set opencv_imgcodecs: OpenCV reading and writing image files. Symbols are mangled C++ names,
// prototypes the Itanium ABI written out: a returned cv::Mat is a hidden first pointer on x86-64.
// On AArch64 it comes in x8, which C cannot name: those functions are left out there. Threads: any.
#include "agent/hooks/opencv.h"

#define CALL(id, text, stage, params, args)                                                        \
    OPENCV_CALL(uintptr_t, id, text, stage, 0, PARAMS(params), ARGS(args))

// Declares the body of a hook of which the file writes the middle: `before`, the call, `after`.
#define DETAILED_CALL(id, text, stage, before, after, params, args)                                \
    HOOK_TYPE(uintptr_t, id, PARAMS(params))                                                       \
    static inline uintptr_t id##_body(id##_fn *real, params)                                       \
    {                                                                                              \
        OPENCV_SPAN(span, text, stage, 0);                                                         \
        before;                                                                                    \
        uintptr_t done = real(args);                                                               \
        after;                                                                                     \
        return done;                                                                               \
    }                                                                                              \
    HOOK_THUNKS(uintptr_t, id, PARAMS(params), ARGS(args))

static inline void note_bytes(const struct hook_span *s, uint64_t n)
{
    if (s->token && n)
        span_bytes(s->token, n);
}

static inline void note_buffer(const struct hook_span *s, const struct opencv_vector *v)
{
    if (v && v->end > v->begin)
        note_bytes(s, (uint64_t)(v->end - v->begin));
}

#define NOTHING ((void)0)

#if defined(__x86_64__)
DETAILED_CALL(imread, "cv::imread", "decode", NOTHING,
    opencv_shape(&span, opencv_mat_check(result)),
    PARAMS(void *result, const void *path, int flags), ARGS(result, path, flags))
DETAILED_CALL(imdecode, "cv::imdecode", "decode", note_bytes(&span, opencv_bytes_of(bytes)),
    opencv_shape(&span, opencv_mat_check(result)), PARAMS(void *result, opencv_in bytes, int flags),
    ARGS(result, bytes, flags))
DETAILED_CALL(imdecode_into, "cv::imdecode", "decode", note_bytes(&span, opencv_bytes_of(bytes)),
    opencv_shape(&span, opencv_mat_check(result)),
    PARAMS(void *result, opencv_in bytes, int flags, void *mat), ARGS(result, bytes, flags, mat))
#endif

// 4.10 and later: into an array.
DETAILED_CALL(imread_into, "cv::imread", "decode", NOTHING, opencv_shape(&span, opencv_mat_of(out)),
    PARAMS(const void *path, opencv_out out, int flags), ARGS(path, out, flags))
CALL(imreadmulti, "cv::imreadmulti", "decode", PARAMS(const void *path, void *mats, int flags),
    ARGS(path, mats, flags))
CALL(imreadmulti_range, "cv::imreadmulti", "decode",
    PARAMS(const void *path, void *mats, int first, int count, int flags),
    ARGS(path, mats, first, count, flags))
DETAILED_CALL(imdecodemulti, "cv::imdecodemulti", "decode",
    note_bytes(&span, opencv_bytes_of(bytes)), NOTHING,
    PARAMS(opencv_in bytes, int flags, void *mats), ARGS(bytes, flags, mats))
DETAILED_CALL(imdecodemulti_range, "cv::imdecodemulti", "decode",
    note_bytes(&span, opencv_bytes_of(bytes)), NOTHING,
    PARAMS(opencv_in bytes, int flags, void *mats, const void *range),
    ARGS(bytes, flags, mats, range))
CALL(imcount, "cv::imcount", "decode", PARAMS(const void *path, int flags), ARGS(path, flags))
DETAILED_CALL(imwrite, "cv::imwrite", "encode", opencv_shape(&span, opencv_mat_of(image)), NOTHING,
    PARAMS(const void *path, opencv_in image, const void *options), ARGS(path, image, options))
DETAILED_CALL(imencode, "cv::imencode", "encode", opencv_shape(&span, opencv_mat_of(image)),
    note_buffer(&span, buffer),
    PARAMS(const void *format, opencv_in image, struct opencv_vector *buffer, const void *options),
    ARGS(format, image, buffer, options))

#define MATS "RSt6vectorINS_3MatESaIS"

static const struct hook_function functions[] = {
#if defined(__x86_64__)
    HOOK_ROW(imread, "_ZN2cv6imreadERK" OPENCV_STRING "i"),
    HOOK_ROW(imdecode, "_ZN2cv8imdecodeE" OPENCV_IN "i"),
    HOOK_ROW(imdecode_into, "_ZN2cv8imdecodeE" OPENCV_IN "iPNS_3MatE"),
#endif
    HOOK_ROW(imread_into, "_ZN2cv6imreadERK" OPENCV_STRING OPENCV_OUT "i"),
    HOOK_ROW(imreadmulti, "_ZN2cv11imreadmultiERK" OPENCV_STRING MATS "9_EEi"),
    HOOK_ROW(imreadmulti_range, "_ZN2cv11imreadmultiERK" OPENCV_STRING MATS "9_EEiii"),
    HOOK_ROW(imdecodemulti, "_ZN2cv13imdecodemultiE" OPENCV_IN "i" MATS "4_EE"),
    HOOK_ROW(imdecodemulti_range, "_ZN2cv13imdecodemultiE" OPENCV_IN "i" MATS "4_EERKNS_5RangeE"),
    HOOK_ROW(imcount, "_ZN2cv7imcountERK" OPENCV_STRING "i"),
    HOOK_ROW(imwrite, "_ZN2cv7imwriteERK" OPENCV_STRING OPENCV_IN "RKSt6vectorIiSaIiEE"),
    HOOK_ROW(
        imencode, "_ZN2cv8imencodeERK" OPENCV_STRING OPENCV_IN "RSt6vectorIhSaIhEERKSB_IiSaIiEE"),
    HOOK_END,
};

static const char *const libraries[] = {"libopencv_imgcodecs.so", NULL};

const struct hook_set hook_opencv_imgcodecs = {
    .name = "opencv_imgcodecs",
    .help = "OpenCV reading and writing image files",
    .libraries = libraries,
    .functions = functions,
};
