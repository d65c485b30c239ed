// SPDX-License-Identifier: Apache-2.0
// Hook set opencv_photo: OpenCV's slow filters for photographs: denoising, filling in, blending.
// Threads: any.
#include "agent/hooks/opencv.h"

#define FILTER(id, text, params, args)                                                             \
    OPENCV_FILTER(                                                                                 \
        uintptr_t, id, text, "preprocess", in, out, OPENCV_NOTHING, PARAMS(params), ARGS(args))

FILTER(denoise, "cv::fastNlMeansDenoising",
    PARAMS(opencv_in in, opencv_out out, float strength, int window, int search),
    ARGS(in, out, strength, window, search))
FILTER(denoise_each, "cv::fastNlMeansDenoising",
    PARAMS(opencv_in in, opencv_out out, const void *strengths, int window, int search, int norm),
    ARGS(in, out, strengths, window, search, norm))
FILTER(denoise_coloured, "cv::fastNlMeansDenoisingColored",
    PARAMS(opencv_in in, opencv_out out, float strength, float colour, int window, int search),
    ARGS(in, out, strength, colour, window, search))
FILTER(denoise_multi, "cv::fastNlMeansDenoisingMulti",
    PARAMS(
        opencv_in in, opencv_out out, int which, int count, float strength, int window, int search),
    ARGS(in, out, which, count, strength, window, search))
FILTER(denoise_coloured_multi, "cv::fastNlMeansDenoisingColoredMulti",
    PARAMS(opencv_in in, opencv_out out, int which, int count, float strength, float colour,
        int window, int search),
    ARGS(in, out, which, count, strength, colour, window, search))
FILTER(inpaint, "cv::inpaint",
    PARAMS(opencv_in in, opencv_in mask, opencv_out out, double radius, int how),
    ARGS(in, mask, out, radius, how))
FILTER(clone, "cv::seamlessClone",
    PARAMS(opencv_in in, opencv_in onto, opencv_in mask, uint64_t middle, opencv_out out, int how),
    ARGS(in, onto, mask, middle, out, how))
FILTER(edge_preserving, "cv::edgePreservingFilter",
    PARAMS(opencv_in in, opencv_out out, int how, float space, float range),
    ARGS(in, out, how, space, range))
FILTER(detail, "cv::detailEnhance", PARAMS(opencv_in in, opencv_out out, float space, float range),
    ARGS(in, out, space, range))
FILTER(style, "cv::stylization", PARAMS(opencv_in in, opencv_out out, float space, float range),
    ARGS(in, out, space, range))
FILTER(decolour, "cv::decolor", PARAMS(opencv_in in, opencv_out out, opencv_out boosted),
    ARGS(in, out, boosted))

#define IN OPENCV_IN
#define OUT OPENCV_OUT
#define LINE(id, symbol) HOOK_LINE(id, symbol, OPENCV_ATTRS)

static const struct hook_function functions[] = {
    LINE(denoise, "_ZN2cv20fastNlMeansDenoisingE" IN OUT "fii"),
    LINE(denoise_each, "_ZN2cv20fastNlMeansDenoisingE" IN OUT "RKSt6vectorIfSaIfEEiii"),
    LINE(denoise_coloured, "_ZN2cv27fastNlMeansDenoisingColoredE" IN OUT "ffii"),
    LINE(denoise_multi, "_ZN2cv25fastNlMeansDenoisingMultiE" IN OUT "iifii"),
    LINE(denoise_coloured_multi, "_ZN2cv32fastNlMeansDenoisingColoredMultiE" IN OUT "iiffii"),
    LINE(inpaint, "_ZN2cv7inpaintE" IN "S2_" OUT "di"),
    LINE(clone, "_ZN2cv13seamlessCloneE" IN "S2_S2_" OPENCV_POINT OUT "i"),
    LINE(edge_preserving, "_ZN2cv20edgePreservingFilterE" IN OUT "iff"),
    LINE(detail, "_ZN2cv13detailEnhanceE" IN OUT "ff"),
    LINE(style, "_ZN2cv11stylizationE" IN OUT "ff"),
    LINE(decolour, "_ZN2cv7decolorE" IN OUT "S5_"),
    HOOK_END,
};

OPENCV_LIBRARIES("photo");

const struct hook_set hook_opencv_photo = {
    .name = "opencv_photo",
    .help = "OpenCV's filters for photographs: denoising, filling in, blending",
    .libraries = libraries,
    .functions = functions,
};
