// SPDX-License-Identifier: Apache-2.0
// Hook set opencv_imgcodecs: OpenCV reading and writing image files. Symbols are mangled C++ names,
// prototypes the Itanium ABI written out: a returned cv::Mat is a hidden first pointer on x86-64.
// On AArch64 it comes in x8, which C cannot name: those functions are left out there. Threads: any.
#include "agent/hooks/opencv.h"

#define CALL(id, text, stage, params, args)                                                        \
    OPENCV_CALL(uintptr_t, id, text, stage, 0, PARAMS(params), ARGS(args))
#define DETAILED(id, text, stage, before, after, params, args)                                     \
    OPENCV_DETAILED(uintptr_t, id, text, stage, 0, before, after, PARAMS(params), ARGS(args))

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

// cv::ImreadModes: IMREAD_REDUCED_... ask for a half, a quarter, an eighth. The codec does it where
// it can; else the picture is decoded whole and shrunk.
static inline void note_scale(const struct hook_span *s, int flags)
{
    enum { LOAD_GDAL = 8, REDUCED_2 = 16, REDUCED_4 = 32, REDUCED_8 = 64 };
    if (!s->token || flags <= LOAD_GDAL)
        return;
    const uint32_t part = flags & REDUCED_2 ? 2 : flags & REDUCED_4 ? 4 : flags & REDUCED_8 ? 8 : 1;
    if (part > 1)
        span_scale(s->token, 1, part);
}

static inline void note_input(const struct hook_span *s, opencv_in bytes, int flags)
{
    note_bytes(s, opencv_bytes_of(bytes));
    note_scale(s, flags);
}

static inline void note_image(const struct hook_span *s, opencv_in image)
{
    const struct opencv_mat *m = opencv_mat_of(image);
    opencv_shape(s, m);
    if (s->token && m && m->data)
        span_value(s->token, TRACE_ATTR_INPUT, (uintptr_t)m->data);
}

#define MADE(mat) opencv_after(&span, TRACE_DTYPE_UNKNOWN, mat)
#define NOTHING OPENCV_NOTHING

// ---- Decoding. ----------------------------------------------------------------------------------
#if defined(__x86_64__)
DETAILED(imread, "cv::imread", "decode", note_scale(&span, flags), MADE(opencv_mat_check(result)),
    PARAMS(void *result, const void *path, int flags), ARGS(result, path, flags))
DETAILED(imdecode, "cv::imdecode", "decode", note_input(&span, bytes, flags),
    MADE(opencv_mat_check(result)), PARAMS(void *result, opencv_in bytes, int flags),
    ARGS(result, bytes, flags))
DETAILED(imdecode_into, "cv::imdecode", "decode", note_input(&span, bytes, flags),
    MADE(opencv_mat_check(result)), PARAMS(void *result, opencv_in bytes, int flags, void *mat),
    ARGS(result, bytes, flags, mat))
// 4.12 and later.
DETAILED(imread_metadata, "cv::imreadWithMetadata", "decode", note_scale(&span, flags),
    MADE(opencv_mat_check(result)),
    PARAMS(void *result, const void *path, void *types, opencv_out metadata, int flags),
    ARGS(result, path, types, metadata, flags))
DETAILED(imdecode_metadata, "cv::imdecodeWithMetadata", "decode", note_input(&span, bytes, flags),
    MADE(opencv_mat_check(result)),
    PARAMS(void *result, opencv_in bytes, void *types, opencv_out metadata, int flags),
    ARGS(result, bytes, types, metadata, flags))
#endif
// 4.10 and later: into an array.
DETAILED(imread_into, "cv::imread", "decode", note_scale(&span, flags), MADE(opencv_mat_of(out)),
    PARAMS(const void *path, opencv_out out, int flags), ARGS(path, out, flags))
DETAILED(imreadmulti, "cv::imreadmulti", "decode", note_scale(&span, flags), NOTHING,
    PARAMS(const void *path, void *mats, int flags), ARGS(path, mats, flags))
DETAILED(imreadmulti_range, "cv::imreadmulti", "decode", note_scale(&span, flags), NOTHING,
    PARAMS(const void *path, void *mats, int first, int count, int flags),
    ARGS(path, mats, first, count, flags))
DETAILED(imdecodemulti, "cv::imdecodemulti", "decode", note_input(&span, bytes, flags), NOTHING,
    PARAMS(opencv_in bytes, int flags, void *mats), ARGS(bytes, flags, mats))
DETAILED(imdecodemulti_range, "cv::imdecodemulti", "decode", note_input(&span, bytes, flags),
    NOTHING, PARAMS(opencv_in bytes, int flags, void *mats, const void *range),
    ARGS(bytes, flags, mats, range))
CALL(imcount, "cv::imcount", "decode", PARAMS(const void *path, int flags), ARGS(path, flags))
CALL(imreadanimation, "cv::imreadanimation", "decode",
    PARAMS(const void *path, void *animation, int first, int count),
    ARGS(path, animation, first, count))

