// SPDX-License-Identifier: Apache-2.0
// A stand-in for libcudart and libcuda where there is no GPU: copies copy, a launch runs its kernel
// on the caller's thread, and a wait waits 20 ms on a condition variable, as a real one may. The
// runtime calls the driver, through the same slots as others would. Built as a shared library for
// hooks_cuda.c.
#include "cuda_stand_in.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define WAIT_NS 20000000

enum { COPY = 1, MEMSET = 2, KERNEL = 10 };
stand_in_observer_fn *stand_in_observer;

static void observe(uint32_t kind, uint64_t bytes)
{
    if (stand_in_observer)
        stand_in_observer(kind, bytes);
}

static int wait_for_device(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&mutex);
    while (pthread_cond_timedwait(&done, &mutex, &until) == 0)
        continue;
    pthread_mutex_unlock(&mutex);
    return 0;
}

int cuMemcpyHtoD_v2(uintptr_t to, const void *from, size_t n)
{
    memcpy((void *)to, from, n);
    observe(COPY, n);
    return 0;
}

int cuMemcpyDtoH_v2(void *to, uintptr_t from, size_t n)
{
    memcpy(to, (const void *)from, n);
    observe(COPY, n);
    return 0;
}

int cuStreamSynchronize(void *stream)
{
    return stream ? wait_for_device() : 400;
}

int cuLaunchKernel(void *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,
    void **arguments, void **extra)
{
    stand_in_kernel_fn *run;
    memcpy(&run, &kernel, sizeof run);
    if (!run || shared_bytes != 77 || !stream || extra)
        return 1;
    const uint64_t count = (uint64_t)grid_x * grid_y * grid_z * block_x * block_y * block_z;
    for (uint64_t i = 0; i < count; i++)
        run(i, arguments);
    observe(KERNEL, 0);
    return 0;
}

int cudaMemcpy(void *to, const void *from, size_t n, int kind)
{
    if (kind == 1)
        return cuMemcpyHtoD_v2((uintptr_t)to, from, n);
    return kind == 2 ? cuMemcpyDtoH_v2(to, (uintptr_t)from, n) : 21;
}

int cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, void *stream)
{
    return stream ? cudaMemcpy(to, from, n, kind) : 400;
}

int cudaMemcpy2D(void *to, size_t to_row, const void *from, size_t from_row, size_t width,
    size_t height, int kind)
{
    for (size_t y = 0; y < height; y++)
        memcpy((char *)to + y * to_row, (const char *)from + y * from_row, width);
    observe(COPY, (uint64_t)width * height);
    return kind == 2 ? 0 : 21;
}

int cudaMemset(void *to, int value, size_t n)
{
    memset(to, value, n);
    observe(MEMSET, n);
    return 0;
}

int cudaLaunchKernel(const void *kernel, struct dim3 grid, struct dim3 block, void **arguments,
    size_t shared_bytes, void *stream)
{
    void *run;
    memcpy(&run, &kernel, sizeof run);
    return cuLaunchKernel(run, grid.x, grid.y, grid.z, block.x, block.y, block.z,
        (unsigned)shared_bytes, stream, arguments, NULL);
}

int cudaStreamSynchronize(void *stream)
{
    return cuStreamSynchronize(stream);
}

int cudaDeviceSynchronize(void)
{
    return wait_for_device();
}

int cudaEventSynchronize(void *event)
{
    return event ? wait_for_device() : 400;
}
