// SPDX-License-Identifier: Apache-2.0
// Hook set opencv_imgproc: what programs do to pixels with OpenCV's imgproc and core. Symbols are
// mangled C++ names, prototypes the Itanium ABI written out: cv::Size and cv::Point are one integer
// register, a reference is a pointer. Functions whose ABI changed between releases of OpenCV 4
// under one name (a cv::Rect or cv::Scalar by value) are left out. Threads: any.
#include "agent/hooks/opencv.h"

#define FILTER(id, text, stage, params, args)                                                      \
    OPENCV_FILTER(uintptr_t, id, text, stage, AGENT_FOLD_SHORT, in, out, PARAMS(params), ARGS(args))
#define FROM(id, text, stage, params, args)                                                        \
    OPENCV_FILTER(                                                                                 \
        uintptr_t, id, text, stage, AGENT_FOLD_SHORT, in, NULL, PARAMS(params), ARGS(args))
#define ONTO(id, text, params, args)                                                               \
    OPENCV_FILTER(                                                                                 \
        uintptr_t, id, text, "draw", AGENT_FOLD_SHORT, NULL, image, PARAMS(params), ARGS(args))

// ---- Geometry. ----
FILTER(resize, "cv::resize", "preprocess",
    PARAMS(opencv_in in, opencv_out out, uint64_t extent, double x, double y, int how),
    ARGS(in, out, extent, x, y, how))
FILTER(warp_affine, "cv::warpAffine", "preprocess",
    PARAMS(opencv_in in, opencv_out out, opencv_in matrix, uint64_t extent, int how, int border,
        const void *value),
    ARGS(in, out, matrix, extent, how, border, value))
FILTER(warp_perspective, "cv::warpPerspective", "preprocess",
    PARAMS(opencv_in in, opencv_out out, opencv_in matrix, uint64_t extent, int how, int border,
        const void *value),
    ARGS(in, out, matrix, extent, how, border, value))
FILTER(remap, "cv::remap", "preprocess",
    PARAMS(opencv_in in, opencv_out out, opencv_in x, opencv_in y, int how, int border,
        const void *value),
    ARGS(in, out, x, y, how, border, value))
FILTER(pyr_down, "cv::pyrDown", "preprocess",
    PARAMS(opencv_in in, opencv_out out, const void *extent, int border),
    ARGS(in, out, extent, border))
FILTER(pyr_up, "cv::pyrUp", "preprocess",
    PARAMS(opencv_in in, opencv_out out, const void *extent, int border),
    ARGS(in, out, extent, border))
FILTER(copy_make_border, "cv::copyMakeBorder", "preprocess",
    PARAMS(opencv_in in, opencv_out out, int top, int bottom, int left, int right, int border,
        const void *value),
    ARGS(in, out, top, bottom, left, right, border, value))
FILTER(flip, "cv::flip", "preprocess", PARAMS(opencv_in in, opencv_out out, int axis),
    ARGS(in, out, axis))
FILTER(rotate, "cv::rotate", "preprocess", PARAMS(opencv_in in, opencv_out out, int turn),
    ARGS(in, out, turn))
FILTER(
    transpose, "cv::transpose", "preprocess", PARAMS(opencv_in in, opencv_out out), ARGS(in, out))

// ---- Colour and type. ----
FILTER(cvt_color, "cv::cvtColor", "convert",
    PARAMS(opencv_in in, opencv_out out, int code, int channels), ARGS(in, out, code, channels))
FILTER(cvt_color_hint, "cv::cvtColor", "convert",
    PARAMS(opencv_in in, opencv_out out, int code, int channels, int hint),
    ARGS(in, out, code, channels, hint))
FILTER(cvt_color_two_plane, "cv::cvtColorTwoPlane", "convert",
    PARAMS(opencv_in in, opencv_in second, opencv_out out, int code), ARGS(in, second, out, code))
FILTER(cvt_color_two_plane_hint, "cv::cvtColorTwoPlane", "convert",
    PARAMS(opencv_in in, opencv_in second, opencv_out out, int code, int hint),
    ARGS(in, second, out, code, hint))
FILTER(convert_scale_abs, "cv::convertScaleAbs", "convert",
    PARAMS(opencv_in in, opencv_out out, double alpha, double beta), ARGS(in, out, alpha, beta))
FILTER(split, "cv::split", "convert", PARAMS(opencv_in in, opencv_out out), ARGS(in, out))
FILTER(merge, "cv::merge", "convert", PARAMS(opencv_in in, opencv_out out), ARGS(in, out))
FILTER(normalize, "cv::normalize", "preprocess",
    PARAMS(opencv_in in, opencv_out out, double alpha, double beta, int norm, int type,
        opencv_in mask),
    ARGS(in, out, alpha, beta, norm, type, mask))

