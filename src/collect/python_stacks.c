// SPDX-License-Identifier: Apache-2.0
// See python_stacks.h. A stack is known by the hash of its codes and lines; its text is written
// once. Rounds come at uneven times, so that nothing that repeats evenly is seen always, or never.
// Threads: one owner.
#include "collect/python_stacks.h"

#include "base/clock.h"
#include "base/heap.h"
#include "base/vec.h"
#include "collect/python_remote.h"
#include "trace/names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INTERVAL_NS 10000000u  // at best
#define COST_RATIO_INVERSE 200 // rounds may cost 1/200 of the time
#define CREDIT_MOST_NS                                                                             \
    20000000               // of CPU time at once: a stack that is new costs more than a known one
#define LOOK_NS 100000000u // between looks for new interpreters
#define NEW_LOOKS 100      // at a process that has announced none so far
#define KNOWN_MOST 16384u  // stacks; then all are forgotten

struct interpreter {
    uint32_t pid;
    uint64_t image_ticks;
    int looks;                    // left, while `remote` is NULL
    uint32_t round;               // of looking, that saw it last
    struct python_remote *remote; // NULL: none was announced, or it cannot be read
};

struct known {
    uint64_t hash;
    uint32_t number; // of the stack; 0: a free slot
};

struct python_stacks {
    int run_dir_fd;
    VEC(struct interpreter) interpreters;
    struct known *known; // open addressing
    size_t known_count;
    uint32_t last_number;
    struct buf texts;
    uint64_t due_ns, look_ns, credit_at_ns, taken;
    int64_t credit_ns; // of CPU time, that rounds may cost now
    uint32_t look_round, dice;
    const char *missing;
    // Of the round that is being taken:
    struct sampler *sampler;
    const struct interpreter *current;
};

// ---- Interpreters. ----------------------------------------------------------------------------

static struct interpreter *find(struct python_stacks *s, const struct trace_name *name)
{
    for (size_t i = 0; i < s->interpreters.count; i++) {
        struct interpreter *p = &s->interpreters.at[i];
        if (p->pid == name->pid && p->image_ticks == name->image_ticks)
            return p;
    }
    struct interpreter *p = vec_push(&s->interpreters);
    *p = (struct interpreter){
        .pid = name->pid, .image_ticks = name->image_ticks, .looks = NEW_LOOKS};
    return p;
}

// What its process file says by now.
static void look_into(struct python_stacks *s, struct interpreter *p, const char *file)
{
    struct trace_process header;
    const int fd = openat(s->run_dir_fd, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    const ssize_t n = fd < 0 ? 0 : pread(fd, &header, sizeof header, 0);
    if (fd >= 0)
        close(fd);
    p->looks--;
    if (n != (ssize_t)sizeof header || !header.python_version)
        return;
    const struct python_layout *layout = python_layout_find(header.python_version);
    p->looks = 0;
    if (layout)
        p->remote = python_remote_new((pid_t)p->pid, header.python_runtime, layout);
    else
        s->missing = "the layout of this CPython release is not known";
}

static void look_for_new(struct python_stacks *s)
{
    const int fd = openat(s->run_dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir)
        return;
    s->look_round++;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        const struct trace_name name = trace_name_parse(entry->d_name);
        if (name.kind != TRACE_NAME_PROCESS)
            continue;
        struct interpreter *p = find(s, &name);
        p->round = s->look_round;
        if (!p->remote && p->looks > 0)
            look_into(s, p, entry->d_name);
    }
    closedir(dir);
    for (size_t i = 0; i < s->interpreters.count; i++) {
        struct interpreter *p = &s->interpreters.at[i];
        if (p->round == s->look_round)
            continue;
        python_remote_free(&p->remote);
        *p = *vec_last(&s->interpreters);
        s->interpreters.count--;
        i--;
    }
}

// ---- Stacks. ----------------------------------------------------------------------------------

