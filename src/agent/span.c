// SPDX-License-Identifier: Apache-2.0
// The slow paths of the span stack: charging off-CPU time, folding short calls, writing spans that
// carry more than a time, and putting the stack right after a longjmp. Called from span.h.
// Allocates nothing; system calls only after a switch.
#include "agent/span.h"

#include "agent/attrs.h"
#include "agent/split.h"
#include "agent/sum.h"

#include <errno.h>
#include <string.h>

// Wall minus CPU below this is the resolution of the clocks, not waiting.
#define NOISE_NS 300u
// Blocked for less than this: the run-queue wait in it is not worth knowing.
#define RUNQ_WORTH_NS 60000u
// Without the free test the CPU clock is read only when this much has passed.
#define CPU_CLOCK_STEP_NS 4000u
// Under a debugger or a tracer the calls of a comparison are switches themselves, and each would
// ask for the next: after so many comparisons so close together these no longer count.
#define STORM_TICKS agent.idle_ticks
#define STORM_SYNCS 32u
// Stack addresses further apart belong to different stacks (coroutines).
#define SAME_STACK_BYTES (1u << 20)
// A span with all that is written before it.
#define SPAN_GROUP_BYTES (sizeof(struct trace_split) + ATTRS_BYTES + sizeof(struct trace_span_long))

// Pages of a mapped file were read in, in the own time of `f`: that is what it waited for, where no
// other cause is known and this is most of its waiting. Written out: a sum has its name's cause.
static void note_page_in(struct agent_frame *f, uint64_t off_ns)
{
    if (f->what.cause != TRACE_CAUSE_OTHER || off_ns < f->off_ns / 2)
        return;
    f->what.cause = TRACE_CAUSE_IO;
    f->what.flags &= (uint8_t)~AGENT_FOLDED;
}

// How much of `off_ns` the thread was runnable: all of it when it never gave up the CPU itself,
// else what the kernel says, or said of the waits before.
static uint64_t runq_part(struct agent_thread *t, uint64_t off_ns)
{
    uint64_t major_faults, voluntary = split_voluntary_switches(&major_faults);
    if (major_faults != t->major_faults)
        note_page_in(&t->frames[t->depth], off_ns);
    t->major_faults = major_faults;
    int was_preempted = voluntary == t->voluntary_switches;
    t->voluntary_switches = voluntary;
    if (t->runq.told_ns == UINT64_MAX)
        return was_preempted ? off_ns : 0;
    if (was_preempted) {
        t->runq.told_ns += off_ns;
        return off_ns;
    }
    if (off_ns < RUNQ_WORTH_NS)
        return 0;
    if (!runq_is_due(&t->runq, off_ns, t->sync_cpu_ns))
        return runq_guess(&t->runq, off_ns);
    uint64_t cpu_ns, runq_ns;
    agent_schedstat(0, &cpu_ns, &runq_ns);
    return runq_ns == UINT64_MAX ? 0 : runq_settle(&t->runq, off_ns, t->sync_cpu_ns, runq_ns);
}

static void write_split(struct agent_thread *t, const struct agent_frame *f, uint32_t depth)
{
    struct trace_split *s = agent_room(t, sizeof *s);
    if (!s)
        return;
    *s = (struct trace_split){.kind = TRACE_SPLIT,
        .depth = (uint8_t)depth,
        .cause = f->what.cause,
        .switches = f->what.switches,
        .off_ns = f->off_ns,
        .runq_ns = f->runq_ns};
    trace_writer_commit(&t->writer, sizeof *s);
}

