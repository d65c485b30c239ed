// SPDX-License-Identifier: Apache-2.0
// Waits of one cause each, planted and measured by itself: answers of a peer on the network, pages
// of a cold mapped file, fresh memory, the CPU quota of a control group, and (built with
// PLANTED_OPENCL) kernels on an accelerator. Prints what it measured with its own clocks as JSON.
// Run by test_truth_causes.py. Status 77: what is asked cannot be had here.
//   planted_causes ask PORT ROUNDS | cold FILE | fresh ROUNDS | spin MS | kernel ROUNDS
#include <lightmeter/mark.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef PLANTED_OPENCL
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#endif

#define CANNOT 77
#define PAGE_BYTES 4096
#define FRESH_BYTES (32u << 20)

// Between the marks, and around them: the truth lies in between, whatever the machine does between
// a clock and the mark beside it.
struct bounds {
    uint64_t inner_ns, outer_ns;
};
static struct bounds wall, cpu;
static uint64_t calls;

static uint64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// What lies between start and stop is one call under the mark. The wall clock is the outermost one
// on both sides, and the innermost one, so that their differences are bounds of the time off the
// CPU.
static void start(const char *name)
{
    wall.outer_ns -= read_clock(CLOCK_MONOTONIC);
    cpu.outer_ns -= read_clock(CLOCK_THREAD_CPUTIME_ID);
    lm_stage_begin(name);
    cpu.inner_ns -= read_clock(CLOCK_THREAD_CPUTIME_ID);
    wall.inner_ns -= read_clock(CLOCK_MONOTONIC);
}

static void stop(void)
{
    wall.inner_ns += read_clock(CLOCK_MONOTONIC);
    cpu.inner_ns += read_clock(CLOCK_THREAD_CPUTIME_ID);
    lm_stage_end();
    cpu.outer_ns += read_clock(CLOCK_THREAD_CPUTIME_ID);
    wall.outer_ns += read_clock(CLOCK_MONOTONIC);
    calls++;
}

// The first mark of a name also registers it, which takes a while and is no part of the stage.
static void name_stage(const char *name)
{
    lm_stage_begin(name);
    lm_stage_end();
}

static int ask(const char *port, int rounds)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
        .sin_port = htons((uint16_t)atoi(port)),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    char byte = 0;
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) != 0)
        return 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    for (int i = 0; i < rounds; i++) {
        start("ask");
        const int failed = send(fd, &byte, 1, 0) != 1 || recv(fd, &byte, 1, 0) != 1;
        stop();
        if (failed)
            return 1;
    }
    close(fd);
    return 0;
}

// In no order that reading ahead would guess.
static void touch_all(const volatile uint8_t *at, size_t pages)
{
    for (size_t i = 0; i < pages; i++)
        (void)at[i * 61 % pages * PAGE_BYTES];
}

static int cold(const char *path)
{
    struct stat st;
    const int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &st) != 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
        return 1;
    const size_t length_bytes = (size_t)st.st_size;
    void *at = mmap(NULL, length_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED || madvise(at, length_bytes, MADV_RANDOM) != 0)
        return 1;
    start("cold");
    touch_all(at, length_bytes / PAGE_BYTES);
    stop();
    munmap(at, length_bytes);
    close(fd);
    return 0;
}

static int fresh(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        char *at =
            mmap(NULL, FRESH_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED)
            return 1;
        madvise(at, FRESH_BYTES, MADV_NOHUGEPAGE);
        start("fresh");
        for (size_t k = 0; k < FRESH_BYTES; k += PAGE_BYTES)
            at[k] = 1;
        stop();
        munmap(at, FRESH_BYTES);
    }
    return 0;
}

static int spin(int ms)
{
    const uint64_t end_ns = read_clock(CLOCK_MONOTONIC) + (uint64_t)ms * 1000000u;
    start("spin");
    while (read_clock(CLOCK_MONOTONIC) < end_ns)
        ;
    stop();
    return 0;
}

#ifdef PLANTED_OPENCL
static const char source[] = "__kernel void work(__global float *out, int rounds) {"
                             "  float x = 1.0f;"
                             "  for (int n = 0; n < rounds; n++) x = x * 0.999f + 0.25f;"
                             "  out[get_global_id(0)] = x; }";

static cl_command_queue queue;
static cl_kernel work;

static int open_device(void)
{
    static cl_mem out;
    const char *text = source;
    cl_platform_id platform;
    cl_device_id device;
    cl_int status;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return CANNOT;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &status);
    if (clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS)
        return CANNOT;
    queue = clCreateCommandQueue(context, device, 0, &status);
    work = clCreateKernel(program, "work", &status);
    out = clCreateBuffer(context, CL_MEM_WRITE_ONLY, 64, NULL, &status);
    return clSetKernelArg(work, 0, sizeof out, &out) == CL_SUCCESS ? 0 : CANNOT;
}

static int enqueue(int times, cl_event *event)
{
    const size_t one = 1;
    return clSetKernelArg(work, 1, sizeof times, &times) != CL_SUCCESS ||
           clEnqueueNDRangeKernel(queue, work, 1, NULL, &one, NULL, 0, NULL, event) != CL_SUCCESS ||
           clFlush(queue) != CL_SUCCESS;
}

// Kernels of some milliseconds each on one of the device's cores; waited for in two ways.
static int kernel(int rounds)
{
    int failed = open_device(), times = 1 << 21;
    if (failed)
        return failed;
    // The first one is compiled anew.
    failed = enqueue(times, NULL) || clFinish(queue) != CL_SUCCESS;
    for (int i = 0; i < rounds && !failed; i++) {
        cl_event event;
        failed = enqueue(times, &event);
        start("kernel");
        failed |= (i % 2 ? clFinish(queue) : clWaitForEvents(1, &event)) != CL_SUCCESS;
        stop();
        clReleaseEvent(event);
    }
    return failed;
}
#else
static int kernel(int rounds)
{
    (void)rounds;
    return CANNOT;
}
#endif

int main(int argc, char **argv)
{
    struct rusage usage;
    const char *what = argc > 2 ? argv[1] : "";
    int status = 2;
    name_stage(what);
    if (strcmp(what, "ask") == 0 && argc > 3)
        status = ask(argv[2], atoi(argv[3]));
    else if (strcmp(what, "cold") == 0)
        status = cold(argv[2]);
    else if (strcmp(what, "fresh") == 0)
        status = fresh(atoi(argv[2]));
    else if (strcmp(what, "spin") == 0)
        status = spin(atoi(argv[2]));
    else if (strcmp(what, "kernel") == 0)
        status = kernel(atoi(argv[2]));
    if (status)
        return status;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"wall_ns\": [%llu, %llu], \"cpu_ns\": [%llu, %llu], \"calls\": %llu, "
           "\"minor_faults\": %ld, \"major_faults\": %ld}\n",
        (unsigned long long)wall.inner_ns, (unsigned long long)wall.outer_ns,
        (unsigned long long)cpu.inner_ns, (unsigned long long)cpu.outer_ns,
        (unsigned long long)calls, usage.ru_minflt, usage.ru_majflt);
    return 0;
}
