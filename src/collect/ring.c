// SPDX-License-Identifier: Apache-2.0
// Which blocks of the trace are kept, see ring.h. A block holds what was recorded up to when it was
// appended, so one that was appended after the horizon is kept, and one before it is not, unless
// later blocks cannot be read or recovered without it. Threads: one owner.
#include "collect/ring.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/vec.h"

#include <stdlib.h>

#define STEP_NS 1000000000u
#define META_NS 120000000000u  // the clocks are compared once a minute
#define WORTH_BYTES (1u << 20) // less is not worth writing the rest anew

void ring_start(const struct ring *r)
{
    if (r->keep_ns)
        trace_pack_remember(r->pack);
}

// One copy of a process file, or a segment: of which image, and which block.
struct image {
    uint32_t pid;
    uint64_t image_ticks;
    size_t block;
};

static int image_compare(const void *left, const void *right)
{
    const struct image *a = left, *b = right;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return (a->image_ticks > b->image_ticks) - (a->image_ticks < b->image_ticks);
}

static int copy_compare(const void *left, const void *right)
{
    const struct image *a = left, *b = right;
    const int order = image_compare(a, b);
    return order ? order : (a->block > b->block) - (a->block < b->block);
}

// The images that have a block of `type` (a kept one, for segments), in order.
struct images {
    VEC(struct image) list;
};

static void images_gather(struct images *images, const struct trace_pack_entry *entries,
    size_t count, enum trace_block_type type)
{
    for (size_t i = 0; i < count; i++)
        if (entries[i].id.type == type && (entries[i].is_kept || type == TRACE_BLOCK_PROCESS))
            *vec_push(&images->list) =
                (struct image){entries[i].id.pid, entries[i].id.image_ticks, i};
    if (images->list.count)
        qsort(images->list.at, images->list.count, sizeof *images->list.at, copy_compare);
}

// Of a process file the last copy counts, and that only while it runs or its records are there.
static void processes_judge(struct ring *r, struct trace_pack_entry *entries, size_t count)
{
    struct images copies = {0}, kept = {0};
    images_gather(&copies, entries, count, TRACE_BLOCK_PROCESS);
    images_gather(&kept, entries, count, TRACE_BLOCK_SEGMENT);
    for (size_t i = 0; i < copies.list.count; i++) {
        const struct image *copy = &copies.list.at[i];
        if (i + 1 < copies.list.count && image_compare(copy, copy + 1) == 0)
            continue;
        entries[copy->block].is_kept =
            !drain_image_is_ended(r->drain, copy->pid, copy->image_ticks) ||
            (kept.list.count &&
                bsearch(copy, kept.list.at, kept.list.count, sizeof *kept.list.at, image_compare));
    }
    vec_fini(&copies.list);
    vec_fini(&kept.list);
}

static int is_kept(struct ring *r, const struct trace_pack_entry *entry, uint64_t horizon_ns)
{
    // The first META tells of the run, later ones only what has changed.
    const int is_first = entry->offset_bytes == sizeof(struct trace_file);
    switch (entry->id.type) {
    case TRACE_BLOCK_SAMPLES:
        return entry->appended_ns >= horizon_ns;
    case TRACE_BLOCK_SEGMENT:
        return entry->appended_ns >= horizon_ns || drain_segment_is_open(r->drain, &entry->id);
    case TRACE_BLOCK_PROCESS:
        return 0; // judged when it is known which segments are kept
    case TRACE_BLOCK_META:
        return is_first || entry->appended_ns + META_NS >= horizon_ns;
    case TRACE_BLOCK_SUMMARY:
        break;
    }
    return 1;
}

// Marks what is kept; how many bytes that is not.
static uint64_t blocks_judge(struct ring *r, uint64_t horizon_ns)
{
    size_t count;
    struct trace_pack_entry *entries = trace_pack_entries(r->pack, &count);
    uint64_t dropped_bytes = 0;
    for (size_t i = 0; i < count; i++)
        entries[i].is_kept = is_kept(r, &entries[i], horizon_ns);
    processes_judge(r, entries, count);
    for (size_t i = 0; i < count; i++)
        dropped_bytes += entries[i].is_kept ? 0 : entries[i].length_bytes;
    return dropped_bytes;
}

// Since when on the blocks fit into half of the limit.
static uint64_t fitting_ns(const struct ring *r)
{
    size_t count;
    const struct trace_pack_entry *entries = trace_pack_entries(r->pack, &count);
    uint64_t sum_bytes = 0;
    while (count > 0) {
        sum_bytes += entries[count - 1].length_bytes;
        if (sum_bytes > r->max_bytes / 2)
            return entries[count - 1].appended_ns + 1;
        count--;
    }
    return 0;
}

// Tells from when on the trace is whole.
static int horizon_write(struct ring *r, uint64_t horizon_ns, struct err *e)
{
    const struct trace_block_id id = {.type = TRACE_BLOCK_META};
    struct json *meta = json_object();
    struct buf text = {0};
    r->kept_from_ns = horizon_ns - r->clock->start.mono_ns;
    json_put_int(meta, "kept_from_ns", (int64_t)r->kept_from_ns);
    json_print(meta, 0, &text);
    const int result = trace_pack_block(r->pack, &id, buf_text(&text), text.length_bytes, e);
    json_free(&meta);
    buf_fini(&text);
    return result;
}

// Nothing is lost when this fails between the two steps: the trace is cut at the horizon all the
// same.
static int drop(struct ring *r, uint64_t horizon_ns, struct err *e)
{
    if (horizon_write(r, horizon_ns, e) < 0)
        return -1;
    (void)blocks_judge(r, horizon_ns);
    return trace_pack_rewrite(r->pack, e);
}

static int is_near_limit(const struct ring *r)
{
    return r->max_bytes && trace_pack_file_bytes(r->pack) >= r->max_bytes - r->max_bytes / 4;
}

int ring_step(struct ring *r, uint64_t now_ns, struct err *e)
{
    if (!r->keep_ns || now_ns < r->due_ns)
        return 0;
    r->due_ns = now_ns + STEP_NS;
    const uint64_t fits_ns = is_near_limit(r) ? fitting_ns(r) : 0;
    uint64_t horizon_ns = now_ns > r->keep_ns ? now_ns - r->keep_ns : 0;
    if (fits_ns > horizon_ns)
        horizon_ns = fits_ns;
    if (horizon_ns <= r->clock->start.mono_ns)
        return 0;
    const uint64_t dropped_bytes = blocks_judge(r, horizon_ns);
    if (dropped_bytes < WORTH_BYTES && !fits_ns)
        return 0;
    if (dropped_bytes < trace_pack_file_bytes(r->pack) / 2 && !fits_ns)
        return 0;
    return drop(r, horizon_ns, e);
}

int ring_finish(struct ring *r, struct err *e)
{
    const uint64_t now_ns = clock_mono_ns();
    if (!r->keep_ns || now_ns - r->clock->start.mono_ns <= r->keep_ns)
        return 0;
    const uint64_t horizon_ns = now_ns - r->keep_ns;
    // What the limit has cut off already does not come back.
    if (horizon_ns - r->clock->start.mono_ns <= r->kept_from_ns)
        return 0;
    return drop(r, horizon_ns, e);
}