// cv::Mat::convertTo: the matrix itself is the source.
HOOK_TYPE(uintptr_t, convert_to,
    PARAMS(const void *self, opencv_out out, int type, double alpha, double beta))
static inline uintptr_t convert_to_body(
    convert_to_fn *real, const void *self, opencv_out out, int type, double alpha, double beta)
{
    OPENCV_SPAN(span, "cv::Mat::convertTo", "convert", AGENT_FOLD_SHORT);
    if (span.token)
        opencv_source(&span, opencv_mat_check(self));
    uintptr_t done = real(self, out, type, alpha, beta);
    opencv_shape(&span, opencv_mat_of(out));
    return done;
}
HOOK_THUNKS(uintptr_t, convert_to,
    PARAMS(const void *self, opencv_out out, int type, double alpha, double beta),
    ARGS(self, out, type, alpha, beta))

// ---- Filters and thresholds. ----
FILTER(gaussian_blur, "cv::GaussianBlur", "preprocess",
    PARAMS(opencv_in in, opencv_out out, uint64_t kernel, double x, double y, int border),
    ARGS(in, out, kernel, x, y, border))
FILTER(gaussian_blur_hint, "cv::GaussianBlur", "preprocess",
    PARAMS(opencv_in in, opencv_out out, uint64_t kernel, double x, double y, int border, int hint),
    ARGS(in, out, kernel, x, y, border, hint))
FILTER(blur, "cv::blur", "preprocess",
    PARAMS(opencv_in in, opencv_out out, uint64_t kernel, uint64_t anchor, int border),
    ARGS(in, out, kernel, anchor, border))
FILTER(box_filter, "cv::boxFilter", "preprocess",
    PARAMS(opencv_in in, opencv_out out, int depth, uint64_t kernel, uint64_t anchor, int norm,
        int border),
    ARGS(in, out, depth, kernel, anchor, norm, border))
FILTER(median_blur, "cv::medianBlur", "preprocess",
    PARAMS(opencv_in in, opencv_out out, int kernel), ARGS(in, out, kernel))
FILTER(bilateral_filter, "cv::bilateralFilter", "preprocess",
    PARAMS(opencv_in in, opencv_out out, int width, double colour, double space, int border),
    ARGS(in, out, width, colour, space, border))
FILTER(filter_2d, "cv::filter2D", "preprocess",
    PARAMS(opencv_in in, opencv_out out, int depth, opencv_in kernel, uint64_t anchor, double delta,
        int border),
    ARGS(in, out, depth, kernel, anchor, delta, border))
FILTER(sep_filter_2d, "cv::sepFilter2D", "preprocess",
    PARAMS(opencv_in in, opencv_out out, int depth, opencv_in x, opencv_in y, uint64_t anchor,
        double delta, int border),
    ARGS(in, out, depth, x, y, anchor, delta, border))
FILTER(sobel, "cv::Sobel", "preprocess",
    PARAMS(opencv_in in, opencv_out out, int depth, int x, int y, int kernel, double scale,
        double delta, int border),
    ARGS(in, out, depth, x, y, kernel, scale, delta, border))
FILTER(scharr, "cv::Scharr", "preprocess",
    PARAMS(opencv_in in, opencv_out out, int depth, int x, int y, double scale, double delta,
        int border),
    ARGS(in, out, depth, x, y, scale, delta, border))
FILTER(laplacian, "cv::Laplacian", "preprocess",
    PARAMS(opencv_in in, opencv_out out, int depth, int kernel, double scale, double delta,
        int border),
    ARGS(in, out, depth, kernel, scale, delta, border))
FILTER(canny, "cv::Canny", "preprocess",
    PARAMS(opencv_in in, opencv_out out, double low, double high, int kernel, int is_l2),
    ARGS(in, out, low, high, kernel, is_l2))
FILTER(canny_gradients, "cv::Canny", "preprocess",
    PARAMS(opencv_in in, opencv_in second, opencv_out out, double low, double high, int is_l2),
    ARGS(in, second, out, low, high, is_l2))
FILTER(erode, "cv::erode", "preprocess",
    PARAMS(opencv_in in, opencv_out out, opencv_in kernel, uint64_t anchor, int times, int border,
        const void *value),
    ARGS(in, out, kernel, anchor, times, border, value))