// Charges the time off the CPU since the last sync to the innermost open span; the new now.
static uint64_t sync_thread(struct agent_thread *t, uint64_t now)
{
    if (agent.split_method == TRACE_SPLIT_CPU_CLOCK &&
        agent_ns(now - t->sync_ticks) < CPU_CLOCK_STEP_NS)
        return now;
    int saved_errno = errno;
    t->close_syncs = now - t->sync_ticks < STORM_TICKS ? t->close_syncs + 1 : 0;
    split_arm(t);
    uint64_t cpu_ns = clock_thread_cpu_ns();
    now = agent_ticks();
    uint64_t wall_ns = agent_ns(now - t->sync_ticks), used_ns = cpu_ns - t->sync_cpu_ns;
    t->sync_ticks = now;
    t->sync_due_ticks = now + agent.resync_ticks;
    t->sync_cpu_ns = cpu_ns;
    if (wall_ns > used_ns + NOISE_NS) {
        struct agent_frame *f = &t->frames[t->depth];
        uint64_t off_ns = wall_ns - used_ns;
        if (!f->what.switches)
            f->off_ns = f->runq_ns = 0;
        f->off_ns += off_ns;
        f->runq_ns += runq_part(t, off_ns);
        if (f->what.switches < UINT16_MAX)
            f->what.switches++;
        if (!t->depth) {
            // Outside all spans: nothing will end that it could be written with.
            write_split(t, f, TRACE_DEPTH_ROOT);
            f->what.switches = 0;
            f->what.cause = TRACE_CAUSE_OTHER;
        }
    }
    if (t->close_syncs > STORM_SYNCS)
        split_arm(t);
    errno = saved_errno;
    return now;
}

uint64_t span_now(struct agent_thread *t)
{
    split_allow_fast(t, *agent.control == AGENT_RECORD);
    uint64_t now = agent_ticks();
    if (split_is_switched(t) || now > t->sync_due_ticks)
        now = sync_thread(t, now);
    if (__builtin_expect(t->writer.dropped_records != 0, 0))
        agent_note_drops(t, now);
    return now;
}

static void write_span(
    struct agent_thread *t, const struct agent_frame *f, uint32_t index, uint64_t now)
{
    uint64_t dur = now - f->start_ticks;
    if (dur >> 32) {
        struct trace_span_long *s = agent_room(t, sizeof *s);
        if (!s)
            return;
        *s = (struct trace_span_long){
            TRACE_SPAN_LONG, (uint8_t)(index - 1), f->what.name, 0, now, dur, 0};
        trace_writer_commit(&t->writer, sizeof *s);
        return;
    }
    struct trace_span *s = agent_room(t, sizeof *s);
    if (!s)
        return;
    *s = (struct trace_span){TRACE_SPAN, (uint8_t)(index - 1), f->what.name, (uint32_t)dur, now};
    trace_writer_commit(&t->writer, sizeof *s);
}

static void flush_folds(struct agent_thread *t, uint32_t index)
{
    for (uint32_t i = 0; i < t->frames[index].what.fold_count; i++)
        sum_write(t, &t->folds[index][i], index);
    t->frames[index].what.fold_count = 0;
}

// Adds to the folds of the frame `index`, writing out what is in the way.
static void add_fold(struct agent_thread *t, uint32_t index, const struct agent_fold *fold)
{
    struct agent_frame *f = &t->frames[index];
    struct agent_fold *slots = t->folds[index];
    for (uint32_t i = 0; i < f->what.fold_count; i++) {
        if (slots[i].name != fold->name)
            continue;
        if (fold->first_start_ticks - slots[i].last_end_ticks < agent.idle_ticks) {
            sum_merge(&slots[i], fold);
            return;
        }
        sum_write(t, &slots[i], index);
        slots[i] = *fold;
        return;
    }
    if (f->what.fold_count == AGENT_FOLDS)
        flush_folds(t, index);
    slots[f->what.fold_count++] = *fold;
}

static int is_folded(const struct agent_frame *f, uint64_t dur)
{
    if (f->what.flags & AGENT_FOLD)
        return 1;
    return (f->what.flags & AGENT_FOLD_SHORT) && !f->what.switches && dur < agent.short_ticks;
}

// Whether a call is one more of those that `fold` sums up.
static int is_next(const struct agent_fold *fold, const struct agent_frame *f)
{
    return fold->name == f->what.name && f->start_ticks - fold->last_end_ticks < agent.idle_ticks;
}

static inline void count_call(struct agent_fold *fold, const struct agent_frame *f, uint64_t now)
{
    uint64_t dur = now - f->start_ticks;
    fold->calls++;
    fold->self_ticks += dur > f->child_ticks ? dur - f->child_ticks : 0;
    fold->last_end_ticks = now;
    if (dur > fold->max_ticks)
        fold->max_ticks = dur;
    if (f->what.attr_bits & 1u << TRACE_ATTR_BYTES)
        fold->bytes += f->bytes;
}

