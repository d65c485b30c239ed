// SPDX-License-Identifier: Apache-2.0
// The device time of OpenCL commands, for hooks/opencl.c: of events that the host itself asked for,
// on queues that it created with profiling. Each is read once: when a call has waited for it, else
// before the host gives it up. An event is only read while it must live: it is an argument of the
// hooked call, and held by us too for as long as a wait for it lasts; nothing is held beyond a
// call. Threads: any; no lock; what finds no place in the tables is not counted.
#ifndef LIGHTMETER_AGENT_HOOKS_OPENCL_EVENTS_H
#define LIGHTMETER_AGENT_HOOKS_OPENCL_EVENTS_H

#include "agent/hooks/accel_work.h"
#include "agent/library.h"

#include <errno.h>

#define OPENCL_QUEUES 64
#define OPENCL_EVENTS 4096 // a power of two
#define OPENCL_EVENT_PROBES 16

// Of the headers of OpenCL 1.0 to 3.0.
#define OPENCL_QUEUE_PROPERTIES 0x1093
#define OPENCL_PROFILING_ENABLE (1u << 1)
#define OPENCL_EVENT_REFERENCE_COUNT 0x11D2
#define OPENCL_PROFILING_COMMAND_START 0x1282
#define OPENCL_PROFILING_COMMAND_END 0x1283

typedef int32_t opencl_info_fn(
    const void *event, uint32_t what, size_t room_bytes, void *value, size_t *length_bytes);

typedef int32_t opencl_count_fn(void *event);

enum { OPENCL_INFO, OPENCL_PROFILING, OPENCL_RETAIN, OPENCL_RELEASE };
static struct library_table opencl_library = {
    .names = {"clGetEventInfo", "clGetEventProfilingInfo", "clRetainEvent", "clReleaseEvent"}};

// Queues with profiling; `library` NULL: one that has none (any more).
static struct {
    _Atomic(void *) queue;
    _Atomic(const struct library *) library;
} opencl_queues[OPENCL_QUEUES];
static _Atomic unsigned opencl_queue_count;

// Events not read yet. `event` is OPENCL_TAKEN while one thread works on the place.
#define OPENCL_TAKEN ((void *)1)
static struct {
    _Atomic(void *) event;
    _Atomic(const struct library *) library;
} opencl_events[OPENCL_EVENTS];

// ---- Which library. ----

// NULL: it lacks one of them.
static const struct library *opencl_library_of(void *function)
{
    const struct library *l = library_of(&opencl_library, (uintptr_t)function);
    for (int i = OPENCL_INFO; l && i <= OPENCL_RELEASE; i++)
        if (!l->at[i])
            return NULL;
    return l;
}

static inline opencl_info_fn *opencl_info(const struct library *l)
{
    return (opencl_info_fn *)l->at[OPENCL_INFO];
}

static inline opencl_info_fn *opencl_profiling(const struct library *l)
{
    return (opencl_info_fn *)l->at[OPENCL_PROFILING];
}

// ---- Queues. ----

// A queue was created by `function`; another may have had its address before.
static inline void opencl_queue_note(void *queue, int has_profiling, void *function)
{
    const struct library *library = has_profiling ? opencl_library_of(function) : NULL;
    const unsigned count = atomic_load(&opencl_queue_count);
    for (unsigned i = 0; i < count && i < OPENCL_QUEUES; i++) {
        if (atomic_load(&opencl_queues[i].queue) != queue)
            continue;
        atomic_store(&opencl_queues[i].library, library);
        return;
    }
    if (!library)
        return;
    const unsigned at = atomic_fetch_add(&opencl_queue_count, 1);
    if (at < OPENCL_QUEUES) {
        atomic_store(&opencl_queues[at].library, library);
        atomic_store(&opencl_queues[at].queue, queue);
    } else {
        atomic_store(&opencl_queue_count, OPENCL_QUEUES);
    }
}

// The library of a queue that has profiling; NULL: it has none, or that is not known.
static inline const struct library *opencl_profiled(const void *queue)
{
    const unsigned count = atomic_load_explicit(&opencl_queue_count, memory_order_acquire);
    for (unsigned i = 0; i < count && i < OPENCL_QUEUES; i++) {
        if (atomic_load_explicit(&opencl_queues[i].queue, memory_order_acquire) == queue)
            return atomic_load_explicit(&opencl_queues[i].library, memory_order_acquire);
    }
    return NULL;
}

// ---- Events. ----

static inline unsigned opencl_place(const void *event, unsigned probe)
{
    const uint64_t hash = (uint64_t)(uintptr_t)event * 0x9e3779b97f4a7c15u;
    return ((unsigned)(hash >> 40) + probe) % OPENCL_EVENTS;
}

