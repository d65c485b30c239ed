// SPDX-License-Identifier: Apache-2.0
// Hook set opencv_calib3d: undoing a lens, finding boards, poses and mappings between pictures.
// Stereo matchers are classes that the library hides. OpenCV 5 has moved these to other libraries,
// whose symbols are the same. Threads: any.
#include "agent/hooks/opencv.h"

#define FILTER(id, text, params, args)                                                             \
    OPENCV_FILTER(                                                                                 \
        uintptr_t, id, text, "preprocess", in, out, OPENCV_NOTHING, PARAMS(params), ARGS(args))
#define FROM(id, text, params, args)                                                               \
    OPENCV_FROM(uintptr_t, id, text, "postprocess", in, PARAMS(params), ARGS(args))
#define CALL(ret, id, text, stage, params, args)                                                   \
    OPENCV_CALL(ret, id, text, stage, AGENT_FOLD_SHORT, PARAMS(params), ARGS(args))

// ---- Undoing a lens. ----------------------------------------------------------------------------
FILTER(undistort, "cv::undistort",
    PARAMS(opencv_in in, opencv_out out, opencv_in camera, opencv_in lens, opencv_in new_camera),
    ARGS(in, out, camera, lens, new_camera))
FILTER(undistort_fisheye, "cv::fisheye::undistortImage",
    PARAMS(opencv_in in, opencv_out out, opencv_in camera, opencv_in lens, opencv_in new_camera,
        const void *extent),
    ARGS(in, out, camera, lens, new_camera, extent))
CALL(uintptr_t, undistort_map, "cv::initUndistortRectifyMap", "preprocess",
    PARAMS(opencv_in camera, opencv_in lens, opencv_in turn, opencv_in new_camera, uint64_t extent,
        int type, opencv_out x, opencv_out y),
    ARGS(camera, lens, turn, new_camera, extent, type, x, y))
CALL(uintptr_t, undistort_points, "cv::undistortPoints", "postprocess",
    PARAMS(opencv_in points, opencv_out out, opencv_in camera, opencv_in lens, opencv_in turn,
        opencv_in projection),
    ARGS(points, out, camera, lens, turn, projection))

// ---- Boards. ------------------------------------------------------------------------------------
FROM(chessboard, "cv::findChessboardCorners",
    PARAMS(opencv_in in, uint64_t pattern, opencv_out corners, int flags),
    ARGS(in, pattern, corners, flags))
FROM(chessboard_sb, "cv::findChessboardCornersSB",
    PARAMS(opencv_in in, uint64_t pattern, opencv_out corners, int flags, opencv_out meta),
    ARGS(in, pattern, corners, flags, meta))
FROM(circles, "cv::findCirclesGrid",
    PARAMS(opencv_in in, uint64_t pattern, opencv_out middles, int flags, const void *detector),
    ARGS(in, pattern, middles, flags, detector))
CALL(double, calibrate, "cv::calibrateCamera", "postprocess",
    PARAMS(opencv_in objects, opencv_in points, uint64_t extent, opencv_out camera, opencv_out lens,
        opencv_out turns, opencv_out shifts, int flags, struct opencv_criteria criteria),
    ARGS(objects, points, extent, camera, lens, turns, shifts, flags, criteria))

// ---- Poses and mappings. ------------------------------------------------------------------------
CALL(uintptr_t, pnp, "cv::solvePnP", "postprocess",
    PARAMS(opencv_in object, opencv_in points, opencv_in camera, opencv_in lens, opencv_out turn,
        opencv_out shift, int is_guess, int how),
    ARGS(object, points, camera, lens, turn, shift, is_guess, how))
CALL(uintptr_t, pnp_ransac, "cv::solvePnPRansac", "postprocess",
    PARAMS(opencv_in object, opencv_in points, opencv_in camera, opencv_in lens, opencv_out turn,
        opencv_out shift, int is_guess, int times, float error, double confidence,
        opencv_out inliers, int how),
    ARGS(object, points, camera, lens, turn, shift, is_guess, times, error, confidence, inliers,
        how))
CALL(uintptr_t, project, "cv::projectPoints", "postprocess",
    PARAMS(opencv_in object, opencv_in turn, opencv_in shift, opencv_in camera, opencv_in lens,
        opencv_out points, opencv_out jacobian, double aspect),
    ARGS(object, turn, shift, camera, lens, points, jacobian, aspect))
#if defined(__x86_64__)
// A cv::Mat comes back by a hidden pointer.
CALL(uintptr_t, homography, "cv::findHomography", "postprocess",
    PARAMS(void *result, opencv_in a, opencv_in b, int how, double error, opencv_out mask,
        int times, double confidence),
    ARGS(result, a, b, how, error, mask, times, confidence))
