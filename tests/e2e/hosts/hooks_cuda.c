// SPDX-License-Identifier: Apache-2.0
// Test host: copies, launches and waits with the stand-in for CUDA, by the runtime and the driver,
// and prints sums and statuses. Run by test_hooks_cuda.py with and without the preloaded library.
#include "cuda_stand_in.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COUNT ((size_t)2 * 3 * 4 * 5 * 6 * 7)

static float host[COUNT], device[COUNT], back[COUNT];
static char stream[1], event[1];

static void scale(uint64_t thread, void **arguments)
{
    float *at = *(float **)arguments[0];
    at[thread] = at[thread] * *(const float *)arguments[1] + 1;
}

static void say(const char *what)
{
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++)
        sum += (double)back[i] * (double)(i % 5 + 1);
    printf("%s %.1f\n", what, sum);
    memset(back, 0, sizeof back);
}

static void run_runtime(void)
{
    float *at = device, factor = 2;
    void *arguments[] = {&at, &factor};
    stand_in_kernel_fn *run = scale;
    const void *kernel;
    memcpy(&kernel, &run, sizeof kernel);
    printf("%d", cudaMemcpy(device, host, sizeof host, 1));
    printf(" %d", cudaLaunchKernel(kernel, (struct dim3){2, 3, 4}, (struct dim3){5, 6, 7},
                      arguments, 77, stream));
    printf(" %d", cudaStreamSynchronize(stream));
    printf(" %d", cudaEventSynchronize(event));
    printf(" %d", cudaDeviceSynchronize());
    printf(" %d ", cudaMemcpyAsync(back, device, sizeof back, 2, stream));
    say("runtime");
    printf("%d ", cudaMemcpy2D(back, 100, device, 200, 80, 50, 2));
    say("rows");
}

static void run_driver(void)
{
    float *at = device, factor = 3;
    void *arguments[] = {&at, &factor}, *kernel;
    stand_in_kernel_fn *run = scale;
    memcpy(&kernel, &run, sizeof kernel);
    printf("%d", cuMemcpyHtoD_v2((uintptr_t)device, host, sizeof host));
    printf(" %d", cuLaunchKernel(kernel, 4, 3, 2, 7, 6, 5, 77, stream, arguments, NULL));
    printf(" %d", cuStreamSynchronize(stream));
    printf(" %d ", cuMemcpyDtoH_v2(back, (uintptr_t)device, sizeof back));
    say("driver");
}

int main(void)
{
    for (size_t i = 0; i < COUNT; i++)
        host[i] = (float)(i % 11);
    run_runtime();
    run_driver();
    errno = 42;
    printf("%d", cudaMemcpy(back, host, 4, 9));
    printf(" %d", cudaStreamSynchronize(NULL));
    printf(" %d", cudaEventSynchronize(NULL));
    printf(" %d, errno %d\n", cuStreamSynchronize(NULL), errno);
    return 0;
}
