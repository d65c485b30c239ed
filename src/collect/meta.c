// SPDX-License-Identifier: Apache-2.0
// Builds META (before the launch) and SUMMARY (after the end), see meta.h. Knows the keys that the
// report and the model read; trace/meta.h owns those of the clock. Threads: no shared state.
#include "collect/meta.h"

#include "base/os.h"
#include "trace/rundir.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct json *strings_new(const char *const *at, size_t count)
{
    struct json *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_append(list, json_string(at[i]));
    return list;
}

static struct json *command_new(char *const *argv)
{
    struct json *list = json_array();
    for (; *argv; argv++)
        json_append(list, json_string(*argv));
    return list;
}

static struct json *options_new(const struct collect_options *o)
{
    struct json *options = json_object();
    if (o->item_stage)
        json_put_string(options, "item_stage", o->item_stage);
    json_put(options, "no_hooks", strings_new(o->no_hooks, o->no_hook_count));
    if (o->stage_map_path)
        json_put_string(options, "stage_map", o->stage_map_path);
    if (o->max_bytes)
        json_put_int(options, "max_bytes", (int64_t)o->max_bytes);
    if (o->keep_last_ns)
        json_put_int(options, "keep_last_ns", (int64_t)o->keep_last_ns);
    return options;
}

static struct json *target_new(const struct meta_facts *m)
{
    struct json *target = json_object();
    json_put_string(target, "path", m->target->path);
    json_put_string(target, "program", m->target->judged);
    json_put_bool(target, "is_preloadable", m->target->verdict == TARGET_DYNAMIC);
    json_put_string(target, "why", m->target->why);
    return target;
}

static struct json *collection_new(const struct meta_facts *m)
{
    struct json *collection = json_object();
    struct json *methods = json_array();
    if (m->agent_path)
        json_append(methods, json_string("calls: a library preloaded into the program (measured)"));
    for (const char *const *s = sampler_sources(m->sampler); *s; s++)
        json_append(methods, json_string(*s));
    if (m->has_switches)
        json_append(methods,
            json_string("the scheduler's events: why each thread left the CPU, and who woke it"));
    json_put(collection, "methods", methods);
    json_put_string(collection, "agent_missing", m->agent_missing);
    if (!m->has_switches)
        json_put_string(collection, "scheduler_missing", m->switches_missing);
    return collection;
}

static struct json *host_new(void)
{
    struct os_host host;
    os_host_read("", &host);
    return os_host_json(&host);
}

struct json *meta_new(const struct meta_facts *m)
{
    struct json *meta = json_object();
    struct json *lightmeter = json_object();
    struct buf boot_id = {0};
    char *here = getcwd(NULL, 0);
    json_put_string(lightmeter, "version", LIGHTMETER_VERSION);
    json_put(meta, "lightmeter", lightmeter);
    json_put(meta, "command", command_new(m->options->argv));
    json_put_string(meta, "cwd", here ? here : "");
    free(here);
    trace_clock_put_meta(m->clock, meta);
    json_put(meta, "host", host_new());
    json_put(meta, "target", target_new(m));
    json_put(meta, "options", options_new(m->options));
    json_put(meta, "collection", collection_new(m));
    rundir_boot_id(&boot_id);
    json_put_string(meta, "boot_id", buf_text(&boot_id));
    buf_fini(&boot_id);
    return meta;
}

