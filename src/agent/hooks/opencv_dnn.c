// SPDX-License-Identifier: Apache-2.0
// Hook set opencv_dnn: OpenCV's own inference. cv::dnn lies in an inline namespace whose name
// changes with each release; the symbol table leaves it out (agent/symbols.h), so these names do
// too. What returns a cv::Mat or a cv::dnn::Net does so by a hidden first pointer on x86-64; on
// AArch64 the pointer comes in x8, which C cannot name, and those functions are left out there.
// Threads: any.
#include "agent/hooks/opencv.h"

#define LOAD(id, text, params, args)                                                               \
    OPENCV_CALL(uintptr_t, id, text, "load", 0, PARAMS(params), ARGS(args))
// A blob `out` of one image, or of several (`image` NULL).
#define BLOB(id, text, image, out, params, args)                                                   \
    OPENCV_DETAILED(uintptr_t, id, text, "preprocess", 0,                                          \
                    enum trace_dtype from = opencv_before(&span, image),                           \
                    opencv_after(&span, from, out);                                                \
                    opencv_count(&span, out), PARAMS(params), ARGS(args))

// The network behind a cv::dnn::Net, which is a shared pointer to it: the same for its copies.
static inline const void *network_of(const void *net)
{
    return net && opencv_is_known() ? *(const void *const *)net : net;
}

// ---- Images to blobs. ----
BLOB(blob_into, "cv::dnn::blobFromImage", opencv_mat_of(image), opencv_mat_of(out),
    PARAMS(opencv_in image, opencv_out out, double scale, const void *extent, const void *mean,
        int swap, int crop, int depth),
    ARGS(image, out, scale, extent, mean, swap, crop, depth))
BLOB(blobs_into, "cv::dnn::blobFromImages", NULL, opencv_mat_of(out),
    PARAMS(opencv_in images, opencv_out out, double scale, uint64_t extent, const void *mean,
        int swap, int crop, int depth),
    ARGS(images, out, scale, extent, mean, swap, crop, depth))
// 4.8 and later.
BLOB(blob_params_into, "cv::dnn::blobFromImageWithParams", opencv_mat_of(image), opencv_mat_of(out),
    PARAMS(opencv_in image, opencv_out out, const void *options), ARGS(image, out, options))
BLOB(blobs_params_into, "cv::dnn::blobFromImagesWithParams", NULL, opencv_mat_of(out),
    PARAMS(opencv_in images, opencv_out out, const void *options), ARGS(images, out, options))

#if defined(__x86_64__)
BLOB(blob, "cv::dnn::blobFromImage", opencv_mat_of(image), opencv_mat_check(result),
    PARAMS(void *result, opencv_in image, double scale, const void *extent, const void *mean,
        int swap, int crop, int depth),
    ARGS(result, image, scale, extent, mean, swap, crop, depth))
BLOB(blobs, "cv::dnn::blobFromImages", NULL, opencv_mat_check(result),
    PARAMS(void *result, opencv_in images, double scale, uint64_t extent, const void *mean,
        int swap, int crop, int depth),
    ARGS(result, images, scale, extent, mean, swap, crop, depth))
BLOB(blob_params, "cv::dnn::blobFromImageWithParams", opencv_mat_of(image),
    opencv_mat_check(result), PARAMS(void *result, opencv_in image, const void *options),
    ARGS(result, image, options))
BLOB(blobs_params, "cv::dnn::blobFromImagesWithParams", NULL, opencv_mat_check(result),
    PARAMS(void *result, opencv_in images, const void *options), ARGS(result, images, options))
#endif

// ---- Inference. ----
// The blob last set on this thread, and on which network, so that forward can tell its batch.
static __thread struct {
    const void *network;
    struct opencv_extent extent;
    enum trace_dtype dtype;
} last_input __attribute__((tls_model("initial-exec")));

static inline void note_network(const struct hook_span *s, const void *net)
{
    const void *network = network_of(net);
    if (s->token && network)
        span_value(s->token, TRACE_ATTR_SESSION, (uintptr_t)network);
}

HOOK_TYPE(uintptr_t, set_input,
    PARAMS(const void *net, opencv_in blob, const void *name, double scale, const void *mean))
OPENCV_NAME(set_input, "cv::dnn::Net::setInput", "preprocess", AGENT_FOLD_SHORT);
static inline uintptr_t set_input_body(set_input_fn *real, const void *net, opencv_in blob,
    const void *name, double scale, const void *mean)
{
    HOOK_SPAN_OF(set_input, span);
    const struct opencv_mat *m = opencv_mat_of(blob);
    last_input.network = network_of(net);
    last_input.extent = opencv_extent_of(m);
    last_input.dtype = opencv_dtype(m);
    opencv_shape(&span, m);
    note_network(&span, net);
    if (span.token && m && m->data)
        span_value(span.token, TRACE_ATTR_INPUT, (uintptr_t)m->data);
    return real(net, blob, name, scale, mean);
}
HOOK_THUNKS(uintptr_t, set_input,
    PARAMS(const void *net, opencv_in blob, const void *name, double scale, const void *mean),
    ARGS(net, blob, name, scale, mean))

