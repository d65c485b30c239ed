// SPDX-License-Identifier: Apache-2.0
// Hook set opencv_imgproc: what programs do to pixels with OpenCV's imgproc. Symbols are mangled
// C++ names, prototypes the Itanium ABI written out: cv::Size and cv::Point are one integer
// register, a reference is a pointer. Where a cv::Rect or cv::Scalar goes by value, the ABI changed
// between releases of OpenCV 4 under one name: a hook is there only where one prototype carries
// both. Threads: any.
#include "agent/hooks/opencv.h"

#define NOTHING OPENCV_NOTHING
#define FILTER(id, text, stage, params, args)                                                      \
    OPENCV_FILTER(uintptr_t, id, text, stage, in, out, NOTHING, PARAMS(params), ARGS(args))
// With how pixels between pixels are made.
#define WARP(id, text, params, args)                                                               \
    OPENCV_FILTER(uintptr_t, id, text, "preprocess", in, out, opencv_filter(&span, how),           \
        PARAMS(params), ARGS(args))
#define COLOUR(id, text, params, args)                                                             \
    OPENCV_FILTER(uintptr_t, id, text, "convert", in, out, note_colour(&span, code),               \
        PARAMS(params), ARGS(args))
#define FROM(id, text, stage, params, args)                                                        \
    OPENCV_FROM(uintptr_t, id, text, stage, in, PARAMS(params), ARGS(args))
#define CALL(ret, id, text, params, args)                                                          \
    OPENCV_CALL(ret, id, text, "postprocess", AGENT_FOLD_SHORT, PARAMS(params), ARGS(args))
#define ONTO(id, text, params, args)                                                               \
    OPENCV_DETAILED(uintptr_t, id, text, "draw", AGENT_FOLD_SHORT, NOTHING,                        \
        opencv_shape(&span, opencv_mat_of(image)), PARAMS(params), ARGS(args))

static inline void note_colour(const struct hook_span *s, int code)
{
    if (s->token)
        span_value(s->token, TRACE_ATTR_COLOUR, (uint64_t)(uint32_t)code);
}

// ---- Geometry. ----------------------------------------------------------------------------------
WARP(resize, "cv::resize",
    PARAMS(opencv_in in, opencv_out out, uint64_t extent, double x, double y, int how),
    ARGS(in, out, extent, x, y, how))
WARP(warp_affine, "cv::warpAffine",
    PARAMS(opencv_in in, opencv_out out, opencv_in matrix, uint64_t extent, int how, int border,
        const void *value),
    ARGS(in, out, matrix, extent, how, border, value))
WARP(warp_perspective, "cv::warpPerspective",
    PARAMS(opencv_in in, opencv_out out, opencv_in matrix, uint64_t extent, int how, int border,
        const void *value),
    ARGS(in, out, matrix, extent, how, border, value))
WARP(remap, "cv::remap",
    PARAMS(opencv_in in, opencv_out out, opencv_in x, opencv_in y, int how, int border,
        const void *value),
    ARGS(in, out, x, y, how, border, value))
// Later releases: with a hint of how exact to be.
WARP(warp_affine_hint, "cv::warpAffine",
    PARAMS(opencv_in in, opencv_out out, opencv_in matrix, uint64_t extent, int how, int border,
        const void *value, int hint),
    ARGS(in, out, matrix, extent, how, border, value, hint))
WARP(warp_perspective_hint, "cv::warpPerspective",
    PARAMS(opencv_in in, opencv_out out, opencv_in matrix, uint64_t extent, int how, int border,
        const void *value, int hint),
    ARGS(in, out, matrix, extent, how, border, value, hint))
WARP(remap_hint, "cv::remap",
    PARAMS(opencv_in in, opencv_out out, opencv_in x, opencv_in y, int how, int border,
        const void *value, int hint),
    ARGS(in, out, x, y, how, border, value, hint))
WARP(warp_polar, "cv::warpPolar",
    PARAMS(opencv_in in, opencv_out out, uint64_t extent, struct opencv_point middle, double radius,
        int how),
    ARGS(in, out, extent, middle, radius, how))
