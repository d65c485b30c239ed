// SPDX-License-Identifier: Apache-2.0
// Text detection through ONNX Runtime's C interface. Called by main.c.
// The network's input and output names are asked for, not assumed.
// Threads: one at a time; ONNX Runtime has its own for the work inside.
#include "ocr/detector.h"

#include "ocr/runtime.h"

#include <stdlib.h>

struct detector {
    const OrtApi *api;
    OrtEnv *env;
    OrtSession *session;
    OrtMemoryInfo *memory;
    OrtAllocator *allocator; // ONNX Runtime's
    char *input_name;
    char *output_name;
    OrtValue *output; // of the last run
};

// Turns a status into a message about `what`; NULL is success.
static int check(const OrtApi *api, OrtStatus *status, const char *what, struct err *e)
{
    if (!status)
        return 0;
    err_set(e, "%s: %s", what, api->GetErrorMessage(status));
    api->ReleaseStatus(status);
    return -1;
}

static int open_session(
    struct detector *detector, const struct detector_options *options, struct err *e)
{
    const OrtApi *api = detector->api;
    OrtSessionOptions *session_options = NULL;
    int result = -1;
    if (check(api, api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "ocr", &detector->env),
            "ONNX Runtime does not start", e) < 0)
        goto done;
    if (check(api, api->CreateSessionOptions(&session_options), "session options", e) < 0)
        goto done;
    if (options->threads > 0 &&
        check(api, api->SetIntraOpNumThreads(session_options, options->threads), "--threads", e) <
            0)
        goto done;
    result = check(api,
        api->CreateSession(detector->env, options->model_path, session_options, &detector->session),
        options->model_path, e);
done:
    if (session_options)
        api->ReleaseSessionOptions(session_options);
    return result;
}

// Fills `dims` with the shape of input 0 or output 0; the rank must be 4 and the values float.
static int shape_of(
    struct detector *detector, OrtStatus *status, OrtTypeInfo *info, int64_t dims[4], struct err *e)
{
    const OrtApi *api = detector->api;
    const OrtTensorTypeAndShapeInfo *tensor = NULL;
    ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    size_t rank = 0;
    int result = check(api, status, "the model's interface", e);
    if (result == 0)
        result = check(api, api->CastTypeInfoToTensorInfo(info, &tensor), "the model's type", e);
    if (result == 0 && tensor)
        result = check(api, api->GetTensorElementType(tensor, &type), "the model's type", e);
    if (result == 0 && tensor)
        result = check(api, api->GetDimensionsCount(tensor, &rank), "the model's shape", e);
    if (result == 0 && (type != ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT || rank != 4))
        result = err_set(e, "its tensors are not four-dimensional arrays of floats");
    if (result == 0)
        result = check(api, api->GetDimensions(tensor, dims, 4), "the model's shape", e);
    if (info)
        api->ReleaseTypeInfo(info);
    return result;
}

static int is_size_or_any(int64_t dim, int64_t size)
{
    return dim == size || dim < 0;
}

// One image of three planes and any size in, one map out.
static int check_interface(struct detector *detector, struct err *e)
{
    const OrtApi *api = detector->api;
    size_t inputs = 0;
    size_t outputs = 0;
    OrtTypeInfo *info = NULL;
    int64_t in[4];
    int64_t out[4];
    if (check(api, api->SessionGetInputCount(detector->session, &inputs), "inputs", e) < 0 ||
        check(api, api->SessionGetOutputCount(detector->session, &outputs), "outputs", e) < 0)
        return -1;
    if (inputs != 1 || outputs != 1)
        return err_set(e, "it has %zu inputs and %zu outputs, not one of each", inputs, outputs);
    OrtStatus *status = api->SessionGetInputTypeInfo(detector->session, 0, &info);
    if (shape_of(detector, status, info, in, e) < 0)
        return -1;
    info = NULL;
    status = api->SessionGetOutputTypeInfo(detector->session, 0, &info);
    if (shape_of(detector, status, info, out, e) < 0)
        return -1;
    if (!is_size_or_any(in[1], 3) || in[2] >= 0 || in[3] >= 0 || !is_size_or_any(out[1], 1))
        return err_set(e, "it does not take an image of any size to one map");
    return 0;
}

