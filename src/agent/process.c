// SPDX-License-Identifier: Apache-2.0
// Starts and finishes the agent in a process. The environment names the run directory; without it,
// or when anything there is not as expected, the program runs untouched. A forked child starts over
// with a process file of its own. Text goes into the process file lock-free: a place is reserved by
// an atomic addition, the record's kind is written last.
#include "agent/process.h"

#include "agent/config.h"
#include "agent/hook.h"
#include "agent/names.h"
#include "agent/patch.h"
#include "agent/python_shim.h"
#include "agent/split.h"
#include "trace/names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROCESS_FILE_BYTES (128u << 10)
#define CONTROL_BYTES 4096u

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

static const volatile struct trace_control no_control;
struct agent agent = {.control = &no_control.state, .scale_mult = 1};

static uint64_t ticks_of_ns(uint64_t ns)
{
    return (uint64_t)(((agent_wide)ns << agent.scale_shift) / agent.scale_mult);
}

static void set_scale(void)
{
    agent.clock_is_tsc = config.clock_is_tsc;
    agent.scale_mult = config.scale_mult;
    agent.scale_shift = config.scale_shift;
    agent.resync_ticks = ticks_of_ns(5000000);
    agent.short_ticks = ticks_of_ns(20000);
    agent.idle_ticks = ticks_of_ns(1000000);
    agent.second_ticks = ticks_of_ns(1000000000);
    agent.long_ticks = ticks_of_ns(1000000);
}

static void map_control(void)
{
    char path[300];
    if (trace_writer_path(path, sizeof path, &agent.place, "control") < 0)
        return;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    void *at = mmap(NULL, CONTROL_BYTES, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
    syscall(SYS_close, fd);
    if (at == MAP_FAILED)
        return;
    const struct trace_control *control = at;
    agent.control = &control->state;
    agent.beat_ns = &control->beat_ns;
    agent.place.stock = control->stock;
}

static int open_process_file(uint64_t flags)
{
    char name[TRACE_NAME_BYTES], path[sizeof agent.place.run_dir + TRACE_NAME_BYTES];
    agent.place.pid = (uint32_t)syscall(SYS_getpid);
    agent.place.image_ticks = agent_ticks();
    agent.place.kept_count = 0;
    agent.process = NULL;
    struct trace_name n = {
        .kind = TRACE_NAME_PROCESS, .pid = agent.place.pid, .image_ticks = agent.place.image_ticks};
    if (trace_writer_path(path, sizeof path, &agent.place, trace_name_format(name, &n)) < 0)
        return -1;
    struct trace_process *p = trace_writer_map(path, PROCESS_FILE_BYTES, 1);
    if (!p)
        return -1;
    *p = (struct trace_process){.pid = agent.place.pid,
        .parent_pid = (uint32_t)syscall(SYS_getppid),
        .image_ticks = agent.place.image_ticks,
        .split_method = (uint32_t)agent.split_method,
        .clock_is_tsc = (uint32_t)agent.clock_is_tsc,
        .text_length_bytes = PROCESS_FILE_BYTES - sizeof *p,
        .flags = flags};
    python_shim_announce(p);
    __atomic_store_n(&p->magic, TRACE_PROCESS_MAGIC, __ATOMIC_RELEASE);
    agent.process = p;
    names_write_all();
    return 0;
}

static int make_alive_page(void)
{
    void *page =
        mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || madvise(page, CONTROL_BYTES, MADV_WIPEONFORK) != 0)
        return -1;
    agent.alive = page;
    atomic_store(agent.alive, 1);
    return 0;
}

// The run directory must be ours alone: its name comes from the environment.
static int take_run_dir(void)
{
    const char *dir = getenv("LIGHTMETER_RUN_DIR");
    size_t length = dir ? strnlen(dir, sizeof agent.place.run_dir) : 0;
    if (!length || length >= sizeof agent.place.run_dir || dir[0] != '/')
        return -1;
    memcpy(agent.place.run_dir, dir, length + 1);
    return 0;
}

// The kernel's filters of this process's system calls; 0 where it does not tell. Asked with the
// calls that the loader makes itself, so that a filter which lets programs start allows them.
static uint32_t filter_count(void)
{
    static const char word[] = "\nSeccomp_filters:";
    char text[4096];
    const int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    const long n = syscall(SYS_read, fd, text, sizeof text - 1);
    syscall(SYS_close, fd);
    text[n > 0 ? n : 0] = 0;
    const char *at = strstr(text, word);
    return at ? (uint32_t)strtoul(at + sizeof word - 1, NULL, 10) : 0;
}

static int start(void)
{
    if (take_run_dir() < 0 || config_read(agent.place.run_dir) < 0)
        return -1;
    if (filter_count() > config.filters) {
        atomic_store(&agent.is_quiet, 1);
        return -1;
    }
    set_scale();
    agent.split_method = split_choose();
    if (make_alive_page() < 0 || open_process_file(0) < 0)
        return -1;
    map_control();
    return 0;
}

int process_start(void)
{
    uint32_t state = atomic_load_explicit(&agent.state, memory_order_acquire);
    if (state == AGENT_ON)
        return 0;
    uint32_t expected = AGENT_IDLE;
    if (!atomic_compare_exchange_strong(&agent.state, &expected, AGENT_STARTING))
        return -1;
    int saved_errno = errno;
    int failed = start();
    errno = saved_errno;
    atomic_store_explicit(&agent.state, failed ? AGENT_OFF : AGENT_ON, memory_order_release);
    return failed;
}

