// SPDX-License-Identifier: Apache-2.0
// What a descriptor is (a file, a socket, a pipe, ...) decides the stage of a call on it. The kind
// is asked of the kernel once per descriptor, and again after a call that waited or moved much.
// Used by the hook sets of libc's calls on descriptors, streams and paths. Calls made inside libc
// itself (fread calls read) do not come through those, so nothing is counted twice. Threads: any; a
// kind that another thread changes under way may be the old one.
#ifndef LIGHTMETER_AGENT_DESCRIPTOR_H
#define LIGHTMETER_AGENT_DESCRIPTOR_H

#include "agent/hook.h"

#include <sys/types.h>

enum descriptor_kind {
    DESCRIPTOR_UNKNOWN,
    DESCRIPTOR_FILE, // a regular file, a block device, a directory
    DESCRIPTOR_SOCKET,
    DESCRIPTOR_PIPE,
    DESCRIPTOR_EVENT, // an eventfd and other objects of the kernel's without a name
    DESCRIPTOR_TIMER,
    DESCRIPTOR_DEVICE, // a terminal, a camera, /dev/null
    DESCRIPTOR_KIND_COUNT
};

// The names of a call by the kind of its descriptor: of one that reads, and of one that writes.
#define DESCRIPTOR_READ_ROWS(call)                                                                 \
    {call, "load", TRACE_CAUSE_IO, AGENT_FOLD_SHORT, 0},                                           \
        {call, "load", TRACE_CAUSE_IO, AGENT_FOLD_SHORT, 0},                                       \
        {call "(socket)", "receive", TRACE_CAUSE_NET, AGENT_FOLD_SHORT, 0},                        \
        {call "(pipe)", "receive", TRACE_CAUSE_OTHER, AGENT_FOLD_SHORT, 0},                        \
        {call "(event)", "wait", TRACE_CAUSE_OTHER, AGENT_FOLD_SHORT, 0},                          \
        {call "(timer)", "wait", TRACE_CAUSE_SLEEP, AGENT_FOLD_SHORT, 0},                          \
    {                                                                                              \
        call "(device)", "receive", TRACE_CAUSE_OTHER, AGENT_FOLD_SHORT, 0                         \
    }
#define DESCRIPTOR_READ_NAMES(call)                                                                \
    {                                                                                              \
        DESCRIPTOR_READ_ROWS(call)                                                                 \
    }
#define DESCRIPTOR_WRITE_ROWS(call)                                                                \
    {call, "save", TRACE_CAUSE_IO, AGENT_FOLD_SHORT, 0},                                           \
        {call, "save", TRACE_CAUSE_IO, AGENT_FOLD_SHORT, 0},                                       \
        {call "(socket)", "send", TRACE_CAUSE_NET, AGENT_FOLD_SHORT, 0},                           \
        {call "(pipe)", "send", TRACE_CAUSE_OTHER, AGENT_FOLD_SHORT, 0},                           \
        {call "(event)", "send", TRACE_CAUSE_OTHER, AGENT_FOLD_SHORT, 0},                          \
        {call "(timer)", "send", TRACE_CAUSE_OTHER, AGENT_FOLD_SHORT, 0},                          \
    {                                                                                              \
        call "(device)", "send", TRACE_CAUSE_OTHER, AGENT_FOLD_SHORT, 0                            \
    }
#define DESCRIPTOR_WRITE_NAMES(call)                                                               \
    {                                                                                              \
        DESCRIPTOR_WRITE_ROWS(call)                                                                \
    }

#define DESCRIPTOR_CACHE 1024
extern uint8_t descriptor_kinds[DESCRIPTOR_CACHE];

// Which file it is, where it is a regular one; inode 0 where not.
struct descriptor_file {
    uint64_t inode;
    uint64_t length_bytes;
    uint32_t device; // folded to 32 bits
};

// Asks the kernel and remembers the answer. Keeps errno. `file` may be NULL.
enum descriptor_kind descriptor_ask(int fd, struct descriptor_file *file);

static inline enum descriptor_kind descriptor_kind(int fd)
{
    if (__builtin_expect((unsigned)fd >= DESCRIPTOR_CACHE, 0))
        return fd < 0 ? DESCRIPTOR_UNKNOWN : descriptor_ask(fd, NULL);
    uint8_t kind = __atomic_load_n(&descriptor_kinds[fd], __ATOMIC_RELAXED);
    return kind ? (enum descriptor_kind)kind : descriptor_ask(fd, NULL);
}

// A number that was closed may be something else tomorrow.
static inline void descriptor_forget(int fd)
{
    if ((unsigned)fd < DESCRIPTOR_CACHE)
        __atomic_store_n(&descriptor_kinds[fd], DESCRIPTOR_UNKNOWN, __ATOMIC_RELAXED);
}

// The same for all numbers from `first` to `last`.
void descriptor_forget_range(unsigned first, unsigned last);

// A descriptor that was opened by name just now: remembers what it is, and gives the innermost open
// span, which is that of `token`, the file's identity, and of one that is to be read how much of it
// is in memory. Such a span is written out, never folded.
void descriptor_opened(uint32_t token, int fd, int is_to_read);

// A call on a descriptor: opened with what is known of it, put right at its end if it waited.
struct descriptor_span {
    struct hook_span span;
    struct hook_name *names; // DESCRIPTOR_KIND_COUNT of them
    int64_t done_bytes;      // 0 or less: nothing moved
    int64_t at_bytes;        // where the call began in the file, or one of these:
    int fd;
};
#define DESCRIPTOR_AT_CURRENT (-1) // at the descriptor's own place
#define DESCRIPTOR_AT_NONE (-2)    // nowhere that could be told
#define DESCRIPTOR_MUCH_BYTES 65536

// What is worth two system calls to know of a call that waited or moved much: the kind as it is
// now, which file, and where in it.
void descriptor_settle(struct descriptor_span *s);

// In place: a struct that is made field by field and then copied in wider pieces has the processor
// wait for its own stores.
static inline void descriptor_begin(struct descriptor_span *s, int is_off, struct hook_name *names,
    int fd, int64_t at_bytes, uintptr_t stack)
{
    s->names = names;
    s->done_bytes = 0;
    s->at_bytes = at_bytes;
    s->fd = fd;
    s->span = (struct hook_span){0, stack};
    if (!is_off && agent_self->busy == AGENT_FREE)
        s->span = hook_begin(&names[descriptor_kind(fd)], stack);
}

static inline void descriptor_end(struct descriptor_span *s)
{
    const struct agent_thread *t = agent_self;
    if (__builtin_expect(s->done_bytes >= DESCRIPTOR_MUCH_BYTES ||
                             (t->switch_word && *t->switch_word != t->switch_value),
            0))
        descriptor_settle(s);
    hook_end(&s->span);
}

static inline void descriptor_bytes(struct descriptor_span *s, int64_t done_bytes)
{
    if (done_bytes <= 0)
        return;
    s->done_bytes = done_bytes;
    span_bytes(s->span.token, (uint64_t)done_bytes);
}

#define DESCRIPTOR_SPAN(variable, is_off, names, fd, at_bytes)                                     \
    __attribute__((cleanup(descriptor_end), unused)) struct descriptor_span variable;              \
    descriptor_begin(&variable, is_off, names, fd, at_bytes, SPAN_STACK)

#endif
