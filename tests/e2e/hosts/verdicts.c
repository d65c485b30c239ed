// SPDX-License-Identifier: Apache-2.0
// Programs with one known limit each, of marks and plain libc calls, for test_verdicts.py. Those
// that use files print as JSON what part of their time they were off the CPU in these calls, by
// their own clocks. It judges nothing. Threads: each scenario makes its own.
//   verdicts SCENARIO [NUMBER [FILE]]
#include <lightmeter/mark.h>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000u
#define THREADS_MOST 64u
#define RUN_NS ((uint64_t)run_ms * MS) // that the timed scenarios last
#define FRAME_NS (20 * MS)
#define FRAMES 40u
#define WAITS_MOST 1500u // for a reader to start: half a minute
#define PAGE_BYTES 4096u
#define BLOCK_BYTES (1u << 20)
#define EXIT_UNKNOWN 2 // no such scenario in this build
#define EXIT_NO_FILE 3 // the file cannot be opened so

static uint32_t run_ms = 900; // VERDICTS_RUN_MS in the environment is another length

static uint64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// Work: so much CPU time of this thread.
static void compute(uint64_t ns)
{
    const uint64_t start_ns = read_clock(CLOCK_THREAD_CPUTIME_ID);
    while (read_clock(CLOCK_THREAD_CPUTIME_ID) - start_ns < ns)
        ;
}

static void work(const char *stage, uint64_t ns)
{
    LM_STAGE(stage);
    compute(ns);
}

static void rest(uint64_t ns)
{
    nanosleep(&(struct timespec){0, (long)ns}, NULL);
}

// ---- Threads that do the same. ----------------------------------------------------------------

struct worker {
    pthread_t thread;
    uint32_t number, count;
    int fd;
    uint64_t file_ns, file_cpu_ns; // of its calls on files
};

static void run_workers(struct worker *all, uint32_t count, void *(*run_fn)(void *), int fd)
{
    for (uint32_t i = 0; i < count; i++) {
        all[i] = (struct worker){.number = i, .count = count, .fd = fd};
        if (pthread_create(&all[i].thread, NULL, run_fn, &all[i]) != 0)
            exit(1);
    }
    for (uint32_t i = 0; i < count; i++)
        pthread_join(all[i].thread, NULL);
}

static uint64_t item_id(const struct worker *w, uint64_t i)
{
    return (uint64_t)w->number << 32 | i;
}

static void *spin_thread(void *argument)
{
    const struct worker *w = argument;
    const uint64_t start_ns = read_clock(CLOCK_MONOTONIC);
    for (uint64_t i = 0; read_clock(CLOCK_MONOTONIC) - start_ns < RUN_NS; i++) {
        work("decode", 5 * MS);
        lm_item_end(item_id(w, i));
    }
    return NULL;
}

static void spin(uint32_t threads)
{
    struct worker all[THREADS_MOST];
    run_workers(all, threads, spin_thread, -1);
}

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

// Most of the work is done under the one mutex.
static void *locked_thread(void *argument)
{
    const struct worker *w = argument;
    const uint64_t start_ns = read_clock(CLOCK_MONOTONIC);
    for (uint64_t i = 0; read_clock(CLOCK_MONOTONIC) - start_ns < RUN_NS; i++) {
        work("decode", MS);
        {
            LM_STAGE("track");
            pthread_mutex_lock(&gate);
            compute(4 * MS);
            pthread_mutex_unlock(&gate);
        }
        lm_item_end(item_id(w, i));
    }
    return NULL;
}

static void locked(uint32_t threads)
{
    struct worker all[THREADS_MOST];
    run_workers(all, threads, locked_thread, -1);
}

#ifdef _OPENMP
// Each worker has a pool of the library for the whole machine, as a model on each thread would.
static void *team_thread(void *argument)
{
    const struct worker *w = argument;
    const uint64_t start_ns = read_clock(CLOCK_MONOTONIC);
    for (uint64_t i = 0; read_clock(CLOCK_MONOTONIC) - start_ns < RUN_NS; i++) {
        {
            LM_STAGE("infer");
#pragma omp parallel num_threads(4)
            compute(3 * MS);
        }
        lm_item_end(item_id(w, i));
    }
    return NULL;
}

static void teams(uint32_t workers)
{
    struct worker all[THREADS_MOST];
    run_workers(all, workers, team_thread, -1);
}
#endif

// ---- Alone, or hand in hand. ------------------------------------------------------------------

