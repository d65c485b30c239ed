// SPDX-License-Identifier: Apache-2.0
// Hook set opencv_features2d: key points, their descriptions and matching them. detect and compute
// are virtual, and reached through the vtables of the library too; detectAndCompute of a detector
// is in a class that the library hides. Threads: any.
#include "agent/hooks/opencv.h"

#define FROM(id, text, params, args)                                                               \
    OPENCV_FROM(uintptr_t, id, text, "postprocess", in, PARAMS(params), ARGS(args))
#define CALL(id, text, stage, params, args)                                                        \
    OPENCV_CALL(uintptr_t, id, text, stage, AGENT_FOLD_SHORT, PARAMS(params), ARGS(args))

FROM(detect, "cv::Feature2D::detect",
    PARAMS(void *self, opencv_in in, void *points, opencv_in mask), ARGS(self, in, points, mask))
FROM(detect_all, "cv::Feature2D::detect",
    PARAMS(void *self, opencv_in in, void *points, opencv_in masks), ARGS(self, in, points, masks))
FROM(compute, "cv::Feature2D::compute",
    PARAMS(void *self, opencv_in in, void *points, opencv_out descriptors),
    ARGS(self, in, points, descriptors))
FROM(compute_all, "cv::Feature2D::compute",
    PARAMS(void *self, opencv_in in, void *points, opencv_out descriptors),
    ARGS(self, in, points, descriptors))
FROM(both, "cv::Feature2D::detectAndCompute",
    PARAMS(void *self, opencv_in in, opencv_in mask, void *points, opencv_out descriptors,
        int are_given),
    ARGS(self, in, mask, points, descriptors, are_given))
FROM(fast, "cv::FAST", PARAMS(opencv_in in, void *points, int threshold, int is_sparse),
    ARGS(in, points, threshold, is_sparse))
FROM(fast_type, "cv::FAST",
    PARAMS(opencv_in in, void *points, int threshold, int is_sparse, int type),
    ARGS(in, points, threshold, is_sparse, type))

// ---- Matching: with given descriptions, and with those added before. ----------------------------
CALL(match, "cv::DescriptorMatcher::match", "postprocess",
    PARAMS(const void *self, opencv_in a, opencv_in b, void *matches, opencv_in mask),
    ARGS(self, a, b, matches, mask))
CALL(match_added, "cv::DescriptorMatcher::match", "postprocess",
    PARAMS(void *self, opencv_in a, void *matches, opencv_in masks), ARGS(self, a, matches, masks))
CALL(knn, "cv::DescriptorMatcher::knnMatch", "postprocess",
    PARAMS(const void *self, opencv_in a, opencv_in b, void *matches, int k, opencv_in mask,
        int is_compact),
    ARGS(self, a, b, matches, k, mask, is_compact))
CALL(knn_added, "cv::DescriptorMatcher::knnMatch", "postprocess",
    PARAMS(void *self, opencv_in a, void *matches, int k, opencv_in masks, int is_compact),
    ARGS(self, a, matches, k, masks, is_compact))
CALL(radius, "cv::DescriptorMatcher::radiusMatch", "postprocess",
    PARAMS(const void *self, opencv_in a, opencv_in b, void *matches, float most, opencv_in mask,
        int is_compact),
    ARGS(self, a, b, matches, most, mask, is_compact))
CALL(radius_added, "cv::DescriptorMatcher::radiusMatch", "postprocess",
    PARAMS(void *self, opencv_in a, void *matches, float most, opencv_in masks, int is_compact),
    ARGS(self, a, matches, most, masks, is_compact))

CALL(draw_points, "cv::drawKeypoints", "draw",
    PARAMS(opencv_in image, const void *points, opencv_out out, const void *colour, int flags),
    ARGS(image, points, out, colour, flags))
CALL(draw_matches, "cv::drawMatches", "draw",
    PARAMS(opencv_in a, const void *a_points, opencv_in b, const void *b_points,
        const void *matches, opencv_out out, const void *colour, const void *single,
        const void *mask, int flags),
    ARGS(a, a_points, b, b_points, matches, out, colour, single, mask, flags))

#define IN OPENCV_IN
#define OUT OPENCV_OUT
#define INOUT OPENCV_INOUT
#define LINE(id, symbol) HOOK_LINE(id, symbol, OPENCV_IN_ATTRS)
#define LINE_VIRTUAL(id, symbol) HOOK_LINE(id, symbol, OPENCV_IN_ATTRS | HOOK_VIRTUAL)
#define LINE_CALL(id, symbol) HOOK_LINE(id, symbol, 0)
#define POINTS "RSt6vectorINS_8KeyPointESaIS5_EE"
#define POINTS_ALL "RSt6vectorIS4_INS_8KeyPointESaIS5_EESaIS7_EE"
#define MATCHES "RSt6vectorIS4_INS_6DMatchESaIS5_EESaIS7_EE"
#define MATCHER "2cv17DescriptorMatcher"

static const struct hook_function functions[] = {
    LINE_VIRTUAL(detect, "_ZN2cv9Feature2D6detectE" IN POINTS "S3_"),
    LINE_VIRTUAL(detect_all, "_ZN2cv9Feature2D6detectE" IN POINTS_ALL "S3_"),
    LINE_VIRTUAL(compute, "_ZN2cv9Feature2D7computeE" IN POINTS OUT),
    LINE_VIRTUAL(compute_all, "_ZN2cv9Feature2D7computeE" IN POINTS_ALL OUT),
    LINE_VIRTUAL(both, "_ZN2cv9Feature2D16detectAndComputeE" IN "S3_" POINTS OUT "b"),
    LINE(fast, "_ZN2cv4FASTE" IN "RSt6vectorINS_8KeyPointESaIS4_EEib"),
    LINE(fast_type, "_ZN2cv4FASTE" IN
                    "RSt6vectorINS_8KeyPointESaIS4_EEibNS_19FastFeatureDetector12DetectorTypeE"),
    LINE_CALL(match, "_ZNK" MATCHER "5matchE" IN "S3_RSt6vectorINS_6DMatchESaIS5_EES3_"),
    LINE_CALL(match_added, "_ZN" MATCHER "5matchE" IN "RSt6vectorINS_6DMatchESaIS5_EES3_"),
    LINE_CALL(knn, "_ZNK" MATCHER "8knnMatchE" IN "S3_" MATCHES "iS3_b"),
    LINE_CALL(knn_added, "_ZN" MATCHER "8knnMatchE" IN MATCHES "iS3_b"),
    LINE_CALL(radius, "_ZNK" MATCHER "11radiusMatchE" IN "S3_" MATCHES "fS3_b"),
    LINE_CALL(radius_added, "_ZN" MATCHER "11radiusMatchE" IN MATCHES "fS3_b"),
    LINE_CALL(draw_points,
        "_ZN2cv13drawKeypointsE" IN "RKSt6vectorINS_8KeyPointESaIS4_EE" INOUT OPENCV_SCALAR
        "NS_16DrawMatchesFlagsE"),
    LINE_CALL(draw_matches,
        "_ZN2cv11drawMatchesE" IN
        "RKSt6vectorINS_8KeyPointESaIS4_EES2_S8_RKS3_INS_6DMatchESaIS9_EE" INOUT OPENCV_SCALAR
        "SK_RKS3_IcSaIcEENS_16DrawMatchesFlagsE"),
    HOOK_END,
};

OPENCV_LIBRARIES("features2d");

const struct hook_set hook_opencv_features2d = {
    .name = "opencv_features2d",
    .help = "OpenCV's key points, descriptions and matching",
    .libraries = libraries,
    .functions = functions,
};
