// SPDX-License-Identifier: Apache-2.0
// Hook set opencl: the calls of OpenCL 1.0 to 3.0, whose signatures are the same in all of them, by
// whatever loader or library exports them. Transfers with their bytes, launches of kernels, waits,
// and the building of programs. Device time: opencl_events.h. No struct is read; event lists are
// read as long as the call says. Threads: any.
#include "agent/hooks/opencl_events.h"

#define GROUP AGENT_GROUP_OPENCL
#define SHORT (AGENT_FOLD_SHORT | GROUP)

// The end of every command's parameters.
#define AFTER uint32_t wait_count, void *const *waits, void **event
#define AFTER_ARGS wait_count, waits, event
#define NOTHING ((void)0)

// A command. `note` gives attributes; `is_done`: whether the call ends with the command done.
#define COMMAND(id, stage, flags, note, is_done, params, args)                                     \
    HOOK_TYPE(int32_t, id, PARAMS(params, AFTER))                                                  \
    HOOK_NAME(id, #id, stage, TRACE_CAUSE_ACCEL, flags);                                           \
    static inline int32_t id##_body(id##_fn *real, params, AFTER)                                  \
    {                                                                                              \
        HOOK_SPAN_OF(id, span);                                                                    \
        note;                                                                                      \
        int32_t failed = real(args, AFTER_ARGS);                                                   \
        if (!failed)                                                                               \
            opencl_note_command(&span, queue, event, is_done);                                     \
        return failed;                                                                             \
    }                                                                                              \
    HOOK_THUNKS(int32_t, id, PARAMS(params, AFTER), ARGS(args, AFTER_ARGS))

// ---- Attributes. ----

static inline void note_bytes(const struct hook_span *s, uint64_t n)
{
    if (s->token)
        span_bytes(s->token, n);
}

static inline uint64_t volume(const size_t *region)
{
    return region ? (uint64_t)region[0] * region[1] * region[2] : 0;
}

// An image's part, in pixels.
static inline void note_region(const struct hook_span *s, const size_t *region)
{
    if (s->token && region && region[0] <= UINT32_MAX && region[1] <= UINT32_MAX)
        span_shape(s->token, (uint32_t)region[0], (uint32_t)region[1], 0, 0);
}

static inline void note_host(const struct hook_span *s, enum trace_attr_key key, const void *memory)
{
    if (s->token)
        span_value(s->token, key, (uintptr_t)memory);
}

static inline void note_items(const struct hook_span *s, uint32_t dimensions, const size_t *counts)
{
    uint64_t items = 1;
    if (!s->token || !counts || dimensions > 3)
        return;
    for (uint32_t i = 0; i < dimensions; i++)
        items *= counts[i];
    span_value(s->token, TRACE_ATTR_ELEMENTS, items);
}

#define IN note_host(&span, TRACE_ATTR_INPUT, memory)
#define OUT note_host(&span, TRACE_ATTR_OUTPUT, memory)
#define BYTES(n) note_bytes(&span, n)

// ---- Between the host and the device. ----
COMMAND(
    clEnqueueReadBuffer, "transfer", SHORT,
    {
        BYTES(n);
        OUT;
    },
    blocking != 0,
    PARAMS(void *queue, void *buffer, uint32_t blocking, size_t offset, size_t n, void *memory),
    ARGS(queue, buffer, blocking, offset, n, memory))
COMMAND(
    clEnqueueWriteBuffer, "transfer", SHORT,
    {
        BYTES(n);
        IN;
    },
    blocking != 0,
    PARAMS(
        void *queue, void *buffer, uint32_t blocking, size_t offset, size_t n, const void *memory),
    ARGS(queue, buffer, blocking, offset, n, memory))
#define RECT                                                                                       \
    void *queue, void *buffer, uint32_t blocking, const size_t *from, const size_t *to,            \
        const size_t *region, size_t row, size_t slice, size_t host_row, size_t host_slice,        \
        void *memory
#define RECT_ARGS                                                                                  \
    queue, buffer, blocking, from, to, region, row, slice, host_row, host_slice, memory
COMMAND(
    clEnqueueReadBufferRect, "transfer", SHORT,
    {
        BYTES(volume(region));
        OUT;
    },
    blocking != 0, PARAMS(RECT), ARGS(RECT_ARGS))
COMMAND(
    clEnqueueWriteBufferRect, "transfer", SHORT,
    {
        BYTES(volume(region));
        IN;
    },
    blocking != 0, PARAMS(RECT), ARGS(RECT_ARGS))
#define IMAGE                                                                                      \
    void *queue, void *image, uint32_t blocking, const size_t *origin, const size_t *region,       \
        size_t row, size_t slice, void *memory
#define IMAGE_ARGS queue, image, blocking, origin, region, row, slice, memory
COMMAND(
    clEnqueueReadImage, "transfer", SHORT,
    {
        note_region(&span, region);
        OUT;
    },
    blocking != 0, PARAMS(IMAGE), ARGS(IMAGE_ARGS))
COMMAND(
    clEnqueueWriteImage, "transfer", SHORT,
    {
        note_region(&span, region);
        IN;
    },
    blocking != 0, PARAMS(IMAGE), ARGS(IMAGE_ARGS))

// ---- On the device. ----
COMMAND(clEnqueueCopyBuffer, "transfer", SHORT, BYTES(n), 0,
    PARAMS(void *queue, void *from, void *to, size_t from_at, size_t to_at, size_t n),
    ARGS(queue, from, to, from_at, to_at, n))
COMMAND(clEnqueueCopyBufferRect, "transfer", SHORT, BYTES(volume(region)), 0,
    PARAMS(void *queue, void *from, void *to, const size_t *from_at, const size_t *to_at,
        const size_t *region, size_t from_row, size_t from_slice, size_t to_row, size_t to_slice),
    ARGS(queue, from, to, from_at, to_at, region, from_row, from_slice, to_row, to_slice))
COMMAND(clEnqueueCopyImage, "transfer", SHORT, note_region(&span, region), 0,
    PARAMS(void *queue, void *from, void *to, const size_t *from_at, const size_t *to_at,
        const size_t *region),
    ARGS(queue, from, to, from_at, to_at, region))
COMMAND(clEnqueueCopyImageToBuffer, "transfer", SHORT, note_region(&span, region), 0,
    PARAMS(void *queue, void *from, void *to, const size_t *from_at, const size_t *region,
        size_t to_at),
    ARGS(queue, from, to, from_at, region, to_at))
COMMAND(clEnqueueCopyBufferToImage, "transfer", SHORT, note_region(&span, region), 0,
    PARAMS(void *queue, void *from, void *to, size_t from_at, const size_t *to_at,
        const size_t *region),
    ARGS(queue, from, to, from_at, to_at, region))
COMMAND(clEnqueueFillBuffer, "transfer", SHORT, BYTES(n), 0,
    PARAMS(void *queue, void *buffer, const void *pattern, size_t pattern_bytes, size_t offset,
        size_t n),
    ARGS(queue, buffer, pattern, pattern_bytes, offset, n))
COMMAND(clEnqueueFillImage, "transfer", SHORT, note_region(&span, region), 0,
    PARAMS(
        void *queue, void *image, const void *colour, const size_t *origin, const size_t *region),
    ARGS(queue, image, colour, origin, region))
COMMAND(clEnqueueMigrateMemObjects, "transfer", SHORT, NOTHING, 0,
    PARAMS(void *queue, uint32_t count, void *const *objects, uint64_t flags),
    ARGS(queue, count, objects, flags))

// ---- Memory that both see. ----
#define MAP(id, note, params, args)                                                                \
    HOOK_TYPE(void *, id, PARAMS(params, AFTER, int32_t *failed))                                  \
    HOOK_NAME(id, #id, "transfer", TRACE_CAUSE_ACCEL, SHORT);                                      \
    static inline void *id##_body(id##_fn *real, params, AFTER, int32_t *failed)                   \
    {                                                                                              \
        HOOK_SPAN_OF(id, span);                                                                    \
        note;                                                                                      \
        void *memory = real(args, AFTER_ARGS, failed);                                             \
        if (memory) {                                                                              \
            OUT;                                                                                   \
            opencl_note_command(&span, queue, event, blocking != 0);                               \
        }                                                                                          \
        return memory;                                                                             \
    }                                                                                              \
    HOOK_THUNKS(void *, id, PARAMS(params, AFTER, int32_t *failed), ARGS(args, AFTER_ARGS, failed))
MAP(clEnqueueMapBuffer, BYTES(n),
    PARAMS(void *queue, void *buffer, uint32_t blocking, uint64_t flags, size_t offset, size_t n),
    ARGS(queue, buffer, blocking, flags, offset, n))
MAP(clEnqueueMapImage, note_region(&span, region),
    PARAMS(void *queue, void *image, uint32_t blocking, uint64_t flags, const size_t *origin,
        const size_t *region, size_t *row, size_t *slice),
    ARGS(queue, image, blocking, flags, origin, region, row, slice))
COMMAND(clEnqueueUnmapMemObject, "transfer", SHORT, IN, 0,
    PARAMS(void *queue, void *object, void *memory), ARGS(queue, object, memory))
COMMAND(clEnqueueSVMMemcpy, "transfer", SHORT, BYTES(n), blocking != 0,
    PARAMS(void *queue, uint32_t blocking, void *to, const void *from, size_t n),
    ARGS(queue, blocking, to, from, n))
COMMAND(clEnqueueSVMMemFill, "transfer", SHORT, BYTES(n), 0,
    PARAMS(void *queue, void *memory, const void *pattern, size_t pattern_bytes, size_t n),
    ARGS(queue, memory, pattern, pattern_bytes, n))
COMMAND(clEnqueueSVMMap, "transfer", SHORT, BYTES(n), blocking != 0,
    PARAMS(void *queue, uint32_t blocking, uint64_t flags, void *memory, size_t n),
    ARGS(queue, blocking, flags, memory, n))
COMMAND(clEnqueueSVMUnmap, "transfer", SHORT, IN, 0, PARAMS(void *queue, void *memory),
    ARGS(queue, memory))

// ---- Work. ----
COMMAND(clEnqueueNDRangeKernel, "enqueue", SHORT, note_items(&span, dimensions, global), 0,
    PARAMS(void *queue, void *kernel, uint32_t dimensions, const size_t *offset,
        const size_t *global, const size_t *local),
    ARGS(queue, kernel, dimensions, offset, global, local))
COMMAND(clEnqueueTask, "enqueue", SHORT, NOTHING, 0, PARAMS(void *queue, void *kernel),
    ARGS(queue, kernel))
HOOK_CALL(int32_t, clFlush, "clFlush", "enqueue", TRACE_CAUSE_ACCEL, SHORT, PARAMS(void *queue),
    ARGS(queue))

// ---- Waiting, and the end of an event. ----
HOOK_TYPE(int32_t, clFinish, PARAMS(void *queue))
HOOK_NAME(clFinish, "clFinish", "wait", TRACE_CAUSE_ACCEL, SHORT);
static inline int32_t clFinish_body(clFinish_fn *real, void *queue)
{
    HOOK_WAIT_OF(clFinish, span);
    return real(queue);
}
HOOK_THUNKS(int32_t, clFinish, PARAMS(void *queue), ARGS(queue))

HOOK_TYPE(int32_t, clWaitForEvents, PARAMS(uint32_t count, void *const *events))
HOOK_NAME(clWaitForEvents, "clWaitForEvents", "wait", TRACE_CAUSE_ACCEL, SHORT);
static inline int32_t clWaitForEvents_body(
    clWaitForEvents_fn *real, uint32_t count, void *const *events)
{
    HOOK_WAIT_OF(clWaitForEvents, span);
    const struct opencl_held held = opencl_hold(events, count);
    int32_t failed = real(count, events);
    if (held.bits)
        accel_note_work(&span, opencl_let_go(events, &held));
    return failed;
}
HOOK_THUNKS(
    int32_t, clWaitForEvents, PARAMS(uint32_t count, void *const *events), ARGS(count, events))

HOOK_TYPE(int32_t, clReleaseEvent, PARAMS(void *event))
HOOK_NAME(clReleaseEvent, "clReleaseEvent", "wait", TRACE_CAUSE_ACCEL, SHORT);
static inline int32_t clReleaseEvent_body(clReleaseEvent_fn *real, void *event)
{
    HOOK_SPAN_OF(clReleaseEvent, span);
    accel_note_work(&span, opencl_count(event, 1));
    return real(event);
}
HOOK_THUNKS(int32_t, clReleaseEvent, PARAMS(void *event), ARGS(event))

// ---- Queues: no time to speak of; tell which have profiling. ----
HOOK_TYPE(void *, clCreateCommandQueue,
    PARAMS(void *context, void *device, uint64_t properties, int32_t *failed))
static inline void *clCreateCommandQueue_body(clCreateCommandQueue_fn *real, void *context,
    void *device, uint64_t properties, int32_t *failed)
{
    void *queue = real(context, device, properties, failed);
    if (queue)
        opencl_queue_note(queue, (properties & OPENCL_PROFILING_ENABLE) != 0, (void *)real);
    return queue;
}
HOOK_THUNKS(void *, clCreateCommandQueue,
    PARAMS(void *context, void *device, uint64_t properties, int32_t *failed),
    ARGS(context, device, properties, failed))

HOOK_TYPE(void *, clCreateCommandQueueWithProperties,
    PARAMS(void *context, void *device, const uint64_t *properties, int32_t *failed))
static inline void *clCreateCommandQueueWithProperties_body(
    clCreateCommandQueueWithProperties_fn *real, void *context, void *device,
    const uint64_t *properties, int32_t *failed)
{
    void *queue = real(context, device, properties, failed);
    uint64_t enabled = 0;
    for (const uint64_t *p = properties; queue && p && *p; p += 2)
        enabled |= *p == OPENCL_QUEUE_PROPERTIES ? p[1] : 0;
    if (queue)
        opencl_queue_note(queue, (enabled & OPENCL_PROFILING_ENABLE) != 0, (void *)real);
    return queue;
}
HOOK_THUNKS(void *, clCreateCommandQueueWithProperties,
    PARAMS(void *context, void *device, const uint64_t *properties, int32_t *failed),
    ARGS(context, device, properties, failed))

// ---- Programs, and buffers that are made with their content. ----
#define LOAD(ret, id, params, args)                                                                \
    HOOK_CALL(ret, id, #id, "load", TRACE_CAUSE_OTHER, SHORT, PARAMS(params), ARGS(args))
LOAD(void *, clCreateProgramWithSource,
    PARAMS(
        void *context, uint32_t count, const char **texts, const size_t *lengths, int32_t *failed),
    ARGS(context, count, texts, lengths, failed))
LOAD(void *, clCreateProgramWithBinary,
    PARAMS(void *context, uint32_t count, void *const *devices, const size_t *lengths,
        const unsigned char **binaries, int32_t *status, int32_t *failed),
    ARGS(context, count, devices, lengths, binaries, status, failed))
LOAD(int32_t, clBuildProgram,
    PARAMS(void *program, uint32_t count, void *const *devices, const char *options, void *notify,
        void *data),
    ARGS(program, count, devices, options, notify, data))
LOAD(int32_t, clCompileProgram,
    PARAMS(void *program, uint32_t count, void *const *devices, const char *options,
        uint32_t headers, void *const *programs, const char **names, void *notify, void *data),
    ARGS(program, count, devices, options, headers, programs, names, notify, data))
LOAD(void *, clLinkProgram,
    PARAMS(void *context, uint32_t count, void *const *devices, const char *options,
        uint32_t program_count, void *const *programs, void *notify, void *data, int32_t *failed),
    ARGS(context, count, devices, options, program_count, programs, notify, data, failed))

HOOK_TYPE(void *, clCreateBuffer,
    PARAMS(void *context, uint64_t flags, size_t n, void *memory, int32_t *failed))
HOOK_NAME(clCreateBuffer, "clCreateBuffer", "transfer", TRACE_CAUSE_ACCEL, SHORT);
static inline void *clCreateBuffer_body(
    clCreateBuffer_fn *real, void *context, uint64_t flags, size_t n, void *memory, int32_t *failed)
{
    const uint64_t copies = 1u << 5; // CL_MEM_COPY_HOST_PTR
    if (!(flags & copies))
        return real(context, flags, n, memory, failed);
    HOOK_SPAN_OF(clCreateBuffer, span);
    BYTES(n);
    IN;
    return real(context, flags, n, memory, failed);
}
HOOK_THUNKS(void *, clCreateBuffer,
    PARAMS(void *context, uint64_t flags, size_t n, void *memory, int32_t *failed),
    ARGS(context, flags, n, memory, failed))

#define ACCEL HOOK_ATTR(ACCEL)
#define TO_DEVICE (HOOK_BYTES | HOOK_ATTR(INPUT) | ACCEL)
#define FROM_DEVICE (HOOK_BYTES | HOOK_ATTR(OUTPUT) | ACCEL)
#define ROW(id, attrs) HOOK_LINE(id, #id, attrs)
static const struct hook_function functions[] = {
    ROW(clEnqueueReadBuffer, FROM_DEVICE),
    ROW(clEnqueueWriteBuffer, TO_DEVICE),
    ROW(clEnqueueReadBufferRect, FROM_DEVICE),
    ROW(clEnqueueWriteBufferRect, TO_DEVICE),
    ROW(clEnqueueReadImage, HOOK_SHAPE | HOOK_ATTR(OUTPUT) | ACCEL),
    ROW(clEnqueueWriteImage, HOOK_SHAPE | HOOK_ATTR(INPUT) | ACCEL),
    ROW(clEnqueueCopyBuffer, HOOK_BYTES),
    ROW(clEnqueueCopyBufferRect, HOOK_BYTES),
    ROW(clEnqueueCopyImage, HOOK_SHAPE),
    ROW(clEnqueueCopyImageToBuffer, HOOK_SHAPE),
    ROW(clEnqueueCopyBufferToImage, HOOK_SHAPE),
    ROW(clEnqueueFillBuffer, HOOK_BYTES),
    ROW(clEnqueueFillImage, HOOK_SHAPE),
    ROW(clEnqueueMigrateMemObjects, 0),
    ROW(clEnqueueMapBuffer, FROM_DEVICE),
    ROW(clEnqueueMapImage, HOOK_SHAPE | HOOK_ATTR(OUTPUT) | ACCEL),
    ROW(clEnqueueUnmapMemObject, HOOK_ATTR(INPUT)),
    ROW(clEnqueueSVMMemcpy, HOOK_BYTES | ACCEL),
    ROW(clEnqueueSVMMemFill, HOOK_BYTES),
    ROW(clEnqueueSVMMap, HOOK_BYTES | ACCEL),
    ROW(clEnqueueSVMUnmap, HOOK_ATTR(INPUT)),
    ROW(clEnqueueNDRangeKernel, HOOK_ATTR(ELEMENTS)),
    ROW(clEnqueueTask, 0),
    ROW(clFlush, 0),
    ROW(clFinish, 0),
    ROW(clWaitForEvents, ACCEL),
    ROW(clReleaseEvent, ACCEL),
    HOOK_LINE_UNTIMED(clCreateCommandQueue, "clCreateCommandQueue"),
    HOOK_LINE_UNTIMED(clCreateCommandQueueWithProperties, "clCreateCommandQueueWithProperties"),
    ROW(clCreateProgramWithSource, 0),
    ROW(clCreateProgramWithBinary, 0),
    ROW(clBuildProgram, 0),
    ROW(clCompileProgram, 0),
    ROW(clLinkProgram, 0),
    ROW(clCreateBuffer, HOOK_BYTES | HOOK_ATTR(INPUT)),
    HOOK_END,
};

static const char *const libraries[] = {"libOpenCL.so", NULL};

const struct hook_set hook_opencl = {
    .name = "opencl",
    .help = "OpenCL transfers, launches, waits and device time",
    .libraries = libraries,
    .functions = functions,
};
