// SPDX-License-Identifier: Apache-2.0
// Writes down the layout of cv::Mat and cv::_InputArray for test_hook_layouts.c.
#include "opencv_layout.h"

#include <opencv2/core.hpp>

#include <cstddef>

// The fields of cv::_InputArray are protected.
struct array : cv::_InputArray {
    static size_t flags_offset()
    {
        array a;
        return (size_t)((char *)&a.flags - (char *)&a);
    }
    static size_t object_offset()
    {
        array a;
        return (size_t)((char *)&a.obj - (char *)&a);
    }
};

#pragma GCC diagnostic ignored "-Winvalid-offsetof"
const struct opencv_layout opencv_layout = {
    offsetof(cv::Mat, flags),
    offsetof(cv::Mat, dims),
    offsetof(cv::Mat, rows),
    offsetof(cv::Mat, cols),
    offsetof(cv::Mat, data),
    offsetof(cv::Mat, size) + offsetof(cv::MatSize, p),
    sizeof(cv::Mat),
    array::flags_offset(),
    array::object_offset(),
    sizeof(cv::_InputArray),
    cv::Mat::MAGIC_VAL,
    cv::_InputArray::KIND_MASK,
    cv::_InputArray::MAT,
    cv::_InputArray::STD_VECTOR,
};
