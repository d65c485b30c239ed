# SPDX-License-Identifier: Apache-2.0
"""OpenCV's Python module, whatever it was linked with. Methods of its classes cannot be replaced; the hooks of the
C++ library see those where that is shared."""
from lightmeter._shim import FOLD_SHORT, SHAPE_OF_RESULT

READS = "imread imdecode imreadmulti imdecodemulti"
WRITES = "imwrite imencode imwritemulti"
CONVERSIONS = "cvtColor cvtColorTwoPlane demosaicing convertScaleAbs normalize LUT split merge"
PREPARATION = ("resize warpAffine warpPerspective remap copyMakeBorder flip rotate transpose blur GaussianBlur "
               "medianBlur bilateralFilter boxFilter filter2D sepFilter2D Sobel Laplacian Canny erode dilate "
               "morphologyEx threshold adaptiveThreshold equalizeHist pyrDown pyrUp undistort getRectSubPix "
               "fastNlMeansDenoising fastNlMeansDenoisingColored calcHist integral")
RESULTS = ("findContours connectedComponents connectedComponentsWithStats minAreaRect boundingRect approxPolyDP "
           "contourArea groupRectangles matchTemplate HoughCircles HoughLines HoughLinesP")
DRAWING = "rectangle circle line polylines fillPoly putText drawContours ellipse arrowedLine"


def wrap(_, cv2, wrapper):
    wrapper.functions(cv2, "decode", READS, shape=SHAPE_OF_RESULT)
    wrapper.functions(cv2, "encode", WRITES)
    wrapper.functions(cv2, "convert", CONVERSIONS, shape=SHAPE_OF_RESULT, flags=FOLD_SHORT)
    wrapper.functions(cv2, "preprocess", PREPARATION, shape=SHAPE_OF_RESULT, flags=FOLD_SHORT)
    wrapper.functions(cv2, "postprocess", RESULTS, flags=FOLD_SHORT)
    wrapper.functions(cv2, "draw", DRAWING, flags=FOLD_SHORT)
    dnn = getattr(cv2, "dnn", None)
    if dnn is not None:
        wrapper.functions(dnn, "load", "readNet readNetFromONNX readNetFromCaffe readNetFromTensorflow readNetFromDarknet")
        wrapper.functions(dnn, "preprocess", "blobFromImage blobFromImages", flags=FOLD_SHORT)
        wrapper.functions(dnn, "postprocess", "NMSBoxes NMSBoxesRotated NMSBoxesBatched", flags=FOLD_SHORT)
