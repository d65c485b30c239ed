// SPDX-License-Identifier: Apache-2.0
// Hook set openvino: OpenVINO by its C API 2.0 (the functions ov_..., releases 2022.1 and later).
// Everything is opaque there. Element types are not read, since their numbers changed between
// releases; bytes and elements tell the width. Two functions take a list of strings at the end,
// which is handed on word by word. Threads: any.
#include "agent/hook.h"
#include "agent/library.h"

#include <stdarg.h>

#define GROUP AGENT_GROUP_INFER
#define SHORT (AGENT_FOLD_SHORT | GROUP)

#define CALL(id, stage, flags, before, after, params, args)                                        \
    HOOK_TYPE(int32_t, id, PARAMS(params))                                                         \
    HOOK_NAME(id, #id, stage, TRACE_CAUSE_OTHER, flags);                                           \
    static inline int32_t id##_body(id##_fn *real, params)                                         \
    {                                                                                              \
        HOOK_SPAN_OF(id, span);                                                                    \
        before;                                                                                    \
        int32_t failed = real(args);                                                               \
        after;                                                                                     \
        return failed;                                                                             \
    }                                                                                              \
    HOOK_THUNKS(int32_t, id, PARAMS(params), ARGS(args))
#define NOTHING ((void)0)

static inline void note_bytes(const struct hook_span *s, uint64_t n)
{
    if (s->token)
        span_bytes(s->token, n);
}

static inline void note_session(const struct hook_span *s, const void *session)
{
    if (s->token)
        span_value(s->token, TRACE_ATTR_SESSION, (uintptr_t)session);
}

// ---- Models. ----
CALL(ov_core_read_model, "load", GROUP, NOTHING, NOTHING,
    PARAMS(const void *core, const char *path, const char *weights, void **model),
    ARGS(core, path, weights, model))
CALL(ov_core_read_model_unicode, "load", GROUP, NOTHING, NOTHING,
    PARAMS(const void *core, const void *path, const void *weights, void **model),
    ARGS(core, path, weights, model))
CALL(ov_core_read_model_from_memory, "load", GROUP, NOTHING, NOTHING,
    PARAMS(const void *core, const char *text, const void *weights, void **model),
    ARGS(core, text, weights, model))
CALL(ov_core_read_model_from_memory_buffer, "load", GROUP, note_bytes(&span, n), NOTHING,
    PARAMS(const void *core, const char *text, size_t n, const void *weights, void **model),
    ARGS(core, text, n, weights, model))
CALL(ov_core_import_model, "load", GROUP, note_bytes(&span, n), NOTHING,
    PARAMS(const void *core, const char *content, size_t n, const char *device, void **compiled),
    ARGS(core, content, n, device, compiled))
CALL(ov_compiled_model_create_infer_request, "load", SHORT, NOTHING,
    if (!failed && request) note_session(&span, *request),
    PARAMS(const void *compiled, void **request), ARGS(compiled, request))

// ---- Compiling, with properties: names and values, as many pointers as `count` says. ----
#define WORDS 128 // more than there are properties
#define EIGHT(i) w[i], w[i + 1], w[i + 2], w[i + 3], w[i + 4], w[i + 5], w[i + 6], w[i + 7]
#define THIRTY_TWO(i) EIGHT(i), EIGHT(i + 8), EIGHT(i + 16), EIGHT(i + 24)
#define ALL_WORDS THIRTY_TWO(0), THIRTY_TWO(32), THIRTY_TWO(64), THIRTY_TWO(96)

typedef int32_t compile_fn(
    const void *core, const void *model, const char *device, size_t count, void **compiled, ...);

struct compile {
    const void *core, *model; // the model, or its path
    const char *device;
    size_t count;
    void **compiled;
    va_list words;
};

static int32_t compile_model(compile_fn *real, struct compile *c)
{
    const void *w[WORDS] = {0};
    if (!c->count)
        return real(c->core, c->model, c->device, 0, c->compiled);
    for (size_t i = 0; i < c->count && i < WORDS; i++)
        w[i] = va_arg(c->words, const void *);
    return real(c->core, c->model, c->device, c->count, c->compiled, ALL_WORDS);
}

#define COMPILE_THUNK(id, variant)                                                                 \
    static int32_t id##_thunk_##variant(const void *core, const void *model, const char *device,   \
        size_t count, void **compiled, ...)                                                        \
    {                                                                                              \
        HOOK_SPAN_OF(id, span);                                                                    \
        struct compile c = {                                                                       \
            .core = core, .model = model, .device = device, .count = count, .compiled = compiled}; \
        va_start(c.words, compiled);                                                               \
        int32_t failed = compile_model(id##_real[variant], &c);                                    \
        va_end(c.words);                                                                           \
        if (!failed && compiled)                                                                   \
            note_session(&span, *compiled);                                                        \
        return failed;                                                                             \
    }
#define COMPILE(id)                                                                                \
    static compile_fn *id##_real[HOOK_VARIANTS];                                                   \
    HOOK_NAME(id, #id, "load", TRACE_CAUSE_OTHER, GROUP);                                          \
    COMPILE_THUNK(id, 0)                                                                           \
    COMPILE_THUNK(id, 1)                                                                           \
    COMPILE_THUNK(id, 2)                                                                           \
    COMPILE_THUNK(id, 3)                                                                           \
    static void *const id##_thunks[HOOK_VARIANTS] = {                                              \
        (void *)id##_thunk_0, (void *)id##_thunk_1, (void *)id##_thunk_2, (void *)id##_thunk_3};
COMPILE(ov_core_compile_model)
COMPILE(ov_core_compile_model_from_file)

// ---- Inputs: the one last given to a request on this thread. ----
enum { BYTE_SIZE, SIZE };
static struct library_table library = {.names = {"ov_tensor_get_byte_size", "ov_tensor_get_size"}};
typedef int32_t get_size_fn(const void *tensor, size_t *value);

static __thread struct {
    const void *request;
    size_t length_bytes, elements;
} last_input __attribute__((tls_model("initial-exec")));

static void keep_input(void *function, const void *request, const void *tensor)
{
    void *const *at = library_functions(&library, (uintptr_t)function);
    last_input.request = NULL;
    last_input.length_bytes = last_input.elements = 0;
    if (!at || !at[SIZE] || !tensor ||
        ((get_size_fn *)at[BYTE_SIZE])(tensor, &last_input.length_bytes) != 0 ||
        ((get_size_fn *)at[SIZE])(tensor, &last_input.elements) != 0)
        return;
    last_input.request = request;
}

#define SET_INPUT(id, params, args)                                                                \
    HOOK_TYPE(int32_t, id, PARAMS(params))                                                         \
    static inline int32_t id##_body(id##_fn *real, params)                                         \
    {                                                                                              \
        int32_t failed = real(args);                                                               \
        if (!failed)                                                                               \
            keep_input((void *)real, request, tensor);                                             \
        return failed;                                                                             \
    }                                                                                              \
    HOOK_THUNKS(int32_t, id, PARAMS(params), ARGS(args))
SET_INPUT(ov_infer_request_set_input_tensor, PARAMS(void *request, const void *tensor),
    ARGS(request, tensor))
SET_INPUT(ov_infer_request_set_input_tensor_by_index,
    PARAMS(void *request, size_t index, const void *tensor), ARGS(request, index, tensor))

static inline void note_run(const struct hook_span *s, const void *request)
{
    note_session(s, request);
    if (!s->token || !request || request != last_input.request)
        return;
    span_bytes(s->token, last_input.length_bytes);
    span_value(s->token, TRACE_ATTR_ELEMENTS, last_input.elements);
}

// ---- Inference. What is waited for may be a GPU or the CPU's own threads: not told apart. ----
CALL(ov_infer_request_infer, "infer", GROUP, note_run(&span, request), NOTHING,
    PARAMS(void *request), ARGS(request))
CALL(ov_infer_request_start_async, "infer", SHORT, note_run(&span, request), NOTHING,
    PARAMS(void *request), ARGS(request))
CALL(ov_infer_request_wait, "infer", SHORT, note_session(&span, request), NOTHING,
    PARAMS(void *request), ARGS(request))
CALL(ov_infer_request_wait_for, "infer", SHORT, note_session(&span, request), NOTHING,
    PARAMS(void *request, int64_t timeout_ms), ARGS(request, timeout_ms))

#define SESSION HOOK_ATTR(SESSION)
#define RUN (SESSION | HOOK_BYTES | HOOK_ATTR(ELEMENTS))
#define ROW(id, attrs) HOOK_LINE(id, #id, attrs)
static const struct hook_function functions[] = {
    ROW(ov_core_read_model, 0),
    ROW(ov_core_read_model_unicode, 0),
    ROW(ov_core_read_model_from_memory, 0),
    ROW(ov_core_read_model_from_memory_buffer, HOOK_BYTES),
    ROW(ov_core_import_model, HOOK_BYTES),
    ROW(ov_compiled_model_create_infer_request, SESSION),
    ROW(ov_core_compile_model, SESSION),
    ROW(ov_core_compile_model_from_file, SESSION),
    HOOK_LINE_UNTIMED(ov_infer_request_set_input_tensor, "ov_infer_request_set_input_tensor"),
    HOOK_LINE_UNTIMED(
        ov_infer_request_set_input_tensor_by_index, "ov_infer_request_set_input_tensor_by_index"),
    ROW(ov_infer_request_infer, RUN),
    ROW(ov_infer_request_start_async, RUN),
    ROW(ov_infer_request_wait, SESSION),
    ROW(ov_infer_request_wait_for, SESSION),
    HOOK_END,
};

static const char *const libraries[] = {"libopenvino_c.so", NULL};

const struct hook_set hook_openvino = {
    .name = "openvino",
    .help = "OpenVINO models and requests by the C API",
    .libraries = libraries,
    .functions = functions,
};
