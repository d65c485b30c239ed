// SPDX-License-Identifier: Apache-2.0
// Pressure, steal, and the counters of processes and threads in /proc. Called by collect, which
// keeps the files open, and by doctor. Does not follow a process. Threads: no shared state.
#include "base/os.h"
#include "base/os_text.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

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

int os_schedstat_parse(const char *text, struct os_schedstat *schedstat)
{
    uint64_t numbers[3];
    if (os_text_numbers(text, numbers, 3) != 3)
        return -1;
    *schedstat = (struct os_schedstat){numbers[0], numbers[1], numbers[2]};
    return 0;
}
