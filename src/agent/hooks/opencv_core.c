// SPDX-License-Identifier: Apache-2.0
// Hook set opencv_core: arithmetic on arrays, copies, changes of type and order, and sums of
// OpenCV's core module, as far as they take time. Also keeps which OpenCV was loaded and how many
// threads it was told to use. Symbols are mangled C++ names, prototypes the Itanium ABI written
// out. What returns a cv::Mat or cv::Scalar does so by a hidden first pointer on x86-64; on AArch64
// in registers that C cannot name, and those functions are left out there. Threads: any.
#include "agent/hooks/opencv.h"
#include "agent/team.h"

#include <string.h>

// ---- Which OpenCV, and its threads. -------------------------------------------------------------

_Atomic int opencv_series;
_Atomic int opencv_threads;

void opencv_see(const char *file_name)
{
    const char *version = strstr(file_name, ".so.");
    const int layout = version && version[4] == '4' ? OPENCV_SERIES_4 : OPENCV_SERIES_OTHER;
    int expected = OPENCV_SERIES_UNKNOWN;
    if (!atomic_compare_exchange_strong(&opencv_series, &expected, layout) && expected != layout)
        atomic_store(&opencv_series, OPENCV_SERIES_OTHER);
}

HOOK_TYPE(uintptr_t, set_num_threads, PARAMS(int count))
static inline uintptr_t set_num_threads_body(set_num_threads_fn *real, int count)
{
    // 0: none but the caller. Less: OpenCV's own default, which is not known here.
    atomic_store_explicit(&opencv_threads, count < 0 ? 0 : count ? count : 1, memory_order_relaxed);
    return real(count);
}
HOOK_THUNKS(uintptr_t, set_num_threads, PARAMS(int count), ARGS(count))

HOOK_TYPE(uintptr_t, parallel, PARAMS(const void *range, const void *body, double stripes))

// A cv::ParallelLoopBody of ours in the place of the caller's, on the caller's stack: OpenCV calls
// it with ranges on its threads, whichever pool these are of (TBB, OpenMP, its own). The class has
// a virtual destructor, which OpenCV does not call, and the one function, in all of the 4 series.
typedef void body_fn(const void *body, const void *range);
struct body_table {
    ptrdiff_t to_top;
    const void *type;
    void (*destroy)(void *body), (*destroy_and_free)(void *body);
    body_fn *run;
};
struct body {
    const void *table; // of body_table.destroy
    const void *real;
    struct team team;
};

static void body_keep(void *body)
{
    (void)body;
}

static void body_run(const void *self, const void *range)
{
    const struct body *b = self;
    const void *table = *(const void *const *)b->real;
    body_fn *run;
    memcpy(&run,
        (const char *)table + offsetof(struct body_table, run) -
            offsetof(struct body_table, destroy),
        sizeof run);
    TEAM_PIECE(piece, &b->team);
    run(b->real, range);
}

static const struct body_table body_table = {0, NULL, body_keep, body_keep, body_run};

static inline uintptr_t run_as_team(
    parallel_fn *real, const void *range, const void *body, double stripes)
{
    const struct body ours = {&body_table.destroy, body, team_open()};
    const int is_ours = ours.team.what && body && opencv_is_known();
    return real(range, is_ours ? &ours : body, stripes);
}

// A loop over OpenCV's threads. OpenCV's own are part of the call that runs them; in one of the
// program the calls of its body count, so that it is of no group itself.
HOOK_NAME(parallel, "cv::parallel_for_", "preprocess", TRACE_CAUSE_LOCK, AGENT_FOLD_SHORT);
static inline uintptr_t parallel_body(
    parallel_fn *real, const void *range, const void *body, double stripes)
{
    const struct agent_thread *t = agent_self;
    const struct agent_frame *top = &t->frames[t->depth];
    if ((top->what.flags & AGENT_GROUP) == AGENT_GROUP_OPENCV && SPAN_STACK < top->stack)
        return run_as_team(real, range, body, stripes);
    HOOK_SPAN_OF(parallel, span);
    opencv_workers(&span);
    return run_as_team(real, range, body, stripes);
}
HOOK_THUNKS(uintptr_t, parallel, PARAMS(const void *range, const void *body, double stripes),
    ARGS(range, body, stripes))