static int read_names(struct detector *detector, struct err *e)
{
    const OrtApi *api = detector->api;
    if (check(api, api->GetAllocatorWithDefaultOptions(&detector->allocator), "allocator", e) < 0 ||
        check(api,
            api->SessionGetInputName(
                detector->session, 0, detector->allocator, &detector->input_name),
            "input name", e) < 0 ||
        check(api,
            api->SessionGetOutputName(
                detector->session, 0, detector->allocator, &detector->output_name),
            "output name", e) < 0)
        return -1;
    return check(api,
        api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &detector->memory), "memory",
        e);
}

struct detector *detector_open(const struct detector_options *options, struct err *e)
{
    struct err why = {{0}};
    int result = -1;
    struct detector *detector = calloc(1, sizeof *detector);
    if (!detector) {
        err_set(e, "out of memory for the text detector");
        return NULL;
    }
    detector->api = runtime_api_open(options->library_path, e);
    if (!detector->api || open_session(detector, options, e) < 0)
        goto done;
    if (check_interface(detector, &why) < 0) {
        err_set(e, "%s is not a text detection model: %s; name the PP-OCRv4 detection model",
            options->model_path, err_text(&why));
        goto done;
    }
    result = read_names(detector, e);
done:
    if (result < 0)
        detector_close(&detector);
    return detector;
}

static int run_session(struct detector *detector, const OrtValue *input, struct err *e)
{
    const char *const input_names[1] = {detector->input_name};
    const char *const output_names[1] = {detector->output_name};
    const OrtApi *api = detector->api;
    if (detector->output)
        api->ReleaseValue(detector->output);
    detector->output = NULL;
    return check(api,
        api->Run(
            detector->session, NULL, input_names, &input, 1, output_names, 1, &detector->output),
        "the network does not run", e);
}

// The output must be one map of the input's size.
static int read_output(
    struct detector *detector, const struct tensor *input, struct text_map *out, struct err *e)
{
    const OrtApi *api = detector->api;
    OrtTensorTypeAndShapeInfo *shape = NULL;
    int64_t dims[4] = {0};
    size_t rank = 0;
    void *values = NULL;
    int result = check(api, api->GetTensorTypeAndShape(detector->output, &shape), "the output", e);
    if (result == 0)
        result = check(api, api->GetDimensionsCount(shape, &rank), "the output", e);
    if (result == 0 && rank == 4)
        result = check(api, api->GetDimensions(shape, dims, 4), "the output", e);
    if (shape)
        api->ReleaseTensorTypeAndShapeInfo(shape);
    if (result < 0)
        return result;
    if (dims[0] != 1 || dims[1] != 1 || dims[2] != input->height_px || dims[3] != input->width_px)
        return err_set(e, "the network's output is not one map of the input's size; "
                          "name the PP-OCRv4 detection model");
    if (check(api, api->GetTensorMutableData(detector->output, &values), "the output", e) < 0)
        return -1;
    *out = (struct text_map){values, input->width_px, input->height_px};
    return 0;
}

int detector_run(
    struct detector *detector, struct tensor *input, struct text_map *out, struct err *e)
{
    const OrtApi *api = detector->api;
    const int64_t dims[4] = {1, 3, input->height_px, input->width_px};
    size_t length_bytes = (size_t)input->width_px * input->height_px * 3 * sizeof *input->values;
    OrtValue *value = NULL;
    int result = check(api,
        api->CreateTensorWithDataAsOrtValue(detector->memory, input->values, length_bytes, dims, 4,
            ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value),
        "the network's input", e);
    if (result == 0)
        result = run_session(detector, value, e);
    if (result == 0)
        result = read_output(detector, input, out, e);
    if (value)
        api->ReleaseValue(value);
    return result;
}

static void free_name(struct detector *detector, char *name)
{
    OrtStatus *status = name ? detector->api->AllocatorFree(detector->allocator, name) : NULL;
    if (status)
        detector->api->ReleaseStatus(status);
}

void detector_close(struct detector **detector)
{
    struct detector *old = *detector;
    *detector = NULL;
    if (!old)
        return;
    if (old->api) {
        free_name(old, old->input_name);
        free_name(old, old->output_name);
        if (old->output)
            old->api->ReleaseValue(old->output);
        if (old->memory)
            old->api->ReleaseMemoryInfo(old->memory);
        if (old->session)
            old->api->ReleaseSession(old->session);
        if (old->env)
            old->api->ReleaseEnv(old->env);
    }
    free(old);
}
