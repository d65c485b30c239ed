// SPDX-License-Identifier: Apache-2.0
// The call that a thread waited in when its process was killed. Spans are written as they end, so
// that such a call would be lost; the agent notes it in the segment's header while it lasts. Called
// by the drain behind the last records of a segment whose process is gone. What is not certain
// makes no span. Threads: one owner.
#include "trace/drain_state.h"
#include "trace/format.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

// What is written for it.
struct open_call {
    struct trace_attr attr;
    struct trace_span_long span;
};
static_assert(sizeof(struct open_call) == 48, "two records without a gap");

// When the process was first known to be gone; 0: it is not, or nobody can tell.
static uint64_t death_ticks(const struct drain *d, struct drain_process *p)
{
    if (!d->options.clock || d->options.is_read_only)
        return 0;
    if (!p->ended_ticks && d->is_final && kill((pid_t)p->pid, 0) < 0 && errno == ESRCH)
        p->ended_ticks = ticks_now(d->options.clock->is_tsc);
    return p->ended_ticks;
}

// Whether the agent did not see it end: neither exit nor exec.
static int is_killed(struct drain *d, const struct drain_process *p)
{
    struct trace_process h;
    size_t file_bytes;
    const struct trace_name name = {
        .kind = TRACE_NAME_PROCESS, .pid = p->pid, .image_ticks = p->image_ticks};
    const int fd = drain_file_open(d, &name, &file_bytes);
    if (fd < 0)
        return 0;
    const int is_read = drain_read(fd, &h, sizeof h, 0) == sizeof h;
    close(fd);
    return is_read && h.magic == TRACE_PROCESS_MAGIC && !h.exit_seen && !h.end_ticks;
}

// Reads the header, of a process that is gone, again: what it says is the last word.
static int header_read(const struct drain_thread *t, int fd, struct trace_segment *h)
{
    return drain_read(fd, h, sizeof *h, 0) == sizeof *h && h->state == TRACE_SEGMENT_OPEN &&
           h->used_bytes == t->packed_bytes && h->wait_start_ticks;
}

int drain_wait_pack(struct drain *d, struct drain_thread *t, int fd, struct err *e)
{
    struct drain_process *p = drain_process_get(d, t->pid, t->image_ticks);
    struct trace_segment h;
    const uint64_t end_ticks = death_ticks(d, p);
    // A later record shows that the call was left without its end (longjmp).
    if (!end_ticks || !header_read(t, fd, &h) || h.wait_start_ticks < t->last_ticks ||
        h.wait_start_ticks >= end_ticks || !is_killed(d, p))
        return 0;
    const struct open_call call = {.attr = {TRACE_ATTR, h.wait_depth, TRACE_ATTR_OPEN, 0, 0, 1},
        .span = {TRACE_SPAN_LONG, h.wait_depth, h.wait_name, 0, end_ticks,
            end_ticks - h.wait_start_ticks, 0}};
    const struct trace_block_id id = {.type = TRACE_BLOCK_SEGMENT,
        .pid = t->pid,
        .tid = h.tid,
        .image_ticks = t->image_ticks,
        .thread_seq = t->thread_seq,
        .segment_seq = t->next_seq,
        .part = t->next_part};
    if (trace_pack_block(d->options.pack, &id, &call, sizeof call, e) < 0)
        return -1;
    t->next_part++;
    d->stats.threads += (uint64_t)!t->has_records;
    t->has_records = 1;
    d->stats.records += 2;
    d->stats.spans++;
    return 0;
}