// The sum in the parent that the innermost span is one more call of, when there is nothing else to
// do for it; or NULL.
static inline struct agent_fold *find_sum(
    struct agent_thread *t, const struct agent_frame *f, uint32_t token, uint64_t now)
{
    struct agent_fold *folds = t->folds[token - 1];
    if (f->what.switches || f->what.fold_count || !is_folded(f, now - f->start_ticks) ||
        *t->fast_word != t->switch_value || now > t->sync_due_ticks || attrs_have_faults(t, f))
        return NULL;
    for (uint32_t i = 0; i < f[-1].what.fold_count; i++)
        if (is_next(&folds[i], f))
            return &folds[i];
    return NULL;
}

void span_end_folded(uint32_t token, uintptr_t stack, struct agent_thread *t, uint64_t now)
{
    struct agent_frame *f = &t->frames[token];
    span_guard_fast(t, AGENT_INSIDE);
    struct agent_fold *fold = find_sum(t, f, token, now);
    if (__builtin_expect(!fold, 0)) {
        span_guard_fast(t, AGENT_FREE);
        span_end_slow(t, token, stack);
        return;
    }
    count_call(fold, f, now);
    t->depth = token - 1;
    f[-1].child_ticks += now - f->start_ticks;
    span_guard_fast(t, AGENT_FREE);
}

// Whether the innermost span, noted or not, has nothing that would make it more than one record.
static int is_plain(const struct agent_thread *t, const struct agent_frame *f, uint64_t now)
{
    return !f->what.switches && !f->what.fold_count && !f[-1].what.fold_count &&
           now - f->start_ticks < agent.long_ticks && *t->fast_word == t->switch_value &&
           now <= t->sync_due_ticks && !attrs_have_faults(t, f);
}

void span_end_noted(uint32_t token, uintptr_t stack, struct agent_thread *t, uint64_t now)
{
    struct agent_frame *f = &t->frames[token];
    span_guard_fast(t, AGENT_INSIDE);
    uint8_t *room = t->writer.cursor;
    if (__builtin_expect(
            !is_plain(t, f, now) || (size_t)(t->writer.limit - room) < SPAN_GROUP_BYTES, 0)) {
        span_guard_fast(t, AGENT_FREE);
        span_end_slow(t, token, stack);
        return;
    }
    const uint64_t dur = now - f->start_ticks;
    const uint64_t record[2] = {
        TRACE_SPAN | (uint64_t)(token - 1) << 8 | (uint64_t)f->what.name << 16 | dur << 32, now};
    prefetch_to_write(room + PREFETCH_BYTES);
    uint8_t *end = attrs_fill(room, t, f, token);
    prefetch_to_write(end + PREFETCH_BYTES);
    memcpy(end, record, sizeof record);
    trace_writer_commit_at(&t->writer, room, (size_t)(end - room) + sizeof record);
    t->depth = token - 1;
    f[-1].child_ticks += dur;
    span_guard_fast(t, AGENT_FREE);
}

// Whether the next call of the name is worth a look at its page faults: as its last one was.
static void note_long(const struct agent_frame *f, uint64_t dur)
{
    const uint8_t is_long = dur >= agent.long_ticks && !(f->what.flags & AGENT_MARK);
    uint8_t *noted = &agent.long_names[f->what.name % AGENT_NAMES];
    if (__atomic_load_n(noted, __ATOMIC_RELAXED) != is_long)
        __atomic_store_n(noted, is_long, __ATOMIC_RELAXED);
}

// Takes the innermost span off the stack and records it.
static void close_top(struct agent_thread *t, uint64_t now)
{
    uint32_t index = t->depth;
    struct agent_frame *f = &t->frames[index];
    uint64_t dur = now - f->start_ticks;
    note_long(f, dur);
    if (*agent.control == AGENT_AGGREGATE) {
        flush_folds(t, index);
        sum_call(t, f, now);
    } else if (is_folded(f, dur)) {
        struct agent_fold fold = sum_of(f, now);
        for (uint32_t i = 0; i < f->what.fold_count; i++)
            add_fold(t, index - 1, &t->folds[index][i]);
        add_fold(t, index - 1, &fold);
    } else {
        if (f[-1].what.fold_count)
            flush_folds(t, index - 1);
        flush_folds(t, index);
        if (f->what.switches || f->what.attr_bits)
            agent_reserve(t, SPAN_GROUP_BYTES);
        if (f->what.switches)
            write_split(t, f, index - 1);
        if (f->what.attr_bits)
            attrs_write(t, f, index);
        write_span(t, f, index, now);
    }
    t->depth = index - 1;
    f[-1].child_ticks += dur;
}

