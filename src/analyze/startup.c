// SPDX-License-Identifier: Apache-2.0
// What the time before the steady window went into: the loader before the first agent was up, calls
// that load models, and when the first real work began. Called by facts.c. Threads: one owner.
#include "analyze/build.h"

static void take_setup(struct build *b, const struct model_span *s, uint64_t *longest_ns)
{
    int64_t end_ns = s->start_ns + (int64_t)s->dur_ns;
    const int64_t limit_ns = b->f->items < 2 ? b->m->end_ns : b->from_ns;
    end_ns = end_ns < limit_ns ? end_ns : limit_ns;
    if (end_ns <= s->start_ns)
        return;
    const uint64_t ns = (uint64_t)(end_ns - s->start_ns);
    b->f->setup_ns += ns;
    if (ns > *longest_ns) {
        *longest_ns = ns;
        b->f->setup_name = b->m->names.at[s->name].text;
    }
}

static int is_within_setup(const struct build *b, const struct model_thread *t, uint32_t parent)
{
    for (; parent != MODEL_NONE; parent = t->spans.at[parent].parent)
        if (b->info.at[t->spans.at[parent].name].flags & NAME_SETUP)
            return 1;
    return 0;
}

void build_startup(struct build *b)
{
    struct facts *f = b->f;
    uint64_t longest_ns = 0;
    f->first_work_ns = -1;
    f->setup_name = "";
    for (size_t i = 0; i < b->m->threads.count; i++) {
        const struct model_thread *t = &b->m->threads.at[i];
        int64_t first_ns = -1;
        for (size_t k = 0; k < t->spans.count; k++) {
            const struct model_span *s = &t->spans.at[k];
            const unsigned flags = b->info.at[s->name].flags;
            if ((flags & NAME_WORK) && (first_ns < 0 || s->start_ns < first_ns))
                first_ns = s->start_ns;
            else if ((flags & NAME_SETUP) && !is_within_setup(b, t, s->parent))
                take_setup(b, s, &longest_ns);
            if (f->items >= 2 && s->start_ns > b->from_ns)
                break;
        }
        if (first_ns >= 0 && (f->first_work_ns < 0 || first_ns < f->first_work_ns))
            f->first_work_ns = first_ns;
    }
    int64_t agent_ns = -1;
    for (size_t i = 0; i < b->m->processes.count; i++) {
        const struct model_process *p = &b->m->processes.at[i];
        if (p->has_agent && (agent_ns < 0 || p->agent_ns < agent_ns))
            agent_ns = p->agent_ns;
    }
    const int64_t limit_ns = f->items < 2 ? b->m->end_ns : b->from_ns;
    f->agentless_ns = agent_ns > 0 ? (uint64_t)(agent_ns < limit_ns ? agent_ns : limit_ns) : 0;
}