#define FILTER(id, text, stage, params, args)                                                      \
    OPENCV_FILTER(uintptr_t, id, text, stage, in, out, OPENCV_NOTHING, PARAMS(params), ARGS(args))
#define CONVERT(id, text, stage, params, args)                                                     \
    OPENCV_FILTER(uintptr_t, id, text, stage, in, out, opencv_count(&span, opencv_mat_of(out)),    \
        PARAMS(params), ARGS(args))
#define FROM(ret, id, text, stage, params, args)                                                   \
    OPENCV_FROM(ret, id, text, stage, in, PARAMS(params), ARGS(args))

// ---- Geometry. ----------------------------------------------------------------------------------
FILTER(copy_make_border, "cv::copyMakeBorder", "preprocess",
    PARAMS(opencv_in in, opencv_out out, int top, int bottom, int left, int right, int border,
        const void *value),
    ARGS(in, out, top, bottom, left, right, border, value))
FILTER(flip, "cv::flip", "preprocess", PARAMS(opencv_in in, opencv_out out, int axis),
    ARGS(in, out, axis))
FILTER(flip_nd, "cv::flipND", "preprocess", PARAMS(opencv_in in, opencv_out out, int axis),
    ARGS(in, out, axis))
FILTER(rotate, "cv::rotate", "preprocess", PARAMS(opencv_in in, opencv_out out, int turn),
    ARGS(in, out, turn))
FILTER(
    transpose, "cv::transpose", "preprocess", PARAMS(opencv_in in, opencv_out out), ARGS(in, out))
FILTER(transpose_nd, "cv::transposeND", "preprocess",
    PARAMS(opencv_in in, const void *order, opencv_out out), ARGS(in, order, out))
FILTER(repeat, "cv::repeat", "preprocess", PARAMS(opencv_in in, int y, int x, opencv_out out),
    ARGS(in, y, x, out))

// ---- Type and order of the numbers. -------------------------------------------------------------
CONVERT(convert_scale_abs, "cv::convertScaleAbs", "convert",
    PARAMS(opencv_in in, opencv_out out, double alpha, double beta), ARGS(in, out, alpha, beta))
CONVERT(
    convert_fp16, "cv::convertFp16", "convert", PARAMS(opencv_in in, opencv_out out), ARGS(in, out))
CONVERT(normalize, "cv::normalize", "preprocess",
    PARAMS(opencv_in in, opencv_out out, double alpha, double beta, int norm, int type,
        opencv_in mask),
    ARGS(in, out, alpha, beta, norm, type, mask))
FILTER(split, "cv::split", "convert", PARAMS(opencv_in in, opencv_out out), ARGS(in, out))
FILTER(merge, "cv::merge", "convert", PARAMS(opencv_in in, opencv_out out), ARGS(in, out))
FILTER(extract_channel, "cv::extractChannel", "convert",
    PARAMS(opencv_in in, opencv_out out, int channel), ARGS(in, out, channel))
FILTER(insert_channel, "cv::insertChannel", "convert",
    PARAMS(opencv_in in, opencv_out out, int channel), ARGS(in, out, channel))
FILTER(mix_channels, "cv::mixChannels", "convert",
    PARAMS(opencv_in in, opencv_out out, const void *pairs, size_t count),
    ARGS(in, out, pairs, count))
FILTER(mix_channels_vector, "cv::mixChannels", "convert",
    PARAMS(opencv_in in, opencv_out out, const void *pairs), ARGS(in, out, pairs))
OPENCV_DETAILED(uintptr_t, split_mats, "cv::split", "convert", AGENT_FOLD_SHORT,
    opencv_before(&span, opencv_mat_check(mat)), OPENCV_NOTHING, PARAMS(const void *mat, void *out),
    ARGS(mat, out))
OPENCV_DETAILED(uintptr_t, merge_mats, "cv::merge", "convert", AGENT_FOLD_SHORT, OPENCV_NOTHING,
    opencv_after(&span, TRACE_DTYPE_UNKNOWN, opencv_mat_of(out)),
    PARAMS(const void *mats, size_t count, opencv_out out), ARGS(mats, count, out))
FILTER(lut, "cv::LUT", "preprocess", PARAMS(opencv_in in, opencv_in table, opencv_out out),
    ARGS(in, table, out))

