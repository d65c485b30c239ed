// SPDX-License-Identifier: Apache-2.0
// Whose work an accelerator did: sums up the durations of kernels, copies and memsets by the call
// that queued them, found by CUPTI's correlation number, and writes the sums as counters of that
// call's stage. Fed by cupti.c, asked by the hook set of CUDA. All of it lies in fixed tables.
// Threads: any; no lock.
#ifndef LIGHTMETER_AGENT_CUDA_WORK_H
#define LIGHTMETER_AGENT_CUDA_WORK_H

#include <stdint.h>

enum cuda_work_kind {
    CUDA_WORK_KERNELS,
    CUDA_WORK_COPIES,
    CUDA_WORK_MEMSETS,
    CUDA_WORK_COPY_BYTES, // not a time
    CUDA_WORK_COUNT
};

// The call of the CUDA correlation number `correlation` was made by a hooked call whose work
// belongs to the stage of the name `name`.
void cuda_work_correlate(uint32_t correlation, uint16_t name);

// The accelerator worked so long for the call `correlation`; which that was may be told later, up
// to the next cuda_work_write.
void cuda_work_add(
    enum cuda_work_kind kind, uint32_t correlation, uint64_t work_ns, uint64_t bytes);

// Writes what has come since the last time, on the calling thread. Nanoseconds of all of it.
uint64_t cuda_work_write(void);

#endif
