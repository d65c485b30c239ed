// SPDX-License-Identifier: Apache-2.0
// Claims segments for a thread of the target: a ready one from the launcher's pool by renaming it,
// else one made here. Called when a thread writes for the first time and when a segment is full.
// Does not pack or read. Safe in a signal handler; the caller keeps errno.
#include "trace/writer.h"

#include "trace/names.h"

#include <errno.h>
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

// A host with a fast timer interrupts it often.
static int allocate(int fd, size_t length_bytes)
{
    int failed = -1;
    for (int tries = 0; failed && tries < 100; tries++) {
        failed = syscall(SYS_fallocate, fd, 0, 0L, (long)length_bytes) != 0;
        if (failed && errno != EINTR)
            break;
    }
    return failed;
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
    if (!make || allocate(fd, length_bytes) == 0)
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

// A free segment that no thread of this process has tried since the launcher's last round. -1:
// none.
static int take_number(struct trace_place *place, int is_large, uint32_t *number)
{
    const uint64_t slots = UINT32_MAX, stock = place->stock ? place->stock[is_large] : 0;
    uint64_t tried = atomic_load_explicit(&place->tried[is_large], memory_order_relaxed);
    for (;;) {
        const uint64_t before = (tried ^ stock) & ~slots ? stock & ~slots : tried;
        const uint64_t left = stock & ~before & slots;
        if (!left)
            return -1;
        *number = (uint32_t)__builtin_ctzll(left);
        if (atomic_compare_exchange_weak(&place->tried[is_large], &tried, before | 1ull << *number))
            return 0;
    }
}

static struct trace_segment *claim_ready(
    struct trace_place *place, const char *path, uint32_t length_bytes)
{
    char name[TRACE_NAME_BYTES], free_path[sizeof place->run_dir + TRACE_NAME_BYTES];
    struct trace_name n = {.kind = TRACE_NAME_FREE, .length_bytes = length_bytes};
    while (take_number(place, length_bytes == TRACE_SEGMENT_LARGE_BYTES, &n.number) == 0) {
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

// More are let go, so that the memory that lies idle is bounded.
#define KEPT_MOST 32u

static void let_go(struct trace_segment *s, enum trace_segment_state state)
{
    uint32_t length_bytes = s->length_bytes;
    __atomic_store_n(&s->state, (uint32_t)state, __ATOMIC_RELEASE);
    munmap(s, length_bytes);
}

// The oldest of the kept segments, which is kept no more. NULL: there is none.
static struct trace_segment *take_kept(struct trace_writer *w, struct trace_place *place)
{
    struct trace_segment *s = w->kept[0];
    if (!s)
        return NULL;
    for (int i = 0; i + 1 < TRACE_WRITER_KEPT; i++)
        w->kept[i] = w->kept[i + 1];
    w->kept[TRACE_WRITER_KEPT - 1] = NULL;
    atomic_fetch_sub_explicit(&place->kept_count, 1, memory_order_relaxed);
    return s;
}

// Whether it is kept now, as the newest.
static int keep(struct trace_writer *w, struct trace_place *place, struct trace_segment *s)
{
    int free = 0;
    while (free < TRACE_WRITER_KEPT && w->kept[free])
        free++;
    if (free == TRACE_WRITER_KEPT || s->length_bytes != TRACE_SEGMENT_LARGE_BYTES)
        return 0;
    if (atomic_fetch_add_explicit(&place->kept_count, 1, memory_order_relaxed) >= KEPT_MOST) {
        atomic_fetch_sub_explicit(&place->kept_count, 1, memory_order_relaxed);
        return 0;
    }
    w->kept[free] = s;
    __atomic_store_n(&s->state, (uint32_t)TRACE_SEGMENT_KEPT, __ATOMIC_RELEASE);
    return 1;
}

// The full segment stays mapped when there is room for one more; else it is let go.
static void retire(struct trace_writer *w, struct trace_place *place)
{
    struct trace_segment *s = w->segment;
    w->cursor = w->limit = NULL;
    w->segment = NULL;
    if (!keep(w, place, s))
        let_go(s, TRACE_SEGMENT_FULL);
}

static int segment_path(char *out, size_t out_bytes, const struct trace_writer *w,
    const struct trace_place *place, uint32_t seq)
{
    char name[TRACE_NAME_BYTES];
    struct trace_name n = {.kind = TRACE_NAME_SEGMENT,
        .pid = place->pid,
        .image_ticks = place->image_ticks,
        .thread_seq = w->thread_seq,
        .segment_seq = seq};
    return trace_writer_path(out, out_bytes, place, trace_name_format(name, &n));
}

static void start_segment(struct trace_writer *w, const struct trace_place *place,
    struct trace_segment *s, uint32_t length_bytes)
{
    *s = (struct trace_segment){.magic = s->magic,
        .pid = place->pid,
        .tid = w->tid,
        .image_ticks = place->image_ticks,
        .thread_seq = w->thread_seq,
        .segment_seq = w->segment_seq,
        .length_bytes = length_bytes,
        .state = TRACE_SEGMENT_OPEN};
    __atomic_store_n(&s->magic, TRACE_SEGMENT_MAGIC, __ATOMIC_RELEASE);
}

// The oldest kept segment, when the launcher has returned it: it gets the next name. Its memory is
// mapped, and warm. NULL: none is to be had; where no more can be kept the oldest is let go.
static struct trace_segment *claim_kept(
    struct trace_writer *w, struct trace_place *place, const char *path)
{
    char old_path[sizeof place->run_dir + TRACE_NAME_BYTES];
    struct trace_segment *s = w->kept[0];
    if (!s)
        return NULL;
    int is_returned = __atomic_load_n(&s->magic, __ATOMIC_ACQUIRE) == TRACE_SEGMENT_RETURNED;
    if (!is_returned && !w->kept[TRACE_WRITER_KEPT - 1])
        return NULL;
    take_kept(w, place);
    if (is_returned && segment_path(old_path, sizeof old_path, w, place, s->segment_seq) == 0) {
        start_segment(w, place, s, s->length_bytes);
        if (syscall(SYS_renameat2, AT_FDCWD, old_path, AT_FDCWD, path, 1 /* NOREPLACE */) == 0)
            return s;
    }
    let_go(s, TRACE_SEGMENT_FULL);
    return NULL;
}

int trace_writer_advance(struct trace_writer *w, struct trace_place *place)
{
    char path[sizeof place->run_dir + TRACE_NAME_BYTES];
    uint32_t seq = w->segment ? w->segment_seq + 1 : w->segment_seq;
    uint32_t length_bytes = seq ? TRACE_SEGMENT_LARGE_BYTES : TRACE_SEGMENT_SMALL_BYTES;
    w->segment_seq = seq;
    int failed = segment_path(path, sizeof path, w, place, seq);
    struct trace_segment *s = failed ? NULL : claim_kept(w, place, path);
    if (w->segment)
        retire(w, place);
    if (failed)
        return -1;
    if (!s) {
        s = claim_ready(place, path, length_bytes);
        if (!s)
            s = trace_writer_map(path, length_bytes, 1);
        if (!s)
            return -1;
        start_segment(w, place, s, length_bytes);
    }
    w->segment = s;
    w->cursor = (uint8_t *)(s + 1);
    w->limit = (uint8_t *)s + length_bytes;
    return 0;
}

void trace_writer_close(struct trace_writer *w, struct trace_place *place)
{
    struct trace_segment *s;
    while ((s = take_kept(w, place)))
        let_go(s, TRACE_SEGMENT_FULL);
    w->cursor = w->limit = NULL;
    s = w->segment;
    w->segment = NULL;
    if (s)
        let_go(s, TRACE_SEGMENT_CLOSED);
}
