// SPDX-License-Identifier: Apache-2.0
// Test host: scales vectors with an OpenCL kernel in several ways and prints sums of the results;
// what its own event profiling and clock say goes to the file TIMES. usage: hooks_opencl. Run by
// test_hooks_opencl.py with and without the preloaded library. Status 3: there is no device.
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COUNT 65536
#define BYTES (COUNT * sizeof(float))
#define RUNS 5

static const char source[] =
    "__kernel void scale(__global const float *in, __global float *out, int rounds) {"
    "  int i = get_global_id(0); float x = in[i];"
    "  for (int n = 0; n < rounds; n++) x = x * 0.999f + 0.25f;"
    "  out[i] = x; }";

static struct {
    cl_context context;
    cl_device_id device;
    cl_kernel kernel;
    cl_mem in, out;
    float from[COUNT], to[COUNT];
    FILE *times;
} host;

static void check(cl_int status, const char *what)
{
    if (status == CL_SUCCESS)
        return;
    fprintf(stderr, "%s: %d\n", what, status);
    exit(1);
}

static void say(const char *what)
{
    double sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum += (double)host.to[i] * (i % 7 + 1);
    printf("%s %.6e\n", what, sum);
    memset(host.to, 0, sizeof host.to);
}

static unsigned long long clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long long)now.tv_sec * 1000000000u + (unsigned long long)now.tv_nsec;
}

static unsigned long long device_ns(cl_event event)
{
    cl_ulong start = 0, end = 0;
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL),
        "start");
    check(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "end");
    return end - start;
}

static void open_device(void)
{
    cl_platform_id platform;
    cl_int status;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &host.device, NULL) != CL_SUCCESS)
        exit(3);
    host.context = clCreateContext(NULL, 1, &host.device, NULL, NULL, &status);
    check(status, "context");
    const char *text = source;
    cl_program program = clCreateProgramWithSource(host.context, 1, &text, NULL, &status);
    check(status, "program");
    check(clBuildProgram(program, 1, &host.device, "", NULL, NULL), "build");
    host.kernel = clCreateKernel(program, "scale", &status);
    check(status, "kernel");
    check(clReleaseProgram(program), "program");
    for (int i = 0; i < COUNT; i++)
        host.from[i] = (float)(i % 100);
    host.in = clCreateBuffer(
        host.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, BYTES, host.from, &status);
    check(status, "buffer");
    host.out = clCreateBuffer(host.context, CL_MEM_READ_WRITE, BYTES, NULL, &status);
    check(status, "buffer");
    check(clSetKernelArg(host.kernel, 0, sizeof host.in, &host.in), "argument");
    check(clSetKernelArg(host.kernel, 1, sizeof host.out, &host.out), "argument");
}

static void launch(cl_command_queue queue, int rounds, cl_event *event)
{
    const size_t count = COUNT;
    check(clSetKernelArg(host.kernel, 2, sizeof rounds, &rounds), "argument");
    check(clEnqueueNDRangeKernel(queue, host.kernel, 1, NULL, &count, NULL, 0, NULL, event),
        "launch");
}

// Waits for each event, asked for its time afterwards as programs do; then once more.
static void run_profiled(cl_command_queue queue)
{
    unsigned long long work_ns = 0, wait_ns = 0;
    for (int i = 0; i < RUNS; i++) {
        cl_event events[3];
        check(clEnqueueWriteBuffer(
                  queue, host.in, CL_FALSE, 0, BYTES, host.from, 0, NULL, &events[0]),
            "write");
        launch(queue, 400 + i, &events[1]);
        check(
            clEnqueueReadBuffer(queue, host.out, CL_FALSE, 0, BYTES, host.to, 0, NULL, &events[2]),
            "read");
        const unsigned long long start_ns = clock_ns();
        check(clWaitForEvents(3, events), "wait");
        wait_ns += clock_ns() - start_ns;
        check(clWaitForEvents(1, events), "wait");
        for (int k = 0; k < 3; k++) {
            work_ns += device_ns(events[k]);
            check(clReleaseEvent(events[k]), "release");
        }
    }
    say("waited");
    fprintf(host.times, "waited %llu\nwaiting %llu\n", work_ns, wait_ns);
}

