// SPDX-License-Identifier: Apache-2.0
// Ends of what was killed: a thread whose end was not recorded lived as long as its process; a
// process whose end was not recorded was there when it was last seen. Called once by the loader.
// Threads: one owner.
#include "model/load_ends.h"

#include <stdlib.h>
#include <string.h>

// A process by pid; several of one pid, or images of one process, follow each other.
struct seen_pid {
    int64_t start_ns;
    uint32_t pid, process;
};

// A process was there before its agent by no more than that.
#define BEFORE_NS 100000000

static int compare_pid(const void *a, const void *b)
{
    const struct seen_pid *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->process > y->process) - (x->process < y->process);
}

static int is_process_metric(enum trace_metric metric)
{
    return metric >= TRACE_METRIC_PROCESS_CPU_NS && metric <= TRACE_METRIC_PROCESS_WCHAR_BYTES;
}

struct seen_pids {
    VEC(struct seen_pid) list; // by pid, then by start
};

// Processes seen only from outside, beyond which more are left out.
#define OUTSIDE_LIMIT 1024u

static void see(struct model_process *p, int64_t at_ns)
{
    if (!p->end_is_exact && at_ns > p->end_ns)
        p->end_ns = at_ns;
}

// How many come before a process of `pid` that begins after the moment.
static size_t count_until(const struct seen_pids *pids, uint32_t pid, int64_t at_ns)
{
    size_t low = 0, high = pids->list.count;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        const struct seen_pid *p = &pids->list.at[mid];
        if (p->pid < pid || (p->pid == pid && p->start_ns <= at_ns))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

// The image of `pid` at the moment: the last that had begun, else the first; or MODEL_NONE.
static uint32_t find_pid(const struct seen_pids *pids, uint32_t pid, int64_t at_ns)
{
    const size_t place = count_until(pids, pid, at_ns + BEFORE_NS);
    if (place > 0 && pids->list.at[place - 1].pid == pid)
        return pids->list.at[place - 1].process;
    return place < pids->list.count && pids->list.at[place].pid == pid
               ? pids->list.at[place].process
               : MODEL_NONE;
}

static void index_pids(const struct model *m, struct seen_pids *pids)
{
    for (uint32_t i = 0; i < m->processes.count; i++)
        *vec_push(&pids->list) =
            (struct seen_pid){m->processes.at[i].start_ns, m->processes.at[i].pid, i};
    if (pids->list.count)
        qsort(pids->list.at, pids->list.count, sizeof *pids->list.at, compare_pid);
}

// A process that only samples tell of, from the first one on.
static uint32_t add_outside(struct model *m, struct seen_pids *pids, const struct model_sample *s)
{
    const uint32_t index = (uint32_t)m->processes.count;
    const size_t place = count_until(pids, s->subject, s->at_ns);
    *vec_push(&m->processes) =
        (struct model_process){.pid = s->subject, .command = "", .start_ns = s->at_ns};
    (void)vec_push(&pids->list);
    struct seen_pid *at = &pids->list.at[place];
    memmove(at + 1, at, (pids->list.count - 1 - place) * sizeof *at);
    *at = (struct seen_pid){s->at_ns, s->subject, index};
    return index;
}

static void see_samples(struct model *m)
{
    struct seen_pids pids = {0};
    index_pids(m, &pids);
    uint32_t outside = 0;
    for (size_t i = 0; i < m->samples.count; i++) {
        const struct model_sample *s = &m->samples.at[i];
        if (!is_process_metric(s->metric) || !s->subject)
            continue;
        uint32_t process = find_pid(&pids, s->subject, s->at_ns);
        if (process == MODEL_NONE && outside++ >= OUTSIDE_LIMIT)
            continue;
        if (process == MODEL_NONE)
            process = add_outside(m, &pids, s);
        see(&m->processes.at[process], s->at_ns);
    }
    vec_fini(&pids.list);
}

// The program that was launched is the process that came first.
static void name_first(struct model *m)
{
    const char *command = json_text(json_at(json_get(m->meta, "command"), 0), "");
    struct model_process *first = NULL;
    for (size_t i = 0; i < m->processes.count; i++)
        if (!first || m->processes.at[i].start_ns < first->start_ns)
            first = &m->processes.at[i];
    if (first && !*first->command)
        first->command = arena_strdup(m->arena, command);
}

void load_ends_fill(struct model *m)
{
    for (size_t i = 0; i < m->threads.count; i++)
        see(&m->processes.at[m->threads.at[i].process], m->threads.at[i].end_ns);
    see_samples(m);
    for (size_t i = 0; i < m->processes.count; i++) {
        struct model_process *p = &m->processes.at[i];
        if (p->end_ns < p->start_ns)
            p->end_ns = p->start_ns;
    }
    for (size_t i = 0; i < m->threads.count; i++) {
        struct model_thread *t = &m->threads.at[i];
        const int64_t end_ns = m->processes.at[t->process].end_ns;
        if (!t->end_is_exact && t->end_ns < end_ns)
            t->end_ns = end_ns;
    }
    name_first(m);
}
