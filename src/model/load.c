// SPDX-License-Identifier: Apache-2.0
// Fills a model from a trace in two passes: first what gives meaning (clock, names, processes,
// samples), which may stand behind its use, then the threads' records in the order of their
// segments. Called by the report, the exporters and `run`. Reads up to damage and on behind it.
// Threads: none shared.
#include "model/load.h"

#include "base/buf.h"
#include "base/heap.h"
#include "model/feed.h"
#include "model/load_ends.h"
#include "model/load_process.h"
#include "trace/meta.h"
#include "trace/reader.h"
#include "trace/records.h"

#include <stdlib.h>
#include <string.h>

// A thread of the trace: its decoder, and the part of its records that came last.
struct load_thread {
    uint32_t process; // index in load.processes
    uint32_t segment_seq, part;
    struct feed feed;
};

struct load_key {
    uint64_t image_ticks;
    uint32_t pid, thread_seq;
};
#define PROCESS_ITSELF UINT32_MAX

struct load_slot {
    struct load_key key;
    uint32_t value; // index + 1; 0: free
};

struct load {
    struct model *m;
    struct trace_reader *reader;
    struct ticks_scale scale;
    VEC(struct load_process) processes;
    VEC(struct load_thread *) threads;
    struct load_slot *slots; // open addressing over both; threads with inverted image_ticks
    size_t slot_count, slots_used;
    uint64_t late_blocks; // that came after a later part of their thread
    struct buf damage;
};

// ---- Finding processes and threads by what identifies them. ------------------------------------

static size_t slot_of(const struct load *l, const struct load_key *key)
{
    uint64_t hash =
        (key->image_ticks ^ (uint64_t)key->pid << 32 ^ key->thread_seq) * 0x9e3779b97f4a7c15u;
    size_t slot = (hash >> 24) & (l->slot_count - 1);
    while (l->slots[slot].value) {
        const struct load_key *k = &l->slots[slot].key;
        if (k->image_ticks == key->image_ticks && k->pid == key->pid &&
            k->thread_seq == key->thread_seq)
            break;
        slot = (slot + 1) & (l->slot_count - 1);
    }
    return slot;
}

static struct load_slot *slot_find(struct load *l, struct load_key key)
{
    if (l->slots_used * 2 >= l->slot_count) {
        struct load_slot *old = l->slots;
        size_t old_count = l->slot_count;
        l->slot_count = old_count ? old_count * 2 : 64;
        l->slots = heap_alloc(l->slot_count, sizeof *l->slots);
        for (size_t i = 0; i < old_count; i++)
            if (old[i].value)
                l->slots[slot_of(l, &old[i].key)] = old[i];
        free(old);
    }
    struct load_slot *slot = &l->slots[slot_of(l, &key)];
    slot->key = key;
    return slot;
}

// The index in l->processes.
static uint32_t process_of(struct load *l, uint32_t pid, uint64_t image_ticks)
{
    struct load_slot *slot = slot_find(l, (struct load_key){image_ticks, pid, PROCESS_ITSELF});
    if (slot->value)
        return slot->value - 1;
    struct model_process *mp = vec_push(&l->m->processes);
    mp->pid = pid;
    mp->command = "";
    mp->has_agent = 1;
    struct load_process *p = vec_push(&l->processes);
    p->pid = pid;
    p->image_ticks = image_ticks;
    p->index = (uint32_t)(l->m->processes.count - 1);
    slot->value = (uint32_t)l->processes.count;
    l->slots_used++;
    return slot->value - 1;
}

static struct load_thread *thread_of(struct load *l, const struct trace_block_id *id, int *is_new)
{
    const uint32_t process = process_of(l, id->pid, id->image_ticks);
    struct load_slot *slot =
        slot_find(l, (struct load_key){~id->image_ticks, id->pid, id->thread_seq});
    *is_new = !slot->value;
    if (slot->value)
        return l->threads.at[slot->value - 1];
    struct load_thread *t = heap_alloc(1, sizeof *t);
    t->process = process;
    feed_init(&t->feed, l->m, NULL, &l->scale,
        model_thread_add(l->m, l->processes.at[process].index, id->tid));
    *vec_push(&l->threads) = t;
    slot->value = (uint32_t)l->threads.count;
    l->slots_used++;
    return t;
}