static uint64_t timeval_ns(struct timeval t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static struct json *usage_new(const struct rusage *u)
{
    struct json *usage = json_object();
    json_put_int(usage, "user_ns", (int64_t)timeval_ns(u->ru_utime));
    json_put_int(usage, "system_ns", (int64_t)timeval_ns(u->ru_stime));
    json_put_int(usage, "max_rss_bytes", (int64_t)u->ru_maxrss * 1024);
    json_put_int(usage, "minor_faults", u->ru_minflt);
    json_put_int(usage, "major_faults", u->ru_majflt);
    json_put_int(usage, "voluntary_switches", u->ru_nvcsw);
    json_put_int(usage, "involuntary_switches", u->ru_nivcsw);
    return usage;
}

static struct json *exit_new(int status)
{
    struct json *exit = json_object();
    json_put_int(exit, "status", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    json_put_int(exit, "signal", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    return exit;
}

static struct json *launcher_new(const struct summary_facts *s)
{
    struct json *launcher = json_object();
    double wall_ns = s->wall_ns ? (double)s->wall_ns : 1;
    json_put_int(launcher, "cpu_ns", (int64_t)s->cpu_ns);
    json_put_real(launcher, "cpu_ratio", (double)s->cpu_ns / wall_ns);
    json_put_int(launcher, "sampling_cpu_ns", (int64_t)sampler_cpu_ns(s->follow->sampler));
    json_put_real(
        launcher, "sampling_cpu_ratio", (double)sampler_cpu_ns(s->follow->sampler) / wall_ns);
    json_put_int(launcher, "sampling_rounds", (int64_t)sampler_rounds(s->follow->sampler));
    return launcher;
}

static struct json *trace_new(const struct follow *f)
{
    struct json *trace = json_object();
    const struct drain_stats *d = drain_stats_get(f->drain);
    json_put_int(trace, "spans", (int64_t)d->spans);
    json_put_int(trace, "records", (int64_t)d->records);
    json_put_int(trace, "raw_bytes", (int64_t)d->raw_bytes);
    json_put_int(trace, "stored_bytes", (int64_t)d->stored_bytes);
    json_put_int(trace, "threads", (int64_t)d->threads);
    json_put_int(trace, "processes", (int64_t)d->processes);
    json_put_int(trace, "discarded_bytes", (int64_t)d->discarded_bytes);
    json_put_int(trace, "damaged_segments", (int64_t)d->damaged_segments);
    if (f->is_limited)
        json_put_int(trace, "limit_reached_ns", (int64_t)f->limit_ns);
    if (f->crowded)
        json_put_int(trace, "crowded", (int64_t)f->crowded);
    if (f->lost_samples)
        json_put_int(trace, "lost_samples", (int64_t)f->lost_samples);
    if (f->trouble.text[0]) {
        json_put_string(trace, "trouble", f->trouble.text);
        json_put_int(trace, "trouble_ns", (int64_t)f->trouble_ns);
    }
    return trace;
}

static struct json *stacks_new(const struct python_stacks *s)
{
    struct json *stacks = json_object();
    json_put_int(stacks, "taken", (int64_t)python_stacks_taken(s));
    json_put_string(stacks, "missing", python_stacks_missing(s));
    return stacks;
}

static struct json *processes_new(const struct procs *p)
{
    struct json *list = json_array();
    for (size_t i = 0; i < p->all.count; i++) {
        const struct procs_entry *entry = &p->all.at[i];
        struct json *process = json_object();
        json_put_int(process, "pid", entry->pid);
        json_put_int(process, "parent_pid", entry->parent_pid);
        json_put_string(process, "name", entry->name);
        json_put_bool(process, "has_agent", entry->has_agent);
        json_put_bool(process, "is_of_other_user", entry->is_of_other);
        json_put_bool(process, "is_alive", entry->is_alive);
        json_put_int(process, "first_seen_ticks", (int64_t)entry->first_seen_ticks);
        json_put_int(process, "last_seen_ticks", (int64_t)entry->last_seen_ticks);
        json_append(list, process);
    }
    return list;
}

struct json *summary_new(const struct summary_facts *s)
{
    struct json *summary = json_object();
    struct trace_clock clock = *s->follow->clock;
    trace_clock_update(&clock);
    trace_clock_put_summary(&clock, summary);
    json_put(summary, "exit", exit_new(s->follow->status));
    json_put_int(summary, "wall_ns", (int64_t)s->wall_ns);
    json_put(summary, "usage", usage_new(&s->follow->usage));
    json_put(summary, "launcher", launcher_new(s));
    json_put(summary, "trace", trace_new(s->follow));
    json_put(summary, "python_stacks", stacks_new(s->follow->stacks));
    json_put(summary, "processes", processes_new(s->follow->procs));
    return summary;
}
