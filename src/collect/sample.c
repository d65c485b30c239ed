// SPDX-License-Identifier: Apache-2.0
// One round: the machine, then each live process of the run (stat, io), then its threads
// (schedstat). The time to the next round follows from what a round costs. See sample.h.
// Threads: one owner.
#include "collect/sample.h"

#include "base/clock.h"
#include "base/heap.h"
#include "collect/accel.h"
#include "collect/machine.h"
#include "trace/ticks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCAN_EVERY_ROUNDS 3 // looking for new processes costs more than reading known ones
#define SOURCES_LIMIT 8

struct sampler {
    struct procs *procs;
    struct machine machine;
    struct accel *accel; // NULL: none
    int clock_is_tsc;
    uint64_t due_ns; // 0: at once
    uint64_t interval_ns;
    uint64_t cpu_ns, rounds;
    uint64_t ticks; // of the values being taken
    VEC(struct trace_sample) records;
    const char *sources[SOURCES_LIMIT + 1];
};

static void put(struct sampler *s, enum trace_metric metric, uint32_t subject, uint64_t value)
{
    *vec_push(&s->records) = (struct trace_sample){
        .kind = TRACE_SAMPLE,
        .metric = (uint16_t)metric,
        .subject = subject,
        .ticks = s->ticks,
        .value = value,
    };
}

void sampler_put(struct sampler *s, enum trace_metric metric, uint32_t subject, uint64_t value)
{
    s->ticks = ticks_now(s->clock_is_tsc);
    put(s, metric, subject, value);
}

static void list_sources(struct sampler *s)
{
    size_t n = 0;
    s->sources[n++] = "/proc of each process: CPU, memory, faults, I/O";
    if (access("/proc/self/schedstat", R_OK) == 0)
        s->sources[n++] = "/proc of each thread: run time and run-queue wait";
    if (s->machine.stat_fd >= 0)
        s->sources[n++] = "/proc/stat: busy and stolen CPU time of the machine";
    if (s->machine.psi_cpu_fd >= 0)
        s->sources[n++] = "/proc/pressure: stalls for CPU, I/O and memory";
    if (s->machine.cgroup_fd >= 0)
        s->sources[n++] = "cpu.stat of the control group: throttling";
    if (s->accel)
        s->sources[n++] = "NVML: how busy the accelerators are and how full their memory";
}

struct sampler *sampler_new(struct procs *procs, int clock_is_tsc)
{
    struct sampler *s = heap_alloc(1, sizeof *s);
    s->procs = procs;
    s->clock_is_tsc = clock_is_tsc;
    s->interval_ns = SAMPLE_INTERVAL_NS;
    machine_open(&s->machine);
    s->accel = accel_open();
    list_sources(s);
    return s;
}

void sampler_free(struct sampler **s)
{
    if (!*s)
        return;
    machine_close(&(*s)->machine);
    accel_close(&(*s)->accel);
    vec_fini(&(*s)->records);
    free(*s);
    *s = NULL;
}

static void take_machine(void *context, enum trace_metric metric, uint64_t value)
{
    put(context, metric, 0, value);
}

static void take_accel(void *context, enum trace_metric metric, uint32_t device, uint64_t value)
{
    put(context, metric, device, value);
}

static void sample_io(struct sampler *s, const struct procs_entry *entry)
{
    char text[512];
    struct os_process_io io;
    ssize_t n = entry->io_fd >= 0 ? pread(entry->io_fd, text, sizeof text - 1, 0) : -1;
    text[n > 0 ? n : 0] = 0;
    if (n <= 0 || os_process_io_parse(text, &io) < 0)
        return; // another user's, or gone
    put(s, TRACE_METRIC_PROCESS_RCHAR_BYTES, entry->pid, io.called_read_bytes);
    put(s, TRACE_METRIC_PROCESS_WCHAR_BYTES, entry->pid, io.called_write_bytes);
    put(s, TRACE_METRIC_PROCESS_READ_BYTES, entry->pid, io.disk_read_bytes);
    put(s, TRACE_METRIC_PROCESS_WRITE_BYTES, entry->pid, io.disk_write_bytes);
}

