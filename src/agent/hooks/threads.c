// SPDX-License-Identifier: Apache-2.0
// Hook set threads: where threads wait for each other, where they begin, and where the process ends
// without running destructors. A mutex that is free costs a trylock and nothing else. Waits are
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

// A lock that is tried first, so that only a wait is recorded.
#define TRIED_CALL(call, try, params, args, try_args)                                              \
    HOOK_NEXT(int, call, NULL, PARAMS(params))                                                     \
    HOOK_EXPORT int call(params)                                                                   \
    {                                                                                              \
        int tried = try(try_args);                                                                 \
        if (__builtin_expect(tried != EBUSY, 1))                                                   \
            return tried;                                                                          \
        WAIT_SPAN(span, #call);                                                                    \
        return call##_next()(args);                                                                \
    }

TRIED_CALL(pthread_mutex_lock, pthread_mutex_trylock, PARAMS(pthread_mutex_t *m), ARGS(m), ARGS(m))
TRIED_CALL(pthread_mutex_timedlock, pthread_mutex_trylock,
    PARAMS(pthread_mutex_t *m, const struct timespec *until), ARGS(m, until), ARGS(m))
TRIED_CALL(
    pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, PARAMS(pthread_rwlock_t *l), ARGS(l), ARGS(l))
TRIED_CALL(
    pthread_rwlock_wrlock, pthread_rwlock_trywrlock, PARAMS(pthread_rwlock_t *l), ARGS(l), ARGS(l))

#define WAIT_CALL(call, version, params, args)                                                     \
    HOOK_NEXT(int, call, version, PARAMS(params))                                                  \
    HOOK_EXPORT int call(params)                                                                   \
    {                                                                                              \
        WAIT_SPAN(span, #call);                                                                    \
        return call##_next()(args);                                                                \
    }

WAIT_CALL(
    pthread_cond_wait, "GLIBC_2.3.2", PARAMS(pthread_cond_t *c, pthread_mutex_t *m), ARGS(c, m))
WAIT_CALL(pthread_cond_timedwait, "GLIBC_2.3.2",
    PARAMS(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until), ARGS(c, m, until))
WAIT_CALL(pthread_cond_clockwait, NULL,
    PARAMS(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until),
    ARGS(c, m, clock, until))
WAIT_CALL(pthread_join, NULL, PARAMS(pthread_t thread, void **result), ARGS(thread, result))
WAIT_CALL(pthread_barrier_wait, NULL, PARAMS(pthread_barrier_t *b), ARGS(b))
WAIT_CALL(sem_wait, NULL, PARAMS(sem_t *s), ARGS(s))
WAIT_CALL(sem_timedwait, NULL, PARAMS(sem_t *s, const struct timespec *until), ARGS(s, until))
WAIT_CALL(sem_clockwait, NULL, PARAMS(sem_t *s, clockid_t clock, const struct timespec *until),
    ARGS(s, clock, until))

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