// Waits for all there is; the events are given back afterwards, some of them held twice.
static void run_finished(cl_command_queue queue)
{
    unsigned long long work_ns = 0, wait_ns = 0;
    cl_event events[RUNS];
    for (int i = 0; i < RUNS; i++)
        launch(queue, 400 + i, &events[i]);
    const unsigned long long start_ns = clock_ns();
    check(clFinish(queue), "finish");
    wait_ns = clock_ns() - start_ns;
    for (int i = 0; i < RUNS; i++) {
        work_ns += device_ns(events[i]);
        if (i % 2)
            check(clRetainEvent(events[i]), "retain");
        check(clReleaseEvent(events[i]), "release");
        if (i % 2)
            check(clReleaseEvent(events[i]), "release");
    }
    cl_event event;
    check(
        clEnqueueReadBuffer(queue, host.out, CL_TRUE, 0, BYTES, host.to, 0, NULL, &event), "read");
    fprintf(host.times, "finished %llu\nfinishing %llu\nread %llu\n", work_ns, wait_ns,
        device_ns(event));
    check(clReleaseEvent(event), "release");
    say("finished");
}

// No profiling, and no events.
static void run_plain(void)
{
    cl_int status;
    cl_queue_properties none[] = {CL_QUEUE_PROPERTIES, 0, 0};
    cl_command_queue queue =
        clCreateCommandQueueWithProperties(host.context, host.device, none, &status);
    check(status, "queue");
    cl_event event;
    launch(queue, 10, &event);
    check(clWaitForEvents(1, &event), "wait");
    check(clReleaseEvent(event), "release");
    check(clFlush(queue), "flush");
    check(clEnqueueReadBuffer(queue, host.out, CL_TRUE, 0, BYTES, host.to, 0, NULL, NULL), "read");
    say("plain");
    float *mapped =
        clEnqueueMapBuffer(queue, host.out, CL_TRUE, CL_MAP_READ, 0, BYTES, 0, NULL, NULL, &status);
    check(status, "map");
    memcpy(host.to, mapped, BYTES);
    say("mapped");
    check(clEnqueueUnmapMemObject(queue, host.out, mapped, 0, NULL, NULL), "unmap");
    const size_t origin[3] = {0, 0, 0}, region[3] = {256, 16, 2};
    check(clEnqueueReadBufferRect(
              queue, host.out, CL_TRUE, origin, origin, region, 0, 0, 0, 0, host.to, 0, NULL, NULL),
        "rectangle");
    say("rectangle");
    check(clEnqueueCopyBuffer(queue, host.in, host.out, 0, 0, BYTES, 0, NULL, NULL), "copy");
    check(clFinish(queue), "finish");
    check(clReleaseCommandQueue(queue), "queue");
}

// What cannot work is refused as ever.
static void run_refused(cl_command_queue queue)
{
    cl_int status = 0;
    printf("refused %d",
        clEnqueueReadBuffer(queue, host.out, CL_TRUE, BYTES, BYTES, host.to, 0, NULL, NULL));
    printf(" %d", clWaitForEvents(0, NULL));
    void *mapped = clEnqueueMapBuffer(
        queue, host.out, CL_TRUE, CL_MAP_READ, BYTES, BYTES, 0, NULL, NULL, &status);
    printf(" %d %d", mapped == NULL, status);
    printf(" %d\n", clCreateCommandQueue(NULL, host.device, 0, &status) == NULL);
}

int main(void)
{
    const char *path = getenv("TIMES");
    host.times = fopen(path ? path : "/dev/null", "w");
    if (!host.times)
        return 2;
    open_device();
    cl_int status;
    cl_command_queue queue =
        clCreateCommandQueue(host.context, host.device, CL_QUEUE_PROFILING_ENABLE, &status);
    check(status, "queue");
    run_profiled(queue);
    run_finished(queue);
    run_plain();
    run_refused(queue);
    check(clReleaseCommandQueue(queue), "queue");
    check(clReleaseMemObject(host.in), "buffer");
    check(clReleaseMemObject(host.out), "buffer");
    check(clReleaseKernel(host.kernel), "kernel");
    check(clReleaseContext(host.context), "context");
    return fclose(host.times);
}
