// SPDX-License-Identifier: Apache-2.0
// What following a call costs, kind by kind. Blocks of calls alternate with blocks of the same call
// past every hook (a pointer to the function itself) and with the floor, two clock reads and two
// 8-byte stores. Prints a line of JSON: for each kind, each round's [floor, bare, called] in
// nanoseconds a call. Run by bench/run with and without the agent, and by bench/peers under others.
//   hooks cpu|wall ROUNDS CALLS [KIND...]
#include <lightmeter/mark.h>

#include "stand_in.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef BENCH_LTTNG
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "lttng_events.h"
#endif

// CPU time of the thread: other programs on the machine do not count. But a tracer's time counts.
static clockid_t clock_id = CLOCK_THREAD_CPUTIME_ID;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(clock_id, &t);
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

static void floor_block(long calls)
{
    for (long i = 0; i < calls; i++) {
        size_t at = (size_t)(i * 2) & (sizeof sink / sizeof *sink - 1);
        sink[at] = read_clock();
        __asm__ volatile("" ::: "memory");
        sink[at + 1] = read_clock();
        __asm__ volatile("" ::: "memory");
    }
}

// ---- What is called on. ----
static const uint8_t webp[64] = {'R', 'I', 'F', 'F', 0, 0, 0, 0, 'W', 'E', 'B', 'P', 'V', 'P', '8',
    ' ', 0, 0, 0, 0, 0, 0, 0, 0x9d, 1, 0x2a, 0x80, 2, 0xe0, 1};
static char image[64], byte;
static int spng_object, width, height, file;
static FILE *stream;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;

// ---- Pointers past every hook. ----
static __typeof__(fread) *bare_fread;
static __typeof__(pread) *bare_pread;
static int (*bare_getc)(FILE *);
static __typeof__(pthread_mutex_lock) *bare_lock;
static __typeof__(sem_wait) *bare_wait;
static __typeof__(bare_info) *info_at;
static __typeof__(bare_decode) *decode_at;
static __typeof__(bare_image) *image_at;

#define BLOCK(name, call)                                                                          \
    static void name(long calls)                                                                   \
    {                                                                                              \
        for (long i = 0; i < calls; i++) {                                                         \
            call;                                                                                  \
            __asm__ volatile("" ::: "memory");                                                     \
        }                                                                                          \
    }
#define BLOCKS(kind, bare, called) BLOCK(kind##_bare_block, bare) BLOCK(kind##_block, called)

#define IGNORED(call) (void)!(call)
BLOCKS(leaf, info_at(webp, sizeof webp, &width, &height),
    WebPGetInfo(webp, sizeof webp, &width, &height))
BLOCKS(attributes, decode_at(webp, sizeof webp, &width, &height),
    WebPDecodeRGBA(webp, sizeof webp, &width, &height))
BLOCKS(values, image_at(&spng_object, image, sizeof image, 4, 0),
    spng_decode_image(&spng_object, image, sizeof image, 4, 0))
BLOCKS(fread, IGNORED(bare_fread(&byte, 1, 1, stream)), IGNORED(fread(&byte, 1, 1, stream)))
BLOCKS(pread, IGNORED(bare_pread(file, &byte, 1, 0)), IGNORED(pread(file, &byte, 1, 0)))
BLOCKS(getc, bare_getc(stream), getc(stream))
BLOCKS(mutex, bare_lock(&mutex); pthread_mutex_unlock(&mutex), pthread_mutex_lock(&mutex);
       pthread_mutex_unlock(&mutex))
BLOCKS(semaphore, sem_post(&semaphore); bare_wait(&semaphore), sem_post(&semaphore);
       sem_wait(&semaphore))
BLOCKS(mark, (void)0, lm_stage_begin("marked"); lm_stage_end())
#ifdef BENCH_LTTNG
BLOCKS(lttng, (void)0, lttng_ust_tracepoint(lightmeter_bench, enter, webp, sizeof webp);
       lttng_ust_tracepoint(lightmeter_bench, leave, 1))
#endif

struct kind {
    const char *name;
    void (*bare)(long), (*called)(long);
    long part; // of the calls asked for: those that take long are made less often
};
#define KIND(kind, part)                                                                           \
    {                                                                                              \
#kind, kind##_bare_block, kind##_block, part                                               \
    }
static const struct kind kinds[] = {KIND(leaf, 1), KIND(attributes, 1), KIND(values, 1),
    KIND(fread, 1), KIND(pread, 4), KIND(getc, 1), KIND(mutex, 1), KIND(semaphore, 1),
    KIND(mark, 1),
#ifdef BENCH_LTTNG
    KIND(lttng, 1),
#endif
    {NULL, NULL, NULL, 0}};

static void *find(void *library, const char *name)
{
    void *at = dlsym(library, name);
    if (!at) {
        fprintf(stderr, "hooks: %s: not found\n", name);
        exit(1);
    }
    return at;
}

static void find_bare(void)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY);
    *(void **)&bare_fread = find(libc, "fread");
    *(void **)&bare_pread = find(libc, "pread");
    *(void **)&bare_getc = find(libc, "getc");
    *(void **)&bare_lock = find(libc, "pthread_mutex_lock");
    *(void **)&bare_wait = find(libc, "sem_wait");
    *(void **)&info_at = find(RTLD_DEFAULT, "bare_info");
    *(void **)&decode_at = find(RTLD_DEFAULT, "bare_decode");
    *(void **)&image_at = find(RTLD_DEFAULT, "bare_image");
}

static double time_block(void (*block)(long), long calls)
{
    uint64_t start_ns = now_ns();
    block(calls);
    return (double)(now_ns() - start_ns) / (double)calls;
}

static void run_kind(const struct kind *kind, int rounds, long calls)
{
    calls = calls / kind->part + 1;
    time_block(kind->bare, calls / 10 + 1);
    time_block(kind->called, calls / 10 + 1);
    printf("\"%s\": [", kind->name);
    for (int i = 0; i < rounds; i++) {
        // Time for the launcher to put segments ready, as it has in any program that also works.
        nanosleep(&(struct timespec){0, 20000000}, NULL);
        double floor_ns = time_block(floor_block, calls);
        double bare_ns = time_block(kind->bare, calls);
        double called_ns = time_block(kind->called, calls);
        printf("%s[%.3f, %.3f, %.3f]", i ? ", " : "", floor_ns, bare_ns, called_ns);
    }
    printf("]");
}

static int is_asked(const char *name, char **names)
{
    if (!*names)
        return 1;
    while (*names && strcmp(name, *names) != 0)
        names++;
    return *names != NULL;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: hooks cpu|wall ROUNDS CALLS [KIND...]\n");
        return 2;
    }
    clock_id = strcmp(argv[1], "wall") == 0 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
    find_bare();
    file = open(argv[0], O_RDONLY);
    stream = fopen("/dev/zero", "r");
    if (file < 0 || !stream || sem_init(&semaphore, 0, 0) != 0)
        return 1;
    time_block(floor_block, (long)(sizeof sink / sizeof *sink));
    printf("{\"agent\": %s, \"kinds\": {", lm_agent_get() ? "true" : "false");
    int count = 0;
    for (const struct kind *kind = kinds; kind->name; kind++) {
        if (!is_asked(kind->name, argv + 4))
            continue;
        printf("%s", count++ ? ", " : "");
        run_kind(kind, atoi(argv[2]), atol(argv[3]));
    }
    printf("}}\n");
    return 0;
}
