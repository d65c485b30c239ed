// SPDX-License-Identifier: Apache-2.0
// Threads that compute, with a call that is followed every so often: what a steady rate of calls
// and many busy threads cost. The work is fixed, so that its CPU time with and without the agent
// compare. Run by bench/run. Threads: as many as asked for, each with files of its own.
//   load STEPS                      calibrates: nanoseconds of CPU of so many steps
//   load STEPS CALLS THREADS [KIND] each thread: CALLS times STEPS steps and a call, read or fread
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long steps, calls;
static int is_stream;

// Each step needs the one before it, so that a compiler cannot do less.
static uint64_t compute(uint64_t seed, long count)
{
    for (long i = 0; i < count; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
    }
    return seed;
}

static void *work(void *argument)
{
    uint64_t *sum = argument;
    char bytes[16];
    FILE *stream = fopen("/dev/zero", "rb");
    if (!stream)
        return NULL;
    int fd = fileno(stream);
    for (long i = 0; i < calls; i++) {
        *sum = compute(*sum, steps);
        size_t got = is_stream ? fread(bytes, 1, sizeof bytes, stream) : (size_t)read(fd, bytes, 1);
        *sum += got & (uint64_t)bytes[0];
    }
    fclose(stream);
    return sum;
}

static long calibrate(void)
{
    struct timespec from, to;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    uint64_t sum = compute(1, steps);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    long ns = (to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec;
    return sum ? ns : 0;
}

int main(int argc, char **argv)
{
    steps = argc > 1 ? atol(argv[1]) : 0;
    calls = argc > 2 ? atol(argv[2]) : 0;
    long threads = argc > 3 ? atol(argv[3]) : 1;
    is_stream = argc > 4 && strcmp(argv[4], "fread") == 0;
    if (argc == 2) {
        printf("%ld\n", calibrate());
        return 0;
    }
    if (steps < 1 || calls < 1 || threads < 1 || threads > 1000) {
        fprintf(stderr, "usage: load STEPS [CALLS THREADS [read|fread]]\n");
        return 2;
    }
    pthread_t *all = calloc((size_t)threads, sizeof *all);
    uint64_t *sums = calloc((size_t)threads, sizeof *sums), total = 0;
    long started = 0;
    if (!all || !sums)
        return 1;
    for (; started < threads; started++) {
        sums[started] = (uint64_t)started + 1;
        if (pthread_create(&all[started], NULL, work, &sums[started]) != 0)
            break;
    }
    for (long i = 0; i < started; i++) {
        pthread_join(all[i], NULL);
        total ^= sums[i];
    }
    printf("%016llx\n", (unsigned long long)total);
    free(all);
    free(sums);
    return started == threads ? 0 : 1;
}
