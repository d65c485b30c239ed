// SPDX-License-Identifier: Apache-2.0
// For the host gil.py, through ctypes: a stretch of known length with CPython's global lock (hold)
// or without it (leave), and the wait to have it back, under a mark and by our own clocks (leave to
// come_back). Threads: one waits at a time.
#include <lightmeter/mark.h>

#include <stdint.h>
#include <time.h>

#define SHARED __attribute__((visibility("default")))

SHARED void hold(int64_t ns);
SHARED void leave(int64_t ns);
SHARED void come_back(int64_t *wall_ns, int64_t *cpu_ns);

static int64_t left_ns, left_cpu_ns;

static int64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void hold(int64_t ns)
{
    struct timespec t = {ns / 1000000000, ns % 1000000000};
    nanosleep(&t, NULL);
}

// Its caller wants the lock back when it returns.
void leave(int64_t ns)
{
    hold(ns);
    left_cpu_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);
    left_ns = read_clock(CLOCK_MONOTONIC);
    lm_stage_begin("come back");
}

// Called with the lock.
void come_back(int64_t *wall_ns, int64_t *cpu_ns)
{
    lm_stage_end();
    *wall_ns += read_clock(CLOCK_MONOTONIC) - left_ns;
    *cpu_ns += read_clock(CLOCK_THREAD_CPUTIME_ID) - left_cpu_ns;
}
