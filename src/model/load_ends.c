// SPDX-License-Identifier: Apache-2.0
// Ends of what was killed: a thread whose end was not recorded lived as long as its process; a
// process whose end was not recorded was there when it was last seen. Called once by the loader.
// Threads: one owner.
#include "model/load_ends.h"

#include <stdlib.h>

// A process by pid; several images of one pid follow each other.
struct seen_pid {
    uint32_t pid, process;
};

static int compare_pid(const void *a, const void *b)
{
    const struct seen_pid *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->process > y->process) - (x->process < y->process);
}

static int is_process_metric(enum trace_metric metric)
{
    return metric >= TRACE_METRIC_PROCESS_CPU_NS && metric <= TRACE_METRIC_PROCESS_WCHAR_BYTES;
}

struct seen_pids {
    VEC(struct seen_pid) list; // by pid, then by order of appearance
};

// Processes seen only from outside, beyond which more are left out.
#define OUTSIDE_LIMIT 1024u

static void see(struct model_process *p, int64_t at_ns)
{
    if (!p->end_is_exact && at_ns > p->end_ns)
        p->end_ns = at_ns;
}

// The last image of `pid`, or MODEL_NONE.
static uint32_t find_pid(const struct seen_pids *pids, uint32_t pid)
{
    size_t low = 0, high = pids->list.count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (pids->list.at[mid].pid <= pid)
            low = mid + 1;
        else
            high = mid;
    }
    return low > 0 && pids->list.at[low - 1].pid == pid ? pids->list.at[low - 1].process
                                                        : MODEL_NONE;
}

static void index_pids(const struct model *m, struct seen_pids *pids)
{
    pids->list.count = 0;
    for (uint32_t i = 0; i < m->processes.count; i++)
        *vec_push(&pids->list) = (struct seen_pid){m->processes.at[i].pid, i};
    if (pids->list.count)
        qsort(pids->list.at, pids->list.count, sizeof *pids->list.at, compare_pid);
}

static void see_samples(struct model *m)
{
    struct seen_pids pids = {0};
    index_pids(m, &pids);
    uint32_t last_pid = 0, last = MODEL_NONE, outside = 0;
    for (size_t i = 0; i < m->samples.count; i++) {
        const struct model_sample *s = &m->samples.at[i];
        if (!is_process_metric(s->metric) || !s->subject)
            continue;
        if (last == MODEL_NONE || s->subject != last_pid)
            last = find_pid(&pids, s->subject);
        last_pid = s->subject;
        if (last == MODEL_NONE && outside++ >= OUTSIDE_LIMIT)
            continue;
        if (last == MODEL_NONE) {
            struct model_process *p = vec_push(&m->processes);
            *p = (struct model_process){.pid = s->subject, .command = "", .start_ns = s->at_ns};
            last = (uint32_t)(m->processes.count - 1);
            index_pids(m, &pids);
        }
        see(&m->processes.at[last], s->at_ns);
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
