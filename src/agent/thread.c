// SPDX-License-Identifier: Apache-2.0
// Gives each thread of the target its block: at its first event, or before its first instruction
// when pthread_create was seen. Blocks come from mmap in memory that a fork wipes, and are used
// again when their thread has ended. Lock-free: blocks are claimed by an atomic flag. Keeps errno.
#include "agent/thread.h"

#include "agent/process.h"
#include "agent/span.h"
#include "agent/split.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

// After a segment could not be had, this many records are dropped before the next try.
#define RETRY_RECORDS 4096u

// A launcher that was silent for so long is gone; a thread then keeps to so many segments (of 1
// MiB).
#define ORPHAN_NS 5000000000u
#define ORPHAN_SEGMENTS 64u

#define SHORT_LIFE_NS 5000000u

// What a thread has before its own block, and after its end: no room for any span.
static struct agent_thread no_thread;
static struct agent_thread ended_thread;
__thread struct agent_thread *agent_self __attribute__((tls_model("initial-exec"))) = &no_thread;
static __thread int is_opening __attribute__((tls_model("initial-exec")));

static pthread_key_t end_key;
static _Atomic int end_key_state; // 0 not made, 1 made, 2 could not be made

// Runs among the thread's destructors. Others may still record, so it asks for a later round first.
static void end_by_key(void *value)
{
    struct agent_thread *t = value;
    if (t != agent_self)
        return;
    if (++t->closing < 3)
        pthread_setspecific(end_key, t);
    else
        agent_thread_end();
}

static void set_end_key(struct agent_thread *t)
{
    int expected = 0;
    if (atomic_compare_exchange_strong(&end_key_state, &expected, 2) &&
        pthread_key_create(&end_key, end_by_key) == 0)
        atomic_store(&end_key_state, 1);
    if (atomic_load(&end_key_state) == 1)
        pthread_setspecific(end_key, t);
}

