// SPDX-License-Identifier: Apache-2.0
// See switches_ring.h. The kernel's records are copied out before they are looked at, since they
// may wrap around the end of the ring. Threads: one owner.
#include "collect/switches_ring.h"

#include "base/buf.h"
#include "base/file.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DATA_BYTES (512u << 10) // 50 ms of some 5,000 switches
#define DATA_BYTES_LEAST (32u << 10)
#define RECORD_BYTES 512u // longer ones are none of ours
#define PAGE_BYTES 4096u
#define FORMAT_LIMIT_BYTES 65536u

static const char *const folders[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

// ---- Where the fields lie. ----

// The number behind `key` in the line that holds `field`.
static int field_read(const char *text, const char *field, const char *key, uint32_t *value)
{
    const char *line = strstr(text, field);
    const char *at = line ? strstr(line, key) : NULL;
    if (!at)
        return -1;
    *value = (uint32_t)strtoul(at + strlen(key), NULL, 10);
    return 0;
}

static int event_read(const char *event, struct buf *text)
{
    struct err ignored;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/events/sched/%s/format", folders[i], event);
        text->length_bytes = 0;
        if (file_read(path, FORMAT_LIMIT_BYTES, text, &ignored) == 0)
            return 0;
    }
    return -1;
}

int switches_format_read(struct switches_format *f, struct err *why)
{
    struct buf out = {0}, waking = {0};
    uint32_t switch_id = 0, waking_id = 0;
    int result = -1;
    if (event_read("sched_switch", &out) < 0)
        err_set(why, "tracefs cannot be read (%s); it takes root", folders[0]);
    else if (field_read(buf_text(&out), "ID:", "ID:", &switch_id) < 0 ||
             field_read(buf_text(&out), " prev_pid;", "offset:", &f->prev_pid_at) < 0 ||
             field_read(buf_text(&out), " prev_state;", "offset:", &f->prev_state_at) < 0 ||
             field_read(buf_text(&out), " prev_state;", "size:", &f->prev_state_bytes) < 0)
        err_set(why, "the format of sched_switch is not known");
    else
        result = 0;
    if (event_read("sched_waking", &waking) == 0 &&
        field_read(buf_text(&waking), " pid;", "offset:", &f->woken_pid_at) == 0)
        (void)field_read(buf_text(&waking), "ID:", "ID:", &waking_id);
    f->switch_id = switch_id;
    f->waking_id = waking_id;
    buf_fini(&out);
    buf_fini(&waking);
    return result;
}

// ---- Opening. ----

static int event_open(uint64_t id, pid_t pid, int cpu, int with_switches)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT,
        .size = sizeof attr,
        .config = id,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
        .inherit = 1,
        .sample_id_all = 1,
        .context_switch = with_switches != 0,
        .task = with_switches != 0,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC};
    return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int refused(int errnum, struct err *why)
{
    return err_set(why,
        "the kernel does not allow scheduler events (%s); it takes root, "
        "CAP_PERFMON, or perf_event_paranoid -1",
        strerror(errnum));
}

int switches_ring_try(const struct switches_format *f, struct err *why)
{
    const int fd = event_open(f->switch_id, 0, 0, 1);
    if (fd < 0)
        return refused(errno, why);
    close(fd);
    return 0;
}

// An ordinary user may map so much for all of its events (perf_event_mlock_kb, RLIMIT_MEMLOCK);
// where another program has some of it, a smaller ring has to do.
static int map_ring(struct switches_ring *ring)
{
    for (ring->data_bytes = DATA_BYTES; ring->data_bytes >= DATA_BYTES_LEAST;
         ring->data_bytes /= 2) {
        ring->map = mmap(NULL, PAGE_BYTES + ring->data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
            ring->switch_fd, 0);
        if (ring->map != MAP_FAILED)
            return 0;
    }
    ring->map = NULL;
    return -1;
}

int switches_ring_open(struct switches_ring *ring, const struct switches_format *f, pid_t pid,
    int cpu, struct err *why)
{
    *ring = (struct switches_ring){.waking_fd = -1};
    ring->switch_fd = event_open(f->switch_id, pid, cpu, 1);
    if (ring->switch_fd < 0)
        return errno == ENODEV || errno == EINVAL ? 0 : refused(errno, why);
    if (map_ring(ring) < 0) {
        const int errnum = errno;
        switches_ring_close(ring);
        return err_set(why,
            "no memory may be mapped for scheduler events (%s); see perf_event_mlock_kb and "
            "RLIMIT_MEMLOCK",
            strerror(errnum));
    }
    if (f->waking_id)
        ring->waking_fd = event_open(f->waking_id, pid, cpu, 0);
    if (ring->waking_fd >= 0 &&
        ioctl(ring->waking_fd, PERF_EVENT_IOC_SET_OUTPUT, ring->switch_fd) < 0) {
        close(ring->waking_fd);
        ring->waking_fd = -1;
    }
    return 1;
}

void switches_ring_close(struct switches_ring *ring)
{
    if (ring->map)
        munmap(ring->map, PAGE_BYTES + ring->data_bytes);
    if (ring->waking_fd >= 0)
        close(ring->waking_fd);
    if (ring->switch_fd >= 0)
        close(ring->switch_fd);
    ring->map = NULL;
    ring->waking_fd = ring->switch_fd = -1;
}

// ---- Reading. ----