FILTER(rect_sub_pix, "cv::getRectSubPix", "preprocess",
    PARAMS(opencv_in in, uint64_t extent, struct opencv_point middle, opencv_out out, int type),
    ARGS(in, extent, middle, out, type))
FILTER(pyr_down, "cv::pyrDown", "preprocess",
    PARAMS(opencv_in in, opencv_out out, const void *extent, int border),
    ARGS(in, out, extent, border))
FILTER(pyr_up, "cv::pyrUp", "preprocess",
    PARAMS(opencv_in in, opencv_out out, const void *extent, int border),
    ARGS(in, out, extent, border))

// ---- Colour and type. ---------------------------------------------------------------------------
COLOUR(cvt_color, "cv::cvtColor", PARAMS(opencv_in in, opencv_out out, int code, int channels),
    ARGS(in, out, code, channels))
COLOUR(cvt_color_hint, "cv::cvtColor",
    PARAMS(opencv_in in, opencv_out out, int code, int channels, int hint),
    ARGS(in, out, code, channels, hint))
COLOUR(cvt_color_two_plane, "cv::cvtColorTwoPlane",
    PARAMS(opencv_in in, opencv_in second, opencv_out out, int code), ARGS(in, second, out, code))
COLOUR(cvt_color_two_plane_hint, "cv::cvtColorTwoPlane",
    PARAMS(opencv_in in, opencv_in second, opencv_out out, int code, int hint),
    ARGS(in, second, out, code, hint))
COLOUR(demosaicing, "cv::demosaicing", PARAMS(opencv_in in, opencv_out out, int code, int channels),
    ARGS(in, out, code, channels))
FILTER(colour_map, "cv::applyColorMap", "draw", PARAMS(opencv_in in, opencv_out out, int map),
    ARGS(in, out, map))
FILTER(colour_map_own, "cv::applyColorMap", "draw",
    PARAMS(opencv_in in, opencv_out out, opencv_in map), ARGS(in, out, map))

// ---- Filters and thresholds. --------------------------------------------------------------------
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
OPENCV_FILTER(double, threshold, "cv::threshold", "preprocess", in, out, NOTHING,
    PARAMS(opencv_in in, opencv_out out, double level, double top, int type),
    ARGS(in, out, level, top, type))
FILTER(adaptive_threshold, "cv::adaptiveThreshold", "preprocess",
    PARAMS(opencv_in in, opencv_out out, double top, int how, int type, int block, double c),
    ARGS(in, out, top, how, type, block, c))
FILTER(stack_blur, "cv::stackBlur", "preprocess",
    PARAMS(opencv_in in, opencv_out out, uint64_t kernel), ARGS(in, out, kernel))
FILTER(sqr_box_filter, "cv::sqrBoxFilter", "preprocess",
    PARAMS(opencv_in in, opencv_out out, int depth, uint64_t kernel, uint64_t anchor, int norm,
        int border),
    ARGS(in, out, depth, kernel, anchor, norm, border))
FILTER(integral, "cv::integral", "preprocess", PARAMS(opencv_in in, opencv_out out, int depth),
    ARGS(in, out, depth))
FILTER(integral_squares, "cv::integral", "preprocess",
    PARAMS(opencv_in in, opencv_out out, opencv_out squares, int depth, int square_depth),
    ARGS(in, out, squares, depth, square_depth))
FILTER(integral_tilted, "cv::integral", "preprocess",
    PARAMS(opencv_in in, opencv_out out, opencv_out squares, opencv_out tilted, int depth,
        int square_depth),
    ARGS(in, out, squares, tilted, depth, square_depth))
FILTER(mean_shift, "cv::pyrMeanShiftFiltering", "preprocess",
    PARAMS(opencv_in in, opencv_out out, double space, double colour, int level,
        struct opencv_criteria criteria),
    ARGS(in, out, space, colour, level, criteria))
FILTER(accumulate, "cv::accumulate", "preprocess",
    PARAMS(opencv_in in, opencv_out out, opencv_in mask), ARGS(in, out, mask))
FILTER(accumulate_weighted, "cv::accumulateWeighted", "preprocess",
    PARAMS(opencv_in in, opencv_out out, double alpha, opencv_in mask), ARGS(in, out, alpha, mask))

