// SPDX-License-Identifier: Apache-2.0
// Host of the hook set threads: each lock and semaphore where it is free, where another thread has
// to give it back, and with an end of the wait that is past or none at all; threads, conditions and
// barriers likewise. Prints what it was told.
#include "waiter.h"

#include <semaphore.h>
#include <signal.h>

typedef void lock_fn(void *lock);
typedef int timed_fn(void *lock, clockid_t clock, const struct timespec *until);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static const struct timespec past = {1, 0}, odd = {1, 1000000000};

static void hold_mutex(void *m)
{
    pthread_mutex_trylock(m);
}

static void give_mutex(void *m)
{
    pthread_mutex_unlock(m);
}

static void hold_rwlock(void *l)
{
    pthread_rwlock_trywrlock(l);
}

static void give_rwlock(void *l)
{
    pthread_rwlock_unlock(l);
}

static void hold_semaphore(void *s)
{
    sem_trywait(s);
}

static void give_semaphore(void *s)
{
    sem_post(s);
}

static void reach(void *b)
{
    pthread_barrier_wait(b);
}

static void signal_condition(void *c)
{
    pthread_cond_signal(c);
}

static void interrupt(void *thread)
{
    pthread_kill(*(pthread_t *)thread, SIGUSR1);
}

static void ignore(int number)
{
    (void)number;
}

// All calls in one shape, so that all are tried alike.
#define PLAIN(call, type)                                                                          \
    static int as_##call(void *lock, clockid_t clock, const struct timespec *until)                \
    {                                                                                              \
        (void)clock;                                                                               \
        (void)until;                                                                               \
        return call((type *)lock);                                                                 \
    }
#define TIMED(call, type)                                                                          \
    static int as_##call(void *lock, clockid_t clock, const struct timespec *until)                \
    {                                                                                              \
        (void)clock;                                                                               \
        return call((type *)lock, until);                                                          \
    }
#define CLOCKED(call, type)                                                                        \
    static int as_##call(void *lock, clockid_t clock, const struct timespec *until)                \
    {                                                                                              \
        return call((type *)lock, clock, until);                                                   \
    }
PLAIN(pthread_mutex_lock, pthread_mutex_t)
TIMED(pthread_mutex_timedlock, pthread_mutex_t)
CLOCKED(pthread_mutex_clocklock, pthread_mutex_t)
PLAIN(pthread_rwlock_rdlock, pthread_rwlock_t)
PLAIN(pthread_rwlock_wrlock, pthread_rwlock_t)
TIMED(pthread_rwlock_timedrdlock, pthread_rwlock_t)
TIMED(pthread_rwlock_timedwrlock, pthread_rwlock_t)
CLOCKED(pthread_rwlock_clockrdlock, pthread_rwlock_t)
CLOCKED(pthread_rwlock_clockwrlock, pthread_rwlock_t)
PLAIN(sem_wait, sem_t)
TIMED(sem_timedwait, sem_t)
CLOCKED(sem_clockwait, sem_t)

static const struct lock_call {
    const char *name;
    timed_fn *take;
    void *lock;
    lock_fn *hold, *give;
    enum { UNTIMED, REAL_TIME, ANY_CLOCK } end;
} lock_calls[] = {
#define MUTEX(call, end)                                                                           \
    {                                                                                              \
#call, as_##call, &mutex, hold_mutex, give_mutex, end                                      \
    }
#define RWLOCK(call, end)                                                                          \
    {                                                                                              \
#call, as_##call, &rwlock, hold_rwlock, give_rwlock, end                                   \
    }
#define SEMAPHORE(call, end)                                                                       \
    {                                                                                              \
#call, as_##call, &semaphore, hold_semaphore, give_semaphore, end                          \
    }
    MUTEX(pthread_mutex_lock, UNTIMED),
    MUTEX(pthread_mutex_timedlock, REAL_TIME),
    MUTEX(pthread_mutex_clocklock, ANY_CLOCK),
    RWLOCK(pthread_rwlock_rdlock, UNTIMED),
    RWLOCK(pthread_rwlock_wrlock, UNTIMED),
    RWLOCK(pthread_rwlock_timedrdlock, REAL_TIME),
    RWLOCK(pthread_rwlock_timedwrlock, REAL_TIME),
    RWLOCK(pthread_rwlock_clockrdlock, ANY_CLOCK),
    RWLOCK(pthread_rwlock_clockwrlock, ANY_CLOCK),
    SEMAPHORE(sem_wait, UNTIMED),
    SEMAPHORE(sem_timedwait, REAL_TIME),
    SEMAPHORE(sem_clockwait, ANY_CLOCK),
};