int process_restart(void)
{
    static _Atomic int is_restarting;
    int expected = 0;
    if (atomic_load(&agent.state) != AGENT_ON ||
        !atomic_compare_exchange_strong(&is_restarting, &expected, 1))
        return -1;
    int failed = 0;
    if (agent_is_forked()) {
        atomic_store(&agent.all, NULL);
        atomic_store(&agent.thread_count, 0);
        patch_see_fork();
        agent.process = NULL; // the parent's, not mapped here
        atomic_store(agent.alive, 1);
        failed = open_process_file(1);
        if (failed)
            atomic_store(&agent.state, AGENT_OFF);
    }
    atomic_store(&is_restarting, 0);
    return failed;
}

// What the kernel knows of threads that are still alive: they have no end of their own.
static void write_living_threads(struct agent_thread *self)
{
    for (struct agent_thread *t = atomic_load(&agent.all); t; t = t->next_all) {
        if (t == self || !__atomic_load_n(&t->in_use, __ATOMIC_ACQUIRE))
            continue;
        struct trace_thread *r = agent_room(self, sizeof *r);
        if (!r)
            return;
        uint64_t cpu_ns, runq_ns;
        agent_schedstat(t->tid, &cpu_ns, &runq_ns);
        *r = (struct trace_thread){
            TRACE_THREAD, TRACE_THREAD_END, 0, t->tid, agent_ticks(), cpu_ns, runq_ns};
        trace_writer_commit(&self->writer, sizeof *r);
    }
}

void process_finish(enum process_end how)
{
    struct trace_process *p = agent.process;
    if (!p || atomic_load(&agent.state) != AGENT_ON || agent_is_forked() ||
        (uint32_t)syscall(SYS_getpid) != agent.place.pid || p->exit_seen)
        return;
    int saved_errno = errno;
    struct agent_thread *self = agent_self;
    patch_report_coverage();
    if (self->depth_limit)
        write_living_threads(self);
    p->threads = atomic_load(&agent.thread_count);
    p->exit_seen = (uint32_t)how;
    agent_thread_end();
    __atomic_store_n(&p->end_ticks, agent_ticks(), __ATOMIC_RELEASE);
    errno = saved_errno;
}

// Until no other thread is inside our own code, where it may be about to ask the kernel; not for
// ever.
static void wait_for_others(const struct agent_thread *self)
{
    for (const struct agent_thread *t = atomic_load(&agent.all); t; t = t->next_all) {
        const volatile uint32_t *busy = &t->busy;
        for (int i = 0; i < 1000 && t != self && t->depth_limit && *busy == AGENT_INSIDE; i++)
            syscall(SYS_sched_yield);
    }
}

void process_quiet(const char *why)
{
    static const volatile uint32_t stop = AGENT_STOP;
    if (agent_is_quiet())
        return;
    const int saved_errno = errno;
    struct agent_thread *self = agent_self;
    if (atomic_load(&agent.state) == AGENT_ON && !agent_is_forked()) {
        process_note(why);
        patch_report_coverage();
        agent.process->threads = atomic_load(&agent.thread_count);
        agent_thread_end();
    }
    atomic_store(&agent.is_quiet, 1);
    agent.control = &stop;
    wait_for_others(self);
    atomic_store(&agent.state, AGENT_OFF);
    errno = saved_errno;
}

static void fill_text(struct trace_text *r, const char *const *parts, int count)
{
    char *out = (char *)(r + 1);
    for (int i = 0; i < count; i++) {
        size_t length = strlen(parts[i]);
        memcpy(out, parts[i], length);
        out += length;
        if (i + 1 < count)
            *out++ = 0;
    }
}

void process_text(enum trace_text_use use, uint16_t id, uint32_t subject, uint32_t aux,
    const char *const *parts, int count)
{
    struct trace_process *p = agent.process;
    if (!p || agent_is_forked())
        return;
    uint64_t length = (uint64_t)count - 1;
    for (int i = 0; i < count; i++)
        length += strlen(parts[i]);
    uint64_t room = sizeof(struct trace_text) + ((length + 15) & ~(uint64_t)15);
    // Who made each of ten thousand threads: room is kept for what matters more.
    if (use == TRACE_TEXT_THREAD &&
        __atomic_load_n(&p->text_reserved_bytes, __ATOMIC_RELAXED) > p->text_length_bytes / 4 * 3)
        return;
    uint64_t at = __atomic_fetch_add(&p->text_reserved_bytes, room, __ATOMIC_RELAXED);
    if (at + room > p->text_length_bytes) {
        __atomic_fetch_add(&p->dropped_records, 1, __ATOMIC_RELAXED);
        return;
    }
    struct trace_text *r = (struct trace_text *)(void *)((uint8_t *)(p + 1) + at);
    r->use = (uint8_t)use;
    r->id = id;
    r->length_bytes = (uint32_t)length;
    r->subject = subject;
    r->aux = aux;
    fill_text(r, parts, count);
    __atomic_store_n(&r->kind, TRACE_TEXT, __ATOMIC_RELEASE);
}

void process_note(const char *text)
{
    process_text(TRACE_TEXT_NOTE, 0, 0, 0, &text, 1);
}

__attribute__((constructor(101))) static void come_up(void)
{
    hook_find_nexts();
    if (process_start() == 0 && agent_thread_open())
        patch_start();
}

__attribute__((destructor(101))) static void go_down(void)
{
    process_finish(PROCESS_EXIT);
}