static struct agent_thread *claim_block(void)
{
    for (struct agent_thread *t = atomic_load(&agent.all); t; t = t->next_all) {
        uint32_t expected = 0;
        if (__atomic_compare_exchange_n(
                &t->in_use, &expected, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return t;
    }
    size_t length_bytes = (sizeof(struct agent_thread) + 4095) & ~(size_t)4095;
    struct agent_thread *t =
        mmap(NULL, length_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (t == MAP_FAILED)
        return NULL;
    madvise(t, length_bytes, MADV_WIPEONFORK);
    t->in_use = 1;
    t->next_all = atomic_load(&agent.all);
    while (!atomic_compare_exchange_weak(&agent.all, &t->next_all, t))
        ;
    return t;
}

// What a new thread waited for a CPU before its first instruction. The kernel tells, but makes a
// folder of /proc for the thread first, which takes as long as the thread's making: so it is the
// time since it was asked for.
static void start_runq(struct agent_thread *t, uint64_t asked_ticks)
{
    static _Atomic int is_untold; // this kernel does not count it
    uint64_t cpu_ns;
    t->runq = (struct agent_runq){.asked = !asked_ticks};
    if (!asked_ticks) {
        agent_schedstat(0, &cpu_ns, &t->runq.told_ns);
        atomic_store_explicit(&is_untold, t->runq.told_ns == UINT64_MAX, memory_order_relaxed);
    } else if (atomic_load_explicit(&is_untold, memory_order_relaxed)) {
        t->runq.told_ns = UINT64_MAX;
    } else {
        const uint64_t waited_ns = agent_ns(agent_ticks() - asked_ticks);
        cpu_ns = clock_thread_cpu_ns();
        t->runq.told_ns = waited_ns > cpu_ns ? waited_ns - cpu_ns : 0;
    }
}

static void start_block(struct agent_thread *t, uint64_t asked_ticks)
{
    t->tid = (uint32_t)syscall(SYS_gettid);
    t->depth = t->overflow = t->busy = t->retry = t->closing = t->aggregate_count =
        t->counter_count = t->close_syncs = t->range_count = t->range_overflow = 0;
    t->writer = (struct trace_writer){
        .tid = t->tid, .thread_seq = atomic_fetch_add(&agent.thread_count, 1)};
    start_runq(t, asked_ticks);
    split_start(t);
    t->start_ticks = t->sync_ticks;
    t->aggregate_ticks = t->buckets_ticks = t->sync_ticks;
    t->items = 0;
    t->frames[0] = (struct agent_frame){.start_ticks = t->sync_ticks};
    t->depth_limit = AGENT_DEPTH + 1;
}

static void write_thread(struct agent_thread *t, enum trace_thread_op op)
{
    struct trace_thread *r = agent_room(t, sizeof *r);
    if (!r)
        return;
    // At its start all were read just now.
    uint64_t ticks = t->sync_ticks, cpu_ns = t->sync_cpu_ns, runq_ns = t->runq.told_ns;
    if (op == TRACE_THREAD_END) {
        // A thread that was short and did not wait for long knows its waiting well enough itself.
        if (t->runq.asked || agent_ns(agent_ticks() - t->start_ticks) > SHORT_LIFE_NS)
            agent_schedstat(0, &cpu_ns, &runq_ns);
        ticks = agent_ticks();
        cpu_ns = clock_thread_cpu_ns();
    }
    *r = (struct trace_thread){TRACE_THREAD, (uint8_t)op, 0, t->tid, ticks, cpu_ns, runq_ns};
    trace_writer_commit(&t->writer, sizeof *r);
}

static struct agent_thread *open_block(enum trace_thread_op op, uint64_t asked_ticks)
{
    if (is_opening || agent_self == &ended_thread || agent_is_quiet())
        return NULL;
    is_opening = 1;
    int saved_errno = errno;
    struct agent_thread *t = NULL;
    int failed = agent_is_forked() ? process_restart() : process_start();
    if (!failed)
        t = claim_block();
    if (t) {
        start_block(t, asked_ticks);
        write_thread(t, op);
        agent_self = t;
        set_end_key(t);
    }
    errno = saved_errno;
    is_opening = 0;
    return t;
}

struct agent_thread *agent_thread_open(void)
{
    if (agent_self->depth_limit)
        return agent_self;
    return open_block(TRACE_THREAD_SEEN, 0);
}

void agent_thread_begin(const char *creator, uint64_t asked_ticks)
{
    struct agent_thread *t = open_block(TRACE_THREAD_START, asked_ticks);
    if (!t)
        return;
    const char *parts[] = {"", creator};
    process_text(TRACE_TEXT_THREAD, 0, t->tid, 0, parts, 2);
}

void agent_thread_leave(void)
{
    struct agent_thread *t = agent_self;
    if (!t->depth_limit)
        return;
    agent_self = &ended_thread;
    t->depth_limit = 0; // and in use for good: its segment is not let go
}

void agent_thread_end(void)
{
    struct agent_thread *t = agent_self;
    if (!t->depth_limit)
        return;
    if (t->busy == AGENT_INSIDE || agent_is_quiet()) {
        agent_thread_leave();
        return;
    }
    int saved_errno = errno;
    span_guard(t, AGENT_INSIDE);
    span_close_all(t);
    write_thread(t, TRACE_THREAD_END);
    if (agent.process)
        __atomic_fetch_add(
            &agent.process->dropped_records, t->writer.dropped_records, __ATOMIC_RELAXED);
    trace_writer_close(&t->writer, &agent.place);
    agent_self = &ended_thread;
    t->depth_limit = 0;
    __atomic_store_n(&t->in_use, 0, __ATOMIC_RELEASE);
    errno = saved_errno;
}

// Whether the launcher has not been heard of for long and this thread has filled its share: nobody
// would take further segments away, and they lie in memory.
static int is_orphaned(const struct agent_thread *t)
{
    const uint64_t beat_ns = agent.beat_ns ? *agent.beat_ns : 0;
    return beat_ns && t->writer.segment_seq >= ORPHAN_SEGMENTS &&
           clock_mono_ns() - beat_ns > ORPHAN_NS;
}

static int advance(struct agent_thread *t)
{
    if (t->retry) {
        t->retry--;
        return -1;
    }
    int saved_errno = errno;
    int failed = is_orphaned(t) || trace_writer_advance(&t->writer, &agent.place);
    errno = saved_errno;
    if (failed) {
        t->retry = RETRY_RECORDS;
        return -1;
    }
    return 0;
}

void agent_note_drops(struct agent_thread *t, uint64_t now)
{
    const uint32_t lost = t->writer.dropped_records;
    struct trace_drop *d = trace_writer_room(&t->writer, sizeof *d);
    if (!lost || !d)
        return;
    *d = (struct trace_drop){TRACE_DROP, 0, 0, lost, now};
    trace_writer_commit(&t->writer, sizeof *d);
    t->writer.dropped_records = 0;
}

void *agent_room(struct agent_thread *t, size_t length_bytes)
{
    void *room = trace_writer_room(&t->writer, length_bytes);
    if (room)
        return room;
    if (*agent.control != AGENT_STOP && advance(t) == 0)
        return trace_writer_room(&t->writer, length_bytes);
    t->writer.dropped_records++;
    return NULL;
}

void agent_reserve(struct agent_thread *t, size_t length_bytes)
{
    if (!trace_writer_room(&t->writer, length_bytes) && *agent.control != AGENT_STOP)
        advance(t);
}

static const char *read_number(const char *at, uint64_t *value)
{
    *value = 0;
    while (*at == ' ')
        at++;
    const char *first = at;
    for (; *at >= '0' && *at <= '9'; at++)
        *value = *value * 10 + (uint64_t)(*at - '0');
    return at > first ? at : NULL;
}

void agent_schedstat(uint32_t tid, uint64_t *cpu_ns, uint64_t *runq_ns)
{
    char path[64] = "/proc/thread-self/schedstat", text[96];
    *cpu_ns = *runq_ns = UINT64_MAX;
    if (tid) {
        static const char head[] = "/proc/self/task/", tail[] = "/schedstat";
        char digits[12];
        int count = 0;
        size_t at = sizeof head - 1;
        __builtin_memcpy(path, head, sizeof head);
        for (uint32_t rest = tid; rest; rest /= 10)
            digits[count++] = (char)('0' + rest % 10);
        while (count)
            path[at++] = digits[--count];
        __builtin_memcpy(path + at, tail, sizeof tail);
    }
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    long n = syscall(SYS_read, fd, text, sizeof text - 1);
    syscall(SYS_close, fd);
    if (n <= 0)
        return;
    text[n] = 0;
    uint64_t cpu, runq;
    const char *next = read_number(text, &cpu);
    if (next && read_number(next, &runq)) {
        *cpu_ns = cpu;
        *runq_ns = runq;
    }
}
