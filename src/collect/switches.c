// SPDX-License-Identifier: Apache-2.0
// Scheduler events by perf_event_open, see switches.h. On each CPU one ring takes sched_switch (why
// a thread left the CPU), the records of its coming back, and sched_waking. Events of all rings are
// put in order before they are counted. Threads: one owner.
#include "collect/switches.h"

#include "base/heap.h"
#include "base/vec.h"
#include "collect/switches_ring.h"
#include "collect/switches_threads.h"

#include <stdlib.h>
#include <unistd.h>

#define PUT_NS 500000000u
// An event costs the target about a microsecond: beyond this many a second it would be felt.
#define EVENTS_PER_S_LIMIT 20000u
// Each thread of the target carries two events for each CPU, which the kernel makes and takes away
// with it: for each event 15 to 25 us of a thread, and 50 of a process. So much may be spent at
// once, and 1 % of the time.
#define EVENTS_PER_CPU 2
#define THREAD_EVENT_NS 20000u
#define PROCESS_EVENT_NS 50000u
#define STARTS_AT_ONCE_NS 50000000
#define STARTS_TIME_PARTS 100
#define CPUS_LIMIT 32

struct switches {
    struct switches_format format;
    VEC(struct switches_ring) rings;
    VEC(struct switches_event) events;
    struct switches_threads threads;
    uint64_t put_due_ns, second_ns, second_events;
    int64_t starts_left_ns;
    uint64_t starts_at_ns; // when that was reckoned; 0: never
    uint64_t lost;
    const char *given_up; // why; NULL: it goes on
};

struct switches *switches_open(struct err *why)
{
    struct switches *s = heap_alloc(1, sizeof *s);
    if (switches_format_read(&s->format, why) == 0 && sysconf(_SC_NPROCESSORS_CONF) <= CPUS_LIMIT &&
        switches_ring_try(&s->format, why) == 0)
        return s;
    if (sysconf(_SC_NPROCESSORS_CONF) > CPUS_LIMIT)
        err_set(why,
            "this machine has more than %d CPUs, for each of which every thread would "
            "carry an event",
            CPUS_LIMIT);
    free(s);
    return NULL;
}

static void rings_close(struct switches *s)
{
    for (size_t i = 0; i < s->rings.count; i++)
        switches_ring_close(&s->rings.at[i]);
    s->rings.count = 0;
}

void switches_close(struct switches **s)
{
    if (!*s)
        return;
    rings_close(*s);
    vec_fini(&(*s)->rings);
    vec_fini(&(*s)->events);
    switches_threads_fini(&(*s)->threads);
    free(*s);
    *s = NULL;
}

int switches_attach(struct switches *s, pid_t pid, struct err *why)
{
    const long cpus = sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < cpus; cpu++) {
        struct switches_ring ring;
        const int result = switches_ring_open(&ring, &s->format, pid, cpu, why);
        if (result < 0) {
            rings_close(s);
            return -1;
        }
        if (result > 0)
            *vec_push(&s->rings) = ring; // else the CPU is not there
    }
    return s->rings.count ? 0 : err_set(why, "no CPU could be followed");
}

static int event_compare(const void *left, const void *right)
{
    const struct switches_event *a = left, *b = right;
    return (a->at_ns > b->at_ns) - (a->at_ns < b->at_ns);
}

static void give_up(struct switches *s, const char *why)
{
    s->given_up = why;
    rings_close(s);
}

static void charge_start(struct switches *s, enum switches_kind kind)
{
    const int64_t events = (int64_t)s->rings.count * EVENTS_PER_CPU;
    if (kind == SWITCHES_THREAD)
        s->starts_left_ns -= THREAD_EVENT_NS * events;
    else if (kind == SWITCHES_PROCESS)
        s->starts_left_ns -= PROCESS_EVENT_NS * events;
}

static void allow_starts(struct switches *s, uint64_t now_ns)
{
    if (s->starts_at_ns)
        s->starts_left_ns += (int64_t)((now_ns - s->starts_at_ns) / STARTS_TIME_PARTS);
    if (!s->starts_at_ns || s->starts_left_ns > STARTS_AT_ONCE_NS)
        s->starts_left_ns = STARTS_AT_ONCE_NS;
    s->starts_at_ns = now_ns;
}

// Whether following the target costs it too much.
static void judge_cost(struct switches *s, uint64_t now_ns)
{
    if (s->starts_left_ns < 0) {
        give_up(s, "starts threads or processes so often");
        return;
    }
    if (now_ns - s->second_ns < 1000000000u)
        return;
    if (s->second_ns && s->second_events > EVENTS_PER_S_LIMIT)
        give_up(s, "switches its threads so often");
    s->second_ns = now_ns;
    s->second_events = 0;
}

// Reads all rings, and counts what came in the order in which it happened.
static void take(struct switches *s, uint64_t now_ns)
{
    s->events.count = 0;
    allow_starts(s, now_ns);
    for (size_t i = 0; i < s->rings.count; i++) {
        struct switches_event event;
        while (switches_ring_next(&s->rings.at[i], &s->format, &event, &s->lost))
            *vec_push(&s->events) = event;
    }
    if (s->events.count)
        qsort(s->events.at, s->events.count, sizeof *s->events.at, event_compare);
    for (size_t i = 0; i < s->events.count; i++) {
        switches_threads_take(&s->threads, &s->events.at[i]);
        charge_start(s, s->events.at[i].kind);
    }
    s->second_events += s->events.count;
    judge_cost(s, now_ns);
}

void switches_step(struct switches *s, uint64_t now_ns, struct sampler *into)
{
    if (!s || s->given_up)
        return;
    take(s, now_ns);
    if (now_ns < s->put_due_ns)
        return;
    s->put_due_ns = now_ns + PUT_NS;
    switches_threads_put(&s->threads, now_ns, into);
}

void switches_finish(struct switches *s, uint64_t now_ns, struct sampler *into)
{
    if (!s)
        return;
    if (s->given_up) {
        sampler_put(into, TRACE_METRIC_THREAD_SLEEP_NS, 0, 0);
        return;
    }
    take(s, now_ns);
    switches_threads_put(&s->threads, now_ns, into);
    switches_threads_put_wakers(&s->threads, into);
}

uint64_t switches_lost(const struct switches *s)
{
    return s ? s->lost : 0;
}

const char *switches_given_up(const struct switches *s)
{
    return s ? s->given_up : NULL;
}
