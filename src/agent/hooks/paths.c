// SPDX-License-Identifier: Apache-2.0
// Hook set paths: libc's calls that take a name apart: opening, looking up, listing, renaming.
// Cold, each takes a disk's time. They are `load`, or `save` where they make or change something.
// It also keeps count of which descriptor is what when numbers are closed or copied. Arguments,
// results and errno stay the host's. Threads: any.
#include "agent/descriptor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_off;

#define PATH_NAME(call, stage)                                                                     \
    {                                                                                              \
        call, stage, TRACE_CAUSE_IO, AGENT_FOLD_SHORT, 0                                           \
    }

// ---- Opening. Which file it is comes with it. ----

enum open_kind { OPEN_TO_LOAD, OPEN_TO_SAVE, OPEN_KIND_COUNT };

static enum open_kind open_kind(int flags)
{
    return (flags & O_ACCMODE) == O_WRONLY || (flags & O_TRUNC) ? OPEN_TO_SAVE : OPEN_TO_LOAD;
}

static mode_t mode_argument(int flags, va_list args)
{
    return (flags & O_CREAT) || (flags & __O_TMPFILE) == __O_TMPFILE ? (mode_t)va_arg(args, int)
                                                                     : 0;
}

#define OPEN_NAMES(call)                                                                           \
    static struct hook_name call##_names[OPEN_KIND_COUNT] = {                                      \
        PATH_NAME(#call, "load"), PATH_NAME(#call, "save")};

#define OPEN_CALL(call, params, ...)                                                               \
    HOOK_NEXT(int, call, NULL, PARAMS(params, ...))                                                \
    OPEN_NAMES(call)                                                                               \
    HOOK_EXPORT int call(params, ...)                                                              \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode_t mode = mode_argument(flags, args);                                                  \
        va_end(args);                                                                              \
        HOOK_SPAN_UNLESS(is_off, span, &call##_names[open_kind(flags)]);                           \
        int fd = call##_next()(__VA_ARGS__, mode);                                                 \
        descriptor_opened(span.token, fd, open_kind(flags) == OPEN_TO_LOAD);                       \
        return fd;                                                                                 \
    }
OPEN_CALL(open, PARAMS(const char *path, int flags), path, flags)
OPEN_CALL(open64, PARAMS(const char *path, int flags), path, flags)
OPEN_CALL(openat, PARAMS(int dir, const char *path, int flags), dir, path, flags)
OPEN_CALL(openat64, PARAMS(int dir, const char *path, int flags), dir, path, flags)

// Fortified programs call these where there is no mode; the checks stay with libc.
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);

#define OPEN_PLAIN_CALL(call, kind, params, args)                                                  \
    HOOK_NEXT(int, call, NULL, PARAMS(params))                                                     \
    OPEN_NAMES(call)                                                                               \
    HOOK_EXPORT int call(params)                                                                   \
    {                                                                                              \
        HOOK_SPAN_UNLESS(is_off, span, &call##_names[kind]);                                       \
        int fd = call##_next()(args);                                                              \
        descriptor_opened(span.token, fd, (kind) == OPEN_TO_LOAD);                                 \
        return fd;                                                                                 \
    }
OPEN_PLAIN_CALL(__open_2, open_kind(flags), PARAMS(const char *path, int flags), ARGS(path, flags))
OPEN_PLAIN_CALL(
    __open64_2, open_kind(flags), PARAMS(const char *path, int flags), ARGS(path, flags))
OPEN_PLAIN_CALL(__openat_2, open_kind(flags), PARAMS(int dir, const char *path, int flags),
    ARGS(dir, path, flags))
OPEN_PLAIN_CALL(__openat64_2, open_kind(flags), PARAMS(int dir, const char *path, int flags),
    ARGS(dir, path, flags))
OPEN_PLAIN_CALL(creat, OPEN_TO_SAVE, PARAMS(const char *path, mode_t mode), ARGS(path, mode))
OPEN_PLAIN_CALL(creat64, OPEN_TO_SAVE, PARAMS(const char *path, mode_t mode), ARGS(path, mode))

// ---- Numbers that become something else. No time to speak of. ----

HOOK_NEXT(int, close, NULL, PARAMS(int fd))
HOOK_EXPORT int close(int fd)
{
    descriptor_forget(fd);
    return close_next()(fd);
}

HOOK_NEXT(int, dup2, NULL, PARAMS(int from, int to))
HOOK_EXPORT int dup2(int from, int to)
{
    descriptor_forget(to);
    return dup2_next()(from, to);
}

HOOK_NEXT(int, dup3, NULL, PARAMS(int from, int to, int flags))
HOOK_EXPORT int dup3(int from, int to, int flags)
{
    descriptor_forget(to);
    return dup3_next()(from, to, flags);
}

// Since glibc 2.34; where libc has none a program that looks for it is told as by an old kernel.
HOOK_NEXT(int, close_range, NULL, PARAMS(unsigned first, unsigned last, int flags))
HOOK_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    close_range_next_fn *next = close_range_next();
    if (!next) {
        errno = ENOSYS;
        return -1;
    }
    descriptor_forget_range(first, last);
    return next(first, last, flags);
}