FILTER(dilate, "cv::dilate", "preprocess",
    PARAMS(opencv_in in, opencv_out out, opencv_in kernel, uint64_t anchor, int times, int border,
        const void *value),
    ARGS(in, out, kernel, anchor, times, border, value))
FILTER(morphology_ex, "cv::morphologyEx", "preprocess",
    PARAMS(opencv_in in, opencv_out out, int what, opencv_in kernel, uint64_t anchor, int times,
        int border, const void *value),
    ARGS(in, out, what, kernel, anchor, times, border, value))
FILTER(equalize_hist, "cv::equalizeHist", "preprocess", PARAMS(opencv_in in, opencv_out out),
    ARGS(in, out))
FILTER(lut, "cv::LUT", "preprocess", PARAMS(opencv_in in, opencv_in table, opencv_out out),
    ARGS(in, table, out))
OPENCV_FILTER(double, threshold, "cv::threshold", "preprocess", AGENT_FOLD_SHORT, in, out,
    PARAMS(opencv_in in, opencv_out out, double level, double top, int type),
    ARGS(in, out, level, top, type))
FILTER(adaptive_threshold, "cv::adaptiveThreshold", "preprocess",
    PARAMS(opencv_in in, opencv_out out, double top, int how, int type, int block, double c),
    ARGS(in, out, top, how, type, block, c))

// ---- From pixels to findings. ----
FROM(find_contours, "cv::findContours", "postprocess",
    PARAMS(opencv_in in, opencv_out contours, int mode, int method, uint64_t offset),
    ARGS(in, contours, mode, method, offset))
FROM(find_contours_tree, "cv::findContours", "postprocess",
    PARAMS(
        opencv_in in, opencv_out contours, opencv_out tree, int mode, int method, uint64_t offset),
    ARGS(in, contours, tree, mode, method, offset))
FROM(components, "cv::connectedComponents", "postprocess",
    PARAMS(opencv_in in, opencv_out labels, int connectivity, int type),
    ARGS(in, labels, connectivity, type))
FROM(components_how, "cv::connectedComponents", "postprocess",
    PARAMS(opencv_in in, opencv_out labels, int connectivity, int type, int how),
    ARGS(in, labels, connectivity, type, how))
FROM(components_stats, "cv::connectedComponentsWithStats", "postprocess",
    PARAMS(opencv_in in, opencv_out labels, opencv_out stats, opencv_out middles, int connectivity,
        int type),
    ARGS(in, labels, stats, middles, connectivity, type))
FROM(components_stats_how, "cv::connectedComponentsWithStats", "postprocess",
    PARAMS(opencv_in in, opencv_out labels, opencv_out stats, opencv_out middles, int connectivity,
        int type, int how),
    ARGS(in, labels, stats, middles, connectivity, type, how))
FROM(distance_transform, "cv::distanceTransform", "postprocess",
    PARAMS(opencv_in in, opencv_out distances, int how, int mask, int type),
    ARGS(in, distances, how, mask, type))
FROM(match_template, "cv::matchTemplate", "postprocess",
    PARAMS(opencv_in in, opencv_in part, opencv_out result, int how, opencv_in mask),
    ARGS(in, part, result, how, mask))
FROM(hough_circles, "cv::HoughCircles", "postprocess",
    PARAMS(opencv_in in, opencv_out circles, int how, double dp, double apart, double a, double b,
        int least, int most),
    ARGS(in, circles, how, dp, apart, a, b, least, most))
OPENCV_CALL(double, contour_area, "cv::contourArea", "postprocess", AGENT_FOLD_SHORT,
    PARAMS(opencv_in contour, int is_oriented), ARGS(contour, is_oriented))
OPENCV_CALL(double, arc_length, "cv::arcLength", "postprocess", AGENT_FOLD_SHORT,
    PARAMS(opencv_in curve, int is_closed), ARGS(curve, is_closed))
OPENCV_CALL(uintptr_t, approx_poly, "cv::approxPolyDP", "postprocess", AGENT_FOLD_SHORT,
    PARAMS(opencv_in curve, opencv_out result, double epsilon, int is_closed),
    ARGS(curve, result, epsilon, is_closed))
OPENCV_CALL(uintptr_t, convex_hull, "cv::convexHull", "postprocess", AGENT_FOLD_SHORT,
    PARAMS(opencv_in points, opencv_out hull, int is_clockwise, int are_points),
    ARGS(points, hull, is_clockwise, are_points))