static void ring_copy(const struct switches_ring *ring, uint64_t at, void *out, size_t length_bytes)
{
    const uint8_t *data = (const uint8_t *)ring->map + PAGE_BYTES;
    const size_t offset = at & (ring->data_bytes - 1), rest = ring->data_bytes - offset;
    const size_t first = rest < length_bytes ? rest : length_bytes;
    memcpy(out, data + offset, first);
    memcpy((uint8_t *)out + first, data, length_bytes - first);
}

// A field of at most 8 bytes, little or big as the machine; 0 when it lies outside.
static uint64_t field_of(const uint8_t *raw, uint32_t raw_bytes, uint32_t at, uint32_t bytes)
{
    uint64_t wide = 0;
    uint32_t narrow = 0;
    if (at > raw_bytes || bytes > raw_bytes - at)
        return 0;
    if (bytes == sizeof wide) {
        memcpy(&wide, raw + at, sizeof wide);
        return wide;
    }
    memcpy(&narrow, raw + at, sizeof narrow);
    return narrow;
}

static enum switches_state state_of(uint64_t prev_state)
{
    if (prev_state & 2)
        return SWITCHES_DISK;
    return prev_state & 0xff ? SWITCHES_SLEEP : SWITCHES_RUNNABLE;
}

// A tracepoint's sample: which of the two it is, its own common_type tells.
static int sample_read(const uint8_t *body, size_t body_bytes, const struct switches_format *f,
    struct switches_event *event)
{
    const size_t head_bytes = 20; // pid, tid, time, length of the raw part
    uint32_t tid, raw_bytes;
    if (body_bytes < head_bytes)
        return 0;
    memcpy(&tid, body + 4, sizeof tid);
    memcpy(&event->at_ns, body + 8, sizeof event->at_ns);
    memcpy(&raw_bytes, body + 16, sizeof raw_bytes);
    if (raw_bytes > body_bytes - head_bytes || raw_bytes < 2)
        return 0;
    const uint8_t *raw = body + head_bytes;
    uint16_t type;
    memcpy(&type, raw, sizeof type);
    if (type == f->switch_id) {
        event->kind = SWITCHES_OUT;
        event->tid = tid;
        event->state = state_of(field_of(raw, raw_bytes, f->prev_state_at, f->prev_state_bytes));
        return 1;
    }
    event->kind = SWITCHES_WAKING;
    event->tid = (uint32_t)field_of(raw, raw_bytes, f->woken_pid_at, 4);
    event->other = tid;
    return type == f->waking_id;
}

// A thread began or ended: pid, its parent's, tid, its parent's, time.
static int task_read(
    const uint8_t *body, size_t body_bytes, int is_begin, struct switches_event *event)
{
    uint32_t pid, parent_pid;
    if (body_bytes < 24)
        return 0;
    memcpy(&pid, body, sizeof pid);
    memcpy(&parent_pid, body + 4, sizeof parent_pid);
    memcpy(&event->tid, body + 8, sizeof event->tid);
    memcpy(&event->at_ns, body + 16, sizeof event->at_ns);
    event->kind = !is_begin ? SWITCHES_END : pid == parent_pid ? SWITCHES_THREAD : SWITCHES_PROCESS;
    return 1;
}

// One record. 1 when it is an event of ours.
static int record_read(const uint8_t *record, size_t record_bytes, const struct switches_format *f,
    struct switches_event *event, uint64_t *lost)
{
    struct perf_event_header h;
    memcpy(&h, record, sizeof h);
    const uint8_t *body = record + sizeof h;
    const size_t body_bytes = record_bytes - sizeof h;
    if (h.type == PERF_RECORD_SAMPLE)
        return sample_read(body, body_bytes, f, event);
    if (h.type == PERF_RECORD_FORK || h.type == PERF_RECORD_EXIT)
        return task_read(body, body_bytes, h.type == PERF_RECORD_FORK, event);
    if (h.type == PERF_RECORD_LOST && body_bytes >= 16) {
        uint64_t count;
        memcpy(&count, body + 8, sizeof count);
        *lost += count;
    }
    if (h.type != PERF_RECORD_SWITCH || h.misc & PERF_RECORD_MISC_SWITCH_OUT || body_bytes < 16)
        return 0;
    memcpy(&event->tid, body + 4, sizeof event->tid);
    memcpy(&event->at_ns, body + 8, sizeof event->at_ns);
    event->kind = SWITCHES_IN;
    return 1;
}

int switches_ring_next(struct switches_ring *ring, const struct switches_format *f,
    struct switches_event *event, uint64_t *lost)
{
    struct perf_event_mmap_page *page = ring->map;
    const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = page->data_tail;
    int found = 0;
    while (!found && tail + sizeof(struct perf_event_header) <= head) {
        union {
            struct perf_event_header header;
            uint8_t bytes[RECORD_BYTES];
        } record;
        ring_copy(ring, tail, &record.header, sizeof record.header);
        const size_t record_bytes = record.header.size;
        if (record_bytes < sizeof record.header || tail + record_bytes > head)
            break;
        if (record_bytes <= sizeof record) {
            ring_copy(ring, tail, record.bytes, record_bytes);
            *event = (struct switches_event){0};
            found = record_read(record.bytes, record_bytes, f, event, lost);
        }
        tail += record_bytes;
    }
    __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
    return found;
}
