// SPDX-License-Identifier: Apache-2.0
// Reads /proc/stat, /proc/loadavg, /proc/pressure and the control group's cpu.stat (v1 and v2), see
// machine.h. Each is one pread on a kept descriptor. Threads: one owner.
#include "collect/machine.h"

#include "base/os.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_BYTES 4096

static int open_file(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC);
}

int machine_field(const char *text, const char *key, uint64_t *value)
{
    size_t length = strlen(key);
    *value = 0;
    for (const char *at = text; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
        if (strncmp(at, key, length) == 0 && at[length] == ' ') {
            *value = strtoull(at + length + 1, NULL, 10);
            return 0;
        }
    return -1;
}

static int read_text(int fd, char *text)
{
    ssize_t n = fd >= 0 ? pread(fd, text, TEXT_BYTES - 1, 0) : -1;
    text[n > 0 ? n : 0] = 0;
    return n > 0 ? 0 : -1;
}

static void open_cgroup(struct machine *m)
{
    struct os_cgroup group;
    m->cgroup_fd = -1;
    os_cgroup_read("", &group);
    if (!group.is_found)
        return;
    buf_printf(&m->cgroup_path, "%s/cpu.stat", group.path);
    m->cgroup_fd = open_file(buf_text(&m->cgroup_path));
}

void machine_open(struct machine *m)
{
    *m = (struct machine){
        .stat_fd = open_file("/proc/stat"),
        .loadavg_fd = open_file("/proc/loadavg"),
        .psi_cpu_fd = open_file("/proc/pressure/cpu"),
        .psi_io_fd = open_file("/proc/pressure/io"),
        .psi_memory_fd = open_file("/proc/pressure/memory"),
    };
    long jiffies = sysconf(_SC_CLK_TCK);
    m->jiffy_ns = 1000000000u / (uint64_t)(jiffies > 0 ? jiffies : 100);
    open_cgroup(m);
}

void machine_close(struct machine *m)
{
    int *fds[] = {&m->stat_fd, &m->loadavg_fd, &m->psi_cpu_fd, &m->psi_io_fd, &m->psi_memory_fd,
        &m->cgroup_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
    buf_fini(&m->cgroup_path);
}

static void read_stat(const struct machine *m, machine_take_fn take_fn, void *context)
{
    char text[TEXT_BYTES];
    unsigned long long user, nice, system, idle, wait, irq, softirq, steal;
    if (read_text(m->stat_fd, text) < 0 ||
        sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle,
            &wait, &irq, &softirq, &steal) != 8)
        return;
    take_fn(context, TRACE_METRIC_STEAL_NS, steal * m->jiffy_ns);
    take_fn(context, TRACE_METRIC_MACHINE_BUSY_NS,
        (user + nice + system + irq + softirq) * m->jiffy_ns);
}

static void read_pressure(
    int fd, enum trace_metric some, enum trace_metric full, machine_take_fn take_fn, void *context)
{
    char text[TEXT_BYTES];
    struct os_psi_line line;
    if (read_text(fd, text) < 0)
        return;
    os_psi_parse(text, &line);
    if (line.is_known)
        take_fn(context, some, line.some_us);
    if (line.is_known && line.has_full && full != TRACE_METRIC_NONE)
        take_fn(context, full, line.full_us);
}

static void read_cgroup(const struct machine *m, machine_take_fn take_fn, void *context)
{
    char text[TEXT_BYTES];
    uint64_t value;
    if (read_text(m->cgroup_fd, text) < 0)
        return;
    if (machine_field(text, "nr_periods", &value) == 0)
        take_fn(context, TRACE_METRIC_CGROUP_PERIODS, value);
    if (machine_field(text, "nr_throttled", &value) == 0)
        take_fn(context, TRACE_METRIC_CGROUP_THROTTLED, value);
    if (machine_field(text, "throttled_usec", &value) == 0) // v2
        take_fn(context, TRACE_METRIC_CGROUP_THROTTLED_NS, value * 1000);
    else if (machine_field(text, "throttled_time", &value) == 0) // v1
        take_fn(context, TRACE_METRIC_CGROUP_THROTTLED_NS, value);
}

void machine_read(const struct machine *m, machine_take_fn take_fn, void *context)
{
    char text[TEXT_BYTES];
    unsigned long long runnable;
    read_stat(m, take_fn, context);
    if (read_text(m->loadavg_fd, text) == 0 && sscanf(text, "%*s %*s %*s %llu/", &runnable) == 1)
        take_fn(context, TRACE_METRIC_RUNNABLE, runnable);
    read_pressure(m->psi_cpu_fd, TRACE_METRIC_PSI_CPU_SOME_US, TRACE_METRIC_NONE, take_fn, context);
    read_pressure(
        m->psi_io_fd, TRACE_METRIC_PSI_IO_SOME_US, TRACE_METRIC_PSI_IO_FULL_US, take_fn, context);
    read_pressure(
        m->psi_memory_fd, TRACE_METRIC_PSI_MEMORY_SOME_US, TRACE_METRIC_NONE, take_fn, context);
    read_cgroup(m, take_fn, context);
}
