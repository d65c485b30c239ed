// SPDX-License-Identifier: Apache-2.0
// For the hosts that wait: a second thread that acts only when the kernel says that the first is
// asleep in the call under test, however slow the machine is. Its own calls go past libc, so that
// no hook sees them. Threads: one waits at a time.
#ifndef LIGHTMETER_TEST_WAITER_H
#define LIGHTMETER_TEST_WAITER_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef void waiter_act_fn(void *argument);

struct waiter {
    waiter_act_fn *prepare, *act; // `prepare` may be NULL
    void *argument;
    long tid;
    _Atomic int is_ready, is_calling, is_done;
};

static inline void waiter_pause(void)
{
    struct timespec t = {0, 5000000};
    syscall(SYS_nanosleep, &t, NULL);
}

static inline int waiter_is_asleep(long tid)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%ld/stat", tid);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
    long got = syscall(SYS_read, fd, text, sizeof text - 1);
    syscall(SYS_close, fd);
    const char *state = got > 0 ? strrchr(text, ')') : NULL;
    return state && state[1] && state[2] == 'S';
}

static inline void *waiter_run(void *argument)
{
    struct waiter *w = argument;
    if (w->prepare)
        w->prepare(w->argument);
    w->is_ready = 1;
    while (!w->is_calling || !waiter_is_asleep(w->tid))
        sched_yield();
    waiter_pause();
    w->act(w->argument);
    w->is_done = 1;
    return NULL;
}

// Returns when the other thread has prepared.
static inline void waiter_start(
    struct waiter *w, waiter_act_fn *prepare, waiter_act_fn *act, void *argument)
{
    pthread_t thread;
    pthread_attr_t attributes;
    *w = (struct waiter){
        .prepare = prepare, .act = act, .argument = argument, .tid = syscall(SYS_gettid)};
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_create(&thread, &attributes, waiter_run, w);
    pthread_attr_destroy(&attributes);
    while (!w->is_ready)
        sched_yield();
}

static inline void waiter_end(const struct waiter *w)
{
    while (!w->is_done)
        sched_yield();
}

#define UNTOUCHED 4242 // an errno that no call sets

// What the call gives, and the errno that it leaves behind.
#define TELL(what, call)                                                                           \
    do {                                                                                           \
        errno = UNTOUCHED;                                                                         \
        long given_ = (long)(call);                                                                \
        int errno_ = errno;                                                                        \
        printf("%s %ld %d\n", what, given_, errno_);                                               \
    } while (0)

// The same for a call that waits until act(argument).
#define TELL_WAIT(what, call, act, argument)                                                       \
    do {                                                                                           \
        struct waiter waiter_;                                                                     \
        waiter_start(&waiter_, NULL, act, argument);                                               \
        waiter_.is_calling = 1;                                                                    \
        TELL(what, call);                                                                          \
        waiter_end(&waiter_);                                                                      \
    } while (0)

#endif
