// SPDX-License-Identifier: Apache-2.0
// Claims segments for a thread of the target: a ready one from the launcher's pool by renaming it,
// else one made here. Called when a thread writes for the first time and when a segment is full.
// Does not pack or read. Safe in a signal handler; the caller keeps errno.
#include "trace/writer.h"

#include "trace/names.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int trace_writer_path(
    char *out, size_t out_bytes, const struct trace_place *place, const char *name)
{
    size_t dir_bytes = strnlen(place->run_dir, sizeof place->run_dir);
    size_t name_bytes = strlen(name) + 1;
    if (dir_bytes + 1 + name_bytes > out_bytes)
        return -1;
    memcpy(out, place->run_dir, dir_bytes);
    out[dir_bytes] = '/';
    memcpy(out + dir_bytes + 1, name, name_bytes);
    return 0;
}

// Whether a file may grow to that length: beyond the limit of the process (ulimit -f) the attempt
// would not only fail but end the program with SIGXFSZ.
static int is_within_limit(size_t length_bytes)
{
    struct rlimit64 limit;
    return syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) != 0 ||
           limit.rlim_cur >= length_bytes;
}

void *trace_writer_map(const char *path, size_t length_bytes, int make)
{
    int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | (make ? O_CREAT | O_EXCL : 0);
    if (make && !is_within_limit(length_bytes))
        return NULL;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
    if (fd < 0)
        return NULL;
    void *at = MAP_FAILED;
    if (!make || syscall(SYS_fallocate, fd, 0, 0L, (long)length_bytes) == 0)
        at = mmap(NULL, length_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    syscall(SYS_close, fd);
    if (at == MAP_FAILED) {
        if (make)
            syscall(SYS_unlinkat, AT_FDCWD, path, 0);
        return NULL;
    }
    madvise(at, length_bytes, MADV_DONTFORK);
    return at;
}

// Ready segments are tried from number 0; a miss costs half a microsecond.
static struct trace_segment *claim_ready(
    const struct trace_place *place, const char *path, uint32_t length_bytes)
{
    char name[TRACE_NAME_BYTES], free_path[sizeof place->run_dir + TRACE_NAME_BYTES];
    for (uint32_t i = 0; i < TRACE_FREE_SLOTS; i++) {
        struct trace_name n = {.kind = TRACE_NAME_FREE, .length_bytes = length_bytes, .number = i};
        if (trace_writer_path(free_path, sizeof free_path, place, trace_name_format(name, &n)) < 0)
            return NULL;
        if (syscall(SYS_renameat2, AT_FDCWD, free_path, AT_FDCWD, path, 1 /* NOREPLACE */) != 0)
            continue;
        struct trace_segment *claimed = trace_writer_map(path, length_bytes, 0);
        if (!claimed)
            syscall(SYS_unlinkat, AT_FDCWD, path, 0);
        return claimed;
    }
    return NULL;
}

int trace_writer_advance(struct trace_writer *w, const struct trace_place *place)
{
    uint32_t seq = w->segment ? w->segment_seq + 1 : w->segment_seq;
    uint32_t length_bytes = seq ? TRACE_SEGMENT_LARGE_BYTES : TRACE_SEGMENT_SMALL_BYTES;
    struct trace_name n = {.kind = TRACE_NAME_SEGMENT,
        .pid = place->pid,
        .image_ticks = place->image_ticks,
        .thread_seq = w->thread_seq,
        .segment_seq = seq};
    char name[TRACE_NAME_BYTES], path[sizeof place->run_dir + TRACE_NAME_BYTES];
    trace_writer_close(w, TRACE_SEGMENT_FULL);
    w->segment_seq = seq;
    if (trace_writer_path(path, sizeof path, place, trace_name_format(name, &n)) < 0)
        return -1;
    struct trace_segment *s = claim_ready(place, path, length_bytes);
    if (!s)
        s = trace_writer_map(path, length_bytes, 1);
    if (!s)
        return -1;
    *s = (struct trace_segment){.pid = place->pid,
        .tid = w->tid,
        .image_ticks = place->image_ticks,
        .thread_seq = w->thread_seq,
        .segment_seq = seq,
        .length_bytes = length_bytes,
        .state = TRACE_SEGMENT_OPEN};
    __atomic_store_n(&s->magic, TRACE_SEGMENT_MAGIC, __ATOMIC_RELEASE);
    w->segment = s;
    w->cursor = (uint8_t *)(s + 1);
    w->limit = (uint8_t *)s + length_bytes;
    return 0;
}

void trace_writer_close(struct trace_writer *w, enum trace_segment_state state)
{
    if (!w->segment)
        return;
    uint32_t length_bytes = w->segment->length_bytes;
    struct trace_segment *s = w->segment;
    w->cursor = w->limit = NULL;
    w->segment = NULL;
    __atomic_store_n(&s->state, (uint32_t)state, __ATOMIC_RELEASE);
    munmap(s, length_bytes);
}
