// SPDX-License-Identifier: Apache-2.0
// What the time before the steady window went into: the loader before the first agent was up, calls
// that load models, stages that were done once and never again, and when the first real work began.
// Called by facts.c after the walk. Threads: one owner.
#include "analyze/build.h"

#include "base/heap.h"

#include <stdlib.h>

// A stage of the program's own words that came so much less often than items is no work on them.
#define ONCE_ITEMS 2u

struct longest {
    uint64_t setup_ns, once_ns;
};

// Where start-up ends: without a steady window nothing does.
static int64_t limit_of(const struct build *b)
{
    return b->f->items < 2 ? b->m->end_ns : b->from_ns;
}

// Adds a span's time in the start-up to a sum, and keeps the name of the longest.
static void take_time(const struct build *b, const struct model_span *s, uint64_t *sum_ns,
    uint64_t *longest_ns, const char **longest_name)
{
    int64_t end_ns = s->start_ns + (int64_t)s->dur_ns;
    const int64_t limit_ns = limit_of(b);
    end_ns = end_ns < limit_ns ? end_ns : limit_ns;
    if (end_ns <= s->start_ns)
        return;
    const uint64_t ns = (uint64_t)(end_ns - s->start_ns);
    *sum_ns += ns;
    if (ns > *longest_ns) {
        *longest_ns = ns;
        *longest_name = b->m->names.at[s->name].text;
    }
}

static int is_within_setup(const struct build *b, const struct model_thread *t, uint32_t parent)
{
    for (; parent != MODEL_NONE; parent = t->spans.at[parent].parent)
        if (b->info.at[t->spans.at[parent].name].flags & NAME_SETUP)
            return 1;
    return 0;
}

// Spans come in the order of their ends; the first that began in the window ends the start-up.
static int is_beyond(const struct build *b, const struct model_span *s)
{
    return b->f->items >= 2 && s->start_ns > b->from_ns;
}

// How often each name was called in the start-up. NULL when no name asks for it.
static uint64_t *count_calls(const struct build *b)
{
    unsigned has_own = 0;
    for (size_t i = 0; i < b->info.count; i++)
        has_own |= b->info.at[i].flags & NAME_OWN;
    if (!has_own || b->f->items < 2)
        return NULL;
    uint64_t *calls = heap_alloc(b->info.count, sizeof *calls);
    for (size_t i = 0; i < b->m->threads.count; i++) {
        const struct model_thread *t = &b->m->threads.at[i];
        for (size_t k = 0; k < t->spans.count && !is_beyond(b, &t->spans.at[k]); k++)
            calls[t->spans.at[k].name] += t->spans.at[k].calls;
    }
    return calls;
}

// Whether a stage of the program's own words prepares the items, which do not come back to it.
static int is_once(const struct build *b, const uint64_t *calls, uint32_t name)
{
    return calls && (b->info.at[name].flags & NAME_OWN) && !b->names.at[name].split.wall_ns &&
           calls[name] * ONCE_ITEMS <= b->f->items;
}

static void take_span(struct build *b, const struct model_thread *t, const struct model_span *s,
    const uint64_t *calls, struct longest *longest)
{
    struct facts *f = b->f;
    const unsigned flags = b->info.at[s->name].flags;
    if (is_once(b, calls, s->name)) {
        if (s->parent == MODEL_NONE)
            take_time(b, s, &f->once_ns, &longest->once_ns, &f->once_name);
    } else if (flags & NAME_WORK) {
        if (f->first_work_ns < 0 || s->start_ns < f->first_work_ns)
            f->first_work_ns = s->start_ns;
    } else if ((flags & NAME_SETUP) && !is_within_setup(b, t, s->parent)) {
        take_time(b, s, &f->setup_ns, &longest->setup_ns, &f->setup_name);
    }
}

void build_startup(struct build *b)
{
    struct facts *f = b->f;
    struct longest longest = {0};
    uint64_t *calls = count_calls(b);
    f->first_work_ns = -1;
    f->setup_name = f->once_name = "";
    for (size_t i = 0; i < b->m->threads.count; i++) {
        const struct model_thread *t = &b->m->threads.at[i];
        for (size_t k = 0; k < t->spans.count; k++) {
            take_span(b, t, &t->spans.at[k], calls, &longest);
            if (is_beyond(b, &t->spans.at[k]))
                break;
        }
    }
    free(calls);
    int64_t agent_ns = -1;
    for (size_t i = 0; i < b->m->processes.count; i++) {
        const struct model_process *p = &b->m->processes.at[i];
        if (p->has_agent && (agent_ns < 0 || p->agent_ns < agent_ns))
            agent_ns = p->agent_ns;
    }
    const int64_t limit_ns = limit_of(b);
    f->agentless_ns = agent_ns > 0 ? (uint64_t)(agent_ns < limit_ns ? agent_ns : limit_ns) : 0;
}
