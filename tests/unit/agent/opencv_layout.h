// SPDX-License-Identifier: Apache-2.0
// Where OpenCV's headers put the fields of cv::Mat and cv::_InputArray: between opencv_layout.cpp,
// which reads the headers, and test_hook_layouts.c, which compares.
#ifndef LIGHTMETER_TESTS_OPENCV_LAYOUT_H
#define LIGHTMETER_TESTS_OPENCV_LAYOUT_H

#include <stddef.h>

struct opencv_layout {
    size_t flags, dims, rows, cols, data, extents, mat_bytes;
    size_t array_flags, array_object, array_bytes;
    int magic, kind_mask, kind_mat, kind_vector;
};

#ifdef __cplusplus
extern "C" {
#endif
extern const struct opencv_layout opencv_layout;
#ifdef __cplusplus
}
#endif

#endif