static void close_down_to(struct agent_thread *t, uint32_t token)
{
    uint64_t now = span_now(t);
    while (t->depth >= token)
        close_top(t, now);
}

// After a longjmp: closes the spans whose callers' frames it went past. `stack` is where we are
// now.
static void drop_jumped(struct agent_thread *t, uintptr_t stack)
{
    span_guard(t, AGENT_INSIDE);
    uint64_t now = span_now(t);
    while (t->depth > 0 && t->frames[t->depth].stack < stack &&
           stack - t->frames[t->depth].stack < SAME_STACK_BYTES)
        close_top(t, now);
    span_guard(t, AGENT_FREE);
}

void span_end_slow(struct agent_thread *t, uint32_t token, uintptr_t stack)
{
    if (agent_is_quiet()) {
        agent_thread_leave();
        return;
    }
    if (t->busy == AGENT_JUMPED)
        drop_jumped(t, stack);
    if (!token || t->busy || t->depth < token || !t->depth_limit)
        return;
    if (t->frames[token].stack != stack)
        return; // taken for abandoned since, and another span is in its place
    span_guard(t, AGENT_INSIDE);
    close_down_to(t, token);
    span_guard(t, AGENT_FREE);
}

// A call that just waits touches no memory. Asked at its begin: a call that works may get the cause
// of its waits later, as for its team.
void span_faults(uint32_t token)
{
    uint64_t minor;
    uint32_t major;
    int saved_errno = errno;
    const struct agent_frame *f = span_frame(token);
    if (!f || f->what.cause > TRACE_CAUSE_IO || agent_is_quiet())
        return;
    split_faults(&minor, &major);
    span_value_aux(token, TRACE_ATTR_FAULTS, minor, major);
    errno = saved_errno;
}

void span_close_all(struct agent_thread *t)
{
    close_down_to(t, 1);
    flush_folds(t, 0);
    sum_flush(t, span_now(t));
}

// Hooks whose callers are no longer on the stack: they were left without their end.
static void drop_abandoned(struct agent_thread *t, uintptr_t stack)
{
    uint64_t now = 0;
    while (t->depth > 0) {
        const struct agent_frame *top = &t->frames[t->depth];
        if ((top->what.flags & AGENT_MARK) || stack < top->stack ||
            stack - top->stack > SAME_STACK_BYTES)
            return;
        if (!now)
            now = span_now(t);
        close_top(t, now);
    }
}

static uint32_t open_span(struct agent_thread *t, uint32_t what, uintptr_t stack)
{
    if (!(what & AGENT_WHAT(AGENT_MARK)))
        drop_abandoned(t, stack);
    if (t->depth + 1 >= t->depth_limit) {
        t->writer.dropped_records++;
        return 0;
    }
    uint64_t now = span_now(t);
    if (!(what & AGENT_WHAT(AGENT_FOLDED)))
        flush_folds(t, t->depth);
    struct agent_frame *f = &t->frames[++t->depth];
    *f = (struct agent_frame){.start_ticks = now, .stack = stack, .what = {.word = what}};
    return t->depth;
}

uint32_t span_begin_slow(uint32_t what, uintptr_t stack)
{
    struct agent_thread *t = agent_self;
    if (agent_is_quiet()) {
        agent_thread_leave();
        return 0;
    }
    if (t->busy == AGENT_JUMPED)
        drop_jumped(t, stack);
    if (t->busy)
        return 0;
    if (!t->depth_limit)
        t = agent_thread_open();
    if (!t)
        return 0;
    uint32_t token = 0;
    if (*agent.control != AGENT_STOP) {
        span_guard(t, AGENT_INSIDE);
        token = open_span(t, what, stack);
        span_guard(t, AGENT_FREE);
    }
    if (!token && (what & AGENT_WHAT(AGENT_MARK)))
        t->overflow++;
    return token;
}
