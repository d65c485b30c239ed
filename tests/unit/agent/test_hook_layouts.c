// SPDX-License-Identifier: Apache-2.0
// The layout of OpenCV's arrays that the hook sets know by heart is that of the installed headers,
// which opencv_layout.cpp writes down.
#include "agent/hooks/opencv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "opencv_layout.h"

static void test_mat(void **state)
{
    (void)state;
    assert_int_equal(offsetof(struct opencv_mat, flags), opencv_layout.flags);
    assert_int_equal(offsetof(struct opencv_mat, dims), opencv_layout.dims);
    assert_int_equal(offsetof(struct opencv_mat, rows), opencv_layout.rows);
    assert_int_equal(offsetof(struct opencv_mat, cols), opencv_layout.cols);
    assert_int_equal(offsetof(struct opencv_mat, data), opencv_layout.data);
    assert_int_equal(offsetof(struct opencv_mat, extents), opencv_layout.extents);
    assert_int_equal(OPENCV_MAT_MAGIC, opencv_layout.magic);
    assert_true(sizeof(struct opencv_mat) <= opencv_layout.mat_bytes);
}

static void test_array(void **state)
{
    (void)state;
    assert_int_equal(offsetof(struct opencv_array, flags), opencv_layout.array_flags);
    assert_int_equal(offsetof(struct opencv_array, object), opencv_layout.array_object);
    assert_int_equal(sizeof(struct opencv_array), opencv_layout.array_bytes);
    assert_int_equal(OPENCV_KIND_MASK, opencv_layout.kind_mask);
    assert_int_equal(OPENCV_KIND_MAT, opencv_layout.kind_mat);
    assert_int_equal(OPENCV_KIND_VECTOR, opencv_layout.kind_vector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mat),
        cmocka_unit_test(test_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
