// SPDX-License-Identifier: Apache-2.0
// Takes what one segment or process file holds into the trace. Called by the drain for every file
// in the directory, in the order of each thread's segments. Files are read, never mapped: their
// owner may cut them at any moment. Threads: one owner.
#include "trace/drain_state.h"

#include "trace/format.h"
#include "trace/hash.h"
#include "trace/records.h"

#include <string.h>
#include <unistd.h>

// A process file's text is packed again when it grew by an eighth, or at this age.
#define TEXT_AGE_NS 2000000000ull
#define PROCESS_LIMIT_BYTES (TRACE_BLOCK_RAW_LIMIT_BYTES - (1u << 20))

// What a look at a segment's header told.
struct segment_look {
    int fd;
    size_t file_bytes;
    uint32_t tid;
    uint64_t used_bytes; // believable
    int is_complete;     // nothing more will be written
    int is_kept;         // and its thread has it mapped
    int is_closed;       // and its thread has ended
    int is_usable;       // the header is that of this segment
};

// Reads the header. A claimed file whose header is not written yet is not usable, and no damage.
static void header_look(struct drain *d, const struct trace_name *name, struct segment_look *look)
{
    struct trace_segment h;
    if (drain_read(look->fd, &h, sizeof h, 0) != sizeof h || h.magic == 0)
        return;
    // `used_bytes` is final once the state says so, but may have been read before the state was.
    look->is_kept = h.state == TRACE_SEGMENT_KEPT;
    look->is_closed = h.state == TRACE_SEGMENT_CLOSED;
    if (h.state == TRACE_SEGMENT_FULL || h.state == TRACE_SEGMENT_CLOSED || look->is_kept) {
        look->is_complete = 1;
        if (drain_read(look->fd, &h, sizeof h, 0) != sizeof h)
            return;
    }
    if (h.magic == TRACE_SEGMENT_RETURNED)
        return;
    if (h.magic != TRACE_SEGMENT_MAGIC || h.pid != name->pid ||
        h.image_ticks != name->image_ticks || h.thread_seq != name->thread_seq ||
        h.segment_seq != name->segment_seq) {
        d->stats.damaged_segments += (uint64_t)d->is_final;
        return;
    }
    size_t room_bytes = look->file_bytes > sizeof h ? look->file_bytes - sizeof h : 0;
    if (room_bytes > TRACE_BLOCK_RAW_LIMIT_BYTES)
        room_bytes = TRACE_BLOCK_RAW_LIMIT_BYTES;
    look->is_usable = 1;
    look->tid = h.tid;
    look->used_bytes = h.used_bytes;
    if (h.used_bytes > room_bytes || h.used_bytes % TRACE_UNIT_BYTES) {
        d->stats.damaged_segments += (uint64_t)(look->is_complete || d->is_final);
        look->used_bytes = (h.used_bytes > room_bytes ? room_bytes : h.used_bytes) /
                           TRACE_UNIT_BYTES * TRACE_UNIT_BYTES;
    }
}

// When the record was written; 0: it does not say.
static uint64_t ticks_of(const struct trace_record *r)
{
    switch (r->kind) {
    case TRACE_SPAN:
        return r->span->end_ticks;
    case TRACE_SPAN_LONG:
        return r->span_long->end_ticks;
    case TRACE_THREAD:
        return r->thread->ticks;
    case TRACE_ITEM:
        return r->item->ticks;
    case TRACE_QUEUE:
        return r->queue->ticks;
    case TRACE_COUNTER:
        return r->counter->ticks;
    default:
        return 0;
    }
}

static void records_count(
    struct drain *d, struct drain_thread *t, const uint8_t *bytes, size_t length_bytes)
{
    struct trace_cursor c = {.at = bytes, .length_bytes = length_bytes};
    struct trace_record r;
    while (trace_records_next(&c, &r) > 0) {
        d->stats.records++;
        d->stats.spans += r.kind == TRACE_SPAN || r.kind == TRACE_SPAN_LONG || r.kind == TRACE_FOLD;
        const uint64_t ticks = ticks_of(&r);
        if (ticks > t->last_ticks)
            t->last_ticks = ticks;
    }
}

static int is_trace_full(const struct drain *d)
{
    return d->options.trace_limit_bytes &&
           trace_pack_file_bytes(d->options.pack) >= d->options.trace_limit_bytes;
}

