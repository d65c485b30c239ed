// SPDX-License-Identifier: Apache-2.0
// A pipeline whose times are planted and measured by itself: on each of N threads it spins, sleeps,
// waits for a mutex, and reads a file warm and cold, each under a mark. Prints what it measured
// with its own clocks as JSON, which the truth test compares with the report. Run by test_truth.py.
//   planted THREADS ROUNDS FILE
#include <lightmeter/mark.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum planted { SPIN, REST, GUARD, WARM, COLD, PLANTED_COUNT };
static const char *const planted_names[] = {"spin", "rest", "guard", "warm", "cold"};

#define SPIN_NS 4000000u
#define REST_NS 3000000
#define HOLD_NS 1000000
#define READ_BYTES (256u << 10)

struct sum {
    uint64_t wall_ns, cpu_ns;
};

struct worker {
    pthread_t thread;
    int rounds, fd;
    struct sum sums[PLANTED_COUNT];
    char *room;
};

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static uint64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct sum start(void)
{
    struct sum s = {.cpu_ns = read_clock(CLOCK_THREAD_CPUTIME_ID)};
    s.wall_ns = read_clock(CLOCK_MONOTONIC);
    return s;
}

static void stop(struct sum *total, struct sum since)
{
    total->wall_ns += read_clock(CLOCK_MONOTONIC) - since.wall_ns;
    total->cpu_ns += read_clock(CLOCK_THREAD_CPUTIME_ID) - since.cpu_ns;
}

static void spin(struct worker *w)
{
    struct sum s = start();
    lm_stage_begin("spin");
    while (read_clock(CLOCK_THREAD_CPUTIME_ID) - s.cpu_ns < SPIN_NS)
        ;
    lm_stage_end();
    stop(&w->sums[SPIN], s);
}

static void rest(struct worker *w)
{
    struct sum s = start();
    lm_stage_begin("rest");
    nanosleep(&(struct timespec){0, REST_NS}, NULL);
    lm_stage_end();
    stop(&w->sums[REST], s);
}

// Each holds the mutex while it sleeps, so that the others wait for it.
static void guard(struct worker *w)
{
    struct sum s = start();
    lm_stage_begin("guard");
    pthread_mutex_lock(&gate);
    lm_stage_end();
    stop(&w->sums[GUARD], s);
    lm_stage_begin("hold");
    nanosleep(&(struct timespec){0, HOLD_NS}, NULL);
    lm_stage_end();
    pthread_mutex_unlock(&gate);
}

static void read_all(struct worker *w, enum planted which)
{
    struct sum s = start();
    {
        LM_STAGE(which == COLD ? "cold" : "warm");
        for (off_t at = 0; pread(w->fd, w->room, READ_BYTES, at) > 0; at += READ_BYTES)
            ;
    }
    stop(&w->sums[which], s);
}

// The first mark of a name also registers it, which takes a while and is no part of the stage.
static void name_stages(void)
{
    for (int i = 0; i < PLANTED_COUNT; i++) {
        lm_stage_begin(planted_names[i]);
        lm_stage_end();
    }
}

static void *work(void *argument)
{
    struct worker *w = argument;
    for (int i = 0; i < w->rounds; i++) {
        spin(w);
        rest(w);
        guard(w);
        read_all(w, WARM);
        posix_fadvise(w->fd, 0, 0, POSIX_FADV_DONTNEED);
        read_all(w, COLD);
    }
    return NULL;
}

static void print_sums(const struct worker *workers, int count)
{
    for (int i = 0; i < PLANTED_COUNT; i++) {
        struct sum total = {0, 0};
        for (int k = 0; k < count; k++) {
            total.wall_ns += workers[k].sums[i].wall_ns;
            total.cpu_ns += workers[k].sums[i].cpu_ns;
        }
        printf("%s\"%s\": {\"wall_ns\": %llu, \"cpu_ns\": %llu}", i ? ", " : "{", planted_names[i],
            (unsigned long long)total.wall_ns, (unsigned long long)total.cpu_ns);
    }
    printf("}\n");
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: planted THREADS ROUNDS FILE\n");
        return 2;
    }
    int count = atoi(argv[1]);
    name_stages();
    struct worker *workers = calloc((size_t)count, sizeof *workers);
    for (int i = 0; i < count; i++) {
        workers[i] = (struct worker){.rounds = atoi(argv[2]), .fd = open(argv[3], O_RDONLY)};
        workers[i].room = malloc(READ_BYTES);
        if (workers[i].fd < 0 || !workers[i].room ||
            pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            return 1;
    }
    for (int i = 0; i < count; i++)
        pthread_join(workers[i].thread, NULL);
    print_sums(workers, count);
    for (int i = 0; i < count; i++) {
        free(workers[i].room);
        close(workers[i].fd);
    }
    free(workers);
    return 0;
}
