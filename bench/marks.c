// SPDX-License-Identifier: Apache-2.0
// What a mark costs: pairs of lm_stage_begin and lm_stage_end on one thread, in blocks that
// alternate with the floor (two clock reads and two 8-byte stores). Prints a line of JSON with
// every block in nanoseconds of CPU time a pair. Run by bench/run with and without the agent.
//   marks BLOCKS PAIRS
#include <lightmeter/mark.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

// CPU time of the thread: other programs on the machine do not count.
static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t read_clock(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

// As large as a segment of the trace, so that the stores leave the caches alike.
static uint64_t sink[1u << 17];

__attribute__((noinline)) static void floor_block(long pairs)
{
    for (long i = 0; i < pairs; i++) {
        size_t at = (size_t)(i * 2) & (sizeof sink / sizeof *sink - 1);
        sink[at] = read_clock();
        __asm__ volatile("" ::: "memory");
        sink[at + 1] = read_clock();
        __asm__ volatile("" ::: "memory");
    }
}

__attribute__((noinline)) static void mark_block(long pairs)
{
    for (long i = 0; i < pairs; i++) {
        lm_stage_begin("marked");
        lm_stage_end();
    }
}

static double time_block(void (*block)(long), long pairs)
{
    uint64_t start_ns = now_ns();
    block(pairs);
    return (double)(now_ns() - start_ns) / (double)pairs;
}

int main(int argc, char **argv)
{
    int blocks = argc > 1 ? atoi(argv[1]) : 10;
    long pairs = argc > 2 ? atol(argv[2]) : 100000;
    time_block(floor_block, pairs);
    time_block(mark_block, pairs);
    printf("{\"agent\": %s, \"blocks\": [", lm_agent_get() ? "true" : "false");
    for (int i = 0; i < blocks; i++) {
        // Time for the launcher to put segments ready, as it has in any program that also works.
        nanosleep(&(struct timespec){0, 120000000}, NULL);
        double floor_ns = time_block(floor_block, pairs);
        double mark_ns = time_block(mark_block, pairs);
        printf("%s[%.3f, %.3f]", i ? ", " : "", floor_ns, mark_ns);
    }
    printf("]}\n");
    return 0;
}