// Packs the records between what was packed before and `look->used_bytes` as the next part.
static int part_pack(
    struct drain *d, struct drain_thread *t, const struct segment_look *look, struct err *e)
{
    const uint64_t new_bytes = look->used_bytes - t->packed_bytes;
    if (is_trace_full(d)) {
        d->stats.discarded_bytes += new_bytes;
        t->packed_bytes = look->used_bytes;
        return 0;
    }
    const struct trace_block_id id = {.type = TRACE_BLOCK_SEGMENT,
        .pid = t->pid,
        .tid = look->tid,
        .image_ticks = t->image_ticks,
        .thread_seq = t->thread_seq,
        .segment_seq = t->next_seq,
        .part = t->next_part};
    uint8_t *room = drain_room_get(d, new_bytes);
    const size_t got_bytes =
        drain_read(look->fd, room, new_bytes, sizeof(struct trace_segment) + t->packed_bytes) /
        TRACE_UNIT_BYTES * TRACE_UNIT_BYTES;
    if (got_bytes == 0)
        return 0;
    const uint64_t before_bytes = trace_pack_file_bytes(d->options.pack);
    if (trace_pack_block(d->options.pack, &id, room, got_bytes, e) < 0)
        return -1;
    if (!t->has_records)
        d->stats.threads++;
    t->has_records = 1;
    t->packed_bytes += got_bytes;
    t->next_part++;
    d->used_budget_bytes += got_bytes;
    d->stats.raw_bytes += got_bytes;
    d->stats.stored_bytes += trace_pack_file_bytes(d->options.pack) - before_bytes;
    records_count(d, t, room, got_bytes);
    return 0;
}

static void segment_recycle(
    struct drain *d, const struct trace_name *name, const struct segment_look *look)
{
    drain_pool_recycle(d, name, look->fd, look->file_bytes);
    d->stats.dir_bytes -= look->file_bytes;
}

// Tells the thread that it may write its segment anew. When that fails it lets go of it later.
static void segment_return(int fd)
{
    const uint64_t magic = TRACE_SEGMENT_RETURNED;
    (void)!pwrite(fd, &magic, sizeof magic, offsetof(struct trace_segment, magic));
}

// Whether a segment whose records were taken is still the thread's: kept, or being made the next.
static int is_held(struct drain *d, const struct trace_name *name, int fd)
{
    struct trace_segment h;
    if (drain_read(fd, &h, sizeof h, 0) != sizeof h ||
        drain_process_get(d, name->pid, name->image_ticks)->is_ended)
        return 0;
    return (h.magic == TRACE_SEGMENT_RETURNED || h.magic == TRACE_SEGMENT_MAGIC) &&
           (h.state == TRACE_SEGMENT_KEPT || h.state == TRACE_SEGMENT_OPEN);
}

static void segment_finish(struct drain *d, struct drain_thread *t, const struct trace_name *name,
    const struct segment_look *look)
{
    d->stats.segments += (uint64_t)look->is_usable;
    t->next_seq = name->segment_seq + 1;
    t->next_part = 0;
    t->packed_bytes = 0;
    t->is_closed = look->is_closed;
    if (d->options.is_read_only || d->is_final)
        return;
    if (look->is_kept && !drain_process_get(d, name->pid, name->image_ticks)->is_ended) {
        segment_return(look->fd);
        return;
    }
    segment_recycle(d, name, look);
}

// Packs from the segment that is open in `look`, and finishes it when nothing more will come.
static int segment_take(struct drain *d, struct drain_thread *t, const struct trace_name *name,
    struct segment_look *look, struct err *e)
{
    const struct drain_process *process = drain_process_get(d, name->pid, name->image_ticks);
    header_look(d, name, look);
    const int is_last_chance = d->is_final || process->is_ended;
    const int is_complete = look->is_complete || is_last_chance;
    if (look->is_usable && look->used_bytes > t->packed_bytes) {
        const uint64_t new_bytes = look->used_bytes - t->packed_bytes;
        if ((is_complete || new_bytes >= d->options.open_part_bytes) &&
            part_pack(d, t, look, e) < 0)
            return -1;
    }
    if (is_last_chance && look->is_usable && !is_trace_full(d) &&
        drain_wait_pack(d, t, look->fd, e) < 0)
        return -1;
    if (is_last_chance || (look->is_complete && look->is_usable))
        segment_finish(d, t, name, look);
    else
        t->is_stopped = 1;
    return 0;
}

