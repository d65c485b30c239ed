// SPDX-License-Identifier: Apache-2.0
// The part of OpenVINO's C API 2.0 that openvino_stand_in.c has, with its names and signatures.
#ifndef LIGHTMETER_TESTS_OPENVINO_STAND_IN_H
#define LIGHTMETER_TESTS_OPENVINO_STAND_IN_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
struct ov_core;
struct ov_model;
struct ov_compiled_model;
struct ov_infer_request;
struct ov_tensor;

int32_t ov_core_create(struct ov_core **core);
int32_t ov_core_read_model(
    const struct ov_core *core, const char *path, const char *weights, struct ov_model **model);
int32_t ov_core_compile_model(const struct ov_core *core, const struct ov_model *model,
    const char *device, size_t property_args_size, struct ov_compiled_model **compiled, ...);
int32_t ov_core_compile_model_from_file(const struct ov_core *core, const char *path,
    const char *device, size_t property_args_size, struct ov_compiled_model **compiled, ...);
int32_t ov_compiled_model_create_infer_request(
    const struct ov_compiled_model *compiled, struct ov_infer_request **request);
int32_t ov_tensor_create(float *data, size_t count, struct ov_tensor **tensor); // differs: simpler
int32_t ov_tensor_get_byte_size(const struct ov_tensor *tensor, size_t *n);
int32_t ov_tensor_get_size(const struct ov_tensor *tensor, size_t *n);
int32_t ov_infer_request_set_input_tensor(
    struct ov_infer_request *request, const struct ov_tensor *tensor);
int32_t ov_infer_request_infer(struct ov_infer_request *request);
int32_t ov_infer_request_start_async(struct ov_infer_request *request);
int32_t ov_infer_request_wait(struct ov_infer_request *request);
int32_t ov_infer_request_wait_for(struct ov_infer_request *request, int64_t timeout_ms);
double ov_stand_in_result(const struct ov_infer_request *request);
const char *ov_stand_in_properties(const struct ov_compiled_model *compiled);
#pragma GCC visibility pop

#endif
