// SPDX-License-Identifier: Apache-2.0
// Hook set cuda: the calls of the CUDA runtime and driver that copy, launch and wait, by name in
// their callers' GOT. Signatures of CUDA 4 to 12, with the 64-bit names of the driver (..._v2). No
// header of CUDA is needed, no struct is read, and nothing is asked of the device. What the runtime
// calls of the driver is part of the outer call. Device time, where it is wanted: cuda_activity.h.
// Not run on hardware yet. Threads: any.
#include "agent/hooks/cuda_activity.h"

#define GROUP                                                                                      \
    AGENT_GROUP_OPENCL // accelerators: one library's calls through another's are not apart
#define SHORT (AGENT_FOLD_SHORT | GROUP)

// enum cudaMemcpyKind.
enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2 };

// dim3, by value.
struct extent {
    uint32_t x, y, z;
};

static inline void note_copy(
    const struct hook_span *s, int kind, const void *to, const void *from, uint64_t n)
{
    if (!s->token)
        return;
    span_bytes(s->token, n);
    if (kind == HOST_TO_DEVICE)
        span_value(s->token, TRACE_ATTR_INPUT, (uintptr_t)from);
    if (kind == DEVICE_TO_HOST)
        span_value(s->token, TRACE_ATTR_OUTPUT, (uintptr_t)to);
}

static inline uint64_t threads_of(const struct extent *grid, const struct extent *block)
{
    return (uint64_t)grid->x * grid->y * grid->z * block->x * block->y * block->z;
}

static inline void note_launch(const struct hook_span *s, uint64_t threads)
{
    if (s->token)
        span_value(s->token, TRACE_ATTR_ELEMENTS, threads);
}