static struct timespec later(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += 1000;
    return t;
}

// A thread that does one thing and is gone, as the kernel sees it too.
struct helper {
    lock_fn *act;
    void *argument;
    _Atomic long tid;
};

static void *help(void *argument)
{
    struct helper *h = argument;
    h->act(h->argument);
    h->tid = syscall(SYS_gettid);
    return argument;
}

static pthread_t start_ended(struct helper *h, lock_fn *act, void *argument)
{
    pthread_t thread;
    *h = (struct helper){.act = act, .argument = argument};
    pthread_create(&thread, NULL, help, h);
    while (!h->tid || syscall(SYS_tgkill, getpid(), h->tid, 0) == 0)
        sched_yield();
    return thread;
}

static void take_free(
    const struct lock_call *c, clockid_t clock, const struct timespec *until, const char *how)
{
    errno = UNTOUCHED;
    int failed = c->take(c->lock, clock, until), error = errno;
    printf("%s %s %d %d\n", c->name, how, failed, error);
    if (!failed)
        c->give(c->lock);
}

static void try_lock(const struct lock_call *c)
{
    const clockid_t clock = c->end == ANY_CLOCK ? CLOCK_MONOTONIC : CLOCK_REALTIME;
    const struct timespec end = later(clock);
    take_free(c, clock, &end, "free");
    take_free(c, clock, &past, "free, past end");
    if (c->end != UNTIMED)
        take_free(c, clock, &odd, "free, odd end");
    if (c->end == ANY_CLOCK)
        take_free(c, CLOCK_THREAD_CPUTIME_ID, &end, "free, odd clock");
    // By another thread: one's own lock is refused at once.
    struct waiter w;
    waiter_start(&w, c->hold, c->give, c->lock);
    if (c->end != UNTIMED)
        TELL("held, past end", c->take(c->lock, clock, &past));
    w.is_calling = 1;
    TELL("held", c->take(c->lock, clock, &end));
    waiter_end(&w);
    c->give(c->lock);
}

// A spin lock is waited for busily: the other gives it back when the first has used processor time
// since it was about to call.
static pthread_spinlock_t spinlock;
static clockid_t spinner_clock;
static _Atomic int is_spinning;

