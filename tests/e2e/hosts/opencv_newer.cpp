// SPDX-License-Identifier: Apache-2.0
// Declares functions that later releases of OpenCV 4 have than the installed one, as their headers
// do, so that the compiler says how their names are mangled. Never linked; read by
// test_hooks_symbols.py.
#include <opencv2/core.hpp>

namespace cv
{
enum AlgorithmHint { ALGO_HINT_DEFAULT = 0 };

void imread(const String &, OutputArray, int);                                        // 4.10
bool imdecodemulti(InputArray, int, std::vector<Mat> &);                              // 4.7
bool imdecodemulti(InputArray, int, std::vector<Mat> &, const Range &);               // 4.9
void cvtColor(InputArray, OutputArray, int, int, AlgorithmHint);                      // 4.11
void cvtColorTwoPlane(InputArray, InputArray, OutputArray, int, AlgorithmHint);       // 4.11
void GaussianBlur(InputArray, OutputArray, Size, double, double, int, AlgorithmHint); // 4.11

namespace dnn
{
inline namespace dnn4_v20241223
{
struct Image2BlobParams;
struct Net {
    Net(const Net &);
    ~Net();
};
Mat blobFromImageWithParams(InputArray, const Image2BlobParams &);                // 4.8
void blobFromImageWithParams(InputArray, OutputArray, const Image2BlobParams &);  // 4.8
Mat blobFromImagesWithParams(InputArray, const Image2BlobParams &);               // 4.8
void blobFromImagesWithParams(InputArray, OutputArray, const Image2BlobParams &); // 4.8
void NMSBoxesBatched(const std::vector<Rect> &, const std::vector<float> &,
    const std::vector<int> &, float, float, std::vector<int> &, float, int); // 4.7
void NMSBoxesBatched(const std::vector<Rect2d> &, const std::vector<float> &,
    const std::vector<int> &, float, float, std::vector<int> &, float, int); // 4.7
Net readNetFromTFLite(const String &);                                       // 4.7
Net readNetFromTFLite(const std::vector<uchar> &);                           // 4.7
Net readNetFromTFLite(const char *, size_t);                                 // 4.7
} // namespace dnn4_v20241223
} // namespace dnn
} // namespace cv

using cv::InputArray;
using cv::Mat;
using cv::OutputArray;
using cv::dnn::Image2BlobParams;
using cv::dnn::Net;
template <class T>
using batched = void (*)(const std::vector<T> &, const std::vector<float> &,
    const std::vector<int> &, float, float, std::vector<int> &, float, int);

extern const void *const opencv_newer[];
const void *const opencv_newer[] = {
    (void *)(void (*)(const cv::String &, OutputArray, int))cv::imread,
    (void *)(bool (*)(InputArray, int, std::vector<Mat> &))cv::imdecodemulti,
    (void *)(bool (*)(InputArray, int, std::vector<Mat> &, const cv::Range &))cv::imdecodemulti,
    (void *)cv::cvtColor,
    (void *)cv::cvtColorTwoPlane,
    (void *)cv::GaussianBlur,
    (void *)(Mat (*)(InputArray, const Image2BlobParams &))cv::dnn::blobFromImageWithParams,
    (void *)(void (*)(
        InputArray, OutputArray, const Image2BlobParams &))cv::dnn::blobFromImageWithParams,
    (void *)(Mat (*)(InputArray, const Image2BlobParams &))cv::dnn::blobFromImagesWithParams,
    (void *)(void (*)(
        InputArray, OutputArray, const Image2BlobParams &))cv::dnn::blobFromImagesWithParams,
    (void *)(batched<cv::Rect>)cv::dnn::NMSBoxesBatched,
    (void *)(batched<cv::Rect2d>)cv::dnn::NMSBoxesBatched,
    (void *)(Net (*)(const cv::String &))cv::dnn::readNetFromTFLite,
    (void *)(Net (*)(const std::vector<uchar> &))cv::dnn::readNetFromTFLite,
    (void *)(Net (*)(const char *, size_t))cv::dnn::readNetFromTFLite,
};