// ---- From pixels to findings. -------------------------------------------------------------------
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
FROM(distance_labels, "cv::distanceTransform", "postprocess",
    PARAMS(opencv_in in, opencv_out distances, opencv_out labels, int how, int mask, int type),
    ARGS(in, distances, labels, how, mask, type))
FROM(hough_lines, "cv::HoughLines", "postprocess",
    PARAMS(opencv_in in, opencv_out lines, double rho, double theta, int least, double a, double b,
        double low, double high),
    ARGS(in, lines, rho, theta, least, a, b, low, high))
FROM(hough_segments, "cv::HoughLinesP", "postprocess",
    PARAMS(opencv_in in, opencv_out lines, double rho, double theta, int least, double length,
        double gap),
    ARGS(in, lines, rho, theta, least, length, gap))
FROM(corners, "cv::goodFeaturesToTrack", "postprocess",
    PARAMS(opencv_in in, opencv_out corners, int most, double quality, double apart, opencv_in mask,
        int block, int is_harris, double k),
    ARGS(in, corners, most, quality, apart, mask, block, is_harris, k))
FROM(corners_gradient, "cv::goodFeaturesToTrack", "postprocess",
    PARAMS(opencv_in in, opencv_out corners, int most, double quality, double apart, opencv_in mask,
        int block, int gradient, int is_harris, double k),
    ARGS(in, corners, most, quality, apart, mask, block, gradient, is_harris, k))
FROM(corners_quality, "cv::goodFeaturesToTrack", "postprocess",
    PARAMS(opencv_in in, opencv_out corners, int most, double quality, double apart, opencv_in mask,
        opencv_out qualities, int block, int gradient, int is_harris, double k),
    ARGS(in, corners, most, quality, apart, mask, qualities, block, gradient, is_harris, k))
FROM(corner_sub_pix, "cv::cornerSubPix", "postprocess",
    PARAMS(opencv_in in, opencv_out corners, uint64_t window, uint64_t zone,
        struct opencv_criteria criteria),
    ARGS(in, corners, window, zone, criteria))
FILTER(corner_harris, "cv::cornerHarris", "postprocess",
    PARAMS(opencv_in in, opencv_out out, int block, int kernel, double k, int border),
    ARGS(in, out, block, kernel, k, border))
FILTER(corner_eigen, "cv::cornerMinEigenVal", "postprocess",
    PARAMS(opencv_in in, opencv_out out, int block, int kernel, int border),
    ARGS(in, out, block, kernel, border))
FROM(watershed, "cv::watershed", "postprocess", PARAMS(opencv_in in, opencv_out markers),
    ARGS(in, markers))
CALL(uintptr_t, calc_hist, "cv::calcHist",
    PARAMS(const void *images, int count, const int *channels, opencv_in mask, opencv_out hist,
        int dims, const int *sizes, const void *ranges, int is_uniform, int is_added),
    ARGS(images, count, channels, mask, hist, dims, sizes, ranges, is_uniform, is_added))
CALL(uintptr_t, calc_hist_vector, "cv::calcHist",
    PARAMS(opencv_in images, const void *channels, opencv_in mask, opencv_out hist,
        const void *sizes, const void *ranges, int is_added),
    ARGS(images, channels, mask, hist, sizes, ranges, is_added))
CALL(double, compare_hist, "cv::compareHist", PARAMS(opencv_in a, opencv_in b, int how),
    ARGS(a, b, how))
CALL(double, match_shapes, "cv::matchShapes",
    PARAMS(opencv_in a, opencv_in b, int how, double parameter), ARGS(a, b, how, parameter))
CALL(double, polygon_test, "cv::pointPolygonTest",
    PARAMS(opencv_in contour, struct opencv_point point, int is_distance),
    ARGS(contour, point, is_distance))
CALL(uintptr_t, enclosing_circle, "cv::minEnclosingCircle",
    PARAMS(opencv_in points, void *middle, float *radius), ARGS(points, middle, radius))
CALL(uintptr_t, fit_line, "cv::fitLine",
    PARAMS(opencv_in points, opencv_out line, int how, double parameter, double reps, double aeps),
    ARGS(points, line, how, parameter, reps, aeps))