static long spent_ns(void)
{
    struct timespec t;
    clock_gettime(spinner_clock, &t);
    return (long)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *give_late(void *argument)
{
    pthread_spin_trylock(&spinlock);
    is_spinning = 1;
    while (is_spinning != 2)
        sched_yield();
    const long end_ns = spent_ns() + 3000000;
    while (spent_ns() < end_ns)
        sched_yield();
    pthread_spin_unlock(&spinlock);
    return argument;
}

static void spin(void)
{
    pthread_t thread;
    pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
    TELL("spin_lock free", pthread_spin_lock(&spinlock));
    pthread_spin_unlock(&spinlock);
    pthread_getcpuclockid(pthread_self(), &spinner_clock);
    pthread_create(&thread, NULL, give_late, NULL);
    pthread_detach(thread);
    while (!is_spinning)
        sched_yield();
    is_spinning = 2;
    TELL("spin_lock held", pthread_spin_lock(&spinlock));
    pthread_spin_unlock(&spinlock);
}

static void *cancelled(void *argument)
{
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    sem_wait(&semaphore);
    return argument;
}

// What the table does not have: kinds of mutexes, signals and cancellation.
static void try_odd_ones(void)
{
    pthread_mutex_t kind;
    pthread_mutexattr_t attributes;
    pthread_t self = pthread_self(), thread;
    struct helper h;
    void *result;
    int value;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&kind, &attributes);
    TELL("recursive", pthread_mutex_lock(&kind) + pthread_mutex_lock(&kind));
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&kind, &attributes);
    pthread_detach(start_ended(&h, hold_mutex, &kind));
    TELL("robust", pthread_mutex_lock(&kind));
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&kind, &attributes);
    TELL("checked", pthread_mutex_lock(&kind));
    TELL("checked again", pthread_mutex_lock(&kind));

    hold_semaphore(&semaphore);
    TELL_WAIT("sem_wait interrupted", sem_wait(&semaphore), interrupt, &self);
    sem_post(&semaphore);
    pthread_create(&thread, NULL, cancelled, NULL);
    while (pthread_tryjoin_np(thread, &result) == EBUSY)
        sched_yield();
    sem_getvalue(&semaphore, &value);
    printf("sem_wait cancelled %d %d\n", result == PTHREAD_CANCELED, value);
}

// Waits that are cancelled: the cleanup handlers run, and with a condition's mutex held.
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    sem_t empty;
    pthread_t endless;
    _Atomic long tid;
    _Atomic int cleanups;
} place = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, .cleanups = 0};

static void clean_up(void *unused)
{
    (void)unused;
    place.cleanups++;
}

enum {
    COND_WAIT,
    COND_TIMEDWAIT,
    COND_CLOCKWAIT,
    SEM_WAIT,
    SEM_TIMEDWAIT,
    SEM_CLOCKWAIT,
    JOIN,
    TIMEDJOIN,
    CLOCKJOIN,
    WAIT_KINDS
};

static struct timespec later(clockid_t clock);

static void wait_in(long kind)
{
    const struct timespec real = later(CLOCK_REALTIME), mono = later(CLOCK_MONOTONIC);
    switch (kind) {
    case COND_WAIT:
        pthread_cond_wait(&place.condition, &place.mutex);
        break;
    case COND_TIMEDWAIT:
        pthread_cond_timedwait(&place.condition, &place.mutex, &real);
        break;
    case COND_CLOCKWAIT:
        pthread_cond_clockwait(&place.condition, &place.mutex, CLOCK_MONOTONIC, &mono);
        break;
    case SEM_WAIT:
        sem_wait(&place.empty);
        break;
    case SEM_TIMEDWAIT:
        sem_timedwait(&place.empty, &real);
        break;
    case SEM_CLOCKWAIT:
        sem_clockwait(&place.empty, CLOCK_MONOTONIC, &mono);
        break;
    case JOIN:
        pthread_join(place.endless, NULL);
        break;
    case TIMEDJOIN:
        pthread_timedjoin_np(place.endless, NULL, &real);
        break;
    default:
        pthread_clockjoin_np(place.endless, NULL, CLOCK_MONOTONIC, &mono);
    }
}

