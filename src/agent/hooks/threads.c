// SPDX-License-Identifier: Apache-2.0
// Hook set threads: where threads wait for each other, where they begin, and where the process ends
// without running destructors. A lock that is free costs a trylock and nothing else. Waits are
// charged to the stage around them as lock time; outside a stage they are the stage `wait`.
// Threads: any.
#include "agent/birth.h"
#include "agent/hook.h"
#include "agent/process.h"
#include "agent/python_gil.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

static int is_off;

// What a call is recorded as, and the waits of the lines after this.
#define WAIT_NAME(call) HOOK_NAME(call, #call, "wait", TRACE_CAUSE_LOCK, AGENT_FOLD_SHORT)
#define WAIT_SPAN(variable, call) HOOK_WAIT_UNLESS(is_off, variable, &call##_name)

// Calls that CPython waits for its global lock with have a second name.
enum { OF_ANY, OF_GIL, OWNER_COUNT };
#define OWNED_NAMES(call, gil_text)                                                                \
    static struct hook_name call##_names[OWNER_COUNT] = {                                          \
        {#call, "wait", TRACE_CAUSE_LOCK, AGENT_FOLD_SHORT, 0},                                    \
        {gil_text, "wait", TRACE_CAUSE_GIL, AGENT_FOLD_SHORT, 0}}
#define OWNED_SPAN(variable, call, lock)                                                           \
    HOOK_WAIT_UNLESS(is_off, variable, &call##_names[python_gil_has(lock) ? OF_GIL : OF_ANY])
#define TAKE_GIL "take the GIL"
#define HAND_OVER_GIL "hand over the GIL"

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
    WAIT_NAME(call);                                                                               \
    HOOK_NEXT(int, call, NULL, PARAMS(params))                                                     \
    HOOK_EXPORT int call(params)                                                                   \
    {                                                                                              \
        int tried = (is_odd) ? EBUSY : try;                                                        \
        if (__builtin_expect(tried != EBUSY, 1))                                                   \
            return tried;                                                                          \
        WAIT_SPAN(span, call);                                                                     \
        return call##_next()(args);                                                                \
    }

// The same for calls that came with glibc 2.30 and 2.31, with `clock` and `until` among their
// parameters. A program that looks for one finds ours, also where libc has none to pass it on to.
#define CLOCK_CALL(call, try, params, args)                                                        \
    WAIT_NAME(call);                                                                               \
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
        WAIT_SPAN(span, call);                                                                     \
        return next(args);                                                                         \
    }

OWNED_NAMES(pthread_mutex_lock, TAKE_GIL);
HOOK_NEXT(int, pthread_mutex_lock, NULL, PARAMS(pthread_mutex_t *m))
HOOK_EXPORT int pthread_mutex_lock(pthread_mutex_t *m)
{
    int tried = pthread_mutex_trylock(m);
    if (__builtin_expect(tried != EBUSY, 1))
        return tried;
    OWNED_SPAN(span, pthread_mutex_lock, m);
    return pthread_mutex_lock_next()(m);
}

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

// Waits busily, so that its time is CPU time, and too short to be told one by one.
HOOK_NAME(pthread_spin_lock, "pthread_spin_lock", "wait", TRACE_CAUSE_LOCK, AGENT_FOLD);
HOOK_NEXT(int, pthread_spin_lock, NULL, PARAMS(pthread_spinlock_t *l))
HOOK_EXPORT int pthread_spin_lock(pthread_spinlock_t *l)
{
    int tried = pthread_spin_trylock(l);
    if (__builtin_expect(tried != EBUSY, 1))
        return tried;
    WAIT_SPAN(span, pthread_spin_lock);
    return pthread_spin_lock_next()(l);
}

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
    WAIT_NAME(call);                                                                               \
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
        WAIT_SPAN(span, call);                                                                     \
        return next(args);                                                                         \
    }

SEMAPHORE_CALL(sem_wait, 0, PARAMS(sem_t *s), ARGS(s))
SEMAPHORE_CALL(sem_timedwait, is_odd_end(until), PARAMS(sem_t *s, const struct timespec *until),
    ARGS(s, until))
SEMAPHORE_CALL(sem_clockwait, is_odd_clock(clock, until),
    PARAMS(sem_t *s, clockid_t clock, const struct timespec *until), ARGS(s, clock, until))