// A space between the sentences about damage.
static struct buf *damage_more(struct load *l)
{
    if (l->damage.length_bytes)
        buf_putc(&l->damage, ' ');
    return &l->damage;
}

// ---- The first pass. --------------------------------------------------------------------------

static void take_json(struct json **into, const struct trace_block_view *b)
{
    // Damage inside is not worth more than the loss of this block: the reader has verified its sum.
    (void)trace_meta_merge(into, b->bytes, b->length_bytes, NULL);
}

static void take_first(struct load *l, const struct trace_block_view *b)
{
    if (b->id.type == TRACE_BLOCK_META)
        take_json(&l->m->meta, b);
    else if (b->id.type == TRACE_BLOCK_SUMMARY)
        take_json(&l->m->summary, b);
    if (b->id.type != TRACE_BLOCK_PROCESS)
        return;
    const uint32_t process = process_of(l, b->id.pid, b->id.image_ticks);
    load_process_keep(&l->processes.at[process], b->bytes, b->length_bytes);
}

static int read_clock(struct load *l, struct err *e)
{
    struct trace_clock clock;
    if (trace_clock_get(&clock, l->m->meta, l->m->summary, e) < 0)
        return -1;
    return trace_clock_scale(&clock, &l->scale, e);
}

// Where only the last part of a run was kept, time counts from its first moment.
static void move_origin(struct load *l)
{
    __extension__ typedef unsigned __int128 wide;
    const int64_t from_ns = json_get_int(l->m->meta, "kept_from_ns", 0);
    if (from_ns <= 0 || from_ns > FEED_LIMIT_NS)
        return;
    const wide tick = (wide)l->scale.whole << 64 | l->scale.fraction;
    l->m->kept_from_ns = from_ns;
    l->scale.origin_ticks += (uint64_t)(((wide)from_ns << 64) / tick);
}

static int first_pass(struct load *l, struct err *e)
{
    struct trace_block_view b;
    trace_reader_select(l->reader, ~(1u << TRACE_BLOCK_SEGMENT | 1u << TRACE_BLOCK_SAMPLES));
    while (trace_reader_next(l->reader, &b))
        take_first(l, &b);
    if (read_clock(l, e) < 0)
        return -1;
    move_origin(l);
    for (size_t i = 0; i < l->processes.count; i++) {
        struct load_process *p = &l->processes.at[i];
        size_t at_bytes;
        if (p->file && load_process_read(p, l->m, &l->scale, &at_bytes) < 0)
            buf_printf(damage_more(l),
                "The names of process %u are damaged at byte %zu; later ones are missing.", p->pid,
                at_bytes);
    }
    trace_reader_rewind(l->reader);
    trace_reader_select(l->reader, ~0u);
    return 0;
}

// ---- The second pass. -------------------------------------------------------------------------

static void take_segment(struct load *l, const struct trace_block_view *b)
{
    int is_new;
    struct load_thread *t = thread_of(l, &b->id, &is_new);
    if (!is_new && (b->id.segment_seq < t->segment_seq ||
                       (b->id.segment_seq == t->segment_seq && b->id.part <= t->part))) {
        l->late_blocks++;
        return;
    }
    t->segment_seq = b->id.segment_seq;
    t->part = b->id.part;
    // Processes may move when more are found: the decoder gets its process anew for each block.
    t->feed.process = &l->processes.at[t->process];
    size_t fault_bytes;
    if (feed_records(&t->feed, b->bytes, b->length_bytes, &fault_bytes) < 0) {
        char text[96];
        struct trace_cursor c = {b->bytes, b->length_bytes, fault_bytes};
        trace_reader_report(l->reader, fault_bytes, trace_records_fault(&c, text, sizeof text));
    }
}

