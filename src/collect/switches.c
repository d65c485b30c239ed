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
#define EVENTS_PER_S_LIMIT 40000u
// Each thread of the target carries events for each CPU: too dear to start threads beyond.
#define CPUS_LIMIT 32

struct switches {
    struct switches_format format;
    VEC(struct switches_ring) rings;
    VEC(struct switches_event) events;
    struct switches_threads threads;
    uint64_t put_due_ns, second_ns, second_events;
    uint64_t lost;
    int is_off;
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

// Reads all rings, and counts what came in the order in which it happened.
static void take(struct switches *s, uint64_t now_ns)
{
    s->events.count = 0;
    for (size_t i = 0; i < s->rings.count; i++) {
        struct switches_event event;
        while (switches_ring_next(&s->rings.at[i], &s->format, &event, &s->lost))
            *vec_push(&s->events) = event;
    }
    if (s->events.count)
        qsort(s->events.at, s->events.count, sizeof *s->events.at, event_compare);
    for (size_t i = 0; i < s->events.count; i++)
        switches_threads_take(&s->threads, &s->events.at[i]);
    s->second_events += s->events.count;
    if (now_ns - s->second_ns < 1000000000u)
        return;
    if (s->second_ns && s->second_events > EVENTS_PER_S_LIMIT) {
        s->is_off = 1;
        rings_close(s);
    }
    s->second_ns = now_ns;
    s->second_events = 0;
}

void switches_step(struct switches *s, uint64_t now_ns, struct sampler *into)
{
    if (!s || s->is_off)
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
    if (!s->is_off) {
        take(s, now_ns);
        switches_threads_put(&s->threads, now_ns, into);
    }
    switches_threads_put_wakers(&s->threads, into);
}

uint64_t switches_lost(const struct switches *s)
{
    return s ? s->lost : 0;
}

int switches_is_off(const struct switches *s)
{
    return s && s->is_off;
}