#define CONDITION_VERSION "GLIBC_2.3.2" // the one with today's pthread_cond_t
#define CONDITION_CALL(call, gil_text, version, params, args)                                      \
    OWNED_NAMES(call, gil_text);                                                                   \
    HOOK_NEXT(int, call, version, PARAMS(params))                                                  \
    HOOK_EXPORT int call(params)                                                                   \
    {                                                                                              \
        call##_next_fn *next = call##_next();                                                      \
        if (!next)                                                                                 \
            return ENOSYS;                                                                         \
        OWNED_SPAN(span, call, c);                                                                 \
        return next(args);                                                                         \
    }

// CPython waits for the lock with an end, and where it gave it up at another's request, without
// one until the other has it.
CONDITION_CALL(pthread_cond_wait, HAND_OVER_GIL, CONDITION_VERSION,
    PARAMS(pthread_cond_t *c, pthread_mutex_t *m), ARGS(c, m))
CONDITION_CALL(pthread_cond_timedwait, TAKE_GIL, CONDITION_VERSION,
    PARAMS(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until), ARGS(c, m, until))
CONDITION_CALL(pthread_cond_clockwait, TAKE_GIL, NULL,
    PARAMS(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *until),
    ARGS(c, m, clock, until))

WAIT_NAME(pthread_barrier_wait);
HOOK_NEXT(int, pthread_barrier_wait, NULL, PARAMS(pthread_barrier_t *b))
HOOK_EXPORT int pthread_barrier_wait(pthread_barrier_t *b)
{
    WAIT_SPAN(span, pthread_barrier_wait);
    return pthread_barrier_wait_next()(b);
}

static void *run_thread(void *argument)
{
    void *(*run)(void *);
    *(void **)&run = birth_begin(argument, &argument);
    return run(argument);
}

HOOK_NEXT(int, pthread_create, NULL,
    PARAMS(
        pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument))
HOOK_EXPORT int pthread_create(
    pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    struct birth *b =
        is_off ? NULL : birth_new(*(void **)&run, argument, __builtin_return_address(0));
    if (!b)
        return pthread_create_next()(thread, attributes, run, argument);
    int failed = pthread_create_next()(thread, attributes, run_thread, b);
    if (failed)
        birth_free(b);
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

#define WAIT_LINE(call) HOOK_LINE_LIBC(#call, &call##_name, 1, 0)
#define OWNED_LINE(call) HOOK_LINE_LIBC(#call, call##_names, OWNER_COUNT, 0)
static const struct hook_function functions[] = {
    OWNED_LINE(pthread_mutex_lock),
    WAIT_LINE(pthread_mutex_timedlock),
    WAIT_LINE(pthread_mutex_clocklock),
    WAIT_LINE(pthread_rwlock_rdlock),
    WAIT_LINE(pthread_rwlock_wrlock),
    WAIT_LINE(pthread_rwlock_timedrdlock),
    WAIT_LINE(pthread_rwlock_timedwrlock),
    WAIT_LINE(pthread_rwlock_clockrdlock),
    WAIT_LINE(pthread_rwlock_clockwrlock),
    WAIT_LINE(pthread_spin_lock),
    WAIT_LINE(pthread_join),
    WAIT_LINE(pthread_timedjoin_np),
    WAIT_LINE(pthread_clockjoin_np),
    WAIT_LINE(sem_wait),
    WAIT_LINE(sem_timedwait),
    WAIT_LINE(sem_clockwait),
    OWNED_LINE(pthread_cond_wait),
    OWNED_LINE(pthread_cond_timedwait),
    OWNED_LINE(pthread_cond_clockwait),
    WAIT_LINE(pthread_barrier_wait),
    HOOK_LINE_LIBC("pthread_create", NULL, 0, 0),
    HOOK_LINE_LIBC("_exit", NULL, 0, 0),
    HOOK_LINE_LIBC("_Exit", NULL, 0, 0),
    HOOK_LINE_LIBC("quick_exit", NULL, 0, 0),
    HOOK_END,
};

const struct hook_set hook_threads = {
    .name = "threads",
    .help = "waits for mutexes, condition variables, semaphores, barriers and threads",
    .functions = functions,
    .is_off = &is_off,
    .version = CONDITION_VERSION,
};