static void *wait_for_ever(void *kind)
{
    pthread_cleanup_push(clean_up, NULL);
    if ((long)kind <= COND_CLOCKWAIT)
        pthread_mutex_trylock(&place.mutex);
    place.tid = syscall(SYS_gettid);
    for (;;)
        wait_in((long)kind);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *sleep_for_ever(void *argument)
{
    for (;;)
        syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
    return argument;
}

static void cancel_each(void)
{
    pthread_t thread;
    void *result = NULL;
    sem_init(&place.empty, 0, 0);
    pthread_create(&place.endless, NULL, sleep_for_ever, NULL);
    for (long kind = 0; kind < WAIT_KINDS; kind++) {
        place.tid = 0;
        pthread_create(&thread, NULL, wait_for_ever, (void *)kind);
        while (!place.tid || !waiter_is_asleep(place.tid))
            sched_yield();
        pthread_cancel(thread);
        while (pthread_tryjoin_np(thread, &result) == EBUSY)
            sched_yield();
        printf("cancelled %ld %d %d\n", kind, result == PTHREAD_CANCELED, place.cleanups);
        if (kind <= COND_CLOCKWAIT) {
            printf("held %d\n", pthread_mutex_trylock(&place.mutex) == EBUSY);
            pthread_mutex_init(&place.mutex, NULL);
        }
    }
}

static _Atomic int is_over;

static void *run_until_over(void *argument)
{
    while (!is_over)
        sched_yield();
    return argument;
}

static void end_it(void *unused)
{
    (void)unused;
    is_over = 1;
}

static pthread_t start_running(void)
{
    pthread_t thread;
    is_over = 0;
    pthread_create(&thread, NULL, run_until_over, &is_over);
    return thread;
}

static void join_each(void)
{
    const struct timespec real = later(CLOCK_REALTIME), mono = later(CLOCK_MONOTONIC);
    struct helper h;
    void *result = NULL;
    pthread_t thread = start_ended(&h, hold_mutex, &mutex);
    TELL("join ended", pthread_join(thread, &result));
    give_mutex(&mutex);
    printf("result %d\n", result == &h);
    TELL("join self", pthread_join(pthread_self(), NULL));
    thread = start_running();
    TELL_WAIT("join", pthread_join(thread, &result), end_it, NULL);
    printf("result %d\n", result == &is_over);

    thread = start_ended(&h, give_semaphore, &semaphore);
    TELL("timedjoin ended", pthread_timedjoin_np(thread, NULL, &past));
    thread = start_running();
    TELL("timedjoin past", pthread_timedjoin_np(thread, NULL, &past));
    TELL_WAIT("timedjoin", pthread_timedjoin_np(thread, NULL, &real), end_it, NULL);
    thread = start_running();
    TELL_WAIT("timedjoin endless", pthread_timedjoin_np(thread, NULL, NULL), end_it, NULL);

    thread = start_ended(&h, give_semaphore, &semaphore);
    TELL("clockjoin ended", pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &past));
    thread = start_running();
    TELL("clockjoin past", pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &past));
    TELL("clockjoin odd", pthread_clockjoin_np(thread, NULL, CLOCK_THREAD_CPUTIME_ID, &mono));
    TELL_WAIT(
        "clockjoin", pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &mono), end_it, NULL);
}

static void wait_each(void)
{
    const struct timespec real = later(CLOCK_REALTIME), mono = later(CLOCK_MONOTONIC);
    pthread_cond_t *c = &condition;
    hold_mutex(&mutex);
    TELL_WAIT("cond_wait", pthread_cond_wait(c, &mutex), signal_condition, c);
    TELL("timedwait past", pthread_cond_timedwait(c, &mutex, &past));
    TELL("timedwait odd", pthread_cond_timedwait(c, &mutex, &odd));
    TELL_WAIT("timedwait", pthread_cond_timedwait(c, &mutex, &real), signal_condition, c);
    TELL("clockwait past", pthread_cond_clockwait(c, &mutex, CLOCK_MONOTONIC, &past));
    TELL("clockwait odd", pthread_cond_clockwait(c, &mutex, CLOCK_THREAD_CPUTIME_ID, &mono));
    TELL_WAIT("clockwait", pthread_cond_clockwait(c, &mutex, CLOCK_MONOTONIC, &mono),
        signal_condition, c);
    give_mutex(&mutex);
    TELL_WAIT("barrier", pthread_barrier_wait(&barrier) > 0, reach, &barrier);
}

int main(void)
{
    struct sigaction quiet = {.sa_handler = ignore};
    sigaction(SIGUSR1, &quiet, NULL);
    sem_init(&semaphore, 0, 1);
    pthread_barrier_init(&barrier, NULL, 2);
    for (size_t i = 0; i < sizeof lock_calls / sizeof *lock_calls; i++)
        try_lock(&lock_calls[i]);
    spin();
    try_odd_ones();
    cancel_each();
    join_each();
    wait_each();
    return 0;
}