// ---- Encoding. ----------------------------------------------------------------------------------
DETAILED(imwrite, "cv::imwrite", "encode", note_image(&span, image), NOTHING,
    PARAMS(const void *path, opencv_in image, const void *options), ARGS(path, image, options))
DETAILED(imencode, "cv::imencode", "encode", note_image(&span, image), note_buffer(&span, buffer),
    PARAMS(const void *format, opencv_in image, struct opencv_vector *buffer, const void *options),
    ARGS(format, image, buffer, options))
DETAILED(imencodemulti, "cv::imencodemulti", "encode", NOTHING, note_buffer(&span, buffer),
    PARAMS(const void *format, opencv_in images, struct opencv_vector *buffer, const void *options),
    ARGS(format, images, buffer, options))
DETAILED(imwrite_metadata, "cv::imwriteWithMetadata", "encode", note_image(&span, image), NOTHING,
    PARAMS(const void *path, opencv_in image, const void *types, opencv_in metadata,
        const void *options),
    ARGS(path, image, types, metadata, options))
DETAILED(imencode_metadata, "cv::imencodeWithMetadata", "encode", note_image(&span, image),
    note_buffer(&span, buffer),
    PARAMS(const void *format, opencv_in image, const void *types, opencv_in metadata,
        struct opencv_vector *buffer, const void *options),
    ARGS(format, image, types, metadata, buffer, options))
CALL(imwriteanimation, "cv::imwriteanimation", "encode",
    PARAMS(const void *path, const void *animation, const void *options),
    ARGS(path, animation, options))

#define IN OPENCV_IN
#define OUT OPENCV_OUT
#define STRING OPENCV_STRING
#define MATS "RSt6vectorINS_3MatESaIS"
#define INTS "RKSt6vectorIiSaIiEE"
#define DECODED (OPENCV_OUT_ATTRS | HOOK_SCALE)
#define ENCODED (HOOK_SHAPE | HOOK_ATTR(INPUT))

static const struct hook_function functions[] = {
#if defined(__x86_64__)
    HOOK_LINE(imread, "_ZN2cv6imreadERK" STRING "i", DECODED),
    HOOK_LINE(imdecode, "_ZN2cv8imdecodeE" IN "i", DECODED | HOOK_BYTES),
    HOOK_LINE(imdecode_into, "_ZN2cv8imdecodeE" IN "iPNS_3MatE", DECODED | HOOK_BYTES),
    HOOK_LINE(imread_metadata, "_ZN2cv18imreadWithMetadataERK" STRING "RSt6vectorIiSaIiEE" OUT "i",
        DECODED),
    HOOK_LINE(imdecode_metadata, "_ZN2cv20imdecodeWithMetadataE" IN "RSt6vectorIiSaIiEE" OUT "i",
        DECODED | HOOK_BYTES),
#endif
    HOOK_LINE(imread_into, "_ZN2cv6imreadERK" STRING OUT "i", DECODED),
    HOOK_LINE(imreadmulti, "_ZN2cv11imreadmultiERK" STRING MATS "9_EEi", HOOK_SCALE),
    HOOK_LINE(imreadmulti_range, "_ZN2cv11imreadmultiERK" STRING MATS "9_EEiii", HOOK_SCALE),
    HOOK_LINE(imdecodemulti, "_ZN2cv13imdecodemultiE" IN "i" MATS "4_EE", HOOK_BYTES | HOOK_SCALE),
    HOOK_LINE(imdecodemulti_range, "_ZN2cv13imdecodemultiE" IN "i" MATS "4_EERKNS_5RangeE",
        HOOK_BYTES | HOOK_SCALE),
    HOOK_LINE(imcount, "_ZN2cv7imcountERK" STRING "i", 0),
    HOOK_LINE(imreadanimation, "_ZN2cv15imreadanimationERK" STRING "RNS_9AnimationEii", 0),
    HOOK_LINE(imwrite, "_ZN2cv7imwriteERK" STRING IN INTS, ENCODED),
    HOOK_LINE(imencode, "_ZN2cv8imencodeERK" STRING IN "RSt6vectorIhSaIhEERKSB_IiSaIiEE",
        ENCODED | HOOK_BYTES),
    HOOK_LINE(imencodemulti, "_ZN2cv13imencodemultiERK" STRING IN "RSt6vectorIhSaIhEERKSB_IiSaIiEE",
        HOOK_BYTES),
    HOOK_LINE(imwrite_metadata, "_ZN2cv19imwriteWithMetadataERK" STRING IN INTS "SA_SF_", ENCODED),
    HOOK_LINE(imencode_metadata,
        "_ZN2cv20imencodeWithMetadataERK" STRING IN INTS "SA_RSB_IhSaIhEESF_",
        ENCODED | HOOK_BYTES),
    HOOK_LINE(imwriteanimation,
        "_ZN2cv16imwriteanimationERK" STRING "RKNS_9AnimationERKSt6vectorIiSaIiEE", 0),
    HOOK_END,
};

OPENCV_LIBRARIES("imgcodecs");

const struct hook_set hook_opencv_imgcodecs = {
    .name = "opencv_imgcodecs",
    .help = "OpenCV reading and writing image files",
    .libraries = libraries,
    .functions = functions,
};
