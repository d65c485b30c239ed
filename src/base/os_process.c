// SPDX-License-Identifier: Apache-2.0
// Pressure, steal, and the counters of processes and threads in /proc. Called by collect and doctor
// where files are not kept open. Does not follow a process. Threads: no shared state.
#include "base/os.h"
#include "base/os_text.h"
#include "base/vec.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 512
#define STAT_FIELDS                                                                                \
    20 // numbers behind the state that are looked at: ppid (4) to starttime, rss (24)

static uint64_t jiffies_ns(uint64_t jiffies)
{
    long per_s = sysconf(_SC_CLK_TCK);
    return jiffies * (1000000000u / (uint64_t)(per_s > 0 ? per_s : 100));
}

// "some avg10=0.00 avg60=0.00 avg300=0.00 total=123"
static int parse_total(const char *text, const char *kind, uint64_t *total_us)
{
    char line[160];
    if (os_text_field(text, kind, line, sizeof line) != 0)
        return -1;
    const char *total = strstr(line, "total=");
    return total && os_text_numbers(total + strlen("total="), total_us, 1) == 1 ? 0 : -1;
}

void os_psi_parse(const char *text, struct os_psi_line *line)
{
    *line = (struct os_psi_line){0};
    line->is_known = parse_total(text, "some", &line->some_us) == 0;
    line->has_full = line->is_known && parse_total(text, "full", &line->full_us) == 0;
}

void os_psi_read(const char *root, struct os_psi *psi)
{
    struct buf text = {0};
    os_text_read(root, "/proc/pressure/cpu", &text);
    os_psi_parse(buf_text(&text), &psi->cpu);
    os_text_read(root, "/proc/pressure/io", &text);
    os_psi_parse(buf_text(&text), &psi->io);
    os_text_read(root, "/proc/pressure/memory", &text);
    os_psi_parse(buf_text(&text), &psi->memory);
    buf_fini(&text);
}

int os_steal_read(const char *root, uint64_t *steal_ns)
{
    char line[256];
    uint64_t ticks[8]; // user nice system idle iowait irq softirq steal
    struct buf text = {0};
    os_text_read(root, "/proc/stat", &text);
    int is_there = os_text_field(buf_text(&text), "cpu", line, sizeof line) == 0;
    buf_fini(&text);
    if (!is_there || os_text_numbers(line, ticks, 8) != 8)
        return -1;
    *steal_ns = jiffies_ns(ticks[7]);
    return 0;
}

// The numbers from ppid on; signed ones (tpgid, priority, nice) count as 0 when negative.
static int parse_numbers(const char *text, uint64_t *values, int count)
{
    for (int i = 0; i < count; i++) {
        text += strspn(text, " ");
        int is_negative = *text == '-';
        text += is_negative;
        if (os_text_numbers(text, &values[i], 1) != 1)
            return -1;
        values[i] = is_negative ? 0 : values[i];
        text += strcspn(text, " \n");
    }
    return 0;
}

int os_process_stat_parse(const char *text, struct os_process_stat *stat)
{
    // The name may hold blanks, parentheses and newlines; the last ')' ends it, as only numbers
    // follow.
    uint64_t n[STAT_FIELDS + 1];
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close < open || open == text || close[1] != ' ' ||
        !isalpha((unsigned char)close[2]) || close[3] != ' ')
        return -1;
    if (parse_numbers(close + 4, n, STAT_FIELDS + 1) != 0 || n[0] > INT32_MAX)
        return -1;
    *stat = (struct os_process_stat){.state = close[2],
        .parent_pid = (int32_t)n[0],
        .minor_faults = n[6],
        .major_faults = n[8],
        .user_ns = jiffies_ns(n[10]),
        .system_ns = jiffies_ns(n[11]),
        .thread_count = n[16],
        .start_ns = jiffies_ns(n[18]),
        .resident_bytes = n[20] * (uint64_t)sysconf(_SC_PAGESIZE)};
    size_t length = (size_t)(close - open - 1);
    length = length < sizeof stat->name ? length : sizeof stat->name - 1;
    memcpy(stat->name, open + 1, length);
    return 0;
}