// `is_launch`: of kernels, which are work of the stage around the call. `after`: of a call that
// returns when the device is done.
#define CALL_UNTIL(id, stage, is_launch, note, after, params, args)                                \
    HOOK_TYPE(int, id, PARAMS(params))                                                             \
    HOOK_NAME(id, #id, stage, TRACE_CAUSE_ACCEL, SHORT);                                           \
    static inline int id##_body(id##_fn *real, params)                                             \
    {                                                                                              \
        cupti_want();                                                                              \
        HOOK_SPAN_OF(id, span);                                                                    \
        note;                                                                                      \
        __attribute__((cleanup(cuda_activity_queued), unused)) const int is_pushed =               \
            cuda_activity_queue(&span, is_launch);                                                 \
        const int status = real(args);                                                             \
        after;                                                                                     \
        return status;                                                                             \
    }                                                                                              \
    HOOK_THUNKS(int, id, PARAMS(params), ARGS(args))

#define CALL(id, note, params, args)                                                               \
    CALL_UNTIL(id, "transfer", 0, note, (void)0, PARAMS(params), ARGS(args))
#define CALL_DONE(id, note, params, args)                                                          \
    CALL_UNTIL(id, "transfer", 0, note, cuda_activity_claim(&span), PARAMS(params), ARGS(args))
#define CALL_LAUNCH(id, note, params, args)                                                        \
    CALL_UNTIL(id, "enqueue", 1, note, (void)0, PARAMS(params), ARGS(args))

// ---- Copies by the runtime. `_ptds`, `_ptsz`: of programs built with a default stream for each
// thread.
#define COPY(id)                                                                                   \
    CALL_DONE(id, note_copy(&span, kind, to, from, n),                                             \
        PARAMS(void *to, const void *from, size_t n, int kind), ARGS(to, from, n, kind))
#define COPY_ASYNC(id)                                                                             \
    CALL(id, note_copy(&span, kind, to, from, n),                                                  \
        PARAMS(void *to, const void *from, size_t n, int kind, void *stream),                      \
        ARGS(to, from, n, kind, stream))
#define COPY_2D(id)                                                                                \
    CALL_DONE(id, note_copy(&span, kind, to, from, (uint64_t)width *height),                       \
        PARAMS(void *to, size_t to_row, const void *from, size_t from_row, size_t width,           \
            size_t height, int kind),                                                              \
        ARGS(to, to_row, from, from_row, width, height, kind))
#define COPY_2D_ASYNC(id)                                                                          \
    CALL(id, note_copy(&span, kind, to, from, (uint64_t)width *height),                            \
        PARAMS(void *to, size_t to_row, const void *from, size_t from_row, size_t width,           \
            size_t height, int kind, void *stream),                                                \
        ARGS(to, to_row, from, from_row, width, height, kind, stream))
COPY(cudaMemcpy)
COPY(cudaMemcpy_ptds)
COPY_ASYNC(cudaMemcpyAsync)
COPY_ASYNC(cudaMemcpyAsync_ptsz)
COPY_2D(cudaMemcpy2D)
COPY_2D(cudaMemcpy2D_ptds)
COPY_2D_ASYNC(cudaMemcpy2DAsync)
COPY_2D_ASYNC(cudaMemcpy2DAsync_ptsz)
CALL(cudaMemcpyPeer, note_copy(&span, 0, to, from, n),
    PARAMS(void *to, int to_device, const void *from, int from_device, size_t n),
    ARGS(to, to_device, from, from_device, n))
CALL(cudaMemcpyPeerAsync, note_copy(&span, 0, to, from, n),
    PARAMS(void *to, int to_device, const void *from, int from_device, size_t n, void *stream),
    ARGS(to, to_device, from, from_device, n, stream))

// ---- Copies by the driver. A CUdeviceptr is 64 bits wide in all of these. ----
#define DRIVER_COPY(id, kind)                                                                      \
    CALL_DONE(id, note_copy(&span, kind, (void *)to, (const void *)from, n),                       \
        PARAMS(uintptr_t to, uintptr_t from, size_t n), ARGS(to, from, n))
#define DRIVER_COPY_ASYNC(id, kind)                                                                \
    CALL(id, note_copy(&span, kind, (void *)to, (const void *)from, n),                            \
        PARAMS(uintptr_t to, uintptr_t from, size_t n, void *stream), ARGS(to, from, n, stream))
DRIVER_COPY(cuMemcpy, 0)
DRIVER_COPY(cuMemcpyHtoD_v2, HOST_TO_DEVICE)
DRIVER_COPY(cuMemcpyDtoH_v2, DEVICE_TO_HOST)
DRIVER_COPY(cuMemcpyDtoD_v2, 0)
DRIVER_COPY_ASYNC(cuMemcpyAsync, 0)
DRIVER_COPY_ASYNC(cuMemcpyHtoDAsync_v2, HOST_TO_DEVICE)
DRIVER_COPY_ASYNC(cuMemcpyDtoHAsync_v2, DEVICE_TO_HOST)
DRIVER_COPY_ASYNC(cuMemcpyDtoDAsync_v2, 0)

// ---- Launches. ----
#define LAUNCH(id)                                                                                 \
    CALL_LAUNCH(id, note_launch(&span, threads_of(&grid, &block)),                                 \
        PARAMS(const void *kernel, struct extent grid, struct extent block, void **arguments,      \
            size_t shared_bytes, void *stream),                                                    \
        ARGS(kernel, grid, block, arguments, shared_bytes, stream))
LAUNCH(cudaLaunchKernel)
LAUNCH(cudaLaunchKernel_ptsz)
LAUNCH(cudaLaunchCooperativeKernel)
CALL_LAUNCH(cudaLaunchKernelExC, (void)0,
    PARAMS(const void *how, const void *kernel, void **arguments), ARGS(how, kernel, arguments))
CALL_LAUNCH(cudaGraphLaunch, (void)0, PARAMS(void *graph, void *stream), ARGS(graph, stream))
CALL_LAUNCH(cuLaunchKernel,
    note_launch(&span, (uint64_t)grid_x *grid_y *grid_z *block_x *block_y *block_z),
    PARAMS(void *kernel, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x,
        uint32_t block_y, uint32_t block_z, uint32_t shared_bytes, void *stream, void **arguments,
        void **extra),
    ARGS(kernel, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, arguments,
        extra))

// ---- Waits. ----
#define WAIT(id)                                                                                   \
    HOOK_TYPE(int, id, PARAMS(void *waited))                                                       \
    HOOK_NAME(id, #id, "wait", TRACE_CAUSE_ACCEL, SHORT);                                          \
    static inline int id##_body(id##_fn *real, void *waited)                                       \
    {                                                                                              \
        cupti_want();                                                                              \
        HOOK_WAIT_OF(id, span);                                                                    \
        const int status = real(waited);                                                           \
        cuda_activity_claim(&span);                                                                \
        return status;                                                                             \
    }                                                                                              \
    HOOK_THUNKS(int, id, PARAMS(void *waited), ARGS(waited))
WAIT(cudaStreamSynchronize)
WAIT(cudaStreamSynchronize_ptsz)
WAIT(cudaEventSynchronize)
WAIT(cuStreamSynchronize)
WAIT(cuEventSynchronize)

#define WAIT_ALL_THUNK(id, variant)                                                                \
    static int id##_thunk_##variant(void)                                                          \
    {                                                                                              \
        cupti_want();                                                                              \
        HOOK_WAIT_OF(id, span);                                                                    \
        const int status = id##_real[variant]();                                                   \
        cuda_activity_claim(&span);                                                                \
        return status;                                                                             \
    }
#define WAIT_ALL(id)                                                                               \
    HOOK_TYPE(int, id, void)                                                                       \
    HOOK_NAME(id, #id, "wait", TRACE_CAUSE_ACCEL, SHORT);                                          \
    WAIT_ALL_THUNK(id, 0)                                                                          \
    WAIT_ALL_THUNK(id, 1)                                                                          \
    WAIT_ALL_THUNK(id, 2)                                                                          \
    WAIT_ALL_THUNK(id, 3)                                                                          \
    static void *const id##_thunks[HOOK_VARIANTS] = {                                              \
        (void *)id##_thunk_0, (void *)id##_thunk_1, (void *)id##_thunk_2, (void *)id##_thunk_3};
WAIT_ALL(cudaDeviceSynchronize)
WAIT_ALL(cuCtxSynchronize)

// ---- Kernels loaded from files and memory. ----
#define LOAD(id, params, args)                                                                     \
    HOOK_CALL(int, id, #id, "load", TRACE_CAUSE_OTHER, SHORT, PARAMS(params), ARGS(args))
LOAD(cuModuleLoad, PARAMS(void **module, const char *path), ARGS(module, path))
LOAD(cuModuleLoadData, PARAMS(void **module, const void *image), ARGS(module, image))
LOAD(cuModuleLoadDataEx,
    PARAMS(void **module, const void *image, uint32_t count, void *options, void **values),
    ARGS(module, image, count, options, values))

#define ROW(id, attrs) HOOK_LINE(id, #id, attrs)
#define WORK HOOK_ATTR(ACCEL)
#define BOTH (HOOK_BYTES | HOOK_ATTR(INPUT) | HOOK_ATTR(OUTPUT))
static const struct hook_function functions[] = {
    ROW(cudaMemcpy, BOTH | WORK),
    ROW(cudaMemcpy_ptds, BOTH | WORK),
    ROW(cudaMemcpyAsync, BOTH),
    ROW(cudaMemcpyAsync_ptsz, BOTH),
    ROW(cudaMemcpy2D, BOTH | WORK),
    ROW(cudaMemcpy2D_ptds, BOTH | WORK),
    ROW(cudaMemcpy2DAsync, BOTH),
    ROW(cudaMemcpy2DAsync_ptsz, BOTH),
    ROW(cudaMemcpyPeer, HOOK_BYTES),
    ROW(cudaMemcpyPeerAsync, HOOK_BYTES),
    ROW(cuMemcpy, HOOK_BYTES | WORK),
    ROW(cuMemcpyHtoD_v2, HOOK_BYTES | HOOK_ATTR(INPUT) | WORK),
    ROW(cuMemcpyDtoH_v2, HOOK_BYTES | HOOK_ATTR(OUTPUT) | WORK),
    ROW(cuMemcpyDtoD_v2, HOOK_BYTES | WORK),
    ROW(cuMemcpyAsync, HOOK_BYTES),
    ROW(cuMemcpyHtoDAsync_v2, HOOK_BYTES | HOOK_ATTR(INPUT)),
    ROW(cuMemcpyDtoHAsync_v2, HOOK_BYTES | HOOK_ATTR(OUTPUT)),
    ROW(cuMemcpyDtoDAsync_v2, HOOK_BYTES),
    ROW(cudaLaunchKernel, HOOK_ATTR(ELEMENTS)),
    ROW(cudaLaunchKernel_ptsz, HOOK_ATTR(ELEMENTS)),
    ROW(cudaLaunchCooperativeKernel, HOOK_ATTR(ELEMENTS)),
    ROW(cudaLaunchKernelExC, 0),
    ROW(cudaGraphLaunch, 0),
    ROW(cuLaunchKernel, HOOK_ATTR(ELEMENTS)),
    ROW(cudaStreamSynchronize, WORK),
    ROW(cudaStreamSynchronize_ptsz, WORK),
    ROW(cudaEventSynchronize, WORK),
    ROW(cuStreamSynchronize, WORK),
    ROW(cuEventSynchronize, WORK),
    ROW(cudaDeviceSynchronize, WORK),
    ROW(cuCtxSynchronize, WORK),
    ROW(cuModuleLoad, 0),
    ROW(cuModuleLoadData, 0),
    ROW(cuModuleLoadDataEx, 0),
    HOOK_END,
};

static const char *const libraries[] = {"libcudart.so", "libcuda.so", NULL};

const struct hook_set hook_cuda = {
    .name = "cuda",
    .help = "CUDA copies, launches and waits",
    .libraries = libraries,
    .functions = functions,
    .see = cupti_see,
};