static uint64_t hash_of(const struct python_stacks *s, const struct python_stack *stack)
{
    uint64_t hash =
        ((uint64_t)s->current->pid << 32 ^ s->current->image_ticks) * 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < stack->count; i++) {
        hash ^= (uint64_t)stack->frames[i].code << 32 ^ (uint32_t)stack->frames[i].line;
        hash *= 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

// The frames, outermost first, each with a NUL behind its function, file and line.
static void add_text(struct python_stacks *s, const struct python_stack *stack)
{
    static const char padding[16];
    struct buf text = {0};
    const struct python_remote *remote = s->current->remote;
    for (size_t i = stack->count; i-- > 0;) {
        const struct python_frame *f = &stack->frames[i];
        buf_printf(&text, "%s%c%s%c%d%c", python_remote_function(remote, f->code), 0,
            python_remote_file(remote, f->code), 0, (int)f->line, 0);
    }
    const struct trace_text head = {.kind = TRACE_TEXT,
        .use = TRACE_TEXT_STACK,
        .length_bytes = (uint32_t)text.length_bytes,
        .subject = s->last_number};
    buf_add(&s->texts, &head, sizeof head);
    buf_add(&s->texts, text.at, text.length_bytes);
    buf_add(&s->texts, padding, -text.length_bytes % sizeof padding);
    buf_fini(&text);
}

static void forget(struct python_stacks *s)
{
    memset(s->known, 0, (size_t)2 * KNOWN_MOST * sizeof *s->known);
    s->known_count = 0;
}

static uint32_t number_of(struct python_stacks *s, const struct python_stack *stack)
{
    const uint64_t hash = hash_of(s, stack);
    size_t at = hash & (2 * KNOWN_MOST - 1);
    while (s->known[at].number && s->known[at].hash != hash)
        at = (at + 1) & (2 * KNOWN_MOST - 1);
    if (s->known[at].number)
        return s->known[at].number;
    if (s->known_count == KNOWN_MOST) {
        forget(s);
        return number_of(s, stack);
    }
    s->known_count++;
    s->known[at] = (struct known){hash, ++s->last_number};
    add_text(s, stack);
    return s->last_number;
}

static void take_stack(void *context, const struct python_stack *stack)
{
    struct python_stacks *s = context;
    sampler_put(s->sampler, TRACE_METRIC_PYTHON_STACK, stack->tid, number_of(s, stack));
    s->taken++;
}

static void take_round(struct python_stacks *s)
{
    for (size_t i = 0; i < s->interpreters.count; i++) {
        struct interpreter *p = &s->interpreters.at[i];
        if (!p->remote)
            continue;
        s->current = p;
        if (python_remote_stacks(p->remote, take_stack, s) == 0 || errno == EFAULT)
            continue;
        if (errno == EPERM)
            s->missing = "the kernel does not let Lightmeter read the program's memory "
                         "(kernel.yama.ptrace_scope, or a container's rules)";
        python_remote_free(&p->remote);
    }
}

static int has_any(const struct python_stacks *s)
{
    for (size_t i = 0; i < s->interpreters.count; i++)
        if (s->interpreters.at[i].remote)
            return 1;
    return 0;
}

// Half to one and a half times as long.
static uint64_t uneven(struct python_stacks *s, uint64_t ns)
{
    s->dice = s->dice * 1664525u + 1013904223u;
    return ns / 2 + (uint64_t)((double)ns * (s->dice >> 8) / (1 << 24));
}

// Until the next round, when the last one took so much CPU time.
static uint64_t interval_after(struct python_stacks *s, uint64_t now_ns, uint64_t cost_ns)
{
    const uint64_t since_ns = s->credit_at_ns ? now_ns - s->credit_at_ns : 0;
    s->credit_at_ns = now_ns;
    s->credit_ns += (int64_t)(since_ns / COST_RATIO_INVERSE);
    if (s->credit_ns > CREDIT_MOST_NS)
        s->credit_ns = CREDIT_MOST_NS;
    s->credit_ns -= (int64_t)cost_ns;
    const uint64_t owed_ns = s->credit_ns < 0 ? (uint64_t)-s->credit_ns * COST_RATIO_INVERSE : 0;
    return uneven(s, owed_ns > INTERVAL_NS ? owed_ns : INTERVAL_NS);
}

uint64_t python_stacks_step(struct python_stacks *s, uint64_t now_ns, struct sampler *sampler)
{
    if (now_ns >= s->look_ns) {
        look_for_new(s);
        s->look_ns = now_ns + LOOK_NS;
    }
    if (!has_any(s))
        return s->look_ns - now_ns;
    if (now_ns < s->due_ns)
        return s->due_ns - now_ns;
    const uint64_t start_ns = clock_thread_cpu_ns();
    s->sampler = sampler;
    take_round(s);
    s->due_ns = now_ns + interval_after(s, now_ns, clock_thread_cpu_ns() - start_ns);
    return s->due_ns - now_ns;
}

// ---- Life. ------------------------------------------------------------------------------------

struct python_stacks *python_stacks_new(int run_dir_fd)
{
    struct python_stacks *s = heap_alloc(1, sizeof *s);
    s->run_dir_fd = run_dir_fd;
    s->known = heap_alloc((size_t)2 * KNOWN_MOST, sizeof *s->known);
    s->missing = "";
    s->credit_ns = CREDIT_MOST_NS;
    s->dice = (uint32_t)getpid();
    return s;
}

void python_stacks_free(struct python_stacks **s)
{
    if (!s || !*s)
        return;
    for (size_t i = 0; i < (*s)->interpreters.count; i++)
        python_remote_free(&(*s)->interpreters.at[i].remote);
    vec_fini(&(*s)->interpreters);
    free((*s)->known);
    buf_fini(&(*s)->texts);
    free(*s);
    *s = NULL;
}

const struct buf *python_stacks_texts(const struct python_stacks *s)
{
    return &s->texts;
}

void python_stacks_clear(struct python_stacks *s, int is_forgotten)
{
    s->texts.length_bytes = 0;
    if (is_forgotten)
        forget(s);
}

uint64_t python_stacks_taken(const struct python_stacks *s)
{
    return s->taken;
}

const char *python_stacks_missing(const struct python_stacks *s)
{
    return s->missing;
}