CALL(double, contour_area, "cv::contourArea", PARAMS(opencv_in contour, int is_oriented),
    ARGS(contour, is_oriented))
CALL(double, arc_length, "cv::arcLength", PARAMS(opencv_in curve, int is_closed),
    ARGS(curve, is_closed))
CALL(uintptr_t, approx_poly, "cv::approxPolyDP",
    PARAMS(opencv_in curve, opencv_out result, double epsilon, int is_closed),
    ARGS(curve, result, epsilon, is_closed))
CALL(uintptr_t, convex_hull, "cv::convexHull",
    PARAMS(opencv_in points, opencv_out hull, int is_clockwise, int are_points),
    ARGS(points, hull, is_clockwise, are_points))
#if defined(__x86_64__)
// Results by a hidden pointer: cv::RotatedRect (20 bytes), cv::Moments.
CALL(uintptr_t, min_area_rect, "cv::minAreaRect", PARAMS(void *result, opencv_in points),
    ARGS(result, points))
CALL(uintptr_t, fit_ellipse, "cv::fitEllipse", PARAMS(void *result, opencv_in points),
    ARGS(result, points))
CALL(uintptr_t, moments, "cv::moments", PARAMS(void *result, opencv_in points, int is_binary),
    ARGS(result, points, is_binary))
// A cv::Rect comes back in two registers, or (older releases) by a hidden pointer, and is given in
// two registers or by one pointer. What follows it moves by a register then: both are carried here.
struct two_registers {
    uint64_t a, b;
};
CALL(struct two_registers, bounding_rect, "cv::boundingRect", PARAMS(uint64_t a, uint64_t b),
    ARGS(a, b))
OPENCV_DETAILED(uintptr_t, grab_cut, "cv::grabCut", "postprocess", AGENT_FOLD_SHORT,
    opencv_before(&span, opencv_mat_of(in)), NOTHING,
    PARAMS(opencv_in in, opencv_out mask, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
        uint64_t g, uint64_t h),
    ARGS(in, mask, c, d, e, f, g, h))
#endif

// ---- Drawing. -----------------------------------------------------------------------------------
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
ONTO(polylines, "cv::polylines",
    PARAMS(opencv_out image, opencv_in points, int is_closed, const void *colour, int width,
        int line, int shift),
    ARGS(image, points, is_closed, colour, width, line, shift))
ONTO(fill_convex, "cv::fillConvexPoly",
    PARAMS(opencv_out image, opencv_in points, const void *colour, int line, int shift),
    ARGS(image, points, colour, line, shift))
ONTO(ellipse, "cv::ellipse",
    PARAMS(opencv_out image, uint64_t middle, uint64_t axes, double angle, double from_angle,
        double to_angle, const void *colour, int width, int line, int shift),
    ARGS(image, middle, axes, angle, from_angle, to_angle, colour, width, line, shift))
ONTO(ellipse_box, "cv::ellipse",
    PARAMS(opencv_out image, const void *box, const void *colour, int width, int line),
    ARGS(image, box, colour, width, line))
ONTO(arrow, "cv::arrowedLine",
    PARAMS(opencv_out image, uint64_t a, uint64_t b, const void *colour, int width, int line,
        int shift, double tip),
    ARGS(image, a, b, colour, width, line, shift, tip))
#if defined(__x86_64__)
// As above, by a cv::Rect; and by a cv::Scalar, which lies on the stack in some releases.
ONTO(rectangle_rect, "cv::rectangle",
    PARAMS(
        opencv_out image, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g),
    ARGS(image, b, c, d, e, f, g))
ONTO(put_text, "cv::putText",
    PARAMS(opencv_out image, const void *text, uint64_t at, int face, double scale, uint64_t e,
        uint64_t f, uint64_t g, uint64_t h, uint64_t i, uint64_t j, uint64_t k),
    ARGS(image, text, at, face, scale, e, f, g, h, i, j, k))
#endif