// ---- Copies. The matrix itself is the source. ---------------------------------------------------
#define MEMBER(id, text, stage, more, params, args)                                                \
    OPENCV_DETAILED(uintptr_t, id, text, stage, AGENT_FOLD_SHORT,                                  \
                    enum trace_dtype from = opencv_before(&span, opencv_mat_check(self)),          \
                    opencv_after(&span, from, opencv_mat_of(out));                                 \
                    more, PARAMS(params), ARGS(args))

MEMBER(convert_to, "cv::Mat::convertTo", "convert", opencv_count(&span, opencv_mat_of(out)),
    PARAMS(const void *self, opencv_out out, int type, double alpha, double beta),
    ARGS(self, out, type, alpha, beta))
MEMBER(copy_to, "cv::Mat::copyTo", "convert", OPENCV_NOTHING,
    PARAMS(const void *self, opencv_out out), ARGS(self, out))
MEMBER(copy_to_masked, "cv::Mat::copyTo", "convert", OPENCV_NOTHING,
    PARAMS(const void *self, opencv_out out, opencv_in mask), ARGS(self, out, mask))
FILTER(copy_masked, "cv::copyTo", "convert", PARAMS(opencv_in in, opencv_out out, opencv_in mask),
    ARGS(in, out, mask))
OPENCV_DETAILED(uintptr_t, set_to, "cv::Mat::setTo", "convert", AGENT_FOLD_SHORT, OPENCV_NOTHING,
    opencv_after(&span, TRACE_DTYPE_UNKNOWN, opencv_mat_check(self)),
    PARAMS(void *self, opencv_in value, opencv_in mask), ARGS(self, value, mask))
OPENCV_CALL(uintptr_t, set_scalar, "cv::Mat::operator=", "convert", AGENT_FOLD_SHORT,
    PARAMS(void *self, const void *value), ARGS(self, value))
// Gives memory back; the one that a program pays for is that of a big picture.
OPENCV_CALL(uintptr_t, deallocate, "cv::Mat::deallocate", "convert", AGENT_FOLD_SHORT,
    PARAMS(void *self), ARGS(self))
#if defined(__x86_64__)
OPENCV_DETAILED(uintptr_t, clone, "cv::Mat::clone", "convert", AGENT_FOLD_SHORT,
    enum trace_dtype from = opencv_before(&span, opencv_mat_check(self)),
    opencv_after(&span, from, opencv_mat_check(result)), PARAMS(void *result, const void *self),
    ARGS(result, self))
#endif

// Between the program's memory and a device's, where one is used; else copies like the others.
OPENCV_CALL(uintptr_t, umat_copy_to, "cv::UMat::copyTo", "transfer", AGENT_FOLD_SHORT,
    PARAMS(const void *self, opencv_out out), ARGS(self, out))
OPENCV_CALL(uintptr_t, umat_copy_to_masked, "cv::UMat::copyTo", "transfer", AGENT_FOLD_SHORT,
    PARAMS(const void *self, opencv_out out, opencv_in mask), ARGS(self, out, mask))
OPENCV_CALL(uintptr_t, umat_convert_to, "cv::UMat::convertTo", "convert", AGENT_FOLD_SHORT,
    PARAMS(const void *self, opencv_out out, int type, double alpha, double beta),
    ARGS(self, out, type, alpha, beta))
#if defined(__x86_64__)
OPENCV_CALL(uintptr_t, umat_get, "cv::UMat::getMat", "transfer", AGENT_FOLD_SHORT,
    PARAMS(void *result, const void *self, int access), ARGS(result, self, access))
OPENCV_DETAILED(uintptr_t, mat_get, "cv::Mat::getUMat", "transfer", AGENT_FOLD_SHORT,
    opencv_before(&span, opencv_mat_check(self)), OPENCV_NOTHING,
    PARAMS(void *result, const void *self, int access, int usage),
    ARGS(result, self, access, usage))
#endif

