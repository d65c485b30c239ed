// SPDX-License-Identifier: Apache-2.0
// Host of the hook set threads_c11: each call where nothing has to be waited for, where another
// thread has to act first, and with an end of the wait that is past or odd; and a thread that is
// cancelled in a wait. Prints what it was told.
#include "waiter.h"

#include <threads.h>

static mtx_t mutex;
static cnd_t condition;
static const struct timespec past = {1, 0}, odd = {1, 1000000000};
static _Atomic int is_over, is_cleaned;

static void hold(void *m)
{
    mtx_trylock(m);
}

static void give(void *m)
{
    mtx_unlock(m);
}

static void signal_condition(void *c)
{
    cnd_signal(c);
}

static void end_it(void *unused)
{
    (void)unused;
    is_over = 1;
}

static int answer(void *argument)
{
    return *(int *)argument;
}

static int answer_late(void *argument)
{
    while (!is_over)
        sched_yield();
    return *(int *)argument + 1;
}

static int leave(void *argument)
{
    thrd_exit(*(int *)argument + 2);
}

static void try_mutexes(void)
{
    struct timespec end;
    struct waiter w;
    mtx_t kind;
    timespec_get(&end, TIME_UTC);
    end.tv_sec += 1000;
    mtx_init(&mutex, mtx_timed);
    TELL("free", mtx_lock(&mutex));
    give(&mutex);
    TELL("timed, free, past end", mtx_timedlock(&mutex, &past));
    give(&mutex);
    TELL("timed, free, odd end", mtx_timedlock(&mutex, &odd));
    give(&mutex);
    waiter_start(&w, hold, give, &mutex);
    TELL("timed, held, past end", mtx_timedlock(&mutex, &past));
    TELL("timed, held, odd end", mtx_timedlock(&mutex, &odd));
    w.is_calling = 1;
    TELL("held", mtx_lock(&mutex));
    waiter_end(&w);
    give(&mutex);
    waiter_start(&w, hold, give, &mutex);
    w.is_calling = 1;
    TELL("timed, held", mtx_timedlock(&mutex, &end));
    waiter_end(&w);
    give(&mutex);
    mtx_init(&kind, mtx_plain | mtx_recursive);
    TELL("recursive", mtx_lock(&kind) + mtx_lock(&kind));
}

static void try_conditions(void)
{
    struct timespec end;
    timespec_get(&end, TIME_UTC);
    end.tv_sec += 1000;
    cnd_init(&condition);
    hold(&mutex);
    TELL_WAIT("wait", cnd_wait(&condition, &mutex), signal_condition, &condition);
    TELL("timedwait past", cnd_timedwait(&condition, &mutex, &past));
    TELL("timedwait odd", cnd_timedwait(&condition, &mutex, &odd));
    TELL_WAIT("timedwait", cnd_timedwait(&condition, &mutex, &end), signal_condition, &condition);
    give(&mutex);
}

static void try_threads(void)
{
    thrd_t thread;
    int given = 40, result = 0;
    TELL("create", thrd_create(&thread, answer, &given));
    TELL("join", thrd_join(thread, &result));
    printf("result %d\n", result);
    thrd_create(&thread, answer_late, &given);
    TELL_WAIT("join late", thrd_join(thread, &result), end_it, NULL);
    printf("result %d\n", result);
    thrd_create(&thread, leave, &given);
    TELL("join left", thrd_join(thread, &result));
    printf("result %d\n", result);
    TELL("sleep", thrd_sleep(&(struct timespec){0, 1000000}, NULL));
    TELL("sleep odd", thrd_sleep(&odd, NULL));
}

static void note_end(void *unused)
{
    (void)unused;
    is_cleaned = 1;
}

static void *wait_for_ever(void *tid)
{
    pthread_cleanup_push(note_end, NULL);
    hold(&mutex);
    *(_Atomic long *)tid = syscall(SYS_gettid);
    for (;;)
        cnd_wait(&condition, &mutex);
    pthread_cleanup_pop(0);
    return NULL;
}

static void try_cancel(void)
{
    _Atomic long tid = 0;
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, wait_for_ever, &tid);
    while (!tid || !waiter_is_asleep(tid))
        sched_yield();
    pthread_cancel(thread);
    while (pthread_tryjoin_np(thread, &result) == EBUSY)
        sched_yield();
    printf("cancelled %d %d, held %d\n", result == PTHREAD_CANCELED, is_cleaned,
        mtx_trylock(&mutex) == thrd_busy);
}

int main(void)
{
    try_mutexes();
    try_conditions();
    try_threads();
    try_cancel();
    return 0;
}
