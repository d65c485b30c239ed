// SPDX-License-Identifier: Apache-2.0
// A stand-in for OpenVINO's C library, which Debian does not have. A request adds up its input; a
// compiled model remembers its properties as text. Built as a shared library for hooks_openvino.c.
#include "openvino_stand_in.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 4096

struct ov_core {
    int unused;
};
struct ov_model {
    int unused;
};
struct ov_compiled_model {
    char text[TEXT_BYTES];
};
struct ov_tensor {
    const float *data;
    size_t count;
};
struct ov_infer_request {
    const struct ov_tensor *in;
    double result;
};

int32_t ov_core_create(struct ov_core **core)
{
    *core = calloc(1, sizeof **core);
    return 0;
}

int32_t ov_core_read_model(
    const struct ov_core *core, const char *path, const char *weights, struct ov_model **model)
{
    (void)weights;
    if (!core || strcmp(path, "missing") == 0)
        return -1;
    *model = calloc(1, sizeof **model);
    return 0;
}

static int32_t compile(struct ov_compiled_model **compiled, size_t count, va_list words)
{
    struct ov_compiled_model *made = calloc(1, sizeof *made);
    for (size_t i = 0; made && i < count; i++) {
        const char *word = va_arg(words, const char *);
        size_t length = strlen(made->text);
        snprintf(made->text + length, TEXT_BYTES - length, "%s%s", i ? " " : "", word);
    }
    *compiled = made;
    return made ? 0 : -1;
}

int32_t ov_core_compile_model(const struct ov_core *core, const struct ov_model *model,
    const char *device, size_t property_args_size, struct ov_compiled_model **compiled, ...)
{
    va_list words;
    if (!core || !model || strcmp(device, "CPU") != 0)
        return -2;
    va_start(words, compiled);
    int32_t failed = compile(compiled, property_args_size, words);
    va_end(words);
    return failed;
}

int32_t ov_core_compile_model_from_file(const struct ov_core *core, const char *path,
    const char *device, size_t property_args_size, struct ov_compiled_model **compiled, ...)
{
    va_list words;
    (void)device;
    if (!core || !path)
        return -2;
    va_start(words, compiled);
    int32_t failed = compile(compiled, property_args_size, words);
    va_end(words);
    return failed;
}

int32_t ov_compiled_model_create_infer_request(
    const struct ov_compiled_model *compiled, struct ov_infer_request **request)
{
    if (!compiled)
        return -3;
    *request = calloc(1, sizeof **request);
    return 0;
}

int32_t ov_tensor_create(float *data, size_t count, struct ov_tensor **tensor)
{
    *tensor = calloc(1, sizeof **tensor);
    if (!*tensor)
        return -1;
    (*tensor)->data = data;
    (*tensor)->count = count;
    return 0;
}

int32_t ov_tensor_get_byte_size(const struct ov_tensor *tensor, size_t *n)
{
    *n = tensor->count * sizeof *tensor->data;
    return 0;
}

int32_t ov_tensor_get_size(const struct ov_tensor *tensor, size_t *n)
{
    *n = tensor->count;
    return 0;
}

int32_t ov_infer_request_set_input_tensor(
    struct ov_infer_request *request, const struct ov_tensor *tensor)
{
    if (!request || !tensor)
        return -4;
    request->in = tensor;
    return 0;
}

int32_t ov_infer_request_infer(struct ov_infer_request *request)
{
    if (!request || !request->in)
        return -5;
    for (size_t i = 0; i < request->in->count; i++)
        request->result += (double)request->in->data[i];
    return 0;
}

int32_t ov_infer_request_start_async(struct ov_infer_request *request)
{
    return ov_infer_request_infer(request);
}

int32_t ov_infer_request_wait(struct ov_infer_request *request)
{
    return request ? 0 : -6;
}

int32_t ov_infer_request_wait_for(struct ov_infer_request *request, int64_t timeout_ms)
{
    return request && timeout_ms == INT64_C(0x123456789) ? 0 : -7;
}

double ov_stand_in_result(const struct ov_infer_request *request)
{
    return request->result;
}

const char *ov_stand_in_properties(const struct ov_compiled_model *compiled)
{
    return compiled->text;
}
