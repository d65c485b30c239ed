// SPDX-License-Identifier: Apache-2.0
// Hook set threads_c11: the threads of C11 (<threads.h>; glibc since 2.28), which does not call
// its own POSIX functions through their names. As in the set threads, a lock that is free costs a
// trylock and nothing else. call_once is not followed: whether it waits for another thread or runs
// the function itself is known to libc alone. Threads: any.
#include "agent/birth.h"
#include "agent/hook.h"

#include <errno.h>
#include <threads.h>

static int is_off;

// Where libc has no such function ours is found all the same, and fails.
#define C11_CALL(call, before, params, args)                                                       \
    HOOK_NAME(call, #call, "wait", TRACE_CAUSE_LOCK, AGENT_FOLD_SHORT);                            \
    HOOK_NEXT(int, call, NULL, PARAMS(params))                                                     \
    HOOK_EXPORT int call(params)                                                                   \
    {                                                                                              \
        call##_next_fn *next = call##_next();                                                      \
        if (!next)                                                                                 \
            return thrd_error;                                                                     \
        before;                                                                                    \
        HOOK_WAIT_UNLESS(is_off, span, &call##_name);                                              \
        return next(args);                                                                         \
    }

// A lock that is taken, or refused for good, needs no wait. Not tried where libc may refuse the end
// of the wait before it looks at the lock.
#define TRY(m)                                                                                     \
    int tried = mtx_trylock(m);                                                                    \
    if (__builtin_expect(tried != thrd_busy, 1))                                                   \
    return tried

C11_CALL(mtx_lock, TRY(m), PARAMS(mtx_t *m), ARGS(m))
C11_CALL(
    mtx_timedlock, if (until && until->tv_nsec >= 0 && until->tv_nsec < 1000000000) { TRY(m); },
    PARAMS(mtx_t *m, const struct timespec *until), ARGS(m, until))
C11_CALL(cnd_wait, (void)0, PARAMS(cnd_t *c, mtx_t *m), ARGS(c, m))
C11_CALL(cnd_timedwait, (void)0, PARAMS(cnd_t *c, mtx_t *m, const struct timespec *until),
    ARGS(c, m, until))
C11_CALL(thrd_join, (void)0, PARAMS(thrd_t thread, int *result), ARGS(thread, result))

HOOK_NAME(thrd_sleep, "thrd_sleep", "wait", TRACE_CAUSE_SLEEP, 0);
HOOK_NEXT(int, thrd_sleep, NULL, PARAMS(const struct timespec *length, struct timespec *remaining))
HOOK_EXPORT int thrd_sleep(const struct timespec *length, struct timespec *remaining)
{
    thrd_sleep_next_fn *next = thrd_sleep_next();
    if (!next)
        return -2; // as for any failure but a signal
    HOOK_WAIT_UNLESS(is_off, span, &thrd_sleep_name);
    return next(length, remaining);
}

static int run_thread(void *argument)
{
    thrd_start_t run;
    *(void **)&run = birth_begin(argument, &argument);
    return run(argument);
}

HOOK_NEXT(int, thrd_create, NULL, PARAMS(thrd_t *thread, thrd_start_t run, void *argument))
HOOK_EXPORT int thrd_create(thrd_t *thread, thrd_start_t run, void *argument)
{
    thrd_create_next_fn *next = thrd_create_next();
    if (!next)
        return thrd_error;
    struct birth *b =
        is_off ? NULL : birth_new(*(void **)&run, argument, __builtin_return_address(0));
    if (!b)
        return next(thread, run, argument);
    int done = next(thread, run_thread, b);
    if (done != thrd_success)
        birth_free(b);
    return done;
}

#define C11_LINE(call) HOOK_LINE_LIBC(#call, &call##_name, 1, 0)
static const struct hook_function functions[] = {
    C11_LINE(mtx_lock),
    C11_LINE(mtx_timedlock),
    C11_LINE(cnd_wait),
    C11_LINE(cnd_timedwait),
    C11_LINE(thrd_join),
    C11_LINE(thrd_sleep),
    HOOK_LINE_LIBC("thrd_create", NULL, 0, 0),
    HOOK_END,
};

const struct hook_set hook_threads_c11 = {
    .name = "threads_c11",
    .help = "the threads, mutexes and condition variables of C11",
    .functions = functions,
    .is_off = &is_off,
};
