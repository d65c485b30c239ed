// SPDX-License-Identifier: Apache-2.0
// Hook set threads: where threads wait for each other, where they begin, and where the process ends
// without running destructors. A lock that is free costs a trylock and nothing else. Waits are
// charged to the stage around them as lock time; outside a stage they are the stage `wait`.
// Threads: any.
#include "agent/hook.h"
#include "agent/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_off;

#define WAIT_SPAN(variable, call)                                                                  \
    static struct hook_name variable##_name = {                                                    \
        call, "wait", TRACE_CAUSE_LOCK, AGENT_FOLD_SHORT, 0};                                      \
    HOOK_WAIT_UNLESS(is_off, variable, &variable##_name)

// Whether libc may refuse this end of a wait; then it is asked first, since some calls refuse it
// for a free lock too and others do not.
static int is_odd_end(const struct timespec *until)
{
    return !until || until->tv_nsec < 0 || until->tv_nsec >= 1000000000;
}

static int is_odd_clock(clockid_t clock, const struct timespec *until)
{
    return (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || is_odd_end(until);
}

// A lock that is tried first, so that only a wait is recorded; not tried where `is_odd`.
#define TRIED_CALL(call, is_odd, try, params, args)                                                \
    HOOK_NEXT(int, call, NULL, PARAMS(params))                                                     \
    HOOK_EXPORT int call(params)                                                                   \
    {                                                                                              \
        int tried = (is_odd) ? EBUSY : try;                                                        \
        if (__builtin_expect(tried != EBUSY, 1))                                                   \
            return tried;                                                                          \
        WAIT_SPAN(span, #call);                                                                    \
        return call##_next()(args);                                                                \
    }

// The same for calls that came with glibc 2.30 and 2.31, with `clock` and `until` among their
// parameters. A program that looks for one finds ours, also where libc has none to pass it on to.
#define CLOCK_CALL(call, try, params, args)                                                        \
    HOOK_NEXT(int, call, NULL, PARAMS(params))                                                     \
    int call(params);                                                                              \
    HOOK_EXPORT int call(params)                                                                   \
    {                                                                                              \
        call##_next_fn *next = call##_next();                                                      \
        if (!next)                                                                                 \
            return ENOSYS;                                                                         \
        int tried = is_odd_clock(clock, until) ? EBUSY : try;                                      \
        if (__builtin_expect(tried != EBUSY, 1))                                                   \
            return tried;                                                                          \
        WAIT_SPAN(span, #call);                                                                    \
        return next(args);                                                                         \
    }

TRIED_CALL(pthread_mutex_lock, 0, pthread_mutex_trylock(m), PARAMS(pthread_mutex_t *m), ARGS(m))
TRIED_CALL(pthread_mutex_timedlock, is_odd_end(until), pthread_mutex_trylock(m),
    PARAMS(pthread_mutex_t *m, const struct timespec *until), ARGS(m, until))
CLOCK_CALL(pthread_mutex_clocklock, pthread_mutex_trylock(m),
    PARAMS(pthread_mutex_t *m, clockid_t clock, const struct timespec *until),
    ARGS(m, clock, until))
TRIED_CALL(
    pthread_rwlock_rdlock, 0, pthread_rwlock_tryrdlock(l), PARAMS(pthread_rwlock_t *l), ARGS(l))
TRIED_CALL(
    pthread_rwlock_wrlock, 0, pthread_rwlock_trywrlock(l), PARAMS(pthread_rwlock_t *l), ARGS(l))
TRIED_CALL(pthread_rwlock_timedrdlock, is_odd_end(until), pthread_rwlock_tryrdlock(l),
    PARAMS(pthread_rwlock_t *l, const struct timespec *until), ARGS(l, until))
TRIED_CALL(pthread_rwlock_timedwrlock, is_odd_end(until), pthread_rwlock_trywrlock(l),
    PARAMS(pthread_rwlock_t *l, const struct timespec *until), ARGS(l, until))
CLOCK_CALL(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock(l),
    PARAMS(pthread_rwlock_t *l, clockid_t clock, const struct timespec *until),
    ARGS(l, clock, until))
CLOCK_CALL(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock(l),
    PARAMS(pthread_rwlock_t *l, clockid_t clock, const struct timespec *until),
    ARGS(l, clock, until))

// A thread that has ended is joined without a wait, and without a look at the end of the wait.
TRIED_CALL(pthread_join, 0, pthread_tryjoin_np(thread, result),
    PARAMS(pthread_t thread, void **result), ARGS(thread, result))
TRIED_CALL(pthread_timedjoin_np, is_odd_end(until), pthread_tryjoin_np(thread, result),
    PARAMS(pthread_t thread, void **result, const struct timespec *until),
    ARGS(thread, result, until))
CLOCK_CALL(pthread_clockjoin_np, pthread_tryjoin_np(thread, result),
    PARAMS(pthread_t thread, void **result, clockid_t clock, const struct timespec *until),
    ARGS(thread, result, clock, until))

// Waiting for a semaphore ends a thread that was cancelled, also where the semaphore is free.
static int take_semaphore(sem_t *s)
{
    const int saved_errno = errno;
    pthread_testcancel();
    if (sem_trywait(s) == 0)
        return 1;
    errno = saved_errno;
    return 0;
}

#define SEMAPHORE_CALL(call, is_odd, params, args)                                                 \
    HOOK_NEXT(int, call, NULL, PARAMS(params))                                                     \
    int call(params);                                                                              \
    HOOK_EXPORT int call(params)                                                                   \
    {                                                                                              \
        call##_next_fn *next = call##_next();                                                      \
        if (!next) {                                                                               \
            errno = ENOSYS;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
        if (!(is_odd) && take_semaphore(s))                                                        \
            return 0;                                                                              \
        WAIT_SPAN(span, #call);                                                                    \
        return next(args);                                                                         \
    }

SEMAPHORE_CALL(sem_wait, 0, PARAMS(sem_t *s), ARGS(s))
SEMAPHORE_CALL(sem_timedwait, is_odd_end(until), PARAMS(sem_t *s, const struct timespec *until),
    ARGS(s, until))
SEMAPHORE_CALL(sem_clockwait, is_odd_clock(clock, until),
    PARAMS(sem_t *s, clockid_t clock, const struct timespec *until), ARGS(s, clock, until))

#define WAIT_CALL(call, version, params, args)                                                     \
    HOOK_NEXT(int, call, version, PARAMS(params))                                                  \
    HOOK_EXPORT int call(params)                                                                   \
    {                                                                                              \
        call##_next_fn *next = call##_next();                                                      \
        if (!next)                                                                                 \
            return ENOSYS;                                                                         \
        WAIT_SPAN(span, #call);                                                                    \
        return next(args);                                                                         \
    }

WAIT_CALL(
    pthread_cond_wait, "GLIBC_2.3.2", PARAMS(pthread_cond_t *c, pthread_mutex_t *m), ARGS(c, m))
WAIT_CALL(pthread_cond_timedwait, "GLIBC_2.3.2",
    PARAMS(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until), ARGS(c, m, until))
WAIT_CALL(pthread_cond_clockwait, NULL,
    PARAMS(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until),
    ARGS(c, m, clock, until))
WAIT_CALL(pthread_barrier_wait, NULL, PARAMS(pthread_barrier_t *b), ARGS(b))

// What a new thread should run, kept until it does. Without a free place it starts unseen.
struct beginning {
    _Atomic int is_taken;
    void *(*run)(void *);
    void *argument;
    char creator[48];
};
static struct beginning beginnings[256];

static struct beginning *take_beginning(void)
{
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        int expected = 0;
        if (atomic_compare_exchange_strong(&beginnings[i].is_taken, &expected, 1))
            return &beginnings[i];
    }
    return NULL;
}

static void name_creator(struct beginning *b, void *return_address)
{
    Dl_info info;
    const char *name = "";
    if (dladdr(return_address, &info) && info.dli_fname) {
        const char *slash = strrchr(info.dli_fname, '/');
        name = slash ? slash + 1 : info.dli_fname;
    }
    memset(b->creator, 0, sizeof b->creator);
    memcpy(b->creator, name, strnlen(name, sizeof b->creator - 1));
}

static void *run_thread(void *argument)
{
    struct beginning *b = argument;
    struct beginning own = {.run = b->run, .argument = b->argument};
    memcpy(own.creator, b->creator, sizeof own.creator);
    atomic_store(&b->is_taken, 0);
    agent_thread_begin(own.creator);
    return own.run(own.argument);
}

HOOK_NEXT(int, pthread_create, NULL,
    PARAMS(
        pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument))
HOOK_EXPORT int pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    struct beginning *b = NULL;
    if (!is_off && atomic_load(&agent.state) == AGENT_ON)
        b = take_beginning();
    if (!b)
        return pthread_create_next()(thread, attributes, run, argument);
    b->run = run;
    b->argument = argument;
    name_creator(b, __builtin_return_address(0));
    int failed = pthread_create_next()(thread, attributes, run_thread, b);
    if (failed)
        atomic_store(&b->is_taken, 0);
    return failed;
}

// Ends that run no destructors.
#define END_CALL(call)                                                                             \
    HOOK_NEXT(void, call, NULL, PARAMS(int status))                                                \
    HOOK_EXPORT __attribute__((noreturn)) void call(int status)                                    \
    {                                                                                              \
        process_finish(PROCESS_UNDERSCORE_EXIT);                                                   \
        call##_next()(status);                                                                     \
        __builtin_unreachable();                                                                   \
    }
END_CALL(_exit)
END_CALL(_Exit)
END_CALL(quick_exit)

const struct hook_set hook_threads = {
    .name = "threads",
    .help = "waits for mutexes, condition variables, semaphores, barriers and threads",
    .is_off = &is_off,
};