// Whether the place of `event` was found, and taken for the caller.
static int opencl_take(const void *event, unsigned *place)
{
    for (unsigned probe = 0; probe < OPENCL_EVENT_PROBES; probe++) {
        *place = opencl_place(event, probe);
        void *expected = (void *)(uintptr_t)event;
        if (atomic_load_explicit(&opencl_events[*place].event, memory_order_acquire) == event &&
            atomic_compare_exchange_strong(&opencl_events[*place].event, &expected, OPENCL_TAKEN))
            return 1;
    }
    return 0;
}

static void opencl_keep(void *event, const struct library *library)
{
    unsigned place;
    if (opencl_take(event, &place)) // of an earlier event at the same address
        atomic_store(&opencl_events[place].event, NULL);
    for (unsigned probe = 0; probe < OPENCL_EVENT_PROBES; probe++) {
        place = opencl_place(event, probe);
        void *expected = NULL;
        if (!atomic_compare_exchange_strong(&opencl_events[place].event, &expected, OPENCL_TAKEN))
            continue;
        atomic_store(&opencl_events[place].library, library);
        atomic_store(&opencl_events[place].event, event);
        return;
    }
}

// Nanoseconds that the device worked; -1: not done yet, or not known.
static int opencl_read(const struct library *l, const void *event, uint64_t *work_ns)
{
    uint64_t start = 0, end = 0;
    if (opencl_profiling(l)(event, OPENCL_PROFILING_COMMAND_START, sizeof start, &start, NULL) !=
            0 ||
        opencl_profiling(l)(event, OPENCL_PROFILING_COMMAND_END, sizeof end, &end, NULL) != 0 ||
        !end || end < start)
        return -1;
    *work_ns = end - start;
    return 0;
}

// Adds an event's time when it is done; else its place stays, but not when this is the `last` that
// is heard of it.
static uint64_t opencl_count(void *event, int is_last)
{
    unsigned place;
    uint64_t work_ns = 0;
    uint32_t references = 0;
    if (!event || !opencl_take(event, &place))
        return 0;
    int saved_errno = errno;
    const struct library *l = atomic_load(&opencl_events[place].library);
    int is_over = opencl_read(l, event, &work_ns) == 0;
    if (!is_over && is_last)
        is_over = opencl_info(l)(event, OPENCL_EVENT_REFERENCE_COUNT, sizeof references,
                      &references, NULL) != 0 ||
                  references <= 1;
    atomic_store(&opencl_events[place].event, is_over ? NULL : event);
    errno = saved_errno;
    return work_ns;
}

// Events that are held while a wait for them lasts: bits of the first 64.
struct opencl_held {
    uint64_t bits;
    const struct library *library;
};

static inline struct opencl_held opencl_hold(void *const *events, uint32_t count)
{
    struct opencl_held held = {0, NULL};
    unsigned place;
    int saved_errno = errno;
    for (uint32_t i = 0; events && i < count && i < 64; i++) {
        if (!events[i] || !opencl_take(events[i], &place))
            continue;
        held.library = atomic_load(&opencl_events[place].library);
        held.bits |=
            (uint64_t)(((opencl_count_fn *)held.library->at[OPENCL_RETAIN])(events[i]) == 0) << i;
        atomic_store(&opencl_events[place].event, events[i]);
    }
    errno = saved_errno;
    return held;
}

// After the wait: the device time of those that are done; all are let go.
static inline uint64_t opencl_let_go(void *const *events, const struct opencl_held *held)
{
    uint64_t work_ns = 0;
    int saved_errno = errno;
    for (uint64_t bits = held->bits; bits; bits &= bits - 1) {
        void *event = events[__builtin_ctzll(bits)];
        work_ns += opencl_count(event, 0);
        ((opencl_count_fn *)held->library->at[OPENCL_RELEASE])(event);
    }
    errno = saved_errno;
    return work_ns;
}

// A command was put into the queue, and the host asked for its event. `is_done`: the call waited.
static inline void opencl_note_command(
    const struct hook_span *s, const void *queue, void *const *event, int is_done)
{
    uint64_t work_ns = 0;
    const struct library *l = event && *event ? opencl_profiled(queue) : NULL;
    if (!l || !s->token)
        return;
    int saved_errno = errno;
    if (is_done && opencl_read(l, *event, &work_ns) == 0)
        accel_note_work(s, work_ns);
    else
        opencl_keep(*event, l);
    errno = saved_errno;
}

#endif
