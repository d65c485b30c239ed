// SPDX-License-Identifier: Apache-2.0
// The whole-trace check: one pass over all blocks with a state per thread and per process image.
// Called by `lightmeter dump --check` and the tests. What the reader finds damaged becomes a
// finding too. Threads: one owner.
#include "trace/check.h"

#include "trace/check_state.h"
#include "trace/meta.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FINDINGS_TOLD 100u

void check_find(struct check *c, const char *format, ...)
{
    char text[400];
    va_list args;
    if (c->out->findings++ >= FINDINGS_TOLD)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (c->block)
        buf_printf(&c->out->text, "block %" PRIu64 " at byte %" PRIu64 ": %s\n", c->block->index,
            c->block->offset_bytes, text);
    else
        buf_printf(&c->out->text, "%s\n", text);
}

struct check_image *check_image_get(struct check *c, uint32_t pid, uint64_t image_ticks)
{
    for (size_t i = c->images.count; i-- > 0;)
        if (c->images.at[i].pid == pid && c->images.at[i].image_ticks == image_ticks)
            return &c->images.at[i];
    struct check_image *image = vec_push(&c->images);
    image->pid = pid;
    image->image_ticks = image_ticks;
    return image;
}

static struct check_thread *thread_get(struct check *c, const struct trace_block_id *id)
{
    for (size_t i = c->threads.count; i-- > 0;) {
        struct check_thread *t = &c->threads.at[i];
        if (t->pid == id->pid && t->image_ticks == id->image_ticks &&
            t->thread_seq == id->thread_seq)
            return t;
    }
    struct check_thread *t = vec_push(&c->threads);
    t->pid = id->pid;
    t->image_ticks = id->image_ticks;
    t->thread_seq = id->thread_seq;
    return t;
}

// Whether the block continues its thread; records before a hole do not bind those behind it.
static void order_check(struct check *c, struct check_thread *t)
{
    const struct trace_block_id *id = &c->block->id;
    const int is_next_part = id->segment_seq == t->segment_seq && id->part == t->next_part;
    const int is_next_segment =
        id->segment_seq == t->segment_seq + (t->next_part > 0) && id->part == 0;
    const int is_later =
        c->is_tail && (id->segment_seq > t->segment_seq || id->part > t->next_part);
    if (is_later) {
        check_thread_forget(t);
        t->has_gap = 1;
    } else if (!is_next_part && !is_next_segment) {
        check_find(c,
            "segment %" PRIu32 " part %" PRIu32 " of thread %" PRIu32 " in process %" PRIu32
            " follows segment %" PRIu32 " part %" PRIu32 ": something between them is missing",
            id->segment_seq, id->part, id->thread_seq, id->pid, t->segment_seq, t->next_part);
        check_thread_forget(t);
    }
    t->segment_seq = id->segment_seq;
    t->next_part = id->part + 1;
}

static void records_check(struct check *c, struct trace_cursor cursor, struct check_thread *t)
{
    struct trace_record r;
    char fault[128];
    int more;
    struct check_image *image = check_image_get(c, c->block->id.pid, c->block->id.image_ticks);
    while ((more = trace_records_next(&cursor, &r)) > 0) {
        c->offset_bytes = cursor.offset_bytes - r.length_bytes;
        c->out->records++;
        check_record(c, t, image, &r);
    }
    if (more < 0)
        check_find(c, "%s, %zu bytes into its content",
            trace_records_fault(&cursor, fault, sizeof fault), cursor.offset_bytes);
}

static void text_check(struct check *c, struct check_image *image, const struct trace_text *text)
{
    c->out->texts++;
    if (text->use == TRACE_TEXT_NAME)
        image->defined[text->id / 64] |= UINT64_C(1) << text->id % 64;
    if (text->use == TRACE_TEXT_NAME && trace_text_field(text, 0).length_bytes == 0)
        check_find(c, "name %u of process %" PRIu32 " is empty", text->id, image->pid);
}

static void process_check(struct check *c)
{
    const struct trace_block_view *b = c->block;
    struct trace_process h;
    struct trace_record r;
    int more;
    if (b->length_bytes < sizeof h) {
        check_find(c, "a process block of %zu bytes is too short", b->length_bytes);
        return;
    }
    memcpy(&h, b->bytes, sizeof h);
    if (h.magic != TRACE_PROCESS_MAGIC || h.pid != b->id.pid ||
        h.image_ticks != b->id.image_ticks) {
        check_find(c, "a process block does not hold the process that it names");
        return;
    }
    struct check_image *image = check_image_get(c, h.pid, h.image_ticks);
    image->has_process = 1;
    struct trace_cursor cursor = {
        .at = b->bytes + sizeof h, .length_bytes = b->length_bytes - sizeof h};
    while ((more = trace_records_next(&cursor, &r)) > 0 && r.kind == TRACE_TEXT)
        text_check(c, image, r.text);
    if (more != 0)
        check_find(c, "something that is no text lies %zu bytes into a process block",
            cursor.offset_bytes + sizeof h);
}

