// SPDX-License-Identifier: Apache-2.0
// Hook set tflite: TensorFlow Lite (LiteRT) by its C API, as of its c_api.h from 2.2 on. Everything
// is opaque there: sizes come from the library's own accessors, which read a field each. Threads:
// any.
#include "agent/hook.h"
#include "agent/library.h"

#define GROUP AGENT_GROUP_INFER
#define SHORT (AGENT_FOLD_SHORT | GROUP)

enum {
    GET_INPUT,  // TfLiteTensor *(const TfLiteInterpreter *, int32_t)
    DIMENSIONS, // int32_t (const TfLiteTensor *)
    DIMENSION,  // int32_t (const TfLiteTensor *, int32_t)
    BYTE_SIZE,  // size_t (const TfLiteTensor *)
    TYPE,       // TfLiteType (const TfLiteTensor *)
    DATA,       // void *(const TfLiteTensor *)
};
static struct library_table library = {
    .names = {"TfLiteInterpreterGetInputTensor", "TfLiteTensorNumDims", "TfLiteTensorDim",
        "TfLiteTensorByteSize", "TfLiteTensorType", "TfLiteTensorData"}};
typedef const void *get_tensor_fn(const void *interpreter, int32_t index);
typedef int32_t get_int_fn(const void *tensor);
typedef int32_t get_dimension_fn(const void *tensor, int32_t index);
typedef size_t get_bytes_fn(const void *tensor);
typedef const void *get_data_fn(const void *tensor);

// ---- Attributes. ----

// TfLiteType: none, float32, int32, uint8, int64, string, bool, int16, complex64, int8, float16,
// float64. Numbers of later ones were only added.
static enum trace_dtype dtype_of(int32_t type)
{
    static const uint8_t dtypes[] = {TRACE_DTYPE_UNKNOWN, TRACE_DTYPE_F32, TRACE_DTYPE_I32,
        TRACE_DTYPE_U8, TRACE_DTYPE_I64, TRACE_DTYPE_UNKNOWN, TRACE_DTYPE_BOOL, TRACE_DTYPE_I16,
        TRACE_DTYPE_UNKNOWN, TRACE_DTYPE_I8, TRACE_DTYPE_F16, TRACE_DTYPE_F64};
    return type >= 0 && type < (int32_t)sizeof dtypes ? (enum trace_dtype)dtypes[type]
                                                      : TRACE_DTYPE_UNKNOWN;
}

// TensorFlow's order: batch, height, width, channels.
static void note_extents(
    const struct hook_span *s, void *const *at, const void *tensor, int32_t rank)
{
    get_dimension_fn *get = (get_dimension_fn *)at[DIMENSION];
    uint64_t elements = 1;
    int32_t extents[4] = {0, 0, 0, 0};
    for (int32_t i = 0; i < rank; i++) {
        const int32_t extent = get(tensor, i);
        if (extent <= 0)
            return;
        elements *= (uint64_t)extent;
        if (rank == 4)
            extents[i] = extent;
    }
    span_value(s->token, TRACE_ATTR_ELEMENTS, elements);
    if (rank == 4 && extents[0] <= UINT16_MAX && extents[3] <= UINT16_MAX)
        span_shape(s->token, (uint32_t)extents[2], (uint32_t)extents[1], (uint32_t)extents[3],
            (uint32_t)extents[0]);
}

static void note_tensor(const struct hook_span *s, void *const *at, const void *tensor)
{
    const int32_t rank =
        at[DIMENSIONS] && at[DIMENSION] ? ((get_int_fn *)at[DIMENSIONS])(tensor) : 0;
    if (at[TYPE])
        span_value(s->token, TRACE_ATTR_DTYPE, dtype_of(((get_int_fn *)at[TYPE])(tensor)));
    if (rank > 0 && rank <= 8)
        note_extents(s, at, tensor, rank);
}

