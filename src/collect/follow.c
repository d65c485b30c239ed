// SPDX-License-Identifier: Apache-2.0
// One step every 50 ms, or at once when the target ends or a signal comes: read signals, see
// whether the target ended, sample, pack. A trace that cannot be written never ends the run:
// recording goes down to sums, later stops, and what was written stays readable. Threads: one
// owner.
#include "collect/follow.h"

#include "base/clock.h"
#include "collect/handover.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP_NS 50000000u
#define STEP_BUDGET_BYTES (8u << 20) // packed in one go, so that signals do not wait for long
#define FLUSH_NS 2000000000u         // samples lost at most when the launcher is killed
#define FLUSH_RECORDS 4096u
#define WAITING_RECORDS_LIMIT (1u << 20)
#define RETRY_NS 1000000000u // after a failed write

static uint64_t since_start_ns(const struct follow *f)
{
    return clock_mono_ns() - f->clock->start.mono_ns;
}

static void set_control(struct follow *f, enum handover_control value)
{
    if (f->control_now == (uint32_t)value)
        return;
    f->control_now = (uint32_t)value;
    handover_set(f->control, value);
}

// Signals meant for the target, given to us. The terminal sends its own to the whole group, and
// what the target sent itself it has already.
static void pass_on(const struct follow *f, const struct signalfd_siginfo *info)
{
    int number = (int)info->ssi_signo;
    if (number == SIGINT || number == SIGQUIT || number == SIGCHLD)
        return;
    if (info->ssi_code == SI_KERNEL || (pid_t)info->ssi_pid == f->pid)
        return;
    kill(f->pid, number);
}

static void read_signals(const struct follow *f)
{
    struct signalfd_siginfo info;
    while (read(f->signals->fd, &info, sizeof info) == (ssize_t)sizeof info)
        pass_on(f, &info);
}

// The target became a zombie; it still is one, so that /proc knows its totals.
static int has_ended(const struct follow *f)
{
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)f->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0)
        return errno == ECHILD; // never waits for what cannot come
    return info.si_pid == f->pid;
}

int follow_flush_samples(struct follow *f, struct err *e)
{
    const struct trace_block_id id = {.type = TRACE_BLOCK_SAMPLES};
    const struct buf *texts = python_stacks_texts(f->stacks);
    size_t count = sampler_pending(f->sampler);
    int result =
        texts->length_bytes ? trace_pack_block(f->pack, &id, texts->at, texts->length_bytes, e) : 0;
    if (result == 0) {
        // A ring drops them together.
        python_stacks_clear(f->stacks, f->ring->keep_ns != 0);
        result = trace_pack_block(
            f->pack, &id, sampler_records(f->sampler), count * sizeof(struct trace_sample), e);
    }
    // They wait while the disk is full, but not for ever.
    if (result == 0 || count > WAITING_RECORDS_LIMIT) {
        f->lost_samples += result == 0 ? 0 : count;
        sampler_clear(f->sampler);
    }
    return result;
}

static void note_failure(struct follow *f, const struct err *why)
{
    if (!f->trouble.text[0]) {
        f->trouble = *why;
        f->trouble_ns = since_start_ns(f);
    }
    f->is_failing = 1;
    f->retry_ns = clock_mono_ns() + RETRY_NS;
    set_control(f, HANDOVER_AGGREGATE);
}

// What waits in the directory is bounded: above the limit only sums are recorded, and when even
// those cannot be written, nothing.
static void keep_limits(struct follow *f)
{
    const struct drain_stats *stats = drain_stats_get(f->drain);
    // A tenth is left for the sums to come, and what the next two steps will pack at this rate.
    const uint64_t file_bytes = trace_pack_file_bytes(f->pack);
    const uint64_t step_bytes = file_bytes > f->file_bytes ? file_bytes - f->file_bytes : 0;
    f->file_bytes = file_bytes;
    // With a ring, room comes back.
    if (f->is_limited && f->ring->keep_ns && file_bytes < f->max_bytes / 2)
        f->is_limited = 0;
    if (f->max_bytes && !f->is_limited &&
        file_bytes + 2 * step_bytes >= f->max_bytes - f->max_bytes / 10) {
        f->is_limited = 1;
        f->limit_ns = since_start_ns(f);
    }
    if (stats->dir_bytes > f->dir_limit_bytes) {
        f->crowded += !f->crowd_step;
        f->crowd_step = 1;
        f->is_stopped |= f->is_failing;
    } else if (stats->dir_bytes < f->dir_limit_bytes / 2) {
        f->crowd_step = 0;
    }
    set_control(f, f->is_stopped                                     ? HANDOVER_STOP
                   : f->is_limited || f->crowd_step || f->is_failing ? HANDOVER_AGGREGATE
                                                                     : HANDOVER_RECORD);
}

// Packs; 1 when more is ready.
static int pack_step(struct follow *f, uint64_t now_ns)
{
    struct err why = {0};
    if (f->procs->ended.count)
        drain_processes_ended(f->drain, f->procs->ended.at, f->procs->ended.count);
    f->procs->ended.count = 0;
    if (f->is_failing && now_ns < f->retry_ns)
        return 0;
    int more = drain_step(f->drain, STEP_BUDGET_BYTES, &why);
    if (more >= 0 && (now_ns >= f->flush_due_ns || sampler_pending(f->sampler) > FLUSH_RECORDS)) {
        f->flush_due_ns = now_ns + FLUSH_NS;
        if (follow_flush_samples(f, &why) < 0)
            more = -1;
    }
    if (more >= 0 && ring_step(f->ring, now_ns, &why) < 0)
        more = -1;
    if (more < 0)
        note_failure(f, &why);
    else
        f->is_failing = 0;
    handover_stock(f->control, drain_stock(f->drain, 0), drain_stock(f->drain, 1));
    keep_limits(f);
    return more > 0;
}

static int wait_ms(uint64_t ns)
{
    return (int)((ns + 999999) / 1000000);
}

// What the launcher does in turns, but for the stacks.
static void step(struct follow *f, uint64_t now_ns)
{
    handover_beat(f->control, now_ns);
    const uint64_t due_ns = sampler_step(f->sampler, now_ns);
    switches_step(f->switches, now_ns, f->sampler);
    const int more = pack_step(f, now_ns);
    f->step_due_ns = more ? now_ns : now_ns + (due_ns < STEP_NS ? due_ns : STEP_NS);
}

// Nanoseconds until the next round. At the limit the room that is left is for the sums.
static uint64_t stacks_step(struct follow *f, uint64_t now_ns)
{
    return f->control_now == HANDOVER_RECORD ? python_stacks_step(f->stacks, now_ns, f->sampler)
                                             : STEP_NS;
}

void follow_target(struct follow *f)
{
    uint64_t now_ns = clock_mono_ns();
    f->flush_due_ns = now_ns + FLUSH_NS;
    while (!has_ended(f)) {
        if (now_ns >= f->step_due_ns)
            step(f, now_ns);
        const uint64_t stacks_ns = stacks_step(f, now_ns);
        const uint64_t step_ns = f->step_due_ns > now_ns ? f->step_due_ns - now_ns : 0;
        struct pollfd poll_fd = {.fd = f->signals->fd, .events = POLLIN};
        poll(&poll_fd, 1, wait_ms(stacks_ns < step_ns ? stacks_ns : step_ns));
        read_signals(f);
        now_ns = clock_mono_ns();
    }
    sampler_finish(f->sampler);
    while (wait4(f->pid, &f->status, 0, &f->usage) < 0 && errno == EINTR)
        continue;
}