#if defined(__x86_64__)
// A cv::RotatedRect, 20 bytes, comes back by a hidden pointer.
OPENCV_CALL(uintptr_t, min_area_rect, "cv::minAreaRect", "postprocess", AGENT_FOLD_SHORT,
    PARAMS(void *result, opencv_in points), ARGS(result, points))
#endif

// ---- Drawing. ----
ONTO(draw_contours, "cv::drawContours",
    PARAMS(opencv_out image, opencv_in contours, int which, const void *colour, int width, int line,
        opencv_in tree, int depth, uint64_t offset),
    ARGS(image, contours, which, colour, width, line, tree, depth, offset))
ONTO(fill_poly, "cv::fillPoly",
    PARAMS(opencv_out image, opencv_in points, const void *colour, int line, int shift,
        uint64_t offset),
    ARGS(image, points, colour, line, shift, offset))
ONTO(rectangle, "cv::rectangle",
    PARAMS(opencv_out image, uint64_t a, uint64_t b, const void *colour, int width, int line,
        int shift),
    ARGS(image, a, b, colour, width, line, shift))
ONTO(line, "cv::line",
    PARAMS(opencv_out image, uint64_t a, uint64_t b, const void *colour, int width, int line,
        int shift),
    ARGS(image, a, b, colour, width, line, shift))
ONTO(circle, "cv::circle",
    PARAMS(opencv_out image, uint64_t middle, int radius, const void *colour, int width, int line,
        int shift),
    ARGS(image, middle, radius, colour, width, line, shift))

#define IN OPENCV_IN
#define OUT OPENCV_OUT
#define SIZE "NS_5Size_IiEE"
#define POINT "NS_6Point_IiEE"
#define SCALAR "RKNS_7Scalar_IdEE"
#define HINT "NS_13AlgorithmHintE"

