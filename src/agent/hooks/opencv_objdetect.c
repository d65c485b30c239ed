// SPDX-License-Identifier: Apache-2.0
// Hook set opencv_objdetect: OpenCV's own detectors: cascades, HOG, QR codes and other printed
// codes. HOG is virtual, and reached through its vtable too; cv::FaceDetectorYN and
// cv::FaceRecognizerSF are classes that the library hides (the network inside them is the set
// opencv_dnn's). Threads: any.
#include "agent/hooks/opencv.h"

#define FROM(id, text, params, args)                                                               \
    OPENCV_FROM(uintptr_t, id, text, "infer", in, PARAMS(params), ARGS(args))

// ---- Cascades. ----------------------------------------------------------------------------------
OPENCV_CALL(uintptr_t, cascade_load, "cv::CascadeClassifier::load", "load", 0,
    PARAMS(void *self, const void *path), ARGS(self, path))
OPENCV_CALL(uintptr_t, cascade_new, "cv::CascadeClassifier::load", "load", 0,
    PARAMS(void *self, const void *path), ARGS(self, path))
FROM(cascade, "cv::CascadeClassifier::detectMultiScale",
    PARAMS(void *self, opencv_in in, void *boxes, double step, int neighbours, int flags,
        uint64_t least, uint64_t most),
    ARGS(self, in, boxes, step, neighbours, flags, least, most))
FROM(cascade_counts, "cv::CascadeClassifier::detectMultiScale",
    PARAMS(void *self, opencv_in in, void *boxes, void *counts, double step, int neighbours,
        int flags, uint64_t least, uint64_t most),
    ARGS(self, in, boxes, counts, step, neighbours, flags, least, most))
FROM(cascade_weights, "cv::CascadeClassifier::detectMultiScale",
    PARAMS(void *self, opencv_in in, void *boxes, void *levels, void *weights, double step,
        int neighbours, int flags, uint64_t least, uint64_t most, int has_weights),
    ARGS(self, in, boxes, levels, weights, step, neighbours, flags, least, most, has_weights))

// ---- HOG. ---------------------------------------------------------------------------------------
FROM(hog, "cv::HOGDescriptor::detectMultiScale",
    PARAMS(const void *self, opencv_in in, void *boxes, double hit, uint64_t stride,
        uint64_t padding, double scale, double group, int is_mean_shift),
    ARGS(self, in, boxes, hit, stride, padding, scale, group, is_mean_shift))
FROM(hog_weights, "cv::HOGDescriptor::detectMultiScale",
    PARAMS(const void *self, opencv_in in, void *boxes, void *weights, double hit, uint64_t stride,
        uint64_t padding, double scale, double group, int is_mean_shift),
    ARGS(self, in, boxes, weights, hit, stride, padding, scale, group, is_mean_shift))
FROM(hog_detect, "cv::HOGDescriptor::detect",
    PARAMS(const void *self, opencv_in in, void *points, double hit, uint64_t stride,
        uint64_t padding, const void *search),
    ARGS(self, in, points, hit, stride, padding, search))
FROM(hog_detect_weights, "cv::HOGDescriptor::detect",
    PARAMS(const void *self, opencv_in in, void *points, void *weights, double hit, uint64_t stride,
        uint64_t padding, const void *search),
    ARGS(self, in, points, weights, hit, stride, padding, search))
FROM(hog_compute, "cv::HOGDescriptor::compute",
    PARAMS(const void *self, opencv_in in, void *descriptors, uint64_t stride, uint64_t padding,
        const void *points),
    ARGS(self, in, descriptors, stride, padding, points))

// ---- Printed codes: of QRCodeDetector, and (4.8 and later) of the base that it shares. ----------
#define CODES(id, text)                                                                            \
    FROM(id##_detect, text "::detect", PARAMS(const void *self, opencv_in in, opencv_out points),  \
        ARGS(self, in, points))                                                                    \
    FROM(id##_detect_multi, text "::detectMulti",                                                  \
        PARAMS(const void *self, opencv_in in, opencv_out points), ARGS(self, in, points))         \
    FROM(id##_decode_multi, text "::decodeMulti",                                                  \
        PARAMS(const void *self, opencv_in in, opencv_in points, void *texts, opencv_out codes),   \
        ARGS(self, in, points, texts, codes))                                                      \
    FROM(id##_both_multi, text "::detectAndDecodeMulti",                                           \
        PARAMS(const void *self, opencv_in in, void *texts, opencv_out points, opencv_out codes),  \
        ARGS(self, in, texts, points, codes))
CODES(qr, "cv::QRCodeDetector")
CODES(code, "cv::GraphicalCodeDetector")
FROM(markers, "cv::aruco::ArucoDetector::detectMarkers",
    PARAMS(const void *self, opencv_in in, opencv_out corners, opencv_out ids, opencv_out rejected),
    ARGS(self, in, corners, ids, rejected))