static void json_check(struct check *c, const char *what)
{
    struct err why = {0};
    struct json *value = NULL;
    if (trace_meta_merge(&value, c->block->bytes, c->block->length_bytes, &why) < 0)
        check_find(c, "its %s cannot be read: %s", what, err_text(&why));
    json_free(&value);
}

static void block_check(struct check *c)
{
    const struct trace_block_view *b = c->block;
    const struct trace_cursor cursor = {.at = b->bytes, .length_bytes = b->length_bytes};
    if (c->out->blocks++ == 0 && b->id.type != TRACE_BLOCK_META)
        check_find(c, "the first block is not META");
    if (c->has_summary)
        check_find(c, "a block follows the SUMMARY");
    switch (b->id.type) {
    case TRACE_BLOCK_META:
        json_check(c, "META");
        break;
    case TRACE_BLOCK_SUMMARY:
        json_check(c, "SUMMARY");
        c->has_summary = 1;
        break;
    case TRACE_BLOCK_PROCESS:
        process_check(c);
        break;
    case TRACE_BLOCK_SEGMENT: {
        struct check_thread *t = thread_get(c, &b->id);
        order_check(c, t);
        records_check(c, cursor, t);
        break;
    }
    case TRACE_BLOCK_SAMPLES:
        records_check(c, cursor, NULL);
        break;
    }
}

// What can only be told at the end: names and processes that never came.
static void images_check(struct check *c)
{
    c->block = NULL;
    for (size_t i = 0; i < c->images.count; i++) {
        const struct check_image *image = &c->images.at[i];
        c->out->processes += (uint64_t)image->has_process;
        if (image->pid && !image->has_process)
            check_find(c, "process %" PRIu32 " has records but no process block", image->pid);
        for (unsigned id = 0; image->has_process && id <= UINT16_MAX; id++)
            if (image->used[id / 64] & ~image->defined[id / 64] & UINT64_C(1) << id % 64)
                check_find(
                    c, "name %u of process %" PRIu32 " is used but not defined", id, image->pid);
    }
}

// Whether the trace says that only its last part was kept.
static int is_tail(struct trace_reader *reader)
{
    struct trace_block_view block;
    struct json *meta = NULL;
    trace_reader_select(reader, 1u << TRACE_BLOCK_META);
    while (trace_reader_next(reader, &block))
        (void)trace_meta_merge(&meta, block.bytes, block.length_bytes, NULL);
    const int is_there = json_get_int(meta, "kept_from_ns", 0) > 0;
    json_free(&meta);
    trace_reader_rewind(reader);
    trace_reader_select(reader, ~0u);
    return is_there;
}

static int reader_check(struct trace_reader *reader, struct trace_check *out)
{
    struct trace_block_view block;
    struct check c = {.out = out, .block = &block};
    if (!reader)
        return -1;
    c.is_tail = is_tail(reader);
    while (trace_reader_next(reader, &block))
        block_check(&c);
    images_check(&c);
    out->threads = c.threads.count;
    for (size_t i = 0; i < trace_reader_damage_count(reader); i++)
        check_find(&c, "%s", trace_reader_damage(reader, i).text);
    out->is_cut = trace_reader_is_cut(reader);
    for (size_t i = 0; i < c.threads.count; i++)
        vec_fini(&c.threads.at[i].parts);
    vec_fini(&c.threads);
    vec_fini(&c.images);
    trace_reader_close(&reader);
    return 0;
}

int trace_check_file(const char *path, struct trace_check *check, struct err *e)
{
    *check = (struct trace_check){0};
    return reader_check(trace_reader_open(path, e), check);
}

int trace_check_bytes(const void *bytes, size_t length_bytes, const char *name,
    struct trace_check *check, struct err *e)
{
    *check = (struct trace_check){0};
    return reader_check(trace_reader_open_bytes(bytes, length_bytes, name, e), check);
}

void trace_check_fini(struct trace_check *check)
{
    buf_fini(&check->text);
}