// What a run of the network works on: the blob that it was given last on this thread.
static inline void note_run(const struct hook_span *s, const void *net)
{
    const struct opencv_extent *e = &last_input.extent;
    note_network(s, net);
    opencv_workers(s);
    if (!s->token || network_of(net) != last_input.network || !e->width)
        return;
    span_shape(s->token, e->width, e->height, e->channels, e->batch);
    span_value_aux(s->token, TRACE_ATTR_DTYPE, TRACE_DTYPE_UNKNOWN, last_input.dtype);
    span_value(s->token, TRACE_ATTR_ELEMENTS, opencv_elements(e));
}

#define FORWARD(id, text, params, args)                                                            \
    OPENCV_DETAILED(uintptr_t, id, text, "infer", 0, note_run(&span, net), OPENCV_NOTHING,         \
        PARAMS(params), ARGS(args))

FORWARD(forward_into, "cv::dnn::Net::forward",
    PARAMS(const void *net, opencv_out out, const void *name), ARGS(net, out, name))
FORWARD(forward_named, "cv::dnn::Net::forward",
    PARAMS(const void *net, opencv_out out, const void *names), ARGS(net, out, names))
FORWARD(forward_all, "cv::dnn::Net::forward",
    PARAMS(const void *net, void *outs, const void *names), ARGS(net, outs, names))
#if defined(__x86_64__)
FORWARD(forward, "cv::dnn::Net::forward", PARAMS(void *result, const void *net, const void *name),
    ARGS(result, net, name))
FORWARD(forward_async, "cv::dnn::Net::forwardAsync",
    PARAMS(void *result, const void *net, const void *name), ARGS(result, net, name))
#endif

// ---- Boxes. ----
#define NMS(id, text, params, args)                                                                \
    OPENCV_CALL(uintptr_t, id, text, "postprocess", AGENT_FOLD_SHORT, PARAMS(params), ARGS(args))
#define BOXES                                                                                      \
    PARAMS(const void *boxes, const void *scores, float least, float overlap, void *kept,          \
        float eta, int most)
#define BOXES_BATCHED                                                                              \
    PARAMS(const void *boxes, const void *scores, const void *classes, float least, float overlap, \
        void *kept, float eta, int most)

NMS(nms, "cv::dnn::NMSBoxes", PARAMS(BOXES), ARGS(boxes, scores, least, overlap, kept, eta, most))
NMS(nms_double, "cv::dnn::NMSBoxes", PARAMS(BOXES),
    ARGS(boxes, scores, least, overlap, kept, eta, most))
NMS(nms_rotated, "cv::dnn::NMSBoxes", PARAMS(BOXES),
    ARGS(boxes, scores, least, overlap, kept, eta, most))
NMS(nms_batched, "cv::dnn::NMSBoxesBatched", PARAMS(BOXES_BATCHED),
    ARGS(boxes, scores, classes, least, overlap, kept, eta, most))
NMS(nms_batched_double, "cv::dnn::NMSBoxesBatched", PARAMS(BOXES_BATCHED),
    ARGS(boxes, scores, classes, least, overlap, kept, eta, most))
NMS(nms_soft, "cv::dnn::softNMSBoxes",
    PARAMS(const void *boxes, const void *scores, void *changed, float least, float overlap,
        void *kept, size_t most, float sigma, int how),
    ARGS(boxes, scores, changed, least, overlap, kept, most, sigma, how))
OPENCV_CALL(uintptr_t, images_from_blob, "cv::dnn::imagesFromBlob", "postprocess", AGENT_FOLD_SHORT,
    PARAMS(const void *blob, opencv_out images), ARGS(blob, images))