static const struct hook_function functions[] = {
    HOOK_ROW(resize, "_ZN2cv6resizeE" IN OUT SIZE "ddi"),
    HOOK_ROW(warp_affine, "_ZN2cv10warpAffineE" IN OUT "S2_" SIZE "ii" SCALAR),
    HOOK_ROW(warp_perspective, "_ZN2cv15warpPerspectiveE" IN OUT "S2_" SIZE "ii" SCALAR),
    HOOK_ROW(remap, "_ZN2cv5remapE" IN OUT "S2_S2_ii" SCALAR),
    HOOK_ROW(pyr_down, "_ZN2cv7pyrDownE" IN OUT "RK" SIZE "i"),
    HOOK_ROW(pyr_up, "_ZN2cv5pyrUpE" IN OUT "RK" SIZE "i"),
    HOOK_ROW(copy_make_border, "_ZN2cv14copyMakeBorderE" IN OUT "iiiii" SCALAR),
    HOOK_ROW(flip, "_ZN2cv4flipE" IN OUT "i"),
    HOOK_ROW(rotate, "_ZN2cv6rotateE" IN OUT "i"),
    HOOK_ROW(transpose, "_ZN2cv9transposeE" IN OUT),
    HOOK_ROW(cvt_color, "_ZN2cv8cvtColorE" IN OUT "ii"),
    HOOK_ROW(cvt_color_hint, "_ZN2cv8cvtColorE" IN OUT "ii" HINT),
    HOOK_ROW(cvt_color_two_plane, "_ZN2cv16cvtColorTwoPlaneE" IN "S2_" OUT "i"),
    HOOK_ROW(cvt_color_two_plane_hint, "_ZN2cv16cvtColorTwoPlaneE" IN "S2_" OUT "i" HINT),
    HOOK_ROW(convert_scale_abs, "_ZN2cv15convertScaleAbsE" IN OUT "dd"),
    HOOK_ROW(split, "_ZN2cv5splitE" IN OUT),
    HOOK_ROW(merge, "_ZN2cv5mergeE" IN OUT),
    HOOK_ROW(normalize, "_ZN2cv9normalizeE" IN OPENCV_INOUT "ddiiS2_"),
    HOOK_ROW(convert_to, "_ZNK2cv3Mat9convertToE" OUT "idd"),
    HOOK_ROW(gaussian_blur, "_ZN2cv12GaussianBlurE" IN OUT SIZE "ddi"),
    HOOK_ROW(gaussian_blur_hint, "_ZN2cv12GaussianBlurE" IN OUT SIZE "ddi" HINT),
    HOOK_ROW(blur, "_ZN2cv4blurE" IN OUT SIZE POINT "i"),
    HOOK_ROW(box_filter, "_ZN2cv9boxFilterE" IN OUT "i" SIZE POINT "bi"),
    HOOK_ROW(median_blur, "_ZN2cv10medianBlurE" IN OUT "i"),
    HOOK_ROW(bilateral_filter, "_ZN2cv15bilateralFilterE" IN OUT "iddi"),
    HOOK_ROW(filter_2d, "_ZN2cv8filter2DE" IN OUT "iS2_" POINT "di"),
    HOOK_ROW(sep_filter_2d, "_ZN2cv11sepFilter2DE" IN OUT "iS2_S2_" POINT "di"),
    HOOK_ROW(sobel, "_ZN2cv5SobelE" IN OUT "iiiiddi"),
    HOOK_ROW(scharr, "_ZN2cv6ScharrE" IN OUT "iiiddi"),
    HOOK_ROW(laplacian, "_ZN2cv9LaplacianE" IN OUT "iiddi"),
    HOOK_ROW(canny, "_ZN2cv5CannyE" IN OUT "ddib"),
    HOOK_ROW(canny_gradients, "_ZN2cv5CannyE" IN "S2_" OUT "ddb"),
    HOOK_ROW(erode, "_ZN2cv5erodeE" IN OUT "S2_" POINT "ii" SCALAR),
    HOOK_ROW(dilate, "_ZN2cv6dilateE" IN OUT "S2_" POINT "ii" SCALAR),
    HOOK_ROW(morphology_ex, "_ZN2cv12morphologyExE" IN OUT "iS2_" POINT "ii" SCALAR),
    HOOK_ROW(equalize_hist, "_ZN2cv12equalizeHistE" IN OUT),
    HOOK_ROW(lut, "_ZN2cv3LUTE" IN "S2_" OUT),
    HOOK_ROW(threshold, "_ZN2cv9thresholdE" IN OUT "ddi"),
    HOOK_ROW(adaptive_threshold, "_ZN2cv17adaptiveThresholdE" IN OUT "diiid"),
    HOOK_ROW(find_contours, "_ZN2cv12findContoursE" IN OUT "ii" POINT),
    HOOK_ROW(find_contours_tree, "_ZN2cv12findContoursE" IN OUT "S5_ii" POINT),
    HOOK_ROW(components, "_ZN2cv19connectedComponentsE" IN OUT "ii"),
    HOOK_ROW(components_how, "_ZN2cv19connectedComponentsE" IN OUT "iii"),
    HOOK_ROW(components_stats, "_ZN2cv28connectedComponentsWithStatsE" IN OUT "S5_S5_ii"),
    HOOK_ROW(components_stats_how, "_ZN2cv28connectedComponentsWithStatsE" IN OUT "S5_S5_iii"),
    HOOK_ROW(distance_transform, "_ZN2cv17distanceTransformE" IN OUT "iii"),
    HOOK_ROW(match_template, "_ZN2cv13matchTemplateE" IN "S2_" OUT "iS2_"),
    HOOK_ROW(hough_circles, "_ZN2cv12HoughCirclesE" IN OUT "iddddii"),
    HOOK_ROW(contour_area, "_ZN2cv11contourAreaE" IN "b"),
    HOOK_ROW(arc_length, "_ZN2cv9arcLengthE" IN "b"),
    HOOK_ROW(approx_poly, "_ZN2cv12approxPolyDPE" IN OUT "db"),
    HOOK_ROW(convex_hull, "_ZN2cv10convexHullE" IN OUT "bb"),
#if defined(__x86_64__)
    HOOK_ROW(min_area_rect, "_ZN2cv11minAreaRectE" IN),
#endif
    HOOK_ROW(draw_contours, "_ZN2cv12drawContoursE" OPENCV_INOUT IN "i" SCALAR "iiS5_i" POINT),
    HOOK_ROW(fill_poly, "_ZN2cv8fillPolyE" OPENCV_INOUT IN SCALAR "ii" POINT),
    HOOK_ROW(rectangle, "_ZN2cv9rectangleE" OPENCV_INOUT POINT "S4_" SCALAR "iii"),
    HOOK_ROW(line, "_ZN2cv4lineE" OPENCV_INOUT POINT "S4_" SCALAR "iii"),
    HOOK_ROW(circle, "_ZN2cv6circleE" OPENCV_INOUT POINT "i" SCALAR "iii"),
    HOOK_END,
};

static const char *const libraries[] = {"libopencv_imgproc.so", NULL};

const struct hook_set hook_opencv_imgproc = {
    .name = "opencv_imgproc",
    .help = "OpenCV's image processing: geometry, colour, filters, contours, drawing",
    .libraries = libraries,
    .functions = functions,
};
