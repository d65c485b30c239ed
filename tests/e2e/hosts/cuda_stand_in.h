// SPDX-License-Identifier: Apache-2.0
// The part of CUDA that cuda_stand_in.c has: names and signatures of the runtime and the driver.
#ifndef LIGHTMETER_TESTS_CUDA_STAND_IN_H
#define LIGHTMETER_TESTS_CUDA_STAND_IN_H

#include <stddef.h>
#include <stdint.h>

struct dim3 {
    unsigned x, y, z;
};

#pragma GCC visibility push(default)
int cudaMemcpy(void *to, const void *from, size_t n, int kind);
int cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, void *stream);
int cudaMemcpy2D(void *to, size_t to_row, const void *from, size_t from_row, size_t width,
    size_t height, int kind);
int cudaLaunchKernel(const void *kernel, struct dim3 grid, struct dim3 block, void **arguments,
    size_t shared_bytes, void *stream);
int cudaMemset(void *to, int value, size_t n);
int cudaStreamSynchronize(void *stream);
int cudaDeviceSynchronize(void);
int cudaEventSynchronize(void *event);
int cuMemcpyHtoD_v2(uintptr_t to, const void *from, size_t n);
int cuMemcpyDtoH_v2(void *to, uintptr_t from, size_t n);
int cuStreamSynchronize(void *stream);
int cuLaunchKernel(void *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, void *stream,
    void **arguments, void **extra);

// Told of each piece of work as it is queued (kinds of CUPTI's records); set by cupti_stand_in.c.
typedef void stand_in_observer_fn(uint32_t kind, uint64_t bytes);
extern stand_in_observer_fn *stand_in_observer;
#pragma GCC visibility pop

// What a kernel of the stand-in is: called once for each thread of the launch.
typedef void stand_in_kernel_fn(uint64_t thread, void **arguments);

#endif
