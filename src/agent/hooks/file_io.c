// SPDX-License-Identifier: Apache-2.0
// Hook set file_io: libc's calls that read and write descriptors, and those that prepare a file's
// bytes or make them safe. What a descriptor is decides the stage: a file is `load` or `save`, a
// socket or pipe `receive` or `send`. Streams are the set stdio, opening and names the set paths.
// Arguments, results and errno stay the host's. Threads: any.
#include "agent/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_off;

// `at`: where in the file the call begins. `bytes`: what it moved, from `done`. A program that
// looks for a call which this libc has not finds ours, and hears `absent` from it.
#define DESCRIPTOR_CALL(ret, call, NAMES, at, bytes, absent, params, args)                         \
    HOOK_NEXT(ret, call, NULL, PARAMS(params))                                                     \
    static struct hook_name call##_names[DESCRIPTOR_KIND_COUNT] = NAMES(#call);                    \
    HOOK_EXPORT ret call(params)                                                                   \
    {                                                                                              \
        call##_next_fn *next = call##_next();                                                      \
        if (__builtin_expect(!next, 0))                                                            \
            return absent;                                                                         \
        DESCRIPTOR_SPAN(s, is_off, call##_names, fd, at);                                          \
        ret done = next(args);                                                                     \
        descriptor_bytes(&s, bytes);                                                               \
        return done;                                                                               \
    }

static int no_such_call(void)
{
    errno = ENOSYS;
    return -1;
}

#define READ_CALL(call, at, params, args)                                                          \
    DESCRIPTOR_CALL(ssize_t, call, DESCRIPTOR_READ_NAMES, at, done, no_such_call(),                \
        PARAMS(params), ARGS(args))
#define WRITE_CALL(call, at, params, args)                                                         \
    DESCRIPTOR_CALL(ssize_t, call, DESCRIPTOR_WRITE_NAMES, at, done, no_such_call(),               \
        PARAMS(params), ARGS(args))
#define HERE DESCRIPTOR_AT_CURRENT

// Fortified programs call the *_chk; the checks stay with libc.
ssize_t __read_chk(int fd, void *to, size_t n, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t n, off64_t at, size_t room);

READ_CALL(read, HERE, PARAMS(int fd, void *to, size_t n), ARGS(fd, to, n))
READ_CALL(__read_chk, HERE, PARAMS(int fd, void *to, size_t n, size_t room), ARGS(fd, to, n, room))
READ_CALL(pread, at, PARAMS(int fd, void *to, size_t n, off_t at), ARGS(fd, to, n, at))
READ_CALL(pread64, at, PARAMS(int fd, void *to, size_t n, off64_t at), ARGS(fd, to, n, at))
READ_CALL(__pread_chk, at, PARAMS(int fd, void *to, size_t n, off_t at, size_t room),
    ARGS(fd, to, n, at, room))
READ_CALL(__pread64_chk, at, PARAMS(int fd, void *to, size_t n, off64_t at, size_t room),
    ARGS(fd, to, n, at, room))
READ_CALL(readv, HERE, PARAMS(int fd, const struct iovec *to, int n), ARGS(fd, to, n))
READ_CALL(preadv, at, PARAMS(int fd, const struct iovec *to, int n, off_t at), ARGS(fd, to, n, at))
READ_CALL(
    preadv64, at, PARAMS(int fd, const struct iovec *to, int n, off64_t at), ARGS(fd, to, n, at))
READ_CALL(preadv2, at, PARAMS(int fd, const struct iovec *to, int n, off_t at, int flags),
    ARGS(fd, to, n, at, flags))
READ_CALL(preadv64v2, at, PARAMS(int fd, const struct iovec *to, int n, off64_t at, int flags),
    ARGS(fd, to, n, at, flags))

WRITE_CALL(write, HERE, PARAMS(int fd, const void *from, size_t n), ARGS(fd, from, n))
WRITE_CALL(pwrite, at, PARAMS(int fd, const void *from, size_t n, off_t at), ARGS(fd, from, n, at))
WRITE_CALL(
    pwrite64, at, PARAMS(int fd, const void *from, size_t n, off64_t at), ARGS(fd, from, n, at))
WRITE_CALL(writev, HERE, PARAMS(int fd, const struct iovec *from, int n), ARGS(fd, from, n))
WRITE_CALL(
    pwritev, at, PARAMS(int fd, const struct iovec *from, int n, off_t at), ARGS(fd, from, n, at))
WRITE_CALL(pwritev64, at, PARAMS(int fd, const struct iovec *from, int n, off64_t at),
    ARGS(fd, from, n, at))
WRITE_CALL(pwritev2, at, PARAMS(int fd, const struct iovec *from, int n, off_t at, int flags),
    ARGS(fd, from, n, at, flags))
WRITE_CALL(pwritev64v2, at, PARAMS(int fd, const struct iovec *from, int n, off64_t at, int flags),
    ARGS(fd, from, n, at, flags))

// From one descriptor to another within the kernel: what it is written to decides.
WRITE_CALL(sendfile, HERE, PARAMS(int fd, int in, off_t *at, size_t n), ARGS(fd, in, at, n))
WRITE_CALL(sendfile64, HERE, PARAMS(int fd, int in, off64_t *at, size_t n), ARGS(fd, in, at, n))
WRITE_CALL(copy_file_range, DESCRIPTOR_AT_NONE,
    PARAMS(int in, off64_t *in_at, int fd, off64_t *out_at, size_t n, unsigned flags),
    ARGS(in, in_at, fd, out_at, n, flags))
WRITE_CALL(tee, DESCRIPTOR_AT_NONE, PARAMS(int in, int fd, size_t n, unsigned flags),
    ARGS(in, fd, n, flags))
WRITE_CALL(vmsplice, DESCRIPTOR_AT_NONE,
    PARAMS(int fd, const struct iovec *from, size_t n, unsigned flags), ARGS(fd, from, n, flags))

// Into a pipe, splice reads what its other end is; out of one it writes.
HOOK_NEXT(ssize_t, splice, NULL,
    PARAMS(int in, off64_t *in_at, int out, off64_t *out_at, size_t n, unsigned flags))
static struct hook_name splice_names[2 * DESCRIPTOR_KIND_COUNT] = {
    DESCRIPTOR_READ_ROWS("splice"), DESCRIPTOR_WRITE_ROWS("splice")};
HOOK_EXPORT ssize_t splice(
    int in, off64_t *in_at, int out, off64_t *out_at, size_t n, unsigned flags)
{
    const int is_read = !is_off && descriptor_kind(out) == DESCRIPTOR_PIPE;
    DESCRIPTOR_SPAN(s, is_off, splice_names + (is_read ? 0 : DESCRIPTOR_KIND_COUNT),
        is_read ? in : out, DESCRIPTOR_AT_NONE);
    ssize_t done = splice_next()(in, in_at, out, out_at, n, flags);
    descriptor_bytes(&s, done);
    return done;
}

// ---- What prepares a file's bytes, makes room for them, or makes them safe. They say errno or
// give it back; `bytes` are nothing that was read.
#define FILE_CALL(ret, call, NAMES, absent, params, args)                                          \
    DESCRIPTOR_CALL(                                                                               \
        ret, call, NAMES, DESCRIPTOR_AT_NONE, done & 0, absent, PARAMS(params), ARGS(args))

FILE_CALL(int, fsync, DESCRIPTOR_WRITE_NAMES, no_such_call(), PARAMS(int fd), ARGS(fd))
FILE_CALL(int, fdatasync, DESCRIPTOR_WRITE_NAMES, no_such_call(), PARAMS(int fd), ARGS(fd))
FILE_CALL(int, syncfs, DESCRIPTOR_WRITE_NAMES, no_such_call(), PARAMS(int fd), ARGS(fd))
FILE_CALL(int, sync_file_range, DESCRIPTOR_WRITE_NAMES, no_such_call(),
    PARAMS(int fd, off64_t at, off64_t n, unsigned flags), ARGS(fd, at, n, flags))
FILE_CALL(
    int, ftruncate, DESCRIPTOR_WRITE_NAMES, no_such_call(), PARAMS(int fd, off_t n), ARGS(fd, n))
FILE_CALL(int, ftruncate64, DESCRIPTOR_WRITE_NAMES, no_such_call(), PARAMS(int fd, off64_t n),
    ARGS(fd, n))
FILE_CALL(int, fallocate, DESCRIPTOR_WRITE_NAMES, no_such_call(),
    PARAMS(int fd, int mode, off_t at, off_t n), ARGS(fd, mode, at, n))
FILE_CALL(int, fallocate64, DESCRIPTOR_WRITE_NAMES, no_such_call(),
    PARAMS(int fd, int mode, off64_t at, off64_t n), ARGS(fd, mode, at, n))
FILE_CALL(int, posix_fallocate, DESCRIPTOR_WRITE_NAMES, ENOSYS, PARAMS(int fd, off_t at, off_t n),
    ARGS(fd, at, n))
FILE_CALL(int, posix_fallocate64, DESCRIPTOR_WRITE_NAMES, ENOSYS,
    PARAMS(int fd, off64_t at, off64_t n), ARGS(fd, at, n))
// Advice that reads ahead. Other advice is none of a file's loading: dropping its pages, say.
#define ADVISE_CALL(call, offset)                                                                  \
    HOOK_NEXT(int, call, NULL, PARAMS(int fd, offset at, offset n, int advice))                    \
    static struct hook_name call##_names[DESCRIPTOR_KIND_COUNT] = DESCRIPTOR_READ_NAMES(#call);    \
    HOOK_EXPORT int call(int fd, offset at, offset n, int advice)                                  \
    {                                                                                              \
        const int is_let_through = is_off || advice != POSIX_FADV_WILLNEED;                        \
        DESCRIPTOR_SPAN(s, is_let_through, call##_names, fd, DESCRIPTOR_AT_NONE);                  \
        return call##_next()(fd, at, n, advice);                                                   \
    }
ADVISE_CALL(posix_fadvise, off_t)
ADVISE_CALL(posix_fadvise64, off64_t)
FILE_CALL(ssize_t, readahead, DESCRIPTOR_READ_NAMES, no_such_call(),
    PARAMS(int fd, off64_t at, size_t n), ARGS(fd, at, n))

// All files of the machine.
HOOK_NEXT(void, sync, NULL, PARAMS(void))
static struct hook_name sync_name = {"sync", "save", TRACE_CAUSE_IO, AGENT_FOLD_SHORT, 0};
HOOK_EXPORT void sync(void)
{
    HOOK_SPAN_UNLESS(is_off, span, &sync_name);
    sync_next()();
}

#define MOVED (HOOK_BYTES | HOOK_ATTR(FILE) | HOOK_ATTR(OFFSET))
#define LINE(call, attrs) HOOK_LINE_LIBC(#call, call##_names, DESCRIPTOR_KIND_COUNT, attrs)
static const struct hook_function functions[] = {
    LINE(read, MOVED),
    LINE(__read_chk, MOVED),
    LINE(pread, MOVED),
    LINE(pread64, MOVED),
    LINE(__pread_chk, MOVED),
    LINE(__pread64_chk, MOVED),
    LINE(readv, MOVED),
    LINE(preadv, MOVED),
    LINE(preadv64, MOVED),
    LINE(preadv2, MOVED),
    LINE(preadv64v2, MOVED),
    LINE(write, MOVED),
    LINE(pwrite, MOVED),
    LINE(pwrite64, MOVED),
    LINE(writev, MOVED),
    LINE(pwritev, MOVED),
    LINE(pwritev64, MOVED),
    LINE(pwritev2, MOVED),
    LINE(pwritev64v2, MOVED),
    LINE(sendfile, MOVED),
    LINE(sendfile64, MOVED),
    LINE(copy_file_range, HOOK_BYTES | HOOK_ATTR(FILE)),
    HOOK_LINE_LIBC("splice", splice_names, 2 * DESCRIPTOR_KIND_COUNT, HOOK_BYTES | HOOK_ATTR(FILE)),
    LINE(tee, HOOK_BYTES),
    LINE(vmsplice, HOOK_BYTES),
    LINE(fsync, 0),
    LINE(fdatasync, 0),
    LINE(syncfs, 0),
    LINE(sync_file_range, 0),
    LINE(ftruncate, 0),
    LINE(ftruncate64, 0),
    LINE(fallocate, 0),
    LINE(fallocate64, 0),
    LINE(posix_fallocate, 0),
    LINE(posix_fallocate64, 0),
    LINE(posix_fadvise, 0),
    LINE(posix_fadvise64, 0),
    LINE(readahead, 0),
    HOOK_LINE_LIBC("sync", &sync_name, 1, 0),
    HOOK_END,
};

const struct hook_set hook_file_io = {
    .name = "file_io",
    .help = "libc's calls that read and write descriptors",
    .functions = functions,
    .is_off = &is_off,
};