static int read_of_process(
    const char *root, int32_t pid, const char *name, struct buf *text, struct err *e)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%" PRId32 "/%s", pid, name);
    errno = 0;
    if (os_text_read(root, path, text) == 0)
        return 0;
    if (errno == ENOENT || errno == ESRCH)
        return err_set(e, "%s%s: the process or thread is gone", root, path);
    return err_set_errno(e, errno, "%s%s: cannot be read", root, path);
}

int os_process_stat_read(
    const char *root, int32_t pid, int32_t tid, struct os_process_stat *stat, struct err *e)
{
    char name[64] = "stat";
    struct buf text = {0};
    if (tid)
        snprintf(name, sizeof name, "task/%" PRId32 "/stat", tid);
    int result = read_of_process(root, pid, name, &text, e);
    if (result == 0 && os_process_stat_parse(buf_text(&text), stat) != 0)
        result =
            err_set(e, "%s/proc/%" PRId32 "/%s: not in the form of this file", root, pid, name);
    buf_fini(&text);
    return result;
}

int os_process_io_parse(const char *text, struct os_process_io *io)
{
    struct os_process_io got;
    if (os_text_number(text, "rchar", &got.called_read_bytes) != 0 ||
        os_text_number(text, "wchar", &got.called_write_bytes) != 0 ||
        os_text_number(text, "syscr", &got.read_calls) != 0 ||
        os_text_number(text, "syscw", &got.write_calls) != 0 ||
        os_text_number(text, "read_bytes", &got.disk_read_bytes) != 0 ||
        os_text_number(text, "write_bytes", &got.disk_write_bytes) != 0)
        return -1;
    *io = got;
    return 0;
}

int os_process_io_read(const char *root, int32_t pid, struct os_process_io *io, struct err *e)
{
    struct buf text = {0};
    int result = read_of_process(root, pid, "io", &text, e);
    if (result == 0 && os_process_io_parse(buf_text(&text), io) != 0)
        result = err_set(e, "%s/proc/%" PRId32 "/io: not in the form of this file", root, pid);
    buf_fini(&text);
    return result;
}

int os_schedstat_parse(const char *text, struct os_schedstat *schedstat)
{
    uint64_t numbers[3];
    if (os_text_numbers(text, numbers, 3) != 3)
        return -1;
    *schedstat = (struct os_schedstat){numbers[0], numbers[1], numbers[2]};
    return 0;
}

// One thread, or -1 when it has ended meanwhile.
static int read_thread(const char *root, int32_t pid, int32_t tid, struct os_thread *thread)
{
    char path[96];
    struct buf text = {0};
    *thread = (struct os_thread){.tid = tid};
    if (os_process_stat_read(root, pid, tid, &thread->stat, NULL) != 0)
        return -1;
    snprintf(path, sizeof path, "/proc/%" PRId32 "/task/%" PRId32 "/schedstat", pid, tid);
    thread->has_schedstat = os_text_read(root, path, &text) == 0 &&
                            os_schedstat_parse(buf_text(&text), &thread->schedstat) == 0;
    buf_fini(&text);
    return 0;
}

static int compare_threads(const void *a, const void *b)
{
    const struct os_thread *x = a, *y = b;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

long os_process_threads(const char *root, int32_t pid, struct os_thread **threads, struct err *e)
{
    char path[PATH_BYTES];
    struct {
        struct os_thread *at;
        size_t count, capacity;
    } all = {0};
    *threads = NULL;
    snprintf(path, sizeof path, "%s/proc/%" PRId32 "/task", root, pid);
    DIR *folder = opendir(path);
    if (!folder && errno == ENOENT)
        return err_set(e, "%s: the process is gone", path);
    if (!folder)
        return err_set_errno(e, errno, "%s: cannot be listed", path);
    for (struct dirent *entry; (entry = readdir(folder));) {
        struct os_thread thread;
        long tid = strtol(entry->d_name, NULL, 10);
        if (tid > 0 && tid <= INT32_MAX && read_thread(root, pid, (int32_t)tid, &thread) == 0)
            *vec_push(&all) = thread;
    }
    closedir(folder);
    if (all.count)
        qsort(all.at, all.count, sizeof *all.at, compare_threads);
    *threads = all.at;
    return (long)all.count;
}
