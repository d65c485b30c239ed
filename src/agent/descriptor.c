// SPDX-License-Identifier: Apache-2.0
// Asks the kernel what a descriptor is and which file it leads to. Called by the hooks of libc's
// file calls, outside of their hot paths. Allocates nothing and keeps errno. Threads: any.
#include "agent/descriptor.h"

#include "agent/resident.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint8_t descriptor_kinds[DESCRIPTOR_CACHE];

// An object without a name has no type either; what it is stands in its link.
static enum descriptor_kind nameless_kind(int fd)
{
    static const char head[] = "/proc/self/fd/", timer[] = "anon_inode:[timerfd]";
    char path[sizeof head + 12], link[sizeof timer];
    char digits[12];
    int count = 0;
    size_t at = sizeof head - 1;
    memcpy(path, head, sizeof head);
    for (unsigned rest = (unsigned)fd; rest || !count; rest /= 10)
        digits[count++] = (char)('0' + rest % 10);
    while (count)
        path[at++] = digits[--count];
    path[at] = 0;
    const ssize_t n = readlink(path, link, sizeof link);
    return n == sizeof timer - 1 && memcmp(link, timer, sizeof timer - 1) == 0 ? DESCRIPTOR_TIMER
                                                                               : DESCRIPTOR_EVENT;
}

static enum descriptor_kind kind_of(int fd, mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
    case S_IFBLK:
    case S_IFDIR:
        return DESCRIPTOR_FILE;
    case S_IFSOCK:
        return DESCRIPTOR_SOCKET;
    case S_IFIFO:
        return DESCRIPTOR_PIPE;
    case S_IFCHR:
        return DESCRIPTOR_DEVICE;
    default:
        return nameless_kind(fd);
    }
}

enum descriptor_kind descriptor_ask(int fd, struct descriptor_file *file)
{
    struct stat status;
    const int saved_errno = errno;
    enum descriptor_kind kind = DESCRIPTOR_UNKNOWN;
    if (file)
        *file = (struct descriptor_file){0, 0, 0};
    if (agent_is_quiet())
        return kind;
    if (fd >= 0 && fstat(fd, &status) == 0) {
        kind = kind_of(fd, status.st_mode);
        if (file && S_ISREG(status.st_mode))
            *file = (struct descriptor_file){status.st_ino, (uint64_t)status.st_size,
                (uint32_t)(status.st_dev ^ (uint64_t)status.st_dev >> 32)};
    }
    errno = saved_errno;
    if ((unsigned)fd < DESCRIPTOR_CACHE)
        __atomic_store_n(&descriptor_kinds[fd], (uint8_t)kind, __ATOMIC_RELAXED);
    return kind;
}

void descriptor_forget_range(unsigned first, unsigned last)
{
    for (unsigned fd = first; fd <= last && fd < DESCRIPTOR_CACHE; fd++)
        descriptor_forget((int)fd);
}

void descriptor_opened(uint32_t token, int fd, int is_to_read)
{
    struct agent_frame *f = span_frame(token);
    if (fd < 0)
        return;
    if (!f) {
        descriptor_forget(fd);
        return;
    }
    struct descriptor_file file;
    descriptor_ask(fd, &file);
    if (!file.inode)
        return;
    span_value_aux(token, TRACE_ATTR_FILE, file.inode, file.device);
    f->what.flags &= (uint8_t)~AGENT_FOLD_SHORT;
    if (is_to_read)
        resident_note(token, fd, file.length_bytes);
}

void descriptor_settle(struct descriptor_span *s)
{
    struct agent_frame *f = span_frame(s->span.token);
    if (!f)
        return;
    struct descriptor_file file;
    struct hook_name *name = &s->names[descriptor_ask(s->fd, &file)];
    const uint16_t id = hook_id(name);
    if (id) {
        f->what.name = id;
        f->what.cause = name->cause;
    }
    if (!file.inode || s->done_bytes <= 0)
        return;
    span_value_aux(s->span.token, TRACE_ATTR_FILE, file.inode, file.device);
    int64_t at_bytes = s->at_bytes;
    if (at_bytes == DESCRIPTOR_AT_CURRENT) {
        const int saved_errno = errno;
        const off_t now_bytes = lseek(s->fd, 0, SEEK_CUR);
        at_bytes = now_bytes < s->done_bytes ? DESCRIPTOR_AT_NONE : now_bytes - s->done_bytes;
        errno = saved_errno;
    }
    if (at_bytes >= 0)
        span_value(s->span.token, TRACE_ATTR_OFFSET, (uint64_t)at_bytes);
}