// The first input of an interpreter.
static void note_invoke(const struct hook_span *s, void *function, const void *interpreter)
{
    void *const *at = s->token ? library_functions(&library, (uintptr_t)function) : NULL;
    if (!at || !interpreter)
        return;
    span_value(s->token, TRACE_ATTR_SESSION, (uintptr_t)interpreter);
    const void *tensor = at[GET_INPUT] ? ((get_tensor_fn *)at[GET_INPUT])(interpreter, 0) : NULL;
    if (!tensor)
        return;
    if (at[BYTE_SIZE])
        span_bytes(s->token, ((get_bytes_fn *)at[BYTE_SIZE])(tensor));
    if (at[DATA])
        span_value(s->token, TRACE_ATTR_INPUT, (uintptr_t)((get_data_fn *)at[DATA])(tensor));
    note_tensor(s, at, tensor);
}

static inline void note_bytes(const struct hook_span *s, uint64_t n)
{
    if (s->token)
        span_bytes(s->token, n);
}

static inline void note_value(const struct hook_span *s, enum trace_attr_key key, uint64_t value)
{
    if (s->token)
        span_value(s->token, key, value);
}

// ---- Models and interpreters. ----
#define CALL(ret, id, stage, flags, before, after, params, args)                                   \
    HOOK_TYPE(ret, id, PARAMS(params))                                                             \
    HOOK_NAME(id, #id, stage, TRACE_CAUSE_OTHER, flags);                                           \
    static inline ret id##_body(id##_fn *real, params)                                             \
    {                                                                                              \
        HOOK_SPAN_OF(id, span);                                                                    \
        before;                                                                                    \
        ret done = real(args);                                                                     \
        after;                                                                                     \
        return done;                                                                               \
    }                                                                                              \
    HOOK_THUNKS(ret, id, PARAMS(params), ARGS(args))
#define NOTHING ((void)0)

CALL(void *, TfLiteModelCreate, "load", GROUP, note_bytes(&span, n), NOTHING,
    PARAMS(const void *model, size_t n), ARGS(model, n))
CALL(void *, TfLiteModelCreateWithErrorReporter, "load", GROUP, note_bytes(&span, n), NOTHING,
    PARAMS(const void *model, size_t n, void *report, void *data), ARGS(model, n, report, data))
CALL(void *, TfLiteModelCreateFromFile, "load", GROUP, NOTHING, NOTHING, PARAMS(const char *path),
    ARGS(path))
CALL(void *, TfLiteModelCreateFromFileWithErrorReporter, "load", GROUP, NOTHING, NOTHING,
    PARAMS(const char *path, void *report, void *data), ARGS(path, report, data))

// How many threads the options last given to on this thread ask for.
static __thread struct {
    const void *options;
    int32_t threads;
} last_options __attribute__((tls_model("initial-exec")));

HOOK_TYPE(void, TfLiteInterpreterOptionsSetNumThreads, PARAMS(void *options, int32_t threads))
static inline void TfLiteInterpreterOptionsSetNumThreads_body(
    TfLiteInterpreterOptionsSetNumThreads_fn *real, void *options, int32_t threads)
{
    last_options.options = options;
    last_options.threads = threads;
    real(options, threads);
}
HOOK_THUNKS(void, TfLiteInterpreterOptionsSetNumThreads, PARAMS(void *options, int32_t threads),
    ARGS(options, threads))

static void note_created(const struct hook_span *s, const void *made, const void *options)
{
    note_value(s, TRACE_ATTR_SESSION, (uintptr_t)made);
    if (options && options == last_options.options && last_options.threads > 0)
        note_value(s, TRACE_ATTR_THREADS, (uint64_t)last_options.threads);
    last_options.options = NULL; // another's may lie at its address once it is deleted
}

CALL(void *, TfLiteInterpreterCreate, "load", GROUP, NOTHING, note_created(&span, done, options),
    PARAMS(const void *model, const void *options), ARGS(model, options))
CALL(void *, TfLiteInterpreterCreateWithSelectedOps, "load", GROUP, NOTHING,
    note_created(&span, done, options), PARAMS(const void *model, const void *options),
    ARGS(model, options))
CALL(int32_t, TfLiteInterpreterAllocateTensors, "load", SHORT,
    note_value(&span, TRACE_ATTR_SESSION, (uintptr_t)interpreter), NOTHING,
    PARAMS(void *interpreter), ARGS(interpreter))

// ---- Inference. ----
CALL(int32_t, TfLiteInterpreterInvoke, "infer", GROUP,
    note_invoke(&span, (void *)real, interpreter), NOTHING, PARAMS(void *interpreter),
    ARGS(interpreter))
CALL(int32_t, TfLiteSignatureRunnerAllocateTensors, "load", SHORT,
    note_value(&span, TRACE_ATTR_SESSION, (uintptr_t)runner), NOTHING, PARAMS(void *runner),
    ARGS(runner))
CALL(int32_t, TfLiteSignatureRunnerInvoke, "infer", GROUP,
    note_value(&span, TRACE_ATTR_SESSION, (uintptr_t)runner), NOTHING, PARAMS(void *runner),
    ARGS(runner))

static void note_copy(const struct hook_span *s, void *function, const void *tensor)
{
    void *const *at = s->token ? library_functions(&library, (uintptr_t)function) : NULL;
    if (at && tensor)
        note_tensor(s, at, tensor);
}

CALL(
    int32_t, TfLiteTensorCopyFromBuffer, "transfer", SHORT,
    {
        note_bytes(&span, n);
        note_copy(&span, (void *)real, tensor);
        note_value(&span, TRACE_ATTR_INPUT, (uintptr_t)memory);
    },
    NOTHING, PARAMS(void *tensor, const void *memory, size_t n), ARGS(tensor, memory, n))
CALL(
    int32_t, TfLiteTensorCopyToBuffer, "transfer", SHORT,
    {
        note_bytes(&span, n);
        note_copy(&span, (void *)real, tensor);
        note_value(&span, TRACE_ATTR_OUTPUT, (uintptr_t)memory);
    },
    NOTHING, PARAMS(const void *tensor, void *memory, size_t n), ARGS(tensor, memory, n))

#define SESSION HOOK_ATTR(SESSION)
#define NUMBERS (HOOK_ATTR(DTYPE) | HOOK_ATTR(ELEMENTS) | HOOK_SHAPE)
#define ROW(id, attrs) HOOK_LINE(id, #id, attrs)
static const struct hook_function functions[] = {
    ROW(TfLiteModelCreate, HOOK_BYTES),
    ROW(TfLiteModelCreateWithErrorReporter, HOOK_BYTES),
    ROW(TfLiteModelCreateFromFile, 0),
    ROW(TfLiteModelCreateFromFileWithErrorReporter, 0),
    HOOK_LINE_UNTIMED(
        TfLiteInterpreterOptionsSetNumThreads, "TfLiteInterpreterOptionsSetNumThreads"),
    ROW(TfLiteInterpreterCreate, SESSION | HOOK_ATTR(THREADS)),
    ROW(TfLiteInterpreterCreateWithSelectedOps, SESSION | HOOK_ATTR(THREADS)),
    ROW(TfLiteInterpreterAllocateTensors, SESSION),
    ROW(TfLiteInterpreterInvoke, SESSION | HOOK_BYTES | HOOK_ATTR(INPUT) | NUMBERS),
    ROW(TfLiteSignatureRunnerAllocateTensors, SESSION),
    ROW(TfLiteSignatureRunnerInvoke, SESSION),
    ROW(TfLiteTensorCopyFromBuffer, HOOK_BYTES | HOOK_ATTR(INPUT) | NUMBERS),
    ROW(TfLiteTensorCopyToBuffer, HOOK_BYTES | HOOK_ATTR(OUTPUT) | NUMBERS),
    HOOK_END,
};

static const char *const libraries[] = {
    "libtensorflowlite_c.so", "libtensorflowlite.so", "libLiteRt.so", NULL};

const struct hook_set hook_tflite = {
    .name = "tflite",
    .help = "TensorFlow Lite interpreters by the C API",
    .libraries = libraries,
    .functions = functions,
};