static void sample_thread(struct sampler *s, uint32_t pid, const struct procs_thread *t)
{
    char text[96];
    int fd = t->schedstat_fd;
    if (fd < 0) {
        char path[80];
        snprintf(path, sizeof path, "/proc/%u/task/%u/schedstat", pid, t->tid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    ssize_t n = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : -1;
    if (fd >= 0 && t->schedstat_fd < 0)
        close(fd);
    if (n <= 0)
        return; // it ended, or the kernel has no schedstat
    text[n] = 0;
    struct os_schedstat schedstat;
    if (os_schedstat_parse(text, &schedstat) < 0)
        return;
    put(s, TRACE_METRIC_THREAD_CPU_NS, t->tid, schedstat.run_ns);
    put(s, TRACE_METRIC_THREAD_RUNQ_NS, t->tid, schedstat.wait_ns);
}

static void sample_process(struct sampler *s, struct procs_entry *entry, int list_anew)
{
    struct os_process_stat stat;
    if (procs_stat_read(entry->stat_fd, &stat) < 0 || stat.start_ns != entry->start_ns) {
        procs_end(s->procs, entry);
        return;
    }
    if (list_anew)
        procs_note_user(entry);
    s->ticks = entry->last_seen_ticks = ticks_now(s->clock_is_tsc);
    entry->parent_pid = (uint32_t)stat.parent_pid;
    memcpy(entry->name, stat.name, sizeof entry->name);
    put(s, TRACE_METRIC_PROCESS_CPU_NS, entry->pid, stat.user_ns + stat.system_ns);
    put(s, TRACE_METRIC_PROCESS_MINFLT, entry->pid, stat.minor_faults);
    put(s, TRACE_METRIC_PROCESS_MAJFLT, entry->pid, stat.major_faults);
    sample_io(s, entry);
    // The main thread is a zombie from its own end on: a process is one when it is the last thread.
    if ((stat.state == 'Z' && stat.thread_count <= 1) || stat.state == 'X') {
        procs_end(s->procs, entry);
        return;
    }
    if (stat.state != 'Z') // then /proc has none to tell
        put(s, TRACE_METRIC_PROCESS_RSS_BYTES, entry->pid, stat.resident_bytes);
    put(s, TRACE_METRIC_PROCESS_THREADS, entry->pid, stat.thread_count);
    if (list_anew || stat.thread_count != entry->listed_threads)
        procs_list_threads(s->procs, entry, stat.thread_count);
    for (size_t i = 0; i < entry->threads.count; i++)
        sample_thread(s, entry->pid, &entry->threads.at[i]);
}

static void take_round(struct sampler *s, int scans)
{
    uint64_t cpu_ns = clock_thread_cpu_ns();
    if (scans)
        procs_scan(s->procs);
    s->ticks = ticks_now(s->clock_is_tsc);
    machine_read(&s->machine, take_machine, s);
    if (s->accel)
        accel_read(s->accel, take_accel, s);
    for (size_t i = 0; i < s->procs->all.count; i++)
        if (s->procs->all.at[i].is_alive)
            sample_process(s, &s->procs->all.at[i], scans);
    cpu_ns = clock_thread_cpu_ns() - cpu_ns;
    s->cpu_ns += cpu_ns;
    s->rounds++;
    uint64_t wanted_ns = cpu_ns * SAMPLE_COST_RATIO_INVERSE;
    // Follows upwards at once and downwards slowly, so that one cheap round changes little.
    s->interval_ns = wanted_ns > s->interval_ns ? wanted_ns : (s->interval_ns * 3 + wanted_ns) / 4;
    if (s->interval_ns < SAMPLE_INTERVAL_NS)
        s->interval_ns = SAMPLE_INTERVAL_NS;
    if (s->interval_ns > SAMPLE_INTERVAL_MAX_NS)
        s->interval_ns = SAMPLE_INTERVAL_MAX_NS;
}

uint64_t sampler_step(struct sampler *s, uint64_t now_ns)
{
    if (now_ns < s->due_ns)
        return s->due_ns - now_ns;
    take_round(s, s->rounds % SCAN_EVERY_ROUNDS == 0);
    s->due_ns = now_ns + s->interval_ns;
    return s->interval_ns;
}

void sampler_finish(struct sampler *s)
{
    procs_scan_all(s->procs);
    take_round(s, 1);
}

const struct trace_sample *sampler_records(const struct sampler *s)
{
    return s->records.at;
}

size_t sampler_pending(const struct sampler *s)
{
    return s->records.count;
}

void sampler_clear(struct sampler *s)
{
    s->records.count = 0;
}

uint64_t sampler_cpu_ns(const struct sampler *s)
{
    return s->cpu_ns;
}

uint64_t sampler_rounds(const struct sampler *s)
{
    return s->rounds;
}

const char *const *sampler_sources(const struct sampler *s)
{
    return s->sources;
}
