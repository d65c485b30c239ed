// SPDX-License-Identifier: Apache-2.0
// Hook set file_io: libc's calls that read and write descriptors and streams. What a descriptor is
// decides the stage: a file is `load` or `save`, a socket or pipe `receive` or `send`. The kind is
// asked of the kernel once per descriptor and again when a call waited. Calls inside libc itself
// (fread calls read) do not come through here, so nothing is counted twice. Threads: any.
#include "agent/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// Macros of <stdio.h> that would hide the functions.
#undef fread_unlocked
#undef fwrite_unlocked

static int is_off;

enum fd_kind { FD_UNKNOWN, FD_FILE, FD_SOCKET, FD_OTHER, FD_KIND_COUNT };

#define FD_CACHE 1024
static uint8_t fd_kinds[FD_CACHE];

static enum fd_kind ask_kind(int fd)
{
    struct stat status;
    int saved_errno = errno, failed = fstat(fd, &status);
    errno = saved_errno;
    enum fd_kind kind = failed                                               ? FD_UNKNOWN
                        : S_ISREG(status.st_mode) || S_ISBLK(status.st_mode) ? FD_FILE
                        : S_ISSOCK(status.st_mode)                           ? FD_SOCKET
                                                                             : FD_OTHER;
    if (fd >= 0 && fd < FD_CACHE)
        __atomic_store_n(&fd_kinds[fd], (uint8_t)kind, __ATOMIC_RELAXED);
    return kind;
}

static enum fd_kind kind_of(int fd)
{
    if (fd < 0 || fd >= FD_CACHE)
        return ask_kind(fd);
    uint8_t kind = __atomic_load_n(&fd_kinds[fd], __ATOMIC_RELAXED);
    return kind ? (enum fd_kind)kind : ask_kind(fd);
}

static void forget_kind(int fd)
{
    if (fd >= 0 && fd < FD_CACHE)
        __atomic_store_n(&fd_kinds[fd], FD_UNKNOWN, __ATOMIC_RELAXED);
}

#define KIND_NAMES(call, file_stage, other_stage)                                                  \
    {                                                                                              \
        {call, file_stage, TRACE_CAUSE_IO, AGENT_FOLD_SHORT, 0},                                   \
            {call, file_stage, TRACE_CAUSE_IO, AGENT_FOLD_SHORT, 0},                               \
            {call "(socket)", other_stage, TRACE_CAUSE_NET, AGENT_FOLD_SHORT, 0},                  \
        {                                                                                          \
            call "(pipe)", other_stage, TRACE_CAUSE_OTHER, AGENT_FOLD_SHORT, 0                     \
        }                                                                                          \
    }

// A call on a descriptor: opened with what is known of it, put right at its end if it waited.
struct fd_span {
    struct hook_span span;
    struct hook_name *names; // FD_KIND_COUNT of them
    int fd;
};

static inline struct fd_span fd_begin(struct hook_name *names, int fd, uintptr_t stack)
{
    struct fd_span s = {{0, stack}, names, fd};
    if (!is_off && agent_self->busy == 0)
        s.span = hook_begin(&names[kind_of(fd)], stack);
    return s;
}

static inline void fd_end(struct fd_span *s)
{
    struct agent_frame *f = span_frame(s->span.token);
    if (f && f->what.switches) {
        struct hook_name *name = &s->names[ask_kind(s->fd)];
        f->what.name = hook_id(name);
        f->what.cause = name->cause;
    }
    hook_end(&s->span);
}

#define FD_SPAN(variable, names, fd)                                                               \
    __attribute__((cleanup(fd_end), unused)) struct fd_span variable =                             \
        fd_begin(names, fd, SPAN_STACK)

#define FD_CALL(ret, call, file_stage, other_stage, params, args)                                  \
    HOOK_NEXT(ret, call, NULL, PARAMS(params))                                                     \
    HOOK_EXPORT ret call(params)                                                                   \
    {                                                                                              \
        static struct hook_name names[FD_KIND_COUNT] = KIND_NAMES(#call, file_stage, other_stage); \
        FD_SPAN(s, names, fd);                                                                     \
        ret done = call##_next()(args);                                                            \
        if (done > 0)                                                                              \
            span_bytes(s.span.token, (uint64_t)done);                                              \
        return done;                                                                               \
    }

FD_CALL(ssize_t, read, "load", "receive", PARAMS(int fd, void *to, size_t n), ARGS(fd, to, n))
FD_CALL(ssize_t, pread, "load", "receive", PARAMS(int fd, void *to, size_t n, off_t at),
    ARGS(fd, to, n, at))
FD_CALL(ssize_t, pread64, "load", "receive", PARAMS(int fd, void *to, size_t n, off64_t at),
    ARGS(fd, to, n, at))
FD_CALL(ssize_t, readv, "load", "receive", PARAMS(int fd, const struct iovec *to, int n),
    ARGS(fd, to, n))
FD_CALL(
    ssize_t, write, "save", "send", PARAMS(int fd, const void *from, size_t n), ARGS(fd, from, n))
FD_CALL(ssize_t, pwrite, "save", "send", PARAMS(int fd, const void *from, size_t n, off_t at),
    ARGS(fd, from, n, at))
FD_CALL(ssize_t, pwrite64, "save", "send", PARAMS(int fd, const void *from, size_t n, off64_t at),
    ARGS(fd, from, n, at))
FD_CALL(ssize_t, writev, "save", "send", PARAMS(int fd, const struct iovec *from, int n),
    ARGS(fd, from, n))
FD_CALL(int, fsync, "save", "send", PARAMS(int fd), ARGS(fd))
FD_CALL(int, fdatasync, "save", "send", PARAMS(int fd), ARGS(fd))

// Fortified programs call these; the checks stay with libc.
ssize_t __read_chk(int fd, void *to, size_t n, size_t room_bytes);
ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t room_bytes);
size_t __fread_chk(void *to, size_t room_bytes, size_t size, size_t n, FILE *stream);
FD_CALL(ssize_t, __read_chk, "load", "receive", PARAMS(int fd, void *to, size_t n, size_t room),
    ARGS(fd, to, n, room))