// ---- Joining. -----------------------------------------------------------------------------------
#define JOIN(id, text)                                                                             \
    FILTER(id, text, "preprocess", PARAMS(opencv_in in, opencv_in b, opencv_out out),              \
        ARGS(in, b, out))                                                                          \
    FILTER(id##_all, text, "preprocess", PARAMS(opencv_in in, opencv_out out), ARGS(in, out))      \
    OPENCV_DETAILED(uintptr_t, id##_mats, text, "preprocess", AGENT_FOLD_SHORT, OPENCV_NOTHING,    \
        opencv_after(&span, TRACE_DTYPE_UNKNOWN, opencv_mat_of(out)),                              \
        PARAMS(const void *mats, size_t count, opencv_out out), ARGS(mats, count, out))
JOIN(hconcat, "cv::hconcat")
JOIN(vconcat, "cv::vconcat")

// ---- Arithmetic. --------------------------------------------------------------------------------
#define MASKED(id, text)                                                                           \
    FILTER(id, text, "preprocess",                                                                 \
        PARAMS(opencv_in in, opencv_in b, opencv_out out, opencv_in mask), ARGS(in, b, out, mask))
#define TWO(id, text)                                                                              \
    FILTER(id, text, "preprocess", PARAMS(opencv_in in, opencv_in b, opencv_out out),              \
        ARGS(in, b, out))
#define ONE(id, text)                                                                              \
    FILTER(id, text, "preprocess", PARAMS(opencv_in in, opencv_out out), ARGS(in, out))

FILTER(add, "cv::add", "preprocess",
    PARAMS(opencv_in in, opencv_in b, opencv_out out, opencv_in mask, int type),
    ARGS(in, b, out, mask, type))
FILTER(subtract, "cv::subtract", "preprocess",
    PARAMS(opencv_in in, opencv_in b, opencv_out out, opencv_in mask, int type),
    ARGS(in, b, out, mask, type))
FILTER(multiply, "cv::multiply", "preprocess",
    PARAMS(opencv_in in, opencv_in b, opencv_out out, double scale, int type),
    ARGS(in, b, out, scale, type))
FILTER(divide, "cv::divide", "preprocess",
    PARAMS(opencv_in in, opencv_in b, opencv_out out, double scale, int type),
    ARGS(in, b, out, scale, type))
FILTER(divide_number, "cv::divide", "preprocess",
    PARAMS(double scale, opencv_in in, opencv_out out, int type), ARGS(scale, in, out, type))
FILTER(add_weighted, "cv::addWeighted", "preprocess",
    PARAMS(
        opencv_in in, double alpha, opencv_in b, double beta, double c, opencv_out out, int type),
    ARGS(in, alpha, b, beta, c, out, type))
FILTER(scale_add, "cv::scaleAdd", "preprocess",
    PARAMS(opencv_in in, double alpha, opencv_in b, opencv_out out), ARGS(in, alpha, b, out))
TWO(absdiff, "cv::absdiff")
TWO(minimum, "cv::min")
TWO(maximum, "cv::max")
TWO(magnitude, "cv::magnitude")
MASKED(bitwise_and, "cv::bitwise_and")
MASKED(bitwise_or, "cv::bitwise_or")
MASKED(bitwise_xor, "cv::bitwise_xor")
FILTER(bitwise_not, "cv::bitwise_not", "preprocess",
    PARAMS(opencv_in in, opencv_out out, opencv_in mask), ARGS(in, out, mask))
FILTER(compare, "cv::compare", "preprocess",
    PARAMS(opencv_in in, opencv_in b, opencv_out out, int how), ARGS(in, b, out, how))
FILTER(in_range, "cv::inRange", "preprocess",
    PARAMS(opencv_in in, opencv_in low, opencv_in high, opencv_out out), ARGS(in, low, high, out))
ONE(square_root, "cv::sqrt")
ONE(exponential, "cv::exp")
ONE(logarithm, "cv::log")
FILTER(power, "cv::pow", "preprocess", PARAMS(opencv_in in, double exponent, opencv_out out),
    ARGS(in, exponent, out))
FILTER(cart_to_polar, "cv::cartToPolar", "preprocess",
    PARAMS(opencv_in in, opencv_in y, opencv_out out, opencv_out angle, int degrees),
    ARGS(in, y, out, angle, degrees))
FILTER(phase, "cv::phase", "preprocess",
    PARAMS(opencv_in in, opencv_in y, opencv_out out, int degrees), ARGS(in, y, out, degrees))
FILTER(transform, "cv::transform", "preprocess",
    PARAMS(opencv_in in, opencv_out out, opencv_in matrix), ARGS(in, out, matrix))
FILTER(perspective_transform, "cv::perspectiveTransform", "preprocess",
    PARAMS(opencv_in in, opencv_out out, opencv_in matrix), ARGS(in, out, matrix))
FILTER(gemm, "cv::gemm", "preprocess",
    PARAMS(opencv_in in, opencv_in b, double alpha, opencv_in c, double beta, opencv_out out,
        int flags),
    ARGS(in, b, alpha, c, beta, out, flags))
FILTER(dft, "cv::dft", "preprocess", PARAMS(opencv_in in, opencv_out out, int flags, int rows),
    ARGS(in, out, flags, rows))
FILTER(idft, "cv::idft", "preprocess", PARAMS(opencv_in in, opencv_out out, int flags, int rows),
    ARGS(in, out, flags, rows))
FILTER(invert, "cv::invert", "preprocess", PARAMS(opencv_in in, opencv_out out, int how),
    ARGS(in, out, how))
FILTER(solve, "cv::solve", "preprocess", PARAMS(opencv_in in, opencv_in b, opencv_out out, int how),
    ARGS(in, b, out, how))

// ---- From many numbers to few. ------------------------------------------------------------------
FILTER(reduce, "cv::reduce", "postprocess",
    PARAMS(opencv_in in, opencv_out out, int axis, int how, int type),
    ARGS(in, out, axis, how, type))
FROM(uintptr_t, min_max_loc, "cv::minMaxLoc", "postprocess",
    PARAMS(opencv_in in, double *least, double *most, void *where_least, void *where_most,
        opencv_in mask),
    ARGS(in, least, most, where_least, where_most, mask))
FROM(uintptr_t, min_max_idx, "cv::minMaxIdx", "postprocess",
    PARAMS(opencv_in in, double *least, double *most, int *where_least, int *where_most,
        opencv_in mask),
    ARGS(in, least, most, where_least, where_most, mask))
FROM(uintptr_t, count_non_zero, "cv::countNonZero", "postprocess", PARAMS(opencv_in in), ARGS(in))
FROM(uintptr_t, has_non_zero, "cv::hasNonZero", "postprocess", PARAMS(opencv_in in), ARGS(in))
FROM(uintptr_t, find_non_zero, "cv::findNonZero", "postprocess",
    PARAMS(opencv_in in, opencv_out points), ARGS(in, points))
FROM(uintptr_t, mean_dev, "cv::meanStdDev", "preprocess",
    PARAMS(opencv_in in, opencv_out mean, opencv_out deviation, opencv_in mask),
    ARGS(in, mean, deviation, mask))
FROM(double, norm, "cv::norm", "postprocess", PARAMS(opencv_in in, int how, opencv_in mask),
    ARGS(in, how, mask))
FROM(double, norm_difference, "cv::norm", "postprocess",
    PARAMS(opencv_in in, opencv_in b, int how, opencv_in mask), ARGS(in, b, how, mask))
FILTER(sort, "cv::sort", "postprocess", PARAMS(opencv_in in, opencv_out out, int how),
    ARGS(in, out, how))
FILTER(sort_idx, "cv::sortIdx", "postprocess", PARAMS(opencv_in in, opencv_out out, int how),
    ARGS(in, out, how))
FROM(double, kmeans, "cv::kmeans", "postprocess",
    PARAMS(opencv_in in, int count, opencv_out labels, struct opencv_criteria criteria,
        int attempts, int flags, opencv_out middles),
    ARGS(in, count, labels, criteria, attempts, flags, middles))
#if defined(__x86_64__)
FROM(uintptr_t, mean, "cv::mean", "preprocess", PARAMS(void *result, opencv_in in, opencv_in mask),
    ARGS(result, in, mask))
FROM(uintptr_t, sum, "cv::sum", "postprocess", PARAMS(void *result, opencv_in in), ARGS(result, in))
#endif

#define IN OPENCV_IN
#define OUT OPENCV_OUT
#define INOUT OPENCV_INOUT
#define LINE(id, symbol) HOOK_LINE(id, symbol, OPENCV_ATTRS)
#define LINE_COUNTED(id, symbol) HOOK_LINE(id, symbol, OPENCV_ATTRS | HOOK_ATTR(ELEMENTS))
#define LINE_FROM(id, symbol) HOOK_LINE(id, symbol, OPENCV_IN_ATTRS)
#define LINE_OUT(id, symbol) HOOK_LINE(id, symbol, OPENCV_OUT_ATTRS)
#define LINES_JOIN(id, symbol)                                                                     \
    LINE(id, symbol IN "S2_" OUT), LINE(id##_all, symbol IN OUT),                                  \
        LINE_OUT(id##_mats, symbol "PKNS_3MatEm" OUT)

static const struct hook_function functions[] = {
    HOOK_LINE_UNTIMED(set_num_threads, "_ZN2cv13setNumThreadsEi"),
    HOOK_LINE(parallel, "_ZN2cv13parallel_for_ERKNS_5RangeERKNS_16ParallelLoopBodyEd",
        HOOK_ATTR(THREADS)),
    LINE(copy_make_border, "_ZN2cv14copyMakeBorderE" IN OUT "iiiii" OPENCV_SCALAR),
    LINE(flip, "_ZN2cv4flipE" IN OUT "i"),
    LINE(flip_nd, "_ZN2cv6flipNDE" IN OUT "i"),
    LINE(rotate, "_ZN2cv6rotateE" IN OUT "i"),
    LINE(transpose, "_ZN2cv9transposeE" IN OUT),
    LINE(transpose_nd, "_ZN2cv11transposeNDE" IN "RKSt6vectorIiSaIiEE" OUT),
    LINE(repeat, "_ZN2cv6repeatE" IN "ii" OUT),
    LINE_COUNTED(convert_scale_abs, "_ZN2cv15convertScaleAbsE" IN OUT "dd"),
    LINE_COUNTED(convert_fp16, "_ZN2cv11convertFp16E" IN OUT),
    LINE_COUNTED(normalize, "_ZN2cv9normalizeE" IN INOUT "ddiiS2_"),
    LINE(split, "_ZN2cv5splitE" IN OUT),
    LINE(merge, "_ZN2cv5mergeE" IN OUT),
    LINE_FROM(split_mats, "_ZN2cv5splitERKNS_3MatEPS0_"),
    LINE_OUT(merge_mats, "_ZN2cv5mergeEPKNS_3MatEm" OUT),
    LINE(extract_channel, "_ZN2cv14extractChannelE" IN OUT "i"),
    LINE(insert_channel, "_ZN2cv13insertChannelE" IN INOUT "i"),
    LINE(mix_channels, "_ZN2cv11mixChannelsE" IN INOUT "PKim"),
    LINE(mix_channels_vector, "_ZN2cv11mixChannelsE" IN INOUT "RKSt6vectorIiSaIiEE"),
    LINE(lut, "_ZN2cv3LUTE" IN "S2_" OUT),
    LINE_COUNTED(convert_to, "_ZNK2cv3Mat9convertToE" OUT "idd"),
    LINE(copy_to, "_ZNK2cv3Mat6copyToE" OUT),
    LINE(copy_to_masked, "_ZNK2cv3Mat6copyToE" OUT IN),
    LINE(copy_masked, "_ZN2cv6copyToE" IN OUT "S2_"),
    LINE_OUT(set_to, "_ZN2cv3Mat5setToE" IN "S3_"),
    HOOK_LINE(set_scalar, "_ZN2cv3MataSE" OPENCV_SCALAR, 0),
    HOOK_LINE(deallocate, "_ZN2cv3Mat10deallocateEv", 0),
    HOOK_LINE(umat_copy_to, "_ZNK2cv4UMat6copyToE" OUT, 0),
    HOOK_LINE(umat_copy_to_masked, "_ZNK2cv4UMat6copyToE" OUT IN, 0),
    HOOK_LINE(umat_convert_to, "_ZNK2cv4UMat9convertToE" OUT "idd", 0),
    LINES_JOIN(hconcat, "_ZN2cv7hconcatE"),
    LINES_JOIN(vconcat, "_ZN2cv7vconcatE"),
    LINE(add, "_ZN2cv3addE" IN "S2_" OUT "S2_i"),
    LINE(subtract, "_ZN2cv8subtractE" IN "S2_" OUT "S2_i"),
    LINE(multiply, "_ZN2cv8multiplyE" IN "S2_" OUT "di"),
    LINE(divide, "_ZN2cv6divideE" IN "S2_" OUT "di"),
    LINE(divide_number, "_ZN2cv6divideEd" IN OUT "i"),
    LINE(add_weighted, "_ZN2cv11addWeightedE" IN "dS2_dd" OUT "i"),
    LINE(scale_add, "_ZN2cv8scaleAddE" IN "dS2_" OUT),
    LINE(absdiff, "_ZN2cv7absdiffE" IN "S2_" OUT),
    LINE(minimum, "_ZN2cv3minE" IN "S2_" OUT),
    LINE(maximum, "_ZN2cv3maxE" IN "S2_" OUT),
    LINE(magnitude, "_ZN2cv9magnitudeE" IN "S2_" OUT),
    LINE(bitwise_and, "_ZN2cv11bitwise_andE" IN "S2_" OUT "S2_"),
    LINE(bitwise_or, "_ZN2cv10bitwise_orE" IN "S2_" OUT "S2_"),
    LINE(bitwise_xor, "_ZN2cv11bitwise_xorE" IN "S2_" OUT "S2_"),
    LINE(bitwise_not, "_ZN2cv11bitwise_notE" IN OUT "S2_"),
    LINE(compare, "_ZN2cv7compareE" IN "S2_" OUT "i"),
    LINE(in_range, "_ZN2cv7inRangeE" IN "S2_S2_" OUT),
    LINE(square_root, "_ZN2cv4sqrtE" IN OUT),
    LINE(exponential, "_ZN2cv3expE" IN OUT),
    LINE(logarithm, "_ZN2cv3logE" IN OUT),
    LINE(power, "_ZN2cv3powE" IN "d" OUT),
    LINE(cart_to_polar, "_ZN2cv11cartToPolarE" IN "S2_" OUT "S5_b"),
    LINE(phase, "_ZN2cv5phaseE" IN "S2_" OUT "b"),
    LINE(transform, "_ZN2cv9transformE" IN OUT "S2_"),
    LINE(perspective_transform, "_ZN2cv20perspectiveTransformE" IN OUT "S2_"),
    LINE(gemm, "_ZN2cv4gemmE" IN "S2_dS2_d" OUT "i"),
    LINE(dft, "_ZN2cv3dftE" IN OUT "ii"),
    LINE(idft, "_ZN2cv4idftE" IN OUT "ii"),
    LINE(invert, "_ZN2cv6invertE" IN OUT "i"),
    LINE(solve, "_ZN2cv5solveE" IN "S2_" OUT "i"),
    LINE(reduce, "_ZN2cv6reduceE" IN OUT "iii"),
    LINE_FROM(min_max_loc, "_ZN2cv9minMaxLocE" IN "PdS3_PNS_6Point_IiEES6_S2_"),
    LINE_FROM(min_max_idx, "_ZN2cv9minMaxIdxE" IN "PdS3_PiS4_S2_"),
    LINE_FROM(count_non_zero, "_ZN2cv12countNonZeroE" IN),
    LINE_FROM(has_non_zero, "_ZN2cv10hasNonZeroE" IN),
    LINE_FROM(find_non_zero, "_ZN2cv11findNonZeroE" IN OUT),
    LINE_FROM(mean_dev, "_ZN2cv10meanStdDevE" IN OUT "S5_S2_"),
    LINE_FROM(norm, "_ZN2cv4normE" IN "iS2_"),
    LINE_FROM(norm_difference, "_ZN2cv4normE" IN "S2_iS2_"),
    LINE(sort, "_ZN2cv4sortE" IN OUT "i"),
    LINE(sort_idx, "_ZN2cv7sortIdxE" IN OUT "i"),
    LINE_FROM(kmeans, "_ZN2cv6kmeansE" IN "i" INOUT OPENCV_CRITERIA "ii" OUT),
#if defined(__x86_64__)
    LINE(clone, "_ZNK2cv3Mat5cloneEv"),
    HOOK_LINE(umat_get, "_ZNK2cv4UMat6getMatENS_10AccessFlagE", 0),
    LINE_FROM(mat_get, "_ZNK2cv3Mat7getUMatENS_10AccessFlagENS_14UMatUsageFlagsE"),
    LINE_FROM(mean, "_ZN2cv4meanE" IN "S2_"),
    LINE_FROM(sum, "_ZN2cv3sumE" IN),
#endif
    HOOK_END,
};

OPENCV_LIBRARIES("core");

const struct hook_set hook_opencv_core = {
    .name = "opencv_core",
    .help = "OpenCV's core: arithmetic on arrays, copies, conversions, sums",
    .libraries = libraries,
    .functions = functions,
    .see = opencv_see,
};
