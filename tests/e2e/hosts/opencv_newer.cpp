// SPDX-License-Identifier: Apache-2.0
// Declares functions that later releases of OpenCV 4 have than the installed one, as their headers
// do, so that the compiler says how their names are mangled. Never linked; read by
// test_hooks_symbols.py.
#include <opencv2/core.hpp>

namespace cv
{
enum AlgorithmHint { ALGO_HINT_DEFAULT = 0 };
struct Animation;
typedef std::vector<int> Ints;
typedef std::vector<uchar> Bytes;

void imread(const String &, OutputArray, int);                                        // 4.10
bool imdecodemulti(InputArray, int, std::vector<Mat> &);                              // 4.7
bool imdecodemulti(InputArray, int, std::vector<Mat> &, const Range &);               // 4.9
void cvtColor(InputArray, OutputArray, int, int, AlgorithmHint);                      // 4.11
void cvtColorTwoPlane(InputArray, InputArray, OutputArray, int, AlgorithmHint);       // 4.11
void GaussianBlur(InputArray, OutputArray, Size, double, double, int, AlgorithmHint); // 4.11

Mat imreadWithMetadata(const String &, Ints &, OutputArrayOfArrays, int); // 4.12
Mat imdecodeWithMetadata(InputArray, Ints &, OutputArrayOfArrays, int);   // 4.12
bool imwriteWithMetadata(
    const String &, InputArray, const Ints &, InputArrayOfArrays, const Ints &); // 4.12
bool imencodeWithMetadata(const String &, InputArray, const Ints &, InputArrayOfArrays, Bytes &,
    const Ints &);                                                             // 4.12
bool imencodemulti(const String &, InputArrayOfArrays, Bytes &, const Ints &); // 4.10
bool imreadanimation(const String &, Animation &, int, int);                   // 4.11
bool imwriteanimation(const String &, const Animation &, const Ints &);        // 4.11
void warpAffine(InputArray, OutputArray, InputArray, Size, int, int, const Scalar &, AlgorithmHint);
void warpPerspective(
    InputArray, OutputArray, InputArray, Size, int, int, const Scalar &, AlgorithmHint); // 5.0
void remap(
    InputArray, OutputArray, InputArray, InputArray, int, int, const Scalar &, AlgorithmHint);
void stackBlur(InputArray, OutputArray, Size); // 4.7
void flipND(InputArray, OutputArray, int);     // 4.7
bool hasNonZero(InputArray);                   // 4.7

struct GraphicalCodeDetector { // 4.8
    bool detect(InputArray, OutputArray) const;
    std::string decode(InputArray, InputArray, OutputArray) const;
    std::string detectAndDecode(InputArray, OutputArray, OutputArray) const;
    bool detectMulti(InputArray, OutputArray) const;
    bool decodeMulti(InputArray, InputArray, std::vector<std::string> &, OutputArray) const;
    bool detectAndDecodeMulti(
        InputArray, std::vector<std::string> &, OutputArray, OutputArray) const;
};
namespace aruco
{
struct ArucoDetector { // 4.7
    void detectMarkers(InputArray, OutputArray, OutputArray, OutputArray) const;
};
} // namespace aruco

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
Net readNetFromONNX(const String &, int);                                    // 5.0
Net readNetFromONNX(const std::vector<uchar> &, int);                        // 5.0
Net readNetFromONNX(const char *, size_t, int);                              // 5.0
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
    (void *)cv::imreadWithMetadata,
    (void *)cv::imdecodeWithMetadata,
    (void *)cv::imwriteWithMetadata,
    (void *)cv::imencodeWithMetadata,
    (void *)cv::imencodemulti,
    (void *)cv::imreadanimation,
    (void *)cv::imwriteanimation,
    (void *)cv::warpAffine,
    (void *)cv::warpPerspective,
    (void *)cv::remap,
    (void *)cv::stackBlur,
    (void *)cv::flipND,
    (void *)cv::hasNonZero,
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
    (void *)(Net (*)(const cv::String &, int))cv::dnn::readNetFromONNX,
    (void *)(Net (*)(const std::vector<uchar> &, int))cv::dnn::readNetFromONNX,
    (void *)(Net (*)(const char *, size_t, int))cv::dnn::readNetFromONNX,
};

// Members: a pointer to one holds its address.
struct member_pointers {
    bool (cv::GraphicalCodeDetector::*detect)(InputArray, OutputArray) const;
    std::string (cv::GraphicalCodeDetector::*decode)(InputArray, InputArray, OutputArray) const;
    std::string (cv::GraphicalCodeDetector::*both)(InputArray, OutputArray, OutputArray) const;
    bool (cv::GraphicalCodeDetector::*detect_multi)(InputArray, OutputArray) const;
    bool (cv::GraphicalCodeDetector::*decode_multi)(
        InputArray, InputArray, std::vector<std::string> &, OutputArray) const;
    bool (cv::GraphicalCodeDetector::*both_multi)(
        InputArray, std::vector<std::string> &, OutputArray, OutputArray) const;
    void (cv::aruco::ArucoDetector::*markers)(
        InputArray, OutputArray, OutputArray, OutputArray) const;
};
extern const member_pointers opencv_newer_members;
const member_pointers opencv_newer_members = {
    &cv::GraphicalCodeDetector::detect,
    &cv::GraphicalCodeDetector::decode,
    &cv::GraphicalCodeDetector::detectAndDecode,
    &cv::GraphicalCodeDetector::detectMulti,
    &cv::GraphicalCodeDetector::decodeMulti,
    &cv::GraphicalCodeDetector::detectAndDecodeMulti,
    &cv::aruco::ArucoDetector::detectMarkers,
};