// Set-up outside all stages, in one that says so, or in one with a word that may mean anything.
static void startup(uint32_t kind)
{
    if (!kind)
        compute(600 * MS);
    else
        work(kind == 1 ? "setup" : "read settings", 600 * MS);
    for (uint64_t i = 0; i < 20; i++) {
        work("decode", 5 * MS);
        lm_item_end(i);
    }
}

static void brief(void)
{
    for (uint64_t i = 0; i < 4; i++) {
        work("decode", 20 * MS); // more than a sanitized launcher takes to start it
        lm_item_end(i);
    }
}

static pthread_mutex_t slot_gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t slot_changed = PTHREAD_COND_INITIALIZER;
static int slot_is_full;

static void slot_wait(int is_full)
{
    pthread_mutex_lock(&slot_gate);
    while (slot_is_full != is_full)
        pthread_cond_wait(&slot_changed, &slot_gate);
    pthread_mutex_unlock(&slot_gate);
}

static void slot_set(int is_full)
{
    pthread_mutex_lock(&slot_gate);
    slot_is_full = is_full;
    pthread_cond_signal(&slot_changed);
    pthread_mutex_unlock(&slot_gate);
}

static void *second_half(void *argument)
{
    (void)argument;
    for (uint64_t i = 0; i < 60; i++) {
        slot_wait(1);
        work("infer", 7 * MS);
        lm_item_end(i);
        slot_set(0);
    }
    return NULL;
}

// Two equal stages on two threads, one slot between them that is kept until the item is done.
static void lockstep(void)
{
    pthread_t second;
    if (pthread_create(&second, NULL, second_half, NULL) != 0)
        exit(1);
    for (uint64_t i = 0; i < 60; i++) {
        work("decode", 7 * MS);
        slot_set(1);
        slot_wait(0);
    }
    pthread_join(second, NULL);
}

// ---- A source that sets the rate. -------------------------------------------------------------

static int is_taken(void)
{
    int waiting_bytes = 0;
    return ioctl(STDOUT_FILENO, FIONREAD, &waiting_bytes) != 0 || waiting_bytes == 0;
}

// The other end of the pipe: a frame at an even rate from when the first one was taken. Those that
// pile up while the reader starts would be read at once.
static void feed(void)
{
    const char frame[PAGE_BYTES] = "frame";
    for (uint32_t i = 0; i < FRAMES; i++) {
        if (write(STDOUT_FILENO, frame, sizeof frame) < 0)
            exit(1);
        rest(FRAME_NS);
        for (uint32_t waits = 0; i == 0 && waits < WAITS_MOST && !is_taken(); waits++)
            rest(FRAME_NS);
    }
}

static int take_frame(int polls)
{
    char frame[PAGE_BYTES];
    size_t have = 0;
    while (have < sizeof frame) {
        struct pollfd source = {.fd = STDIN_FILENO, .events = POLLIN};
        if (polls && poll(&source, 1, -1) < 0)
            return 0;
        const ssize_t n = read(STDIN_FILENO, frame + have, sizeof frame - have);
        if (n <= 0)
            return 0;
        have += (size_t)n;
    }
    return 1;
}

static void take_frames(int polls)
{
    for (uint64_t i = 0; take_frame(polls); i++) {
        work("decode", 3 * MS);
        lm_item_end(i);
    }
}

static void paced(void)
{
    for (uint64_t i = 0; i < FRAMES; i++) {
        rest(FRAME_NS);
        work("decode", 3 * MS);
        lm_item_end(i);
    }
}

// ---- Files. -----------------------------------------------------------------------------------