// ---- Looking up, changing, listing. ----

static int no_such_call(void)
{
    errno = ENOSYS;
    return -1;
}

#define PATH_CALL(ret, call, stage, absent, params, args)                                          \
    HOOK_NEXT(ret, call, NULL, PARAMS(params))                                                     \
    static struct hook_name call##_names[1] = {PATH_NAME(#call, stage)};                           \
    HOOK_EXPORT ret call(params)                                                                   \
    {                                                                                              \
        call##_next_fn *next = call##_next();                                                      \
        if (__builtin_expect(!next, 0))                                                            \
            return absent;                                                                         \
        HOOK_SPAN_UNLESS(is_off, span, &call##_names[0]);                                          \
        return next(args);                                                                         \
    }
#define LOOK_CALL(call, params, args)                                                              \
    PATH_CALL(int, call, "load", no_such_call(), PARAMS(params), ARGS(args))
#define CHANGE_CALL(call, params, args)                                                            \
    PATH_CALL(int, call, "save", no_such_call(), PARAMS(params), ARGS(args))

// Programs that were built for a glibc before 2.33 call these.
int __xstat(int version, const char *path, struct stat *to);
int __xstat64(int version, const char *path, struct stat64 *to);
int __lxstat(int version, const char *path, struct stat *to);
int __lxstat64(int version, const char *path, struct stat64 *to);
int __fxstatat(int version, int dir, const char *path, struct stat *to, int flags);
int __fxstatat64(int version, int dir, const char *path, struct stat64 *to, int flags);

LOOK_CALL(stat, PARAMS(const char *path, struct stat *to), ARGS(path, to))
LOOK_CALL(stat64, PARAMS(const char *path, struct stat64 *to), ARGS(path, to))
LOOK_CALL(lstat, PARAMS(const char *path, struct stat *to), ARGS(path, to))
LOOK_CALL(lstat64, PARAMS(const char *path, struct stat64 *to), ARGS(path, to))
LOOK_CALL(fstatat, PARAMS(int dir, const char *path, struct stat *to, int flags),
    ARGS(dir, path, to, flags))
LOOK_CALL(fstatat64, PARAMS(int dir, const char *path, struct stat64 *to, int flags),
    ARGS(dir, path, to, flags))
LOOK_CALL(__xstat, PARAMS(int version, const char *path, struct stat *to), ARGS(version, path, to))
LOOK_CALL(
    __xstat64, PARAMS(int version, const char *path, struct stat64 *to), ARGS(version, path, to))
LOOK_CALL(__lxstat, PARAMS(int version, const char *path, struct stat *to), ARGS(version, path, to))
LOOK_CALL(
    __lxstat64, PARAMS(int version, const char *path, struct stat64 *to), ARGS(version, path, to))
LOOK_CALL(__fxstatat, PARAMS(int version, int dir, const char *path, struct stat *to, int flags),
    ARGS(version, dir, path, to, flags))
LOOK_CALL(__fxstatat64,
    PARAMS(int version, int dir, const char *path, struct stat64 *to, int flags),
    ARGS(version, dir, path, to, flags))
#ifdef STATX_TYPE
LOOK_CALL(statx,
    PARAMS(int dir, const char *restrict path, int flags, unsigned mask, struct statx *restrict to),
    ARGS(dir, path, flags, mask, to))
#endif
LOOK_CALL(access, PARAMS(const char *path, int mode), ARGS(path, mode))
LOOK_CALL(
    faccessat, PARAMS(int dir, const char *path, int mode, int flags), ARGS(dir, path, mode, flags))

CHANGE_CALL(rename, PARAMS(const char *from, const char *to), ARGS(from, to))
CHANGE_CALL(renameat, PARAMS(int from_dir, const char *from, int to_dir, const char *to),
    ARGS(from_dir, from, to_dir, to))
CHANGE_CALL(renameat2,
    PARAMS(int from_dir, const char *from, int to_dir, const char *to, unsigned flags),
    ARGS(from_dir, from, to_dir, to, flags))
CHANGE_CALL(link, PARAMS(const char *from, const char *to), ARGS(from, to))
CHANGE_CALL(symlink, PARAMS(const char *from, const char *to), ARGS(from, to))
CHANGE_CALL(unlink, PARAMS(const char *path), ARGS(path))
CHANGE_CALL(unlinkat, PARAMS(int dir, const char *path, int flags), ARGS(dir, path, flags))
CHANGE_CALL(remove, PARAMS(const char *path), ARGS(path))
CHANGE_CALL(mkdir, PARAMS(const char *path, mode_t mode), ARGS(path, mode))
CHANGE_CALL(mkdirat, PARAMS(int dir, const char *path, mode_t mode), ARGS(dir, path, mode))
CHANGE_CALL(rmdir, PARAMS(const char *path), ARGS(path))
CHANGE_CALL(truncate, PARAMS(const char *path, off_t n), ARGS(path, n))
CHANGE_CALL(truncate64, PARAMS(const char *path, off64_t n), ARGS(path, n))

PATH_CALL(DIR *, opendir, "load", NULL, PARAMS(const char *path), ARGS(path))
PATH_CALL(DIR *, fdopendir, "load", NULL, PARAMS(int fd), ARGS(fd))
PATH_CALL(struct dirent *, readdir, "load", NULL, PARAMS(DIR *dir), ARGS(dir))
PATH_CALL(struct dirent64 *, readdir64, "load", NULL, PARAMS(DIR *dir), ARGS(dir))

// The program's own filter and comparison run within these.
typedef int filter_fn(const struct dirent *);
typedef int filter64_fn(const struct dirent64 *);
typedef int compare_fn(const struct dirent **, const struct dirent **);
typedef int compare64_fn(const struct dirent64 **, const struct dirent64 **);
LOOK_CALL(scandir,
    PARAMS(const char *restrict path, struct dirent ***restrict list, filter_fn *filter,
        compare_fn *compare),
    ARGS(path, list, filter, compare))
LOOK_CALL(scandir64,
    PARAMS(const char *restrict path, struct dirent64 ***restrict list, filter64_fn *filter,
        compare64_fn *compare),
    ARGS(path, list, filter, compare))

#define LINE_OPEN(call)                                                                            \
    HOOK_LINE_LIBC(#call, call##_names, OPEN_KIND_COUNT, HOOK_ATTR(FILE) | HOOK_ATTR(RESIDENT))
#define LINE(call) HOOK_LINE_LIBC(#call, call##_names, 1, 0)
#define LINE_UNTIMED(call) HOOK_LINE_LIBC(#call, NULL, 0, 0)
static const struct hook_function functions[] = {
    LINE_OPEN(open),
    LINE_OPEN(open64),
    LINE_OPEN(openat),
    LINE_OPEN(openat64),
    LINE_OPEN(__open_2),
    LINE_OPEN(__open64_2),
    LINE_OPEN(__openat_2),
    LINE_OPEN(__openat64_2),
    LINE_OPEN(creat),
    LINE_OPEN(creat64),
    LINE_UNTIMED(close),
    LINE_UNTIMED(dup2),
    LINE_UNTIMED(dup3),
    LINE_UNTIMED(close_range),
    LINE(stat),
    LINE(stat64),
    LINE(lstat),
    LINE(lstat64),
    LINE(fstatat),
    LINE(fstatat64),
    LINE(__xstat),
    LINE(__xstat64),
    LINE(__lxstat),
    LINE(__lxstat64),
    LINE(__fxstatat),
    LINE(__fxstatat64),
#ifdef STATX_TYPE
    LINE(statx),
#endif
    LINE(access),
    LINE(faccessat),
    LINE(rename),
    LINE(renameat),
    LINE(renameat2),
    LINE(link),
    LINE(symlink),
    LINE(unlink),
    LINE(unlinkat),
    LINE(remove),
    LINE(mkdir),
    LINE(mkdirat),
    LINE(rmdir),
    LINE(truncate),
    LINE(truncate64),
    LINE(opendir),
    LINE(fdopendir),
    LINE(readdir),
    LINE(readdir64),
    LINE(scandir),
    LINE(scandir64),
    HOOK_END,
};

const struct hook_set hook_paths = {
    .name = "paths",
    .help = "libc's open, stat, rename and directory calls",
    .functions = functions,
    .is_off = &is_off,
};
