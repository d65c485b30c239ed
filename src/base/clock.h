// SPDX-License-Identifier: Apache-2.0
// The clocks: raw ticks (TSC where it can be trusted, else CLOCK_MONOTONIC), the monotonic clock,
// and CPU clocks. Header-only and allocation-free, so that the agent's hot paths may use it.
// Does not convert ticks: that needs the run's calibration (trace/ticks.h). Threads: no state.
#ifndef LIGHTMETER_BASE_CLOCK_H
#define LIGHTMETER_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_mono_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC);
}

// CPU time of the calling thread, user and system.
static inline uint64_t clock_thread_cpu_ns(void)
{
    return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

// The processor's own counter. Whether it may be used: clock_tsc_is_usable.
static inline uint64_t clock_tsc(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return clock_mono_ns();
#endif
}

// Whether clock_tsc counts at one rate on all processors (kernel clock source tsc or kvm-clock with
// an invariant TSC; always on AArch64). Reads /sys and cpuid; call it once, outside hot paths.
int clock_tsc_is_usable(void);

#endif
