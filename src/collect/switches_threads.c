// SPDX-License-Identifier: Apache-2.0
// See switches_threads.h. A wait is counted when it ends, and until then as far as it has gone.
// From its waking on a thread is runnable, whatever it waited for. Threads: one owner.
#include "collect/switches_threads.h"

#include "base/heap.h"

#include <stdlib.h>

#define SLOTS_FIRST 64u
#define SLOTS_MOST (1u << 20)

static struct switches_thread *slot_of(struct switches_thread *at, size_t slots, uint32_t tid)
{
    size_t slot = (tid * 0x9e3779b1u) & (slots - 1);
    while (at[slot].tid && at[slot].tid != tid)
        slot = (slot + 1) & (slots - 1);
    return &at[slot];
}

// Moves those that are not `without_ended` to a table of `slots`.
static void move(struct switches_threads *t, size_t slots, int without_ended)
{
    struct switches_thread *at = heap_alloc(slots, sizeof *at);
    for (size_t i = 0; i < t->slots; i++)
        if (t->at[i].tid && !(without_ended && t->at[i].is_ended))
            *slot_of(at, slots, t->at[i].tid) = t->at[i];
    free(t->at);
    t->at = at;
    t->slots = slots;
}

static void grow(struct switches_threads *t)
{
    move(t, t->slots ? t->slots * 2 : SLOTS_FIRST, 0);
}

// NULL: there are too many.
static struct switches_thread *thread_get(struct switches_threads *t, uint32_t tid)
{
    if (t->used * 2 >= t->slots && t->slots < SLOTS_MOST)
        grow(t);
    struct switches_thread *thread = slot_of(t->at, t->slots, tid);
    if (!thread->tid && t->used * 4 >= t->slots * 3)
        return NULL;
    t->used += !thread->tid;
    thread->tid = tid;
    return thread;
}

static struct switches_thread *thread_find(const struct switches_threads *t, uint32_t tid)
{
    struct switches_thread *thread = t->slots ? slot_of(t->at, t->slots, tid) : NULL;
    return thread && thread->tid ? thread : NULL;
}

void switches_threads_fini(struct switches_threads *t)
{
    free(t->at);
    *t = (struct switches_threads){0};
}

// The rarest one makes room for a new one.
static void waker_count(struct switches_thread *thread, uint32_t tid)
{
    unsigned at = 0;
    for (unsigned i = 0; i < SWITCHES_WAKERS; i++) {
        if (thread->wakers[i].tid == tid) {
            thread->wakers[i].count++;
            return;
        }
        if (thread->wakers[i].count < thread->wakers[at].count)
            at = i;
    }
    thread->wakers[at].tid = tid;
    thread->wakers[at].count = 1;
}

// Adds a wait up to `now_ns` to `sum_ns`.
static void wait_add(const struct switches_thread *thread, uint64_t now_ns, uint64_t *sum_ns)
{
    const uint64_t until_ns = thread->woken_ns ? thread->woken_ns : now_ns;
    if (until_ns > thread->out_ns)
        sum_ns[thread->state] += until_ns - thread->out_ns;
    if (thread->woken_ns && now_ns > thread->woken_ns)
        sum_ns[SWITCHES_RUNNABLE] += now_ns - thread->woken_ns;
}

// A number is used again: nothing of the old one is the new one's.
static void begin_anew(struct switches_threads *t, struct switches_thread *thread)
{
    t->ended -= thread->is_ended != 0;
    *thread = (struct switches_thread){.tid = thread->tid};
}

void switches_threads_take(struct switches_threads *t, const struct switches_event *event)
{
    // Whom the target's threads wake need not be of the target: it is when it was seen to leave a
    // CPU.
    struct switches_thread *thread = !event->tid                   ? NULL
                                     : event->kind == SWITCHES_OUT ? thread_get(t, event->tid)
                                                                   : thread_find(t, event->tid);
    if (!thread)
        return;
    switch (event->kind) {
    case SWITCHES_OUT:
        if (thread->is_ended) // by exec a thread takes the number of the first one
            begin_anew(t, thread);
        thread->out_ns = event->at_ns;
        thread->woken_ns = 0;
        thread->state = event->state;
        break;
    case SWITCHES_IN:
        if (thread->out_ns)
            wait_add(thread, event->at_ns, thread->sum_ns);
        thread->out_ns = thread->woken_ns = 0;
        break;
    case SWITCHES_WAKING:
        if (thread->out_ns && !thread->woken_ns)
            thread->woken_ns = event->at_ns > thread->out_ns ? event->at_ns : thread->out_ns;
        waker_count(thread, event->other);
        break;
    case SWITCHES_THREAD:
    case SWITCHES_PROCESS:
        begin_anew(t, thread);
        break;
    case SWITCHES_END:
        t->ended += !thread->is_ended;
        thread->is_ended = 1;
        thread->out_ns = thread->woken_ns = 0;
        break;
    }
}

static void put_thread(struct switches_thread *thread, uint64_t now_ns, struct sampler *into)
{
    static const enum trace_metric metrics[SWITCHES_STATE_COUNT] = {
        TRACE_METRIC_THREAD_SLEEP_NS, TRACE_METRIC_THREAD_DISK_NS, TRACE_METRIC_THREAD_RUNNABLE_NS};
    uint64_t sum_ns[SWITCHES_STATE_COUNT];
    for (int k = 0; k < SWITCHES_STATE_COUNT; k++)
        sum_ns[k] = thread->sum_ns[k];
    if (thread->out_ns)
        wait_add(thread, now_ns, sum_ns);
    for (int k = 0; k < SWITCHES_STATE_COUNT; k++) {
        if (sum_ns[k] == thread->put_ns[k])
            continue;
        thread->put_ns[k] = sum_ns[k];
        sampler_put(into, metrics[k], thread->tid, sum_ns[k]);
    }
}

static void put_wakers(const struct switches_thread *thread, struct sampler *into)
{
    for (unsigned k = 0; k < SWITCHES_WAKERS; k++)
        if (thread->wakers[k].count)
            sampler_put(into, TRACE_METRIC_THREAD_WOKEN_BY, thread->tid,
                thread->wakers[k].tid | (uint64_t)thread->wakers[k].count << 32);
}

static void forget_ended(struct switches_threads *t)
{
    size_t slots = SLOTS_FIRST;
    t->used -= t->ended;
    t->ended = 0;
    while (slots < t->used * 4)
        slots *= 2;
    move(t, slots, 1);
}

void switches_threads_put(struct switches_threads *t, uint64_t now_ns, struct sampler *into)
{
    for (size_t i = 0; i < t->slots; i++) {
        struct switches_thread *thread = &t->at[i];
        if (!thread->tid || thread->is_told)
            continue;
        put_thread(thread, now_ns, into);
        if (!thread->is_ended)
            continue;
        put_wakers(thread, into);
        thread->is_told = 1;
    }
    if (t->ended > t->used / 2 && t->used > SLOTS_FIRST)
        forget_ended(t);
}

void switches_threads_put_wakers(const struct switches_threads *t, struct sampler *into)
{
    for (size_t i = 0; i < t->slots; i++)
        if (t->at[i].tid && !t->at[i].is_told)
            put_wakers(&t->at[i], into);
}
