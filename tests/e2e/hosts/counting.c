// SPDX-License-Identifier: Apache-2.0
// A program that is to be killed: threads and forked children count, each number under a mark of
// its own, and note in a shared file which number is done, for that outlives the kill. Run by
// test_kill.py, which expects every number that is done in the trace. Threads: each has its slot.
//   counting PROGRESS THREADS CHILDREN NUMBERS (that a thread counts before it rests for 1 ms)
#include <lightmeter/mark.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLOTS 16
#define TIMES 16384
#define NUMBERS_PER_TIME 64
#define CHILD_NUMBERS 300 // then the next child of the slot goes on
#define LIFE_S 60         // when nobody ends it

// As test_kill.py reads it.
struct slot {
    uint64_t done;
    uint64_t mono_ns[TIMES]; // before number 64 k was begun
};
struct progress {
    uint64_t stop; // by test_kill.py
    uint64_t main_pid;
    uint64_t zero[6];
    struct slot slots[SLOTS];
};

static struct progress *progress;
static time_t started_s;
static unsigned at_once;

static uint64_t mono_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int is_over(void)
{
    return __atomic_load_n(&progress->stop, __ATOMIC_ACQUIRE) || time(NULL) - started_s > LIFE_S;
}

static void count_one(unsigned number)
{
    struct slot *slot = &progress->slots[number];
    const uint64_t next = slot->done + 1, id = (uint64_t)(number + 1) << 32 | next;
    if (next % NUMBERS_PER_TIME == 0 && next / NUMBERS_PER_TIME < TIMES)
        slot->mono_ns[next / NUMBERS_PER_TIME] = mono_ns();
    lm_stage_begin("step");
    lm_bytes(id);
    lm_stage_end();
    lm_item_end(id);
    __atomic_store_n(&slot->done, next, __ATOMIC_RELEASE);
}

static void count(unsigned number, unsigned limit)
{
    for (unsigned n = 1; !is_over() && n <= limit; n++) {
        count_one(number);
        if (n % at_once == 0)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

static void *work(void *argument)
{
    count((unsigned)(uintptr_t)argument, UINT32_MAX - 1);
    return NULL;
}

// A child and a pid of it; its slot goes on where the one before left.
static pid_t child_start(unsigned number)
{
    const pid_t pid = fork();
    if (pid != 0)
        return pid;
    count(number, CHILD_NUMBERS);
    if (number % 2)
        _exit(0);
    exit(0);
}

static void children_follow(unsigned first, unsigned count_of)
{
    pid_t pids[SLOTS];
    for (unsigned i = 0; i < count_of; i++)
        pids[i] = child_start(first + i);
    while (count_of) {
        const pid_t pid = wait(NULL);
        if (pid < 0)
            return;
        for (unsigned i = 0; i < count_of && !is_over(); i++)
            if (pids[i] == pid)
                pids[i] = child_start(first + i);
    }
}

int main(int argc, char **argv)
{
    const unsigned threads = argc == 5 ? (unsigned)atoi(argv[2]) : 0;
    const unsigned children = argc == 5 ? (unsigned)atoi(argv[3]) : 0;
    pthread_t ids[SLOTS];
    at_once = argc == 5 ? (unsigned)atoi(argv[4]) : 0;
    const int fd = at_once && threads ? open(argv[1], O_RDWR) : -1;
    if (fd < 0 || threads + children > SLOTS) {
        fprintf(stderr, "usage: counting PROGRESS THREADS CHILDREN NUMBERS\n");
        return 2;
    }
    progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (progress == MAP_FAILED)
        return 1;
    started_s = time(NULL);
    progress->main_pid = (uint64_t)getpid();
    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, work, (void *)(uintptr_t)i) != 0)
            return 1;
    children_follow(threads, children);
    for (unsigned i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    return 0;
}
