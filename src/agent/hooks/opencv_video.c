// SPDX-License-Identifier: Apache-2.0
// Hook set opencv_video: following what moves with OpenCV's video module. Background subtractors
// and the optical flow objects are classes that the library hides: of them only the making is
// reached. Threads: any.
#include "agent/hooks/opencv.h"

#define FROM(ret, id, text, params, args)                                                          \
    OPENCV_FROM(ret, id, text, "track", in, PARAMS(params), ARGS(args))

FROM(uintptr_t, flow_lk, "cv::calcOpticalFlowPyrLK",
    PARAMS(opencv_in in, opencv_in next, opencv_in points, opencv_out moved, opencv_out status,
        opencv_out error, uint64_t window, int level, struct opencv_criteria criteria, int flags,
        double least),
    ARGS(in, next, points, moved, status, error, window, level, criteria, flags, least))
FROM(uintptr_t, flow_farneback, "cv::calcOpticalFlowFarneback",
    PARAMS(opencv_in in, opencv_in next, opencv_out flow, double scale, int levels, int window,
        int times, int poly, double sigma, int flags),
    ARGS(in, next, flow, scale, levels, window, times, poly, sigma, flags))
FROM(uintptr_t, flow_pyramid, "cv::buildOpticalFlowPyramid",
    PARAMS(opencv_in in, opencv_out pyramid, uint64_t window, int level, int gradients, int border,
        int gradient_border, int may_reuse),
    ARGS(in, pyramid, window, level, gradients, border, gradient_border, may_reuse))
FROM(uintptr_t, mean_shift, "cv::meanShift",
    PARAMS(opencv_in in, void *window, struct opencv_criteria criteria), ARGS(in, window, criteria))
FROM(double, ecc, "cv::findTransformECC",
    PARAMS(opencv_in in, opencv_in next, opencv_out matrix, int motion,
        struct opencv_criteria criteria, opencv_in mask),
    ARGS(in, next, matrix, motion, criteria, mask))
FROM(double, ecc_filtered, "cv::findTransformECC",
    PARAMS(opencv_in in, opencv_in next, opencv_out matrix, int motion,
        struct opencv_criteria criteria, opencv_in mask, int kernel),
    ARGS(in, next, matrix, motion, criteria, mask, kernel))
OPENCV_CALL(uintptr_t, kalman_predict, "cv::KalmanFilter::predict", "track", AGENT_FOLD_SHORT,
    PARAMS(void *self, const void *control), ARGS(self, control))
OPENCV_CALL(uintptr_t, kalman_correct, "cv::KalmanFilter::correct", "track", AGENT_FOLD_SHORT,
    PARAMS(void *self, const void *measured), ARGS(self, measured))
#if defined(__x86_64__)
// A cv::RotatedRect and a cv::Ptr come back by a hidden pointer.
FROM(uintptr_t, cam_shift, "cv::CamShift",
    PARAMS(void *result, opencv_in in, void *window, struct opencv_criteria criteria),
    ARGS(result, in, window, criteria))
#define CREATE(id, text)                                                                           \
    OPENCV_CALL(uintptr_t, id, text, "load", 0,                                                    \
        PARAMS(void *result, int history, double threshold, int shadows),                          \
        ARGS(result, history, threshold, shadows))
CREATE(create_mog2, "cv::createBackgroundSubtractorMOG2")
CREATE(create_knn, "cv::createBackgroundSubtractorKNN")
#endif

#define IN OPENCV_IN
#define OUT OPENCV_OUT
#define INOUT OPENCV_INOUT
#define CRITERIA OPENCV_CRITERIA
#define LINE(id, symbol) HOOK_LINE(id, symbol, OPENCV_IN_ATTRS)

static const struct hook_function functions[] = {
    LINE(flow_lk,
        "_ZN2cv20calcOpticalFlowPyrLKE" IN "S2_S2_" INOUT OUT "S8_" OPENCV_SIZE "i" CRITERIA "id"),
    LINE(flow_farneback, "_ZN2cv24calcOpticalFlowFarnebackE" IN "S2_" INOUT "diiiidi"),
    LINE(flow_pyramid, "_ZN2cv23buildOpticalFlowPyramidE" IN OUT OPENCV_SIZE "ibiib"),
    LINE(mean_shift, "_ZN2cv9meanShiftE" IN "RNS_5Rect_IiEE" CRITERIA),
    LINE(ecc, "_ZN2cv16findTransformECCE" IN "S2_" INOUT "i" CRITERIA "S2_"),
    LINE(ecc_filtered, "_ZN2cv16findTransformECCE" IN "S2_" INOUT "i" CRITERIA "S2_i"),
    HOOK_LINE(kalman_predict, "_ZN2cv12KalmanFilter7predictERKNS_3MatE", 0),
    HOOK_LINE(kalman_correct, "_ZN2cv12KalmanFilter7correctERKNS_3MatE", 0),
#if defined(__x86_64__)
    LINE(cam_shift, "_ZN2cv8CamShiftE" IN "RNS_5Rect_IiEE" CRITERIA),
    HOOK_LINE(create_mog2, "_ZN2cv30createBackgroundSubtractorMOG2Eidb", 0),
    HOOK_LINE(create_knn, "_ZN2cv29createBackgroundSubtractorKNNEidb", 0),
#endif
    HOOK_END,
};

OPENCV_LIBRARIES("video");

const struct hook_set hook_opencv_video = {
    .name = "opencv_video",
    .help = "OpenCV following what moves: optical flow, mean shift, alignment",
    .libraries = libraries,
    .functions = functions,
};