static void take_sample(struct load *l, const struct trace_sample *r)
{
    if (r->metric == TRACE_METRIC_NONE || r->metric >= TRACE_METRIC_COUNT)
        return;
    int64_t at_ns = ticks_scale_ns(&l->scale, r->ticks);
    if (l->m->kept_from_ns && at_ns < 0)
        return;
    *vec_push(&l->m->samples) = (struct model_sample){
        at_ns < 0 ? 0 : at_ns, r->value, r->subject, (enum trace_metric)r->metric};
}

static void take_samples(struct load *l, const struct trace_block_view *b)
{
    struct trace_cursor c = {b->bytes, b->length_bytes, 0};
    struct trace_record r;
    int more;
    while ((more = trace_records_next(&c, &r)) > 0) {
        if (r.kind == TRACE_SAMPLE)
            take_sample(l, r.sample);
        else if (r.kind == TRACE_TEXT)
            load_process_text(NULL, l->m, r.text);
    }
    if (more < 0) {
        char text[96];
        trace_reader_report(l->reader, c.offset_bytes, trace_records_fault(&c, text, sizeof text));
    }
}

static void second_pass(struct load *l)
{
    struct trace_block_view b;
    while (trace_reader_next(l->reader, &b)) {
        if (b.id.type == TRACE_BLOCK_SEGMENT)
            take_segment(l, &b);
        else if (b.id.type == TRACE_BLOCK_SAMPLES)
            take_samples(l, &b);
    }
}

// ---- The ends. --------------------------------------------------------------------------------

static void finish_damage(struct load *l)
{
    const char *text = trace_reader_damage_text(l->reader);
    if (*text)
        buf_puts(damage_more(l), text);
    if (l->late_blocks)
        buf_printf(damage_more(l),
            "%llu blocks repeat or precede parts already read; they were left out.",
            (unsigned long long)l->late_blocks);
    l->m->damage = arena_strdup(l->m->arena, buf_text(&l->damage));
}

// The threads are sorted by process first: a run may have very many of both.
static void label_threads(struct load *l)
{
    const size_t processes = l->processes.count, threads = l->threads.count;
    uint32_t *first = heap_alloc(processes + 2, sizeof *first);
    uint32_t *order = heap_alloc(threads + 1, sizeof *order);
    for (size_t i = 0; i < threads; i++)
        first[l->threads.at[i]->process + 2]++;
    for (size_t i = 2; i < processes + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < threads; i++)
        order[first[l->threads.at[i]->process + 1]++] = l->threads.at[i]->feed.thread;
    for (size_t i = 0; i < processes; i++)
        load_process_label(&l->processes.at[i], l->m, order + first[i], first[i + 1] - first[i]);
    free(first);
    free(order);
}

static void finish(struct load *l)
{
    for (size_t i = 0; i < l->threads.count; i++)
        feed_end(&l->threads.at[i]->feed);
    label_threads(l);
    load_ends_fill(l->m);
    model_finish(l->m);
    finish_damage(l);
}

static void load_fini(struct load *l)
{
    for (size_t i = 0; i < l->threads.count; i++) {
        feed_fini(&l->threads.at[i]->feed);
        free(l->threads.at[i]);
    }
    for (size_t i = 0; i < l->processes.count; i++)
        load_process_fini(&l->processes.at[i]);
    vec_fini(&l->threads);
    vec_fini(&l->processes);
    free(l->slots);
    buf_fini(&l->damage);
    trace_reader_close(&l->reader);
}

static struct model *load_from(struct trace_reader *reader, const char *name, struct err *e)
{
    struct load l = {.m = model_new(), .reader = reader};
    struct err why = {0};
    if (first_pass(&l, &why) < 0) {
        err_set(e, "%s: %s", name, err_text(&why));
        model_free(&l.m);
    } else {
        second_pass(&l);
        finish(&l);
    }
    load_fini(&l);
    return l.m;
}

struct model *model_load(const char *path, struct err *e)
{
    struct trace_reader *reader = trace_reader_open(path, e);
    return reader ? load_from(reader, path, e) : NULL;
}

struct model *model_load_bytes(
    const void *bytes, size_t length_bytes, const char *name, struct err *e)
{
    struct trace_reader *reader = trace_reader_open_bytes(bytes, length_bytes, name, e);
    return reader ? load_from(reader, name, e) : NULL;
}