CALL(uintptr_t, homography_mask, "cv::findHomography", "postprocess",
    PARAMS(void *result, opencv_in a, opencv_in b, opencv_out mask, int how, double error),
    ARGS(result, a, b, mask, how, error))
CALL(uintptr_t, fundamental, "cv::findFundamentalMat", "postprocess",
    PARAMS(void *result, opencv_in a, opencv_in b, int how, double error, double confidence,
        int times, opencv_out mask),
    ARGS(result, a, b, how, error, confidence, times, mask))
CALL(uintptr_t, fundamental_mask, "cv::findFundamentalMat", "postprocess",
    PARAMS(void *result, opencv_in a, opencv_in b, opencv_out mask, int how, double error,
        double confidence),
    ARGS(result, a, b, mask, how, error, confidence))
CALL(uintptr_t, essential, "cv::findEssentialMat", "postprocess",
    PARAMS(void *result, opencv_in a, opencv_in b, opencv_in camera, int how, double confidence,
        double error, int times, opencv_out mask),
    ARGS(result, a, b, camera, how, confidence, error, times, mask))
#define AFFINE(id, text)                                                                           \
    CALL(uintptr_t, id, text, "postprocess",                                                       \
        PARAMS(void *result, opencv_in a, opencv_in b, opencv_out inliers, int how, double error,  \
            size_t times, double confidence, size_t refinements),                                  \
        ARGS(result, a, b, inliers, how, error, times, confidence, refinements))
AFFINE(affine, "cv::estimateAffine2D")
AFFINE(affine_partial, "cv::estimateAffinePartial2D")
#endif

#define IN OPENCV_IN
#define OUT OPENCV_OUT
#define INOUT OPENCV_INOUT
#define SIZE OPENCV_SIZE
#define LINE(id, symbol) HOOK_LINE(id, symbol, OPENCV_ATTRS)
#define LINE_FROM(id, symbol) HOOK_LINE(id, symbol, OPENCV_IN_ATTRS)
#define LINE_CALL(id, symbol) HOOK_LINE(id, symbol, 0)

static const struct hook_function functions[] = {
    LINE(undistort, "_ZN2cv9undistortE" IN OUT "S2_S2_S2_"),
    LINE(undistort_fisheye, "_ZN2cv7fisheye14undistortImageE" IN OUT "S3_S3_S3_RK" SIZE),
    LINE_CALL(undistort_map, "_ZN2cv23initUndistortRectifyMapE" IN "S2_S2_S2_" SIZE "i" OUT "S7_"),
    LINE_CALL(undistort_points, "_ZN2cv15undistortPointsE" IN OUT "S2_S2_S2_S2_"),
    LINE_FROM(chessboard, "_ZN2cv21findChessboardCornersE" IN SIZE OUT "i"),
    LINE_FROM(chessboard_sb, "_ZN2cv23findChessboardCornersSBE" IN SIZE OUT "iS7_"),
    LINE_FROM(circles, "_ZN2cv15findCirclesGridE" IN SIZE OUT "iRKNS_3PtrINS_9Feature2DEEE"),
    LINE_CALL(
        calibrate, "_ZN2cv15calibrateCameraE" IN "S2_" SIZE INOUT "S7_" OUT "SA_i" OPENCV_CRITERIA),
    LINE_CALL(pnp, "_ZN2cv8solvePnPE" IN "S2_S2_S2_" OUT "S5_bi"),
    LINE_CALL(pnp_ransac, "_ZN2cv14solvePnPRansacE" IN "S2_S2_S2_" OUT "S5_bifdS5_i"),
    LINE_CALL(project, "_ZN2cv13projectPointsE" IN "S2_S2_S2_S2_" OUT "S5_d"),
#if defined(__x86_64__)
    LINE_CALL(homography, "_ZN2cv14findHomographyE" IN "S2_id" OUT "id"),
    LINE_CALL(homography_mask, "_ZN2cv14findHomographyE" IN "S2_" OUT "id"),
    LINE_CALL(fundamental, "_ZN2cv18findFundamentalMatE" IN "S2_iddi" OUT),
    LINE_CALL(fundamental_mask, "_ZN2cv18findFundamentalMatE" IN "S2_" OUT "idd"),
    LINE_CALL(essential, "_ZN2cv16findEssentialMatE" IN "S2_S2_iddi" OUT),
    LINE_CALL(affine, "_ZN2cv16estimateAffine2DE" IN "S2_" OUT "idmdm"),
    LINE_CALL(affine_partial, "_ZN2cv23estimateAffinePartial2DE" IN "S2_" OUT "idmdm"),
#endif
    HOOK_END,
};

OPENCV_LIBRARIES("calib3d");

const struct hook_set hook_opencv_calib3d = {
    .name = "opencv_calib3d",
    .help = "OpenCV's lenses, boards, poses and mappings",
    .libraries = libraries,
    .functions = functions,
};
