// SPDX-License-Identifier: Apache-2.0
// The machine in the steady window: cores allowed and used, throttling, run-queue wait, pressure,
// bytes from storage, faults. From the launcher's samples, and from the threads' own account where
// a window is too short for them. Called by facts.c. Threads: one owner.
#include "analyze/build.h"

// CPU from outside comes in steps of 10 ms at intervals of 100 ms: below this it says too little.
#define SAMPLED_LEAST_NS 500000000
#define SAMPLED_LEAST 4u

// Growth of a counter within the window; <0: not known.
static double series_growth(const struct build *b, const struct series *s, int64_t start_ns)
{
    if (s->count < 2 && start_ns < 0)
        return -1;
    const double from = build_series_value(s, b->from_ns, start_ns);
    const double to = build_series_value(s, b->to_ns, start_ns);
    return from < 0 ? -1 : to > from ? to - from : 0;
}

// The same of a counter of the machine.
static double growth(const struct build *b, enum trace_metric metric)
{
    const struct series s = build_series_find(b, metric, 0);
    return series_growth(b, &s, -1);
}

// Whether another image of the process follows, whose samples are the same.
static int is_repeated(const struct build *b, size_t process)
{
    const struct model_process *p = b->m->processes.at;
    for (size_t k = process + 1; k < b->m->processes.count && k < process + 64; k++)
        if (p[k].pid == p[process].pid &&
            b->process_lives.at[k].from_ns == b->process_lives.at[process].from_ns)
            return 1;
    return 0;
}

// The same for all processes of the run together.
static double processes_growth(const struct build *b, enum trace_metric metric)
{
    double sum = -1;
    for (uint32_t i = 0; i < b->m->processes.count; i++) {
        if (is_repeated(b, i))
            continue;
        const struct series s = build_series_of_process(b, metric, i);
        const double more = series_growth(b, &s, build_zero_ns(b, b->m->processes.at[i].start_ns));
        if (more >= 0)
            sum = (sum < 0 ? 0 : sum) + more;
    }
    return sum;
}

static uint64_t count_or_unknown(double value)
{
    return value < 0 ? UINT64_MAX : (uint64_t)value;
}

static double ratio_or_unknown(double part, double whole)
{
    return part < 0 || !(whole > 0) ? -1 : part / whole;
}

static size_t samples_within(const struct build *b, enum trace_metric metric)
{
    size_t most = 0;
    for (uint32_t i = 0; i < b->m->processes.count; i++) {
        const struct series s = build_series_of_process(b, metric, i);
        size_t n = 0;
        for (size_t k = 0; k < s.count; k++)
            n += s.at[k].at_ns >= b->from_ns && s.at[k].at_ns <= b->to_ns;
        most = n > most ? n : most;
    }
    return most;
}

static void fill_cpu(struct build *b, double steady_ns)
{
    struct facts_machine *f = &b->f->machine;
    double cpu_ns = 0, runq_ns = 0, wall_ns = 0;
    for (size_t i = 0; i < b->f->threads.count; i++) {
        const struct facts_split *s = &b->f->threads.at[i].steady;
        cpu_ns += (double)s->cpu_ns;
        runq_ns += (double)s->runq_ns;
        if ((double)(s->cpu_ns + s->runq_ns) > 0.01 * (double)s->wall_ns)
            wall_ns += (double)s->wall_ns;
    }
    f->runq_ratio = ratio_or_unknown(b->f->split_is_measured ? runq_ns : -1, wall_ns);
    f->cpu_used_cores = b->f->split_is_measured ? cpu_ns / steady_ns : -1;
    if (steady_ns < SAMPLED_LEAST_NS ||
        samples_within(b, TRACE_METRIC_PROCESS_CPU_NS) < SAMPLED_LEAST)
        return;
    f->cpu_used_cores = processes_growth(b, TRACE_METRIC_PROCESS_CPU_NS) / steady_ns;
    f->cpu_is_sampled = 1;
    const double busy_ns = growth(b, TRACE_METRIC_MACHINE_BUSY_NS);
    if (busy_ns >= 0) {
        f->other_busy_cores = busy_ns / steady_ns - f->cpu_used_cores;
        if (f->other_busy_cores < 0)
            f->other_busy_cores = 0;
    }
}

static void fill_allowed(struct build *b)
{
    struct facts_machine *f = &b->f->machine;
    const struct json *host = json_get(b->m->meta, "host");
    f->quota_cores = json_get_real(host, "quota_cores", 0);
    f->cores_allowed = json_get_real(host, "cores_allowed", 0);
    if (f->quota_cores > 0 && (f->cores_allowed <= 0 || f->quota_cores < f->cores_allowed))
        f->cores_allowed = f->quota_cores;
}

static void fill_runnable(struct build *b)
{
    const struct series s = build_series_find(b, TRACE_METRIC_RUNNABLE, 0);
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < s.count; i++)
        if (s.at[i].at_ns >= b->from_ns && s.at[i].at_ns <= b->to_ns) {
            sum += (double)s.at[i].value;
            n++;
        }
    b->f->machine.runnable_threads = n >= SAMPLED_LEAST ? sum / (double)n : -1;
}

void build_machine(struct build *b)
{
    struct facts_machine *f = &b->f->machine;
    const double steady_ns = b->f->steady_ns > 0 ? (double)b->f->steady_ns : 1;
    f->other_busy_cores = -1;
    fill_allowed(b);
    fill_cpu(b, steady_ns);
    fill_runnable(b);
    const double periods = growth(b, TRACE_METRIC_CGROUP_PERIODS);
    const double throttled = growth(b, TRACE_METRIC_CGROUP_THROTTLED);
    f->throttled_ratio = periods >= 0 && periods < 1 ? 0 : ratio_or_unknown(throttled, periods);
    const double throttled_ns = growth(b, TRACE_METRIC_CGROUP_THROTTLED_NS);
    f->throttled_ns = throttled_ns > 0 ? (uint64_t)throttled_ns : 0;
    const double steal_ns = growth(b, TRACE_METRIC_STEAL_NS);
    f->steal_ratio = ratio_or_unknown(steal_ns, steady_ns);
    f->psi_cpu_ratio = ratio_or_unknown(growth(b, TRACE_METRIC_PSI_CPU_SOME_US) * 1e3, steady_ns);
    f->psi_io_ratio = ratio_or_unknown(growth(b, TRACE_METRIC_PSI_IO_SOME_US) * 1e3, steady_ns);
    f->psi_memory_ratio =
        ratio_or_unknown(growth(b, TRACE_METRIC_PSI_MEMORY_SOME_US) * 1e3, steady_ns);
    f->read_bytes = count_or_unknown(processes_growth(b, TRACE_METRIC_PROCESS_READ_BYTES));
    f->rchar_bytes = count_or_unknown(processes_growth(b, TRACE_METRIC_PROCESS_RCHAR_BYTES));
    f->minor_faults = count_or_unknown(processes_growth(b, TRACE_METRIC_PROCESS_MINFLT));
    f->major_faults = count_or_unknown(processes_growth(b, TRACE_METRIC_PROCESS_MAJFLT));
}