// ---- Model files: from a path, from a vector, from memory. ----
#if defined(__x86_64__)
#define LOAD_ONE(id, text)                                                                         \
    LOAD(id, text, PARAMS(void *result, const void *model), ARGS(result, model))                   \
    LOAD(id##_vector, text, PARAMS(void *result, const void *model), ARGS(result, model))          \
    LOAD(id##_memory, text, PARAMS(void *result, const void *model, size_t n),                     \
        ARGS(result, model, n))
#define LOAD_TWO(id, text)                                                                         \
    LOAD(id, text, PARAMS(void *result, const void *a, const void *b), ARGS(result, a, b))         \
    LOAD(                                                                                          \
        id##_vector, text, PARAMS(void *result, const void *a, const void *b), ARGS(result, a, b)) \
    LOAD(id##_memory, text,                                                                        \
        PARAMS(void *result, const void *a, size_t a_bytes, const void *b, size_t b_bytes),        \
        ARGS(result, a, a_bytes, b, b_bytes))

LOAD_ONE(onnx, "cv::dnn::readNetFromONNX")
LOAD_ONE(tflite, "cv::dnn::readNetFromTFLite")
LOAD_TWO(caffe, "cv::dnn::readNetFromCaffe")
LOAD_TWO(darknet, "cv::dnn::readNetFromDarknet")
LOAD_TWO(tensorflow, "cv::dnn::readNetFromTensorflow")
LOAD_TWO(openvino, "cv::dnn::readNetFromModelOptimizer")
LOAD(torch, "cv::dnn::readNetFromTorch",
    PARAMS(void *result, const void *model, int is_binary, int evaluate),
    ARGS(result, model, is_binary, evaluate))
// 5.0 and later: with the engine to use.
LOAD(onnx_engine, "cv::dnn::readNetFromONNX", PARAMS(void *result, const void *model, int engine),
    ARGS(result, model, engine))
LOAD(onnx_vector_engine, "cv::dnn::readNetFromONNX",
    PARAMS(void *result, const void *model, int engine), ARGS(result, model, engine))
LOAD(onnx_memory_engine, "cv::dnn::readNetFromONNX",
    PARAMS(void *result, const void *model, size_t n, int engine), ARGS(result, model, n, engine))
LOAD(any, "cv::dnn::readNet",
    PARAMS(void *result, const void *model, const void *layout, const void *framework),
    ARGS(result, model, layout, framework))
LOAD(any_vector, "cv::dnn::readNet",
    PARAMS(void *result, const void *framework, const void *model, const void *layout),
    ARGS(result, framework, model, layout))

#define VECTOR "RKSt6vectorIhSaIhEE"
#define LINE_LOAD(id, symbol) HOOK_LINE(id, symbol, 0)
#define LINES_ONE(id, symbol)                                                                      \
    LINE_LOAD(id, symbol "ERK" OPENCV_STRING), LINE_LOAD(id##_vector, symbol "E" VECTOR),          \
        LINE_LOAD(id##_memory, symbol "EPKcm")
#define LINES_TWO(id, symbol, memory)                                                              \
    LINE_LOAD(id, symbol "ERK" OPENCV_STRING "S9_"),                                               \
        LINE_LOAD(id##_vector, symbol "E" VECTOR "S6_"),                                           \
        LINE_LOAD(id##_memory, symbol "E" memory "mS3_m")
#endif

#define IN OPENCV_IN
#define OUT OPENCV_OUT
#define SIZE OPENCV_SIZE
#define SCALAR OPENCV_SCALAR
#define PARAMETERS "RKNS1_16Image2BlobParamsE"
#define LINE_BLOB(id, symbol) HOOK_LINE(id, symbol, OPENCV_ATTRS | HOOK_ATTR(ELEMENTS))
#define LINE_BLOBS(id, symbol) HOOK_LINE(id, symbol, OPENCV_OUT_ATTRS | HOOK_ATTR(ELEMENTS))
#define LINE_INPUT(id, symbol)                                                                     \
    HOOK_LINE(id, symbol, HOOK_SHAPE | HOOK_ATTR(INPUT) | HOOK_ATTR(SESSION))
#define LINE_RUN(id, symbol)                                                                       \
    HOOK_LINE(id, symbol,                                                                          \
        HOOK_SHAPE | HOOK_ATTR(SESSION) | HOOK_ATTR(DTYPE) | HOOK_ATTR(ELEMENTS) |                 \
            HOOK_ATTR(THREADS))
#define LINE_BOXES(id, symbol) HOOK_LINE(id, symbol, 0)
#define FLOATS "RKS2_IfSaIfEE"
#define INTS "RS2_IiSaIiEE"
#define NAMES "INSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS"

static const struct hook_function functions[] = {
    LINE_BLOB(blob_into, "_ZN2cv3dnn13blobFromImageE" IN OUT "dRK" SIZE SCALAR "bbi"),
    LINE_BLOBS(blobs_into, "_ZN2cv3dnn14blobFromImagesE" IN OUT "d" SIZE SCALAR "bbi"),
    LINE_BLOB(blob_params_into, "_ZN2cv3dnn23blobFromImageWithParamsE" IN OUT PARAMETERS),
    LINE_BLOBS(blobs_params_into, "_ZN2cv3dnn24blobFromImagesWithParamsE" IN OUT PARAMETERS),
    LINE_INPUT(set_input, "_ZN2cv3dnn3Net8setInputE" IN "RK" OPENCV_STRING "d" SCALAR),
    LINE_RUN(forward_into, "_ZN2cv3dnn3Net7forwardE" OUT "RK" OPENCV_STRING),
    LINE_RUN(forward_named, "_ZN2cv3dnn3Net7forwardE" OUT "RKSt6vector" NAMES "C_EE"),
    LINE_RUN(forward_all, "_ZN2cv3dnn3Net7forwardERSt6vectorIS3_INS_3MatESaIS4_EESaIS6_EE"
                          "RKS3_" NAMES "F_EE"),
    LINE_BOXES(nms, "_ZN2cv3dnn8NMSBoxesERKSt6vectorINS_5Rect_IiEESaIS4_EE" FLOATS "ff" INTS "fi"),
    LINE_BOXES(
        nms_double, "_ZN2cv3dnn8NMSBoxesERKSt6vectorINS_5Rect_IdEESaIS4_EE" FLOATS "ff" INTS "fi"),
    LINE_BOXES(nms_rotated,
        "_ZN2cv3dnn8NMSBoxesERKSt6vectorINS_11RotatedRectESaIS3_EE" FLOATS "ff" INTS "fi"),
    LINE_BOXES(nms_batched, "_ZN2cv3dnn15NMSBoxesBatchedERKSt6vectorINS_5Rect_IiEESaIS4_EE" FLOATS
                            "RKS2_IiSaIiEEffRSE_fi"),
    LINE_BOXES(nms_batched_double,
        "_ZN2cv3dnn15NMSBoxesBatchedERKSt6vectorINS_5Rect_IdEESaIS4_EE" FLOATS
        "RKS2_IiSaIiEEffRSE_fi"),
    LINE_BOXES(nms_soft, "_ZN2cv3dnn12softNMSBoxesERKSt6vectorINS_5Rect_IiEESaIS4_EE" FLOATS
                         "RSA_ff" INTS "mfNS1_13SoftNMSMethodE"),
    LINE_BOXES(images_from_blob, "_ZN2cv3dnn14imagesFromBlobERKNS_3MatE" OUT),
#if defined(__x86_64__)
    LINE_BLOB(blob, "_ZN2cv3dnn13blobFromImageE" IN "dRK" SIZE SCALAR "bbi"),
    LINE_BLOBS(blobs, "_ZN2cv3dnn14blobFromImagesE" IN "d" SIZE SCALAR "bbi"),
    LINE_BLOB(blob_params, "_ZN2cv3dnn23blobFromImageWithParamsE" IN PARAMETERS),
    LINE_BLOBS(blobs_params, "_ZN2cv3dnn24blobFromImagesWithParamsE" IN PARAMETERS),
    LINE_RUN(forward, "_ZN2cv3dnn3Net7forwardERK" OPENCV_STRING),
    LINE_RUN(forward_async, "_ZN2cv3dnn3Net12forwardAsyncERK" OPENCV_STRING),
    LINES_ONE(onnx, "_ZN2cv3dnn15readNetFromONNX"),
    LINES_ONE(tflite, "_ZN2cv3dnn17readNetFromTFLite"),
    LINES_TWO(caffe, "_ZN2cv3dnn16readNetFromCaffe", "PKc"),
    LINES_TWO(darknet, "_ZN2cv3dnn18readNetFromDarknet", "PKc"),
    LINES_TWO(tensorflow, "_ZN2cv3dnn21readNetFromTensorflow", "PKc"),
    LINES_TWO(openvino, "_ZN2cv3dnn25readNetFromModelOptimizer", "PKh"),
    LINE_LOAD(onnx_engine, "_ZN2cv3dnn15readNetFromONNXERK" OPENCV_STRING "i"),
    LINE_LOAD(onnx_vector_engine, "_ZN2cv3dnn15readNetFromONNXE" VECTOR "i"),
    LINE_LOAD(onnx_memory_engine, "_ZN2cv3dnn15readNetFromONNXEPKcmi"),
    LINE_LOAD(torch, "_ZN2cv3dnn16readNetFromTorchERK" OPENCV_STRING "bb"),
    LINE_LOAD(any, "_ZN2cv3dnn7readNetERK" OPENCV_STRING "S9_S9_"),
    LINE_LOAD(any_vector, "_ZN2cv3dnn7readNetERK" OPENCV_STRING VECTOR "SE_"),
#endif
    HOOK_END,
};

OPENCV_LIBRARIES("dnn");

const struct hook_set hook_opencv_dnn = {
    .name = "opencv_dnn",
    .help = "OpenCV's own inference: blobs, networks, boxes",
    .libraries = libraries,
    .functions = functions,
};
