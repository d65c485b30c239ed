// SPDX-License-Identifier: Apache-2.0
// Hook set mapped: memory that a program maps itself. What it maps anew is told of the span around
// the call, since its pages will be faulted in there (TRACE_ATTR_FRESH); malloc's own mappings
// happen within libc and are not seen. Mapping a file and asking for its pages is the stage `load`.
// The reading itself is page faults, in whatever touches the pages: span.c charges the time that a
// thread is off its CPU for them as I/O. Arguments, results and errno stay the host's. Threads:
// any.
#include "agent/descriptor.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

static int is_off;

// Looking for the next mmap may itself map memory (an allocator's first page): straight to the
// kernel then, as libc does.
static __thread int is_looking __attribute__((tls_model("initial-exec")));

static void add_fresh(size_t length_bytes)
{
    const uint32_t token = agent_self->depth;
    const struct agent_frame *f = is_off ? NULL : span_frame(token);
    if (!f)
        return;
    const struct agent_values *v = &agent_self->values[token];
    const unsigned at = TRACE_ATTR_FRESH - TRACE_ATTR_FILE;
    const int is_given = (f->what.attr_bits & AGENT_HAS_VALUES) && v->bits >> at & 1;
    span_value(token, TRACE_ATTR_FRESH, (is_given ? v->value[at] : 0) + length_bytes);
}

typedef void *map_fn(void *, size_t, int, int, int, off64_t);

static void *map_raw(void *at, size_t n, int protection, int flags, int fd, off64_t from)
{
    if (from & 4095) {
        errno = EINVAL;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, n, protection, flags, fd, from);
}

static map_fn *look_for_map(map_fn **found, const char *symbol)
{
    map_fn *next = __atomic_load_n(found, __ATOMIC_RELAXED);
    if (__builtin_expect(next != NULL, 1))
        return next;
    if (is_looking)
        return map_raw;
    is_looking = 1;
    *(void **)&next = hook_next(symbol, NULL);
    is_looking = 0;
    if (!next)
        return map_raw;
    __atomic_store_n(found, next, __ATOMIC_RELAXED);
    return next;
}

// A mapping of a file: by what the descriptor is, since devices are mapped too.
static int is_of_file(int flags, int fd)
{
    return !is_off && !(flags & MAP_ANONYMOUS) && fd >= 0 && agent_self->busy == AGENT_FREE &&
           agent_self->depth_limit && descriptor_kind(fd) == DESCRIPTOR_FILE;
}

static void note_file(uint32_t token, int fd, off64_t from, size_t length_bytes)
{
    struct descriptor_file file;
    struct agent_frame *f = span_frame(token);
    if (!f || descriptor_ask(fd, &file) != DESCRIPTOR_FILE || !file.inode)
        return;
    span_value_aux(token, TRACE_ATTR_FILE, file.inode, file.device);
    span_value(token, TRACE_ATTR_OFFSET, (uint64_t)from);
    span_bytes(token, length_bytes);
    f->what.flags &= (uint8_t)~AGENT_FOLD_SHORT;
}

static struct hook_name mmap_names[1] = {{"mmap", "load", TRACE_CAUSE_IO, AGENT_FOLD_SHORT, 0}};

static inline void *map_file(map_fn *next, void *at, size_t n, int protection, int flags, int fd,
    off64_t from, uintptr_t stack)
{
    __attribute__((cleanup(hook_end), unused)) struct hook_span span =
        hook_begin(&mmap_names[0], stack);
    void *done = next(at, n, protection, flags, fd, from);
    if (done != MAP_FAILED)
        note_file(span.token, fd, from, n);
    return done;
}

#define MAP_CALL(call, offset)                                                                     \
    static map_fn *call##_found;                                                                   \
    HOOK_EXPORT void *call(void *at, size_t n, int protection, int flags, int fd, offset from)     \
    {                                                                                              \
        map_fn *next = look_for_map(&call##_found, #call);                                         \
        if (is_of_file(flags, fd))                                                                 \
            return map_file(next, at, n, protection, flags, fd, from, SPAN_STACK);                 \
        void *done = next(at, n, protection, flags, fd, from);                                     \
        if (done != MAP_FAILED && (flags & MAP_ANONYMOUS) && protection != PROT_NONE)              \
            add_fresh(n);                                                                          \
        return done;                                                                               \
    }
MAP_CALL(mmap, off_t)
MAP_CALL(mmap64, off64_t)

// What it grows by is new.
HOOK_NEXT(void *, mremap, NULL, PARAMS(void *from, size_t old, size_t n, int flags, ...))
HOOK_EXPORT void *mremap(void *from, size_t old, size_t n, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    void *to = flags & (MREMAP_FIXED | MREMAP_DONTUNMAP) ? va_arg(list, void *) : NULL;
    va_end(list);
    void *done = mremap_next()(from, old, n, flags, to);
    if (done != MAP_FAILED && n > old)
        add_fresh(n - old);
    return done;
}

// Advice that reads ahead, or reads.
HOOK_NEXT(int, madvise, NULL, PARAMS(void *at, size_t n, int advice))
static struct hook_name madvise_names[1] = {
    {"madvise", "load", TRACE_CAUSE_IO, AGENT_FOLD_SHORT, 0}};
HOOK_EXPORT int madvise(void *at, size_t n, int advice)
{
    if (advice != MADV_WILLNEED && advice != MADV_POPULATE_READ)
        return madvise_next()(at, n, advice);
    HOOK_SPAN_UNLESS(is_off, span, &madvise_names[0]);
    return madvise_next()(at, n, advice);
}

HOOK_NEXT(int, msync, NULL, PARAMS(void *at, size_t n, int flags))
static struct hook_name msync_names[1] = {{"msync", "save", TRACE_CAUSE_IO, AGENT_FOLD_SHORT, 0}};
HOOK_EXPORT int msync(void *at, size_t n, int flags)
{
    HOOK_SPAN_UNLESS(is_off, span, &msync_names[0]);
    return msync_next()(at, n, flags);
}

#define OF_FILE (HOOK_BYTES | HOOK_ATTR(FILE) | HOOK_ATTR(OFFSET))
static const struct hook_function functions[] = {
    HOOK_LINE_LIBC("mmap", mmap_names, 1, OF_FILE),
    HOOK_LINE_LIBC("mmap64", mmap_names, 1, OF_FILE),
    HOOK_LINE_LIBC("mremap", NULL, 0, 0),
    HOOK_LINE_LIBC("madvise", madvise_names, 1, 0),
    HOOK_LINE_LIBC("msync", msync_names, 1, 0),
    HOOK_END,
};

const struct hook_set hook_mapped = {
    .name = "mapped",
    .help = "libc's mmap and what it reads and writes",
    .functions = functions,
    .is_off = &is_off,
};
