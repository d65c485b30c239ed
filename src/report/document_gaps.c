// SPDX-License-Identifier: Apache-2.0
// What could not be measured in this run, each with the true reason as far as the trace knows it,
// or what would make it measurable. Called by document.c. Lays nothing out. Threads: one owner.
#include "report/document.h"

#include <string.h>

#define PROCESSES_SHOWN 5u

static void add_gap(struct document *d, const char *what, const char *why)
{
    struct document_gap *g = vec_push(&d->gaps);
    *g = (struct document_gap){what, why};
}

// Whether the launcher had this source: one of META's methods begins with `words`.
static int has_source(const struct document *d, const char *words)
{
    const struct json *given = json_get(json_get(d->model->meta, "collection"), "methods");
    for (size_t i = 0; i < json_count(given); i++)
        if (strncmp(json_text(json_at(given, i), ""), words, strlen(words)) == 0)
            return 1;
    return 0;
}

static int has_agent(const struct model *m)
{
    for (size_t i = 0; i < m->processes.count; i++)
        if (m->processes.at[i].has_agent)
            return 1;
    return 0;
}

// It comes from the threads' own account of each wait.
static const char *runq_why(const struct document *d)
{
    if (!has_agent(d->model) || !d->facts->threads.count)
        return "no thread was seen from inside, where it is measured";
    if (!d->facts->split_is_measured)
        return "needs CPU and waiting told apart within spans";
    return "no thread that was seen ran in the steady window";
}

// Whether files were opened to be read, by calls that are followed.
static int has_opened(const struct document *d)
{
    for (size_t i = 0; i < d->facts->names.count; i++) {
        const struct model_name *n = &d->model->names.at[d->facts->names.at[i].name];
        const char *text = *n->text == 'f' ? n->text + 1 : n->text;
        if (strncmp(text, "open", 4) == 0 &&
            strcmp(d->model->stages.at[n->stage].text, "load") == 0)
            return 1;
    }
    return 0;
}

static void find_machine_gaps(struct document *d)
{
    static const char too_short[] = "the run was too short for two samples of it";
    const struct facts_machine *m = &d->facts->machine;
    if (m->cpu_used_cores < 0)
        add_gap(d, "CPU use of the run",
            "needs samples of /proc/PID/stat in the steady window: a run of several samples");
    if (m->runq_ratio < 0)
        add_gap(d, "run-queue wait", runq_why(d));
    if (m->throttled_ratio < 0 && m->quota_cores > 0)
        add_gap(d, "CPU quota throttling",
            has_source(d, "cpu.stat") ? too_short
                                      : "needs cpu.stat of the control group that has the quota");
    if (m->steal_ratio < 0)
        add_gap(d, "hypervisor steal", "needs samples of /proc/stat in the steady window");
    if (m->psi_cpu_ratio < 0 && m->psi_io_ratio < 0 && m->psi_memory_ratio < 0)
        add_gap(d, "pressure stalls (PSI)",
            has_source(d, "/proc/pressure")
                ? too_short
                : "needs /proc/pressure: a kernel with CONFIG_PSI and psi=1");
    if (m->read_bytes == UINT64_MAX)
        add_gap(d, "bytes read from storage",
            "needs /proc/PID/io, readable by the owner of the process");
    if (!d->facts->files.looked_at && has_opened(d))
        add_gap(d, "how much of the files was in memory when they were opened",
            "needs cachestat (Linux 6.5), which some kernels allow for the user's own files only, "
            "no filter of system calls, and a file system with pages of its own");
    if (m->minor_faults == UINT64_MAX)
        add_gap(d, "page faults", "needs samples of /proc/PID/stat");
}

const struct json *document_outside_find(const struct model *m, uint32_t pid)
{
    const struct json *all = json_get(m->summary, "processes");
    for (size_t i = 0; i < json_count(all); i++)
        if (json_get_int(json_at(all, i), "pid", -1) == (int64_t)pid)
            return json_at(all, i);
    return NULL;
}

static int has_changed_user(const struct json *process)
{
    return json_get_bool(process, "is_of_other_user", 0);
}

// Those of which it is known why what they did is missing. It says so also of a process that was
// seen from inside before.
static void find_other_users(struct document *d)
{
    const struct json *all = json_get(d->model->summary, "processes");
    struct buf names = {0};
    size_t count = 0;
    for (size_t i = 0; i < json_count(all); i++) {
        const struct json *p = json_at(all, i);
        if (has_changed_user(p) && count++ < PROCESSES_SHOWN)
            buf_printf(&names, "%s%s (%lld)", count > 1 ? ", " : "", json_get_string(p, "name", ""),
                (long long)json_get_int(p, "pid", 0));
    }
    if (count > PROCESSES_SHOWN)
        buf_printf(&names, " and %zu more", count - PROCESSES_SHOWN);
    if (count)
        add_gap(d, arena_printf(d->arena, "the inside of %s", buf_text(&names)),
            "it changed its user; the run directory is only its owner's, so from then on nothing, "
            "or "
            "little, could be recorded");
    buf_fini(&names);
}

static void find_inside_gaps(struct document *d)
{
    const struct model *m = d->model;
    size_t without_agent = 0;
    for (size_t i = 0; i < m->processes.count; i++)
        without_agent += !m->processes.at[i].has_agent &&
                         !has_changed_user(document_outside_find(m, m->processes.at[i].pid));
    const struct json *target = json_get(m->meta, "target");
    const struct json *collection = json_get(m->meta, "collection");
    const char *why = json_get_string(collection, "agent_missing", "");
    if (!json_get_bool(target, "is_preloadable", 1))
        why = json_get_string(target, "why", "the agent could not be loaded into it");
    if (*why)
        add_gap(d, "the inside of the program", why);
    find_other_users(d);
    if (without_agent > (*why ? 1u : 0u))
        add_gap(d,
            arena_printf(d->arena, "the inside of %zu process%s", without_agent,
                without_agent == 1 ? "" : "es"),
            "one of these: static, set-user-ID, for another loader than glibc's, started without "
            "LD_PRELOAD, it changed its user (the run directory is only its owner's), or forked "
            "and not yet in a call that is followed");
}

void document_find_gaps(struct document *d)
{
    size_t without_split = 0;
    for (size_t i = 0; i < d->model->processes.count; i++) {
        const struct model_process *p = &d->model->processes.at[i];
        without_split += p->has_agent && p->split_method == TRACE_SPLIT_NONE;
    }
    find_inside_gaps(d);
    if (without_split)
        add_gap(d, "CPU time and waiting within spans",
            "needs restartable sequences (glibc 2.35 or newer) or a per-thread CPU clock");
    if (d->item_stage_unknown)
        add_gap(d, "throughput and latency",
            arena_printf(d->arena, "no stage or call named '%s' (--item-stage) was seen; seen: %s",
                d->facts->item_stage, d->item_stage_unknown));
    else if (d->facts->counted_by == FACTS_BY_NOTHING)
        add_gap(d, "throughput and latency",
            "needs something to count: --item-stage NAME or lm_item_end in the program");
    find_machine_gaps(d);
    const struct json *collection = json_get(d->model->meta, "collection");
    const char *why = json_get_string(collection, "scheduler_missing", "");
    if (*why)
        add_gap(d, "the scheduler's own account of waiting", why);
    why = json_get_string(json_get(d->model->summary, "python_stacks"), "missing", "");
    if (*why)
        add_gap(d, "lines of Python code", why);
}
