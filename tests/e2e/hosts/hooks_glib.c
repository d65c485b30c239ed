// SPDX-License-Identifier: Apache-2.0
// Host of the hook set glib: each lock free and held, conditions, queues, threads and a pool.
// Prints what it was told.
#include "waiter.h"

#include <glib.h>

static GMutex mutex;
static GRecMutex nested;
static GRWLock rwlock;
static GCond condition;
static GAsyncQueue *queue;

typedef void lock_fn(void *lock);

static void hold_mutex(void *lock)
{
    g_mutex_trylock(lock);
}

static void hold_nested(void *lock)
{
    g_rec_mutex_trylock(lock);
}

static void hold_rwlock(void *lock)
{
    g_rw_lock_writer_trylock(lock);
}

static void take_mutex(void *lock)
{
    g_mutex_lock(lock);
}

static void take_nested(void *lock)
{
    g_rec_mutex_lock(lock);
}

static void take_read(void *lock)
{
    g_rw_lock_reader_lock(lock);
}

static void take_write(void *lock)
{
    g_rw_lock_writer_lock(lock);
}

static void give_mutex(void *lock)
{
    g_mutex_unlock(lock);
}

static void give_nested(void *lock)
{
    g_rec_mutex_unlock(lock);
}

static void give_read(void *lock)
{
    g_rw_lock_reader_unlock(lock);
}

static void give_write(void *lock)
{
    g_rw_lock_writer_unlock(lock);
}

// Free, then held by another thread.
static void try_lock(
    const char *what, void *lock, lock_fn *hold, lock_fn *take, lock_fn *give, lock_fn *give_held)
{
    struct waiter w;
    take(lock);
    give(lock);
    waiter_start(&w, hold, give_held, lock);
    w.is_calling = 1;
    errno = UNTOUCHED;
    take(lock);
    printf("%s taken %d\n", what, errno == UNTOUCHED);
    waiter_end(&w);
    give(lock);
}

static void signal_condition(void *c)
{
    g_cond_signal(c);
}

static void push(void *item)
{
    g_async_queue_push(queue, item);
}

static void wait_each(void)
{
    const gint64 past = 1, later = g_get_monotonic_time() + 1000 * G_TIME_SPAN_SECOND;
    struct waiter w;
    hold_mutex(&mutex);
    waiter_start(&w, NULL, signal_condition, &condition);
    w.is_calling = 1;
    g_cond_wait(&condition, &mutex);
    waiter_end(&w);
    TELL("until past", g_cond_wait_until(&condition, &mutex, past) ? 1 : 0);
    TELL_WAIT("until", g_cond_wait_until(&condition, &mutex, later) ? 1 : 0, signal_condition,
        &condition);
    give_mutex(&mutex);
    push(&mutex);
    TELL("pop", g_async_queue_pop(queue) == &mutex);
    TELL_WAIT("pop late", g_async_queue_pop(queue) == &nested, push, &nested);
    TELL("pop nothing", g_async_queue_timeout_pop(queue, 1000) == NULL);
    TELL_WAIT(
        "pop in time", g_async_queue_timeout_pop(queue, 1000000000) == &nested, push, &nested);
}

static gpointer answer(gpointer argument)
{
    g_usleep(20000);
    return argument;
}

static void count(gpointer item, gpointer done)
{
    g_usleep(10000);
    g_atomic_int_add((gint *)done, *(gint *)item);
}

static void run_threads(void)
{
    gint one = 1, done = 0;
    GThread *thread = g_thread_new("answer", answer, &mutex);
    printf("joined %d\n", g_thread_join(thread) == &mutex);
    GThreadPool *pool = g_thread_pool_new(count, &done, 2, TRUE, NULL);
    for (int i = 0; i < 6; i++)
        g_thread_pool_push(pool, &one, NULL);
    g_thread_pool_free(pool, FALSE, TRUE);
    printf("done %d\n", done);
}

int main(void)
{
    queue = g_async_queue_new();
    try_lock("mutex", &mutex, hold_mutex, take_mutex, give_mutex, give_mutex);
    try_lock("nested", &nested, hold_nested, take_nested, give_nested, give_nested);
    try_lock("read", &rwlock, hold_rwlock, take_read, give_read, give_write);
    try_lock("write", &rwlock, hold_rwlock, take_write, give_write, give_write);
    g_rec_mutex_lock(&nested);
    g_rec_mutex_lock(&nested);
    give_nested(&nested);
    give_nested(&nested);
    wait_each();
    run_threads();
    g_async_queue_unref(queue);
    return 0;
}