#if defined(__x86_64__)
// A text comes back by a hidden pointer.
#define TEXT(id, text)                                                                             \
    FROM(id, text,                                                                                 \
        PARAMS(void *result, const void *self, opencv_in in, opencv_in points, opencv_out codes),  \
        ARGS(result, self, in, points, codes))
TEXT(qr_decode, "cv::QRCodeDetector::decode")
TEXT(qr_both, "cv::QRCodeDetector::detectAndDecode")
TEXT(qr_decode_curved, "cv::QRCodeDetector::decodeCurved")
TEXT(qr_both_curved, "cv::QRCodeDetector::detectAndDecodeCurved")
TEXT(code_decode, "cv::GraphicalCodeDetector::decode")
TEXT(code_both, "cv::GraphicalCodeDetector::detectAndDecode")
#endif

#define IN OPENCV_IN
#define OUT OPENCV_OUT
#define SIZE OPENCV_SIZE
#define LINE(id, symbol) HOOK_LINE(id, symbol, OPENCV_IN_ATTRS)
#define LINE_HOG(id, symbol) HOOK_LINE(id, symbol, OPENCV_IN_ATTRS | HOOK_VIRTUAL)
#define RECTS "RSt6vectorINS_5Rect_IiEESaIS6_EE"
#define POINTS "RSt6vectorINS_6Point_IiEESaIS6_EE"
#define TEXTS "RSt6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaISA_EE"
#define LINES_CODES(id, symbol)                                                                    \
    LINE(id##_detect, symbol "6detectE" IN OUT),                                                   \
        LINE(id##_detect_multi, symbol "11detectMultiE" IN OUT),                                   \
        LINE(id##_decode_multi, symbol "11decodeMultiE" IN "S3_" TEXTS OUT),                       \
        LINE(id##_both_multi, symbol "20detectAndDecodeMultiE" IN TEXTS OUT "SG_")
#define CASCADE "_ZN2cv17CascadeClassifier"
#define HOG "_ZNK2cv13HOGDescriptor"

static const struct hook_function functions[] = {
    HOOK_LINE(cascade_load, CASCADE "4loadERK" OPENCV_STRING, 0),
    HOOK_LINE(cascade_new, CASCADE "C1ERK" OPENCV_STRING, 0),
    LINE(cascade, CASCADE "16detectMultiScaleE" IN RECTS "dii" SIZE "SB_"),
    LINE(cascade_counts, CASCADE "16detectMultiScaleE" IN RECTS "RS4_IiSaIiEEdii" SIZE "SE_"),
    LINE(cascade_weights,
        CASCADE "16detectMultiScaleE" IN RECTS "RS4_IiSaIiEERS4_IdSaIdEEdii" SIZE "SH_b"),
    LINE_HOG(hog, HOG "16detectMultiScaleE" IN RECTS "d" SIZE "SB_ddb"),
    LINE_HOG(hog_weights, HOG "16detectMultiScaleE" IN RECTS "RS4_IdSaIdEEd" SIZE "SE_ddb"),
    LINE_HOG(hog_detect, HOG "6detectE" IN POINTS "d" SIZE "SB_RKS8_"),
    LINE_HOG(hog_detect_weights, HOG "6detectE" IN POINTS "RS4_IdSaIdEEd" SIZE "SE_RKS8_"),
    LINE_HOG(hog_compute,
        HOG "7computeE" IN "RSt6vectorIfSaIfEE" SIZE "S9_RKS4_INS_6Point_IiEESaISB_EE"),
    LINES_CODES(qr, "_ZNK2cv14QRCodeDetector"),
    LINES_CODES(code, "_ZNK2cv21GraphicalCodeDetector"),
    LINE(markers, "_ZNK2cv5aruco13ArucoDetector13detectMarkersE" IN OUT "S7_S7_"),
#if defined(__x86_64__)
    LINE(qr_decode, "_ZN2cv14QRCodeDetector6decodeB5cxx11E" IN "S3_" OUT),
    LINE(qr_both, "_ZN2cv14QRCodeDetector15detectAndDecodeB5cxx11E" IN OUT "S6_"),
    LINE(qr_decode_curved, "_ZN2cv14QRCodeDetector12decodeCurvedB5cxx11E" IN "S3_" OUT),
    LINE(qr_both_curved, "_ZN2cv14QRCodeDetector21detectAndDecodeCurvedB5cxx11E" IN OUT "S6_"),
    LINE(code_decode, "_ZNK2cv21GraphicalCodeDetector6decodeB5cxx11E" IN "S3_" OUT),
    LINE(code_both, "_ZNK2cv21GraphicalCodeDetector15detectAndDecodeB5cxx11E" IN OUT "S6_"),
#endif
    HOOK_END,
};

OPENCV_LIBRARIES("objdetect");

const struct hook_set hook_opencv_objdetect = {
    .name = "opencv_objdetect",
    .help = "OpenCV's own detectors: cascades, HOG, printed codes",
    .libraries = libraries,
    .functions = functions,
};