// Begins and ends a call on a file, whose time counts as the worker's.
static void file_begin(struct worker *w)
{
    w->file_ns -= read_clock(CLOCK_MONOTONIC);
    w->file_cpu_ns -= read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static void file_end(struct worker *w, int failed)
{
    w->file_ns += read_clock(CLOCK_MONOTONIC);
    w->file_cpu_ns += read_clock(CLOCK_THREAD_CPUTIME_ID);
    if (failed)
        exit(1);
}

static void read_piece(struct worker *w, char *room, size_t bytes, off_t at)
{
    file_begin(w);
    file_end(w, pread(w->fd, room, bytes, at) < 0);
}

static void print_blocked(const struct worker *all, uint32_t count)
{
    double off_ns = 0;
    for (uint32_t i = 0; i < count; i++)
        off_ns += (double)(all[i].file_ns - all[i].file_cpu_ns);
    printf("{\"blocked_ratio\": %.3f}\n", off_ns / count / (double)RUN_NS);
}

static int open_cold(const char *path, int flags, off_t *length_bytes)
{
    const int fd = open(path, O_RDONLY | flags);
    if (fd < 0)
        exit(EXIT_NO_FILE);
    *length_bytes = lseek(fd, 0, SEEK_END);
    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
    return fd;
}

// Small pieces from all over a file that is in no cache, one after the other.
static void small_reads(const char *path)
{
    char room[PAGE_BYTES];
    off_t length_bytes;
    struct worker w = {.fd = open_cold(path, 0, &length_bytes)};
    const uint64_t pages = (uint64_t)length_bytes / PAGE_BYTES;
    const uint64_t start_ns = read_clock(CLOCK_MONOTONIC);
    uint64_t reads = 0;
    for (uint64_t i = 0; read_clock(CLOCK_MONOTONIC) - start_ns < RUN_NS; i++) {
        for (int k = 0; k < 16; k++, reads++) {
            if (reads % pages == 0)
                posix_fadvise(w.fd, 0, 0, POSIX_FADV_DONTNEED);
            // An odd stride meets every page of a power of two.
            read_piece(&w, room, sizeof room, (off_t)(reads * 1237 % pages * PAGE_BYTES));
        }
        work("decode", MS / 50);
        lm_item_end(i);
    }
    print_blocked(&w, 1);
    close(w.fd);
}

static off_t block_count;

// Every worker reads large blocks past the cache, so that as many are in flight.
static void *block_thread(void *argument)
{
    struct worker *w = argument;
    char *room = aligned_alloc(PAGE_BYTES, BLOCK_BYTES);
    const uint64_t start_ns = read_clock(CLOCK_MONOTONIC);
    for (uint64_t i = 0; read_clock(CLOCK_MONOTONIC) - start_ns < RUN_NS; i++) {
        const uint64_t block = (i * w->count + w->number) % (uint64_t)block_count;
        read_piece(w, room, BLOCK_BYTES, (off_t)block * BLOCK_BYTES);
        work("decode", MS / 10);
        lm_item_end(item_id(w, i));
    }
    free(room);
    return NULL;
}

static void large_reads(uint32_t threads, const char *path)
{
    struct worker all[THREADS_MOST];
    off_t length_bytes;
    const int fd = open_cold(path, O_DIRECT, &length_bytes);
    block_count = length_bytes / BLOCK_BYTES;
    run_workers(all, threads, block_thread, fd);
    print_blocked(all, threads);
    close(fd);
}

// Every result is on the disk before the next one is begun.
static void synced_writes(const char *path)
{
    const char result[PAGE_BYTES] = "result";
    struct worker w = {.fd = open(path, O_WRONLY)};
    if (w.fd < 0)
        exit(EXIT_NO_FILE);
    const uint64_t start_ns = read_clock(CLOCK_MONOTONIC);
    for (uint64_t i = 0; read_clock(CLOCK_MONOTONIC) - start_ns < RUN_NS; i++) {
        work("decode", MS / 50);
        file_begin(&w);
        file_end(&w, write(w.fd, result, sizeof result) < 0 || fsync(w.fd) != 0);
        lm_item_end(i);
    }
    print_blocked(&w, 1);
    close(w.fd);
}

// -----------------------------------------------------------------------------------------------

static int run(const char *scenario, uint32_t number, const char *path)
{
    if (strcmp(scenario, "spin") == 0)
        spin(number);
    else if (strcmp(scenario, "lock") == 0)
        locked(number);
#ifdef _OPENMP
    else if (strcmp(scenario, "teams") == 0)
        teams(number);
#endif
    else if (strcmp(scenario, "startup") == 0)
        startup(number);
    else if (strcmp(scenario, "brief") == 0)
        brief();
    else if (strcmp(scenario, "lockstep") == 0)
        lockstep();
    else if (strcmp(scenario, "feed") == 0)
        feed();
    else if (strcmp(scenario, "pipe") == 0)
        take_frames(number != 0);
    else if (strcmp(scenario, "paced") == 0)
        paced();
    else if (strcmp(scenario, "small-reads") == 0)
        small_reads(path);
    else if (strcmp(scenario, "large-reads") == 0)
        large_reads(number, path);
    else if (strcmp(scenario, "synced-writes") == 0)
        synced_writes(path);
    else
        return EXIT_UNKNOWN;
    return 0;
}

int main(int argc, char **argv)
{
    const char *length = getenv("VERDICTS_RUN_MS");
    run_ms = length ? (uint32_t)atoi(length) : run_ms;
    const uint32_t number = argc > 2 ? (uint32_t)atoi(argv[2]) : 0;
    if (argc < 2 || number > THREADS_MOST)
        return EXIT_UNKNOWN;
    return run(argv[1], number, argc > 3 ? argv[3] : "");
}