FD_CALL(ssize_t, __pread_chk, "load", "receive",
    PARAMS(int fd, void *to, size_t n, off_t at, size_t room), ARGS(fd, to, n, at, room))

// Streams: the descriptor is the stream's; memory streams have none.
static int stream_fd(FILE *stream)
{
    int saved_errno = errno, fd = fileno_unlocked(stream);
    errno = saved_errno;
    return fd;
}

#define STREAM_CALL(call, file_stage, other_stage, params, args)                                   \
    HOOK_NEXT(size_t, call, NULL, PARAMS(params))                                                  \
    HOOK_EXPORT size_t call(params)                                                                \
    {                                                                                              \
        static struct hook_name names[FD_KIND_COUNT] = KIND_NAMES(#call, file_stage, other_stage); \
        FD_SPAN(s, names, stream_fd(stream));                                                      \
        size_t done = call##_next()(args);                                                         \
        span_bytes(s.span.token, (uint64_t)done *size);                                            \
        return done;                                                                               \
    }

STREAM_CALL(fread, "load", "receive", PARAMS(void *to, size_t size, size_t n, FILE *stream),
    ARGS(to, size, n, stream))
STREAM_CALL(fread_unlocked, "load", "receive",
    PARAMS(void *to, size_t size, size_t n, FILE *stream), ARGS(to, size, n, stream))
STREAM_CALL(__fread_chk, "load", "receive",
    PARAMS(void *to, size_t room, size_t size, size_t n, FILE *stream),
    ARGS(to, room, size, n, stream))
STREAM_CALL(fwrite, "save", "send", PARAMS(const void *from, size_t size, size_t n, FILE *stream),
    ARGS(from, size, n, stream))
STREAM_CALL(fwrite_unlocked, "save", "send",
    PARAMS(const void *from, size_t size, size_t n, FILE *stream), ARGS(from, size, n, stream))

HOOK_NEXT(char *, fgets, NULL, PARAMS(char *to, int n, FILE *stream))
HOOK_EXPORT char *fgets(char *to, int n, FILE *stream)
{
    static struct hook_name names[FD_KIND_COUNT] = KIND_NAMES("fgets", "load", "receive");
    FD_SPAN(s, names, stream_fd(stream));
    return fgets_next()(to, n, stream);
}

// Opening a file reads directories and inodes: cold, it takes a disk's time.
#define OPEN_NAME(call)                                                                            \
    {                                                                                              \
        call, "load", TRACE_CAUSE_IO, AGENT_FOLD_SHORT, 0                                          \
    }

static mode_t mode_argument(int flags, va_list args)
{
    return flags & (O_CREAT | __O_TMPFILE) ? (mode_t)va_arg(args, int) : 0;
}

#define OPEN_CALL(call)                                                                            \
    HOOK_NEXT(int, call, NULL, PARAMS(const char *path, int flags, ...))                           \
    HOOK_EXPORT int call(const char *path, int flags, ...)                                         \
    {                                                                                              \
        static struct hook_name name = OPEN_NAME(#call);                                           \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = mode_argument(flags, args);                                                  \
        va_end(args);                                                                              \
        HOOK_SPAN_UNLESS(is_off, span, &name);                                                     \
        int fd = call##_next()(path, flags, mode);                                                 \
        forget_kind(fd);                                                                           \
        return fd;                                                                                 \
    }
OPEN_CALL(open)
OPEN_CALL(open64)

#define OPENAT_CALL(call)                                                                          \
    HOOK_NEXT(int, call, NULL, PARAMS(int dir, const char *path, int flags, ...))                  \
    HOOK_EXPORT int call(int dir, const char *path, int flags, ...)                                \
    {                                                                                              \
        static struct hook_name name = OPEN_NAME(#call);                                           \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = mode_argument(flags, args);                                                  \
        va_end(args);                                                                              \
        HOOK_SPAN_UNLESS(is_off, span, &name);                                                     \
        int fd = call##_next()(dir, path, flags, mode);                                            \
        forget_kind(fd);                                                                           \
        return fd;                                                                                 \
    }
OPENAT_CALL(openat)
OPENAT_CALL(openat64)

#define FOPEN_CALL(call)                                                                           \
    HOOK_NEXT(FILE *, call, NULL, PARAMS(const char *path, const char *mode))                      \
    HOOK_EXPORT FILE *call(const char *path, const char *mode)                                     \
    {                                                                                              \
        static struct hook_name name = OPEN_NAME(#call);                                           \
        HOOK_SPAN_UNLESS(is_off, span, &name);                                                     \
        FILE *stream = call##_next()(path, mode);                                                  \
        if (stream)                                                                                \
            forget_kind(stream_fd(stream));                                                        \
        return stream;                                                                             \
    }
FOPEN_CALL(fopen)
FOPEN_CALL(fopen64)

// A closed number may be something else tomorrow.
HOOK_NEXT(int, close, NULL, PARAMS(int fd))
HOOK_EXPORT int close(int fd)
{
    forget_kind(fd);
    return close_next()(fd);
}

HOOK_NEXT(int, dup2, NULL, PARAMS(int from, int to))
HOOK_EXPORT int dup2(int from, int to)
{
    forget_kind(to);
    return dup2_next()(from, to);
}

const struct hook_set hook_file_io = {
    .name = "file_io",
    .help = "libc's read, write, open and stream calls",
    .is_off = &is_off,
};
