// SPDX-License-Identifier: Apache-2.0
// The slots that the hook set onnxruntime exchanges and calls are those of ONNX Runtime's header.
// Checked by the compiler; the program has nothing left to do.
#include "agent/hooks/onnxruntime_abi.h"

#include <onnxruntime_c_api.h>

#include <assert.h>
#include <stddef.h>

#define IS_SLOT(slot, function)                                                                    \
    static_assert((slot) * sizeof(void *) == offsetof(struct OrtApi, function), #function)

IS_SLOT(ORT_CREATE_SESSION, CreateSession);
IS_SLOT(ORT_CREATE_SESSION_FROM_ARRAY, CreateSessionFromArray);
IS_SLOT(ORT_RUN, Run);
IS_SLOT(ORT_IS_TENSOR, IsTensor);
IS_SLOT(ORT_GET_DIMENSIONS_COUNT, GetDimensionsCount);
IS_SLOT(ORT_GET_DIMENSIONS, GetDimensions);
IS_SLOT(ORT_GET_TENSOR_TYPE_AND_SHAPE, GetTensorTypeAndShape);
IS_SLOT(ORT_RELEASE_STATUS, ReleaseStatus);
IS_SLOT(ORT_RELEASE_TENSOR_TYPE_AND_SHAPE, ReleaseTensorTypeAndShapeInfo);
IS_SLOT(ORT_RUN_WITH_BINDING, RunWithBinding);
IS_SLOT(ORT_RUN_ASYNC, RunAsync);

int main(void)
{
    return 0;
}