#define IN OPENCV_IN
#define OUT OPENCV_OUT
#define INOUT OPENCV_INOUT
#define SIZE OPENCV_SIZE
#define POINT OPENCV_POINT
#define SCALAR OPENCV_SCALAR
#define HINT OPENCV_HINT
#define LINE(id, symbol) HOOK_LINE(id, symbol, OPENCV_ATTRS)
#define LINE_WARP(id, symbol) HOOK_LINE(id, symbol, OPENCV_ATTRS | HOOK_ATTR(FILTER))
#define LINE_COLOUR(id, symbol) HOOK_LINE(id, symbol, OPENCV_ATTRS | HOOK_ATTR(COLOUR))
#define LINE_FROM(id, symbol) HOOK_LINE(id, symbol, OPENCV_IN_ATTRS)
#define LINE_CALL(id, symbol) HOOK_LINE(id, symbol, 0)
#define LINE_ONTO(id, symbol) HOOK_LINE(id, symbol, HOOK_SHAPE)

static const struct hook_function functions[] = {
    LINE_WARP(resize, "_ZN2cv6resizeE" IN OUT SIZE "ddi"),
    LINE_WARP(warp_affine, "_ZN2cv10warpAffineE" IN OUT "S2_" SIZE "ii" SCALAR),
    LINE_WARP(warp_perspective, "_ZN2cv15warpPerspectiveE" IN OUT "S2_" SIZE "ii" SCALAR),
    LINE_WARP(remap, "_ZN2cv5remapE" IN OUT "S2_S2_ii" SCALAR),
    LINE(pyr_down, "_ZN2cv7pyrDownE" IN OUT "RK" SIZE "i"),
    LINE(pyr_up, "_ZN2cv5pyrUpE" IN OUT "RK" SIZE "i"),
    LINE_COLOUR(cvt_color, "_ZN2cv8cvtColorE" IN OUT "ii"),
    LINE_COLOUR(cvt_color_hint, "_ZN2cv8cvtColorE" IN OUT "ii" HINT),
    LINE_COLOUR(cvt_color_two_plane, "_ZN2cv16cvtColorTwoPlaneE" IN "S2_" OUT "i"),
    LINE_COLOUR(cvt_color_two_plane_hint, "_ZN2cv16cvtColorTwoPlaneE" IN "S2_" OUT "i" HINT),
    LINE(gaussian_blur, "_ZN2cv12GaussianBlurE" IN OUT SIZE "ddi"),
    LINE(gaussian_blur_hint, "_ZN2cv12GaussianBlurE" IN OUT SIZE "ddi" HINT),
    LINE(blur, "_ZN2cv4blurE" IN OUT SIZE POINT "i"),
    LINE(box_filter, "_ZN2cv9boxFilterE" IN OUT "i" SIZE POINT "bi"),
    LINE(median_blur, "_ZN2cv10medianBlurE" IN OUT "i"),
    LINE(bilateral_filter, "_ZN2cv15bilateralFilterE" IN OUT "iddi"),
    LINE(filter_2d, "_ZN2cv8filter2DE" IN OUT "iS2_" POINT "di"),
    LINE(sep_filter_2d, "_ZN2cv11sepFilter2DE" IN OUT "iS2_S2_" POINT "di"),
    LINE(sobel, "_ZN2cv5SobelE" IN OUT "iiiiddi"),
    LINE(scharr, "_ZN2cv6ScharrE" IN OUT "iiiddi"),
    LINE(laplacian, "_ZN2cv9LaplacianE" IN OUT "iiddi"),
    LINE(canny, "_ZN2cv5CannyE" IN OUT "ddib"),
    LINE(canny_gradients, "_ZN2cv5CannyE" IN "S2_" OUT "ddb"),
    LINE(erode, "_ZN2cv5erodeE" IN OUT "S2_" POINT "ii" SCALAR),
    LINE(dilate, "_ZN2cv6dilateE" IN OUT "S2_" POINT "ii" SCALAR),
    LINE(morphology_ex, "_ZN2cv12morphologyExE" IN OUT "iS2_" POINT "ii" SCALAR),
    LINE(equalize_hist, "_ZN2cv12equalizeHistE" IN OUT),
    LINE(threshold, "_ZN2cv9thresholdE" IN OUT "ddi"),
    LINE(adaptive_threshold, "_ZN2cv17adaptiveThresholdE" IN OUT "diiid"),
    LINE_FROM(find_contours, "_ZN2cv12findContoursE" IN OUT "ii" POINT),
    LINE_FROM(find_contours_tree, "_ZN2cv12findContoursE" IN OUT "S5_ii" POINT),
    LINE_FROM(components, "_ZN2cv19connectedComponentsE" IN OUT "ii"),
    LINE_FROM(components_how, "_ZN2cv19connectedComponentsE" IN OUT "iii"),
    LINE_FROM(components_stats, "_ZN2cv28connectedComponentsWithStatsE" IN OUT "S5_S5_ii"),
    LINE_FROM(components_stats_how, "_ZN2cv28connectedComponentsWithStatsE" IN OUT "S5_S5_iii"),
    LINE_FROM(distance_transform, "_ZN2cv17distanceTransformE" IN OUT "iii"),
    LINE_FROM(match_template, "_ZN2cv13matchTemplateE" IN "S2_" OUT "iS2_"),
    LINE_FROM(hough_circles, "_ZN2cv12HoughCirclesE" IN OUT "iddddii"),
    LINE_CALL(contour_area, "_ZN2cv11contourAreaE" IN "b"),
    LINE_CALL(arc_length, "_ZN2cv9arcLengthE" IN "b"),
    LINE_CALL(approx_poly, "_ZN2cv12approxPolyDPE" IN OUT "db"),
    LINE_CALL(convex_hull, "_ZN2cv10convexHullE" IN OUT "bb"),
#if defined(__x86_64__)
    LINE_CALL(min_area_rect, "_ZN2cv11minAreaRectE" IN),
#endif
    LINE_ONTO(draw_contours, "_ZN2cv12drawContoursE" INOUT IN "i" SCALAR "iiS5_i" POINT),
    LINE_ONTO(fill_poly, "_ZN2cv8fillPolyE" INOUT IN SCALAR "ii" POINT),
    LINE_ONTO(rectangle, "_ZN2cv9rectangleE" INOUT POINT "S4_" SCALAR "iii"),
    LINE_ONTO(line, "_ZN2cv4lineE" INOUT POINT "S4_" SCALAR "iii"),
    LINE_ONTO(circle, "_ZN2cv6circleE" INOUT POINT "i" SCALAR "iii"),
    LINE_WARP(warp_affine_hint, "_ZN2cv10warpAffineE" IN OUT "S2_" SIZE "ii" SCALAR HINT),
    LINE_WARP(warp_perspective_hint, "_ZN2cv15warpPerspectiveE" IN OUT "S2_" SIZE "ii" SCALAR HINT),
    LINE_WARP(remap_hint, "_ZN2cv5remapE" IN OUT "S2_S2_ii" SCALAR HINT),
    LINE_WARP(warp_polar, "_ZN2cv9warpPolarE" IN OUT SIZE "NS_6Point_IfEEdi"),
    LINE(rect_sub_pix, "_ZN2cv13getRectSubPixE" IN SIZE "NS_6Point_IfEE" OUT "i"),
    LINE_COLOUR(demosaicing, "_ZN2cv11demosaicingE" IN OUT "ii"),
    LINE(colour_map, "_ZN2cv13applyColorMapE" IN OUT "i"),
    LINE(colour_map_own, "_ZN2cv13applyColorMapE" IN OUT "S2_"),
    LINE(stack_blur, "_ZN2cv9stackBlurE" IN OUT SIZE),
    LINE(sqr_box_filter, "_ZN2cv12sqrBoxFilterE" IN OUT "i" SIZE POINT "bi"),
    LINE(integral, "_ZN2cv8integralE" IN OUT "i"),
    LINE(integral_squares, "_ZN2cv8integralE" IN OUT "S5_ii"),
    LINE(integral_tilted, "_ZN2cv8integralE" IN OUT "S5_S5_ii"),
    LINE(mean_shift, "_ZN2cv21pyrMeanShiftFilteringE" IN OUT "ddi" OPENCV_CRITERIA),
    LINE(accumulate, "_ZN2cv10accumulateE" IN INOUT "S2_"),
    LINE(accumulate_weighted, "_ZN2cv18accumulateWeightedE" IN INOUT "dS2_"),
    LINE_FROM(distance_labels, "_ZN2cv17distanceTransformE" IN OUT "S5_iii"),
    LINE_FROM(hough_lines, "_ZN2cv10HoughLinesE" IN OUT "ddidddd"),
    LINE_FROM(hough_segments, "_ZN2cv11HoughLinesPE" IN OUT "ddidd"),
    LINE_FROM(corners, "_ZN2cv19goodFeaturesToTrackE" IN OUT "iddS2_ibd"),
    LINE_FROM(corners_gradient, "_ZN2cv19goodFeaturesToTrackE" IN OUT "iddS2_iibd"),
    LINE_FROM(corners_quality, "_ZN2cv19goodFeaturesToTrackE" IN OUT "iddS2_S5_iibd"),
    LINE_FROM(corner_sub_pix, "_ZN2cv12cornerSubPixE" IN INOUT SIZE "S7_" OPENCV_CRITERIA),
    LINE(corner_harris, "_ZN2cv12cornerHarrisE" IN OUT "iidi"),
    LINE(corner_eigen, "_ZN2cv17cornerMinEigenValE" IN OUT "iii"),
    LINE_FROM(watershed, "_ZN2cv9watershedE" IN INOUT),
    LINE_CALL(calc_hist, "_ZN2cv8calcHistEPKNS_3MatEiPKi" IN OUT "iS4_PPKfbb"),
    LINE_CALL(
        calc_hist_vector, "_ZN2cv8calcHistE" IN "RKSt6vectorIiSaIiEES2_" OUT "S7_RKS3_IfSaIfEEb"),
    LINE_CALL(compare_hist, "_ZN2cv11compareHistE" IN "S2_i"),
    LINE_CALL(match_shapes, "_ZN2cv11matchShapesE" IN "S2_id"),
    LINE_CALL(polygon_test, "_ZN2cv16pointPolygonTestE" IN "NS_6Point_IfEEb"),
    LINE_CALL(enclosing_circle, "_ZN2cv18minEnclosingCircleE" IN "RNS_6Point_IfEERf"),
    LINE_CALL(fit_line, "_ZN2cv7fitLineE" IN OUT "iddd"),
    LINE_ONTO(polylines, "_ZN2cv9polylinesE" INOUT IN "b" SCALAR "iii"),
    LINE_ONTO(fill_convex, "_ZN2cv14fillConvexPolyE" INOUT IN SCALAR "ii"),
    LINE_ONTO(ellipse, "_ZN2cv7ellipseE" INOUT POINT SIZE "ddd" SCALAR "iii"),
    LINE_ONTO(ellipse_box, "_ZN2cv7ellipseE" INOUT "RKNS_11RotatedRectE" SCALAR "ii"),
    LINE_ONTO(arrow, "_ZN2cv11arrowedLineE" INOUT POINT "S4_" SCALAR "iiid"),
#if defined(__x86_64__)
    LINE_CALL(fit_ellipse, "_ZN2cv10fitEllipseE" IN),
    LINE_CALL(moments, "_ZN2cv7momentsE" IN "b"),
    LINE_CALL(bounding_rect, "_ZN2cv12boundingRectE" IN),
    LINE_FROM(grab_cut, "_ZN2cv7grabCutE" IN INOUT "NS_5Rect_IiEES5_S5_ii"),
    LINE_ONTO(rectangle_rect, "_ZN2cv9rectangleE" INOUT "NS_5Rect_IiEE" SCALAR "iii"),
    LINE_ONTO(put_text, "_ZN2cv7putTextE" INOUT "RK" OPENCV_STRING POINT "id"
                        "NS_7Scalar_IdEEiib"),
#endif
    HOOK_END,
};

OPENCV_LIBRARIES("imgproc");

const struct hook_set hook_opencv_imgproc = {
    .name = "opencv_imgproc",
    .help = "OpenCV's image processing: geometry, colour, filters, contours, drawing",
    .libraries = libraries,
    .functions = functions,
};
