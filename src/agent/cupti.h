// SPDX-License-Identifier: Apache-2.0
// CUPTI in the host: finds it, asks it for the activity records of kernels, copies and memsets, and
// hands what they say to cuda_work.c. Only with --cuda-activity, only where the host has loaded
// CUDA, never in a forked child. Used by the hook set of CUDA. Not run on hardware yet. Threads:
// any.
#ifndef LIGHTMETER_AGENT_CUPTI_H
#define LIGHTMETER_AGENT_CUPTI_H

#include "agent/config.h"
#include "agent/thread.h"

enum cupti_state { CUPTI_IDLE, CUPTI_STARTING, CUPTI_ON, CUPTI_OFF };
extern _Atomic int cupti_state;    // enum cupti_state
extern _Atomic uint32_t cupti_pid; // it is up in this process, and not in its children

// A library of CUDA is loaded; its file name tells which release of CUPTI belongs to it.
void cupti_see(const char *file_name);

// Loads and starts it, once; the coverage says what came of it. Keeps errno.
__attribute__((cold)) void cupti_start(void);

// Before a call of CUDA.
static inline void cupti_want(void)
{
    if (__builtin_expect(config.is_cuda_activity != 0, 0) &&
        atomic_load_explicit(&cupti_state, memory_order_relaxed) == CUPTI_IDLE)
        cupti_start();
}

static inline int cupti_is_on(void)
{
    const int is_up = atomic_load_explicit(&cupti_state, memory_order_acquire) == CUPTI_ON;
    return __builtin_expect(is_up, 0) && !agent_is_forked() &&
           atomic_load(&cupti_pid) == agent.place.pid;
}

// Around a call that queues work, where CUPTI is on: the work belongs to the stage of the name
// `name`. Whether cupti_pop has to follow. Both keep errno.
int cupti_push(uint16_t name);
void cupti_pop(void);

// Has CUPTI hand over what is complete. Keeps errno.
void cupti_flush(void);

#endif