// Whether a segment that the look into the directory missed is there after all.
static int is_there(struct drain *d, const struct drain_thread *t)
{
    size_t file_bytes;
    const struct trace_name name = {.kind = TRACE_NAME_SEGMENT,
        .pid = t->pid,
        .image_ticks = t->image_ticks,
        .thread_seq = t->thread_seq,
        .segment_seq = t->next_seq};
    const int fd = drain_file_open(d, &name, &file_bytes);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

int drain_segment_pack(struct drain *d, const struct trace_name *name, struct err *e)
{
    struct drain_thread *t = drain_thread_get(d, name->pid, name->image_ticks, name->thread_seq);
    struct segment_look look = {0};
    int result = 0;
    look.fd = drain_file_open(d, name, &look.file_bytes);
    if (look.fd < 0)
        return 0;
    d->stats.dir_bytes += look.file_bytes;
    if (name->segment_seq < t->next_seq) {
        // Packed before; its thread has it, or giving it back failed or was cut short.
        if (!d->options.is_read_only && !d->is_final && !is_held(d, name, look.fd))
            segment_recycle(d, name, &look);
    } else if (!t->is_stopped && name->segment_seq > t->next_seq && is_there(d, t)) {
        t->is_stopped = 1; // the next round sees it
    } else if (!t->is_stopped) {
        if (name->segment_seq > t->next_seq) {
            t->next_seq = name->segment_seq;
            t->next_part = 0;
            t->packed_bytes = 0;
        }
        result = segment_take(d, t, name, &look, e);
    }
    close(look.fd);
    return result;
}

// Copies the complete TEXT records of `bytes` to its front; how many bytes they take. A place that
// was reserved and not filled ends it while the process lives, and is left out afterwards.
static size_t texts_gather(uint8_t *bytes, size_t length_bytes, int is_over)
{
    struct trace_cursor c = {.at = bytes, .length_bytes = length_bytes};
    struct trace_record r;
    size_t kept_bytes = 0;
    while (c.length_bytes - c.offset_bytes >= TRACE_UNIT_BYTES) {
        if (c.at[c.offset_bytes] == TRACE_TEXT && trace_records_next(&c, &r) > 0) {
            memmove(bytes + kept_bytes, r.at, r.length_bytes);
            kept_bytes += r.length_bytes;
        } else if (is_over) {
            c.offset_bytes += TRACE_UNIT_BYTES;
        } else {
            break;
        }
    }
    return kept_bytes;
}

// Whether the process file is worth packing again now.
static int is_due(const struct drain *d, const struct drain_process *p,
    const struct trace_process *h, uint64_t text_bytes)
{
    if (d->is_final || p->is_ended || !p->is_packed)
        return 1;
    if (h->end_ticks && !p->is_end_packed)
        return 1;
    if (text_bytes <= p->packed_text_bytes)
        return 0;
    return text_bytes - p->packed_text_bytes >= p->packed_text_bytes / 8 ||
           clock_mono_ns() - p->packed_mono_ns >= TEXT_AGE_NS;
}

static int process_write(
    struct drain *d, struct drain_process *p, int fd, uint64_t text_bytes, struct err *e)
{
    const struct trace_block_id id = {
        .type = TRACE_BLOCK_PROCESS, .pid = p->pid, .image_ticks = p->image_ticks};
    const int is_over = d->is_final || p->is_ended;
    const size_t head_bytes = sizeof(struct trace_process);
    uint8_t *room = drain_room_get(d, head_bytes + text_bytes);
    size_t length_bytes = drain_read(fd, room, head_bytes + text_bytes, 0);
    if (length_bytes < head_bytes)
        return 0;
    length_bytes = head_bytes + texts_gather(room + head_bytes, length_bytes - head_bytes, is_over);
    const uint64_t hash = trace_hash(room, length_bytes);
    if (p->is_packed && p->packed_hash == hash)
        return 0;
    if (trace_pack_block(d->options.pack, &id, room, length_bytes, e) < 0)
        return -1;
    if (!p->is_packed)
        d->stats.processes++;
    p->is_packed = 1;
    p->is_end_packed = ((const struct trace_process *)(const void *)room)->end_ticks != 0;
    p->packed_hash = hash;
    p->packed_text_bytes = text_bytes;
    p->packed_mono_ns = clock_mono_ns();
    return 0;
}

int drain_process_pack(struct drain *d, const struct trace_name *name, struct err *e)
{
    struct trace_process h;
    struct drain_process *p = drain_process_get(d, name->pid, name->image_ticks);
    size_t file_bytes;
    int result = 0;
    const int fd = drain_file_open(d, name, &file_bytes);
    if (fd < 0)
        return 0;
    if (drain_read(fd, &h, sizeof h, 0) == sizeof h && h.magic == TRACE_PROCESS_MAGIC &&
        h.pid == name->pid && h.image_ticks == name->image_ticks) {
        const uint64_t most_bytes = file_bytes > sizeof h ? file_bytes - sizeof h : 0;
        uint64_t text_bytes = h.text_reserved_bytes;
        text_bytes = text_bytes < h.text_length_bytes ? text_bytes : h.text_length_bytes;
        text_bytes = text_bytes < most_bytes ? text_bytes : most_bytes;
        text_bytes = text_bytes < PROCESS_LIMIT_BYTES ? text_bytes : PROCESS_LIMIT_BYTES;
        p->is_exec = h.end_ticks && h.exit_seen == 3;
        if (is_due(d, p, &h, text_bytes))
            result = process_write(d, p, fd, text_bytes, e);
    }
    close(fd);
    return result;
}
