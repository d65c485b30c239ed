// SPDX-License-Identifier: Apache-2.0
// The rounds of the drain: look into the directory, take each thread's segments in order, then the
// process files, then stock the pool. Called by the launcher's loop and by `recover`.
// Threads: one owner.
#include "trace/drain_state.h"

#include "trace/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_PART_BYTES (256u << 10)
#define CLOCK_FIRST_NS 1000000000ull
#define CLOCK_MOST_NS 60000000000ull

struct drain *drain_open(const struct drain_options *options, struct err *e)
{
    struct drain *d = calloc(1, sizeof *d);
    if (!d) {
        err_set(e, "out of memory while opening the run directory %s; close other programs",
            options->dir);
        return NULL;
    }
    const int fd = openat(options->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    d->dir = fd < 0 ? NULL : fdopendir(fd);
    if (!d->dir) {
        err_set_errno(
            e, errno, "cannot read the run directory %s; check its permissions", options->dir);
        if (fd >= 0)
            close(fd);
        free(d);
        return NULL;
    }
    d->options = *options;
    if (!d->options.open_part_bytes)
        d->options.open_part_bytes = OPEN_PART_BYTES;
    drain_pool_init(d);
    d->clock_step_ns = CLOCK_FIRST_NS;
    d->clock_due_ns = clock_mono_ns() + CLOCK_FIRST_NS;
    return d;
}

void drain_close(struct drain **d)
{
    if (!d || !*d)
        return;
    closedir((*d)->dir);
    vec_fini(&(*d)->segments);
    vec_fini(&(*d)->processes_seen);
    vec_fini(&(*d)->threads);
    vec_fini(&(*d)->processes);
    free((*d)->room);
    free(*d);
    *d = NULL;
}

const struct drain_stats *drain_stats_get(const struct drain *d)
{
    return &d->stats;
}

uint8_t *drain_room_get(struct drain *d, size_t length_bytes)
{
    if (length_bytes <= d->room_bytes)
        return d->room;
    free(d->room);
    size_t capacity = 0;
    d->room = vec_grow(NULL, &capacity, length_bytes, 1);
    d->room_bytes = capacity;
    return d->room;
}

size_t drain_read(int fd, void *out, size_t length_bytes, size_t offset_bytes)
{
    size_t got_bytes = 0;
    while (got_bytes < length_bytes) {
        const ssize_t n = pread(fd, (uint8_t *)out + got_bytes, length_bytes - got_bytes,
            (off_t)(offset_bytes + got_bytes));
        if (n == 0 || (n < 0 && errno != EINTR))
            break;
        got_bytes += n > 0 ? (size_t)n : 0;
    }
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return got_bytes;
}

int drain_file_open(struct drain *d, const struct trace_name *name, size_t *file_bytes)
{
    char text[TRACE_NAME_BYTES];
    struct stat st;
    const int access = d->options.is_read_only ? O_RDONLY : O_RDWR;
    const int fd = openat(d->options.dir_fd, trace_name_format(text, name),
        access | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return -1;
    }
    *file_bytes = (size_t)st.st_size;
    return fd;
}

static int thread_compare(const struct drain_thread *t, const struct trace_name *n)
{
    if (t->pid != n->pid)
        return t->pid < n->pid ? -1 : 1;
    if (t->image_ticks != n->image_ticks)
        return t->image_ticks < n->image_ticks ? -1 : 1;
    return t->thread_seq == n->thread_seq ? 0 : t->thread_seq < n->thread_seq ? -1 : 1;
}

// Where it is, or would be.
static size_t thread_place(const struct drain *d, const struct trace_name *key)
{
    size_t low = 0, high = d->threads.count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (thread_compare(&d->threads.at[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int is_thread(const struct drain *d, size_t at, const struct trace_name *key)
{
    return at < d->threads.count && thread_compare(&d->threads.at[at], key) == 0;
}

struct drain_thread *drain_thread_get(
    struct drain *d, uint32_t pid, uint64_t image_ticks, uint32_t thread_seq)
{
    const struct trace_name key = {
        .pid = pid, .image_ticks = image_ticks, .thread_seq = thread_seq};
    const size_t low = thread_place(d, &key);
    if (is_thread(d, low, &key))
        return &d->threads.at[low];
    (void)vec_push(&d->threads);
    struct drain_thread *at = &d->threads.at[low];
    memmove(at + 1, at, (d->threads.count - 1 - low) * sizeof *at);
    *at = (struct drain_thread){.pid = pid, .image_ticks = image_ticks, .thread_seq = thread_seq};
    return at;
}

static size_t process_place(const struct drain *d, uint32_t pid, uint64_t image_ticks)
{
    size_t low = 0, high = d->processes.count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const struct drain_process *p = &d->processes.at[middle];
        if (p->pid < pid || (p->pid == pid && p->image_ticks < image_ticks))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int is_process(const struct drain *d, size_t at, uint32_t pid, uint64_t image_ticks)
{
    return at < d->processes.count && d->processes.at[at].pid == pid &&
           d->processes.at[at].image_ticks == image_ticks;
}

struct drain_process *drain_process_get(struct drain *d, uint32_t pid, uint64_t image_ticks)
{
    const size_t low = process_place(d, pid, image_ticks);
    if (is_process(d, low, pid, image_ticks))
        return &d->processes.at[low];
    (void)vec_push(&d->processes);
    struct drain_process *at = &d->processes.at[low];
    memmove(at + 1, at, (d->processes.count - 1 - low) * sizeof *at);
    *at = (struct drain_process){.pid = pid, .image_ticks = image_ticks};
    return at;
}

int drain_segment_is_open(const struct drain *d, const struct trace_block_id *id)
{
    const struct trace_name key = {
        .pid = id->pid, .image_ticks = id->image_ticks, .thread_seq = id->thread_seq};
    const size_t at = thread_place(d, &key);
    return is_thread(d, at, &key) && id->segment_seq >= d->threads.at[at].next_seq;
}

int drain_image_is_ended(const struct drain *d, uint32_t pid, uint64_t image_ticks)
{
    const size_t at = process_place(d, pid, image_ticks);
    return !is_process(d, at, pid, image_ticks) || d->processes.at[at].is_ended;
}

void drain_seen(struct drain *d, const struct trace_block_id *id, uint64_t raw_bytes)
{
    struct drain_thread *t = drain_thread_get(d, id->pid, id->image_ticks, id->thread_seq);
    if (id->segment_seq < t->next_seq)
        return;
    d->stats.threads += (uint64_t)!t->has_records;
    t->has_records = 1;
    if (id->segment_seq > t->next_seq || t->next_part == 0)
        t->packed_bytes = t->next_part = 0;
    t->next_seq = id->segment_seq;
    if (id->part != t->next_part) {
        // A part in between was damaged: where the next one begins is not known any more.
        t->next_seq++;
        t->packed_bytes = t->next_part = 0;
        return;
    }
    t->next_part++;
    t->packed_bytes += raw_bytes;
}

static int name_compare(const void *left, const void *right)
{
    const struct trace_name *a = left, *b = right;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->image_ticks != b->image_ticks)
        return a->image_ticks < b->image_ticks ? -1 : 1;
    if (a->thread_seq != b->thread_seq)
        return a->thread_seq < b->thread_seq ? -1 : 1;
    return a->segment_seq == b->segment_seq ? 0 : a->segment_seq < b->segment_seq ? -1 : 1;
}

// Reads the names in the directory, and forgets what belongs to the last round.
static void directory_look(struct drain *d)
{
    const struct dirent *entry;
    d->segments.count = d->processes_seen.count = 0;
    d->stats.dir_bytes = d->stats.pool_bytes = 0;
    for (size_t i = 0; i < d->processes.count; i++) {
        d->processes.at[i].is_here = 0;
        d->processes.at[i].away_rounds++;
    }
    for (size_t i = 0; i < d->threads.count; i++) {
        d->threads.at[i].is_stopped = 0;
        d->threads.at[i].away_rounds++;
    }
    for (int i = 0; i < DRAIN_CLASS_COUNT; i++) {
        d->classes[i].slots = 0;
        d->stats.pool_bytes += (uint64_t)d->classes[i].spare_count * d->classes[i].length_bytes;
    }
    rewinddir(d->dir);
    while ((entry = readdir(d->dir))) {
        const struct trace_name name = trace_name_parse(entry->d_name);
        if (name.kind == TRACE_NAME_SEGMENT)
            *vec_push(&d->segments) = name;
        else if (name.kind == TRACE_NAME_PROCESS)
            *vec_push(&d->processes_seen) = name;
        else if (name.kind == TRACE_NAME_FREE)
            drain_pool_see(d, &name);
    }
    if (d->segments.count)
        qsort(d->segments.at, d->segments.count, sizeof *d->segments.at, name_compare);
    for (size_t i = 0; i < d->segments.count; i++) {
        const struct trace_name *name = &d->segments.at[i];
        struct drain_process *p = drain_process_get(d, name->pid, name->image_ticks);
        p->is_here = 1;
        p->away_rounds = 0;
        drain_thread_get(d, name->pid, name->image_ticks, name->thread_seq)->away_rounds = 0;
    }
    for (size_t i = 0; i < d->processes_seen.count; i++) {
        const struct trace_name *name = &d->processes_seen.at[i];
        drain_process_get(d, name->pid, name->image_ticks)->away_rounds = 0;
    }
}

static int is_over_budget(const struct drain *d)
{
    return d->budget_bytes && d->used_budget_bytes >= d->budget_bytes;
}

static int segments_pack(struct drain *d, struct err *e)
{
    for (size_t i = 0; i < d->segments.count && !is_over_budget(d); i++)
        if (drain_segment_pack(d, &d->segments.at[i], e) < 0)
            return -1;
    return 0;
}

// A process file whose process is gone and packed to the end makes room.
static void process_forget(struct drain *d, const struct trace_name *name)
{
    char text[TRACE_NAME_BYTES];
    struct drain_process *p = drain_process_get(d, name->pid, name->image_ticks);
    if (p->is_ended && p->is_packed && !p->is_here && !d->is_final && !d->options.is_read_only)
        p->is_removed |= unlinkat(d->options.dir_fd, trace_name_format(text, name), 0) == 0;
}

static int processes_pack(struct drain *d, struct err *e)
{
    for (size_t i = 0; i < d->processes_seen.count; i++) {
        if (drain_process_pack(d, &d->processes_seen.at[i], e) < 0)
            return -1;
        process_forget(d, &d->processes_seen.at[i]);
    }
    // A process that said it calls exec, and has a successor, did: the old image is gone.
    for (size_t i = 0; i + 1 < d->processes.count; i++)
        if (d->processes.at[i].is_exec && d->processes.at[i + 1].pid == d->processes.at[i].pid)
            d->processes.at[i].is_ended = 1;
    return 0;
}

// From time to time a new calibration pair goes into the trace, so that one that ends without a
// summary has a good one.
static int clock_pack(struct drain *d, struct err *e)
{
    const uint64_t now_ns = clock_mono_ns();
    if (!d->options.clock || now_ns < d->clock_due_ns)
        return 0;
    const struct trace_block_id id = {.type = TRACE_BLOCK_META};
    struct trace_clock clock = *d->options.clock;
    struct json *meta = json_object();
    struct buf text = {0};
    trace_clock_update(&clock);
    trace_clock_put_meta(&clock, meta);
    json_print(meta, 0, &text);
    const int result =
        trace_pack_block(d->options.pack, &id, buf_text(&text), text.length_bytes, e);
    json_free(&meta);
    buf_fini(&text);
    if (d->clock_step_ns < CLOCK_MOST_NS)
        d->clock_step_ns *= 2;
    d->clock_due_ns = now_ns + d->clock_step_ns;
    return result;
}

static int round_run(struct drain *d, struct err *e)
{
    directory_look(d);
    int result = segments_pack(d, e);
    if (result == 0)
        result = processes_pack(d, e);
    if (result == 0 && !d->is_final)
        drain_forget(d);
    if (d->options.is_pool_stocked && !d->is_final)
        drain_pool_stock(d);
    return result;
}

int drain_step(struct drain *d, uint64_t budget_bytes, struct err *e)
{
    d->budget_bytes = budget_bytes;
    d->used_budget_bytes = 0;
    if (round_run(d, e) < 0 || clock_pack(d, e) < 0)
        return -1;
    return is_over_budget(d);
}

void drain_processes_ended(struct drain *d, const struct drain_ended *ended, size_t count)
{
    directory_look(d);
    const uint64_t ticks = d->options.clock ? ticks_now(d->options.clock->is_tsc) : 0;
    for (; count > 0; count--, ended++)
        for (size_t i = process_place(d, ended->pid, 0);
             i < d->processes.count && d->processes.at[i].pid == ended->pid &&
             d->processes.at[i].image_ticks <= ended->until_ticks;
             i++) {
            d->processes.at[i].is_ended = 1;
            if (!d->processes.at[i].ended_ticks)
                d->processes.at[i].ended_ticks = ticks;
        }
}

int drain_finish(struct drain *d, struct err *e)
{
    d->budget_bytes = 0;
    d->is_final = 1;
    return round_run(d, e);
}
