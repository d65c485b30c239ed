// SPDX-License-Identifier: Apache-2.0
// Reads /proc/stat, /proc/loadavg, /proc/pressure and the control group's cpu.stat (v1 and v2), see
// machine.h. Each is one pread on a kept descriptor. Threads: one owner.
#include "collect/machine.h"

#include "base/file.h"

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

// Whether the comma-separated `list` of `length` bytes holds `word`.
static int list_has(const char *list, size_t length, const char *word)
{
    size_t word_length = strlen(word);
    for (size_t at = 0; at < length;) {
        size_t part = 0;
        while (at + part < length && list[at + part] != ',')
            part++;
        if (part == word_length && memcmp(list + at, word, part) == 0)
            return 1;
        at += part + 1;
    }
    return 0;
}

// The path in a line `N:controllers:path` of /proc/self/cgroup: of v1's cpu controller or of v2.
static int find_group(const char *cgroup, int want_v2, struct buf *path)
{
    for (const char *at = cgroup; *at;) {
        size_t line = strcspn(at, "\n");
        const char *first = memchr(at, ':', line);
        const char *second = first ? memchr(first + 1, ':', line - (size_t)(first + 1 - at)) : NULL;
        if (second) {
            size_t list = (size_t)(second - first - 1);
            int is_wanted = want_v2 ? list == 0 && at[0] == '0' : list_has(first + 1, list, "cpu");
            if (is_wanted) {
                buf_add(path, second + 1, line - (size_t)(second + 1 - at));
                return 0;
            }
        }
        at += line + (at[line] != 0);
    }
    return -1;
}

// Mount point and mounted root of the hierarchy, from /proc/self/mountinfo.
static int find_mount(const char *mountinfo, int want_v2, struct buf *point, struct buf *mounted)
{
    for (const char *at = mountinfo; *at;) {
        size_t length = strcspn(at, "\n");
        char line[1024], root[512], mount[512], type[64], options[256];
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        at += length + (at[length] != 0);
        const char *rest = strstr(line, " - ");
        if (!rest || sscanf(line, "%*s %*s %*s %511s %511s", root, mount) != 2 ||
            sscanf(rest, " - %63s %*s %255s", type, options) != 2)
            continue;
        int is_wanted = want_v2 ? strcmp(type, "cgroup2") == 0
                                : strcmp(type, "cgroup") == 0 &&
                                      list_has(options, strlen(options), "cpu");
        if (!is_wanted)
            continue;
        buf_puts(point, mount);
        buf_puts(mounted, root);
        return 0;
    }
    return -1;
}

// Whether the level at `dir` limits CPU time.
static int has_quota(const char *dir, int is_v2)
{
    struct buf path = {0}, text = {0};
    buf_printf(&path, "%s/%s", dir, is_v2 ? "cpu.max" : "cpu.cfs_quota_us");
    int is_read = file_read(buf_text(&path), TEXT_BYTES, &text, NULL) == 0;
    const char *value = buf_text(&text);
    int is_limited = is_read && *value >= '0' && *value <= '9';
    buf_fini(&path);
    buf_fini(&text);
    return is_limited;
}

// Innermost level from `dir` up to (and with) `top_bytes` of it that has a quota; else `dir`.
static void choose_level(struct buf *dir, size_t top_bytes, int is_v2)
{
    struct buf level = {0};
    buf_puts(&level, buf_text(dir));
    for (;;) {
        if (has_quota(level.at, is_v2)) {
            buf_fini(dir);
            *dir = level;
            return;
        }
        char *slash = strrchr(level.at, '/');
        if (!slash || (size_t)(slash - level.at) < top_bytes)
            break;
        *slash = 0;
        level.length_bytes = (size_t)(slash - level.at);
    }
    buf_fini(&level);
}

// The directory of the group in one hierarchy: 0 when its cpu.stat is there.
static int find_in(const char *cgroup, const char *mountinfo, const char *root, int is_v2,
    struct buf *out)
{
    struct buf group = {0}, point = {0}, mounted = {0}, dir = {0};
    int result = -1;
    if (find_group(cgroup, is_v2, &group) < 0 ||
        find_mount(mountinfo, is_v2, &point, &mounted) < 0)
        goto done;
    // In a container the mount shows a part of the hierarchy, and the path may lie outside of it.
    const char *below = buf_text(&group);
    size_t mounted_length = strcmp(buf_text(&mounted), "/") == 0 ? 0 : mounted.length_bytes;
    if (strncmp(below, buf_text(&mounted), mounted_length) == 0)
        below += mounted_length;
    else
        below = "";
    buf_printf(&dir, "%s%s", root, buf_text(&point));
    size_t top_bytes = dir.length_bytes;
    if (strcmp(below, "/") != 0)
        buf_puts(&dir, below);
    if (access(buf_text(&dir), R_OK) != 0)
        dir.at[dir.length_bytes = top_bytes] = 0;
    choose_level(&dir, top_bytes, is_v2);
    buf_printf(&dir, "/cpu.stat");
    if (access(buf_text(&dir), R_OK) == 0) {
        buf_puts(out, buf_text(&dir));
        result = 0;
    }
done:
    buf_fini(&group);
    buf_fini(&point);
    buf_fini(&mounted);
    buf_fini(&dir);
    return result;
}

int machine_cgroup_find(
    const char *cgroup, const char *mountinfo, const char *root, struct buf *path)
{
    // On a hybrid machine the cpu controller is in v1, and v2 has no cpu.stat worth reading.
    if (find_in(cgroup, mountinfo, root, 0, path) == 0)
        return 0;
    return find_in(cgroup, mountinfo, root, 1, path) == 0 ? 1 : -1;
}

static void open_cgroup(struct machine *m)
{
    struct buf cgroup = {0}, mounts = {0};
    m->cgroup_fd = -1;
    if (file_read("/proc/self/cgroup", 1 << 20, &cgroup, NULL) == 0 &&
        file_read("/proc/self/mountinfo", 8 << 20, &mounts, NULL) == 0) {
        int version =
            machine_cgroup_find(buf_text(&cgroup), buf_text(&mounts), "", &m->cgroup_path);
        m->cgroup_is_v2 = version == 1;
        if (version >= 0)
            m->cgroup_fd = open_file(buf_text(&m->cgroup_path));
    }
    buf_fini(&cgroup);
    buf_fini(&mounts);
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

static void read_pressure(int fd, const char *line, enum trace_metric metric,
    machine_take_fn take_fn, void *context)
{
    char text[TEXT_BYTES];
    if (read_text(fd, text) < 0)
        return;
    const char *at = strstr(text, line);
    const char *total = at ? strstr(at, "total=") : NULL;
    if (total)
        take_fn(context, metric, strtoull(total + 6, NULL, 10));
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
    read_pressure(m->psi_cpu_fd, "some", TRACE_METRIC_PSI_CPU_SOME_US, take_fn, context);
    read_pressure(m->psi_io_fd, "some", TRACE_METRIC_PSI_IO_SOME_US, take_fn, context);
    read_pressure(m->psi_io_fd, "full", TRACE_METRIC_PSI_IO_FULL_US, take_fn, context);
    read_pressure(m->psi_memory_fd, "some", TRACE_METRIC_PSI_MEMORY_SOME_US, take_fn, context);
    read_cgroup(m, take_fn, context);
}
