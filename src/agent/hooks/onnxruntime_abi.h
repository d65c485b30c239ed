// SPDX-License-Identifier: Apache-2.0
// The part of ONNX Runtime's binary interface that the hook set onnxruntime needs: where functions
// lie in struct OrtApi. The struct only ever grows at its end, so the numbers are the same in all
// versions that have the function. A test compares them with the header. No code.
#ifndef LIGHTMETER_AGENT_HOOKS_ONNXRUNTIME_ABI_H
#define LIGHTMETER_AGENT_HOOKS_ONNXRUNTIME_ABI_H

// Indexes into struct OrtApi (offsetof / 8) of onnxruntime_c_api.h.
enum ort_slot {
    ORT_CREATE_SESSION = 7,
    ORT_CREATE_SESSION_FROM_ARRAY = 8,
    ORT_RUN = 9,
    ORT_IS_TENSOR = 50,
    ORT_GET_DIMENSIONS_COUNT = 61,
    ORT_GET_DIMENSIONS = 62,
    ORT_GET_TENSOR_TYPE_AND_SHAPE = 65,
    ORT_RELEASE_STATUS = 93,
    ORT_RELEASE_TENSOR_TYPE_AND_SHAPE = 99,
    ORT_RUN_WITH_BINDING = 133,
    ORT_RUN_ASYNC = 260,
};
// API versions: the first whose table has everything up to RunWithBinding, and up to RunAsync.
#define ORT_VERSION_BINDING 8u
#define ORT_VERSION_ASYNC 16u

#endif
