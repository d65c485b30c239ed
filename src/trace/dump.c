// SPDX-License-Identifier: Apache-2.0
// Walks a trace twice: once for the clock and the names, once to print. Called by `lightmeter
// dump`. Text from the trace is escaped: a terminal must not obey it. Threads: one owner.
#include "trace/dump.h"

#include "trace/dump_state.h"
#include "trace/meta.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_BYTES (64u << 10)

void dump_quoted_add(struct buf *out, const char *text, size_t length_bytes)
{
    buf_putc(out, '"');
    for (size_t i = 0; i < length_bytes; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            buf_printf(out, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            buf_printf(out, "\\x%02x", c);
        else
            buf_putc(out, (char)c);
    }
    buf_putc(out, '"');
}

static int name_compare(const void *left, const void *right)
{
    const struct dump_name *a = left, *b = right;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (a->image_ticks != b->image_ticks)
        return a->image_ticks < b->image_ticks ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

const char *dump_name_find(const struct dump *d, const struct trace_block_id *id, uint16_t name)
{
    const struct dump_name key = {.pid = id->pid, .image_ticks = id->image_ticks, .id = name};
    const struct dump_name *found = d->names.count ? bsearch(&key, d->names.at, d->names.count,
                                                         sizeof *d->names.at, name_compare)
                                                   : NULL;
    return found ? found->text : NULL;
}

static void names_take(struct dump *d, const struct trace_block_view *block)
{
    const size_t head_bytes = sizeof(struct trace_process);
    struct trace_record r;
    if (block->length_bytes < head_bytes)
        return;
    struct trace_cursor c = {
        .at = block->bytes + head_bytes, .length_bytes = block->length_bytes - head_bytes};
    while (trace_records_next(&c, &r) > 0) {
        if (r.kind != TRACE_TEXT || r.text->use != TRACE_TEXT_NAME ||
            dump_name_find(d, &block->id, r.text->id))
            continue;
        const struct trace_field name = trace_text_field(r.text, 0);
        struct buf text = {0};
        dump_quoted_add(&text, name.at, name.length_bytes);
        *vec_push(&d->names) = (struct dump_name){.pid = block->id.pid,
            .image_ticks = block->id.image_ticks,
            .id = r.text->id,
            .text = text.at};
    }
    if (d->names.count)
        qsort(d->names.at, d->names.count, sizeof *d->names.at, name_compare);
}

// First walk: names, and the clock as far as it can be known.
static void context_read(struct dump *d)
{
    struct trace_block_view block;
    struct trace_clock clock;
    struct json *meta = NULL, *summary = NULL;
    while (trace_reader_next(d->reader, &block)) {
        if (block.id.type == TRACE_BLOCK_META)
            (void)trace_meta_merge(&meta, block.bytes, block.length_bytes, NULL);
        else if (block.id.type == TRACE_BLOCK_SUMMARY)
            (void)trace_meta_merge(&summary, block.bytes, block.length_bytes, NULL);
        else if (block.id.type == TRACE_BLOCK_PROCESS)
            names_take(d, &block);
    }
    d->has_scale = !d->options.is_raw_time && meta &&
                   trace_clock_get(&clock, meta, summary, NULL) == 0 &&
                   trace_clock_scale(&clock, &d->scale, NULL) == 0;
    json_free(&meta);
    json_free(&summary);
    trace_reader_rewind(d->reader);
}

// Gives the text to the callback once there is enough of it, or all at the end.
static void flush(struct dump *d, size_t least_bytes)
{
    if (d->out.length_bytes <= least_bytes)
        return;
    if (!d->is_stopped)
        d->is_stopped = d->write_fn(d->context, buf_text(&d->out), d->out.length_bytes) != 0;
    buf_fini(&d->out);
}

static void records_add(struct dump *d, const struct trace_block_view *block, size_t skip_bytes)
{
    struct trace_cursor c = {
        .at = block->bytes + skip_bytes, .length_bytes = block->length_bytes - skip_bytes};
    struct trace_record r;
    char fault[128];
    uint64_t count = 0;
    int more;
    while ((more = trace_records_next(&c, &r)) > 0 && !d->is_stopped) {
        if (d->options.record_limit && count++ == d->options.record_limit) {
            buf_puts(&d->out, "  ...\n");
            return;
        }
        dump_record_add(d, &block->id, &r);
        flush(d, FLUSH_BYTES);
    }
    if (more < 0)
        trace_reader_report(
            d->reader, c.offset_bytes + skip_bytes, trace_records_fault(&c, fault, sizeof fault));
}

static void process_add(struct dump *d, const struct trace_block_view *block)
{
    struct trace_process h;
    if (block->length_bytes < sizeof h) {
        trace_reader_report(d->reader, 0, "a process header that is too short");
        return;
    }
    memcpy(&h, block->bytes, sizeof h);
    buf_printf(&d->out,
        "  PROCESS pid %" PRIu32 " parent %" PRIu32 " image %" PRIu64 " start %" PRIu64
        " end %" PRIu64 " split method %" PRIu32 " tsc %" PRIu32 " exit seen %" PRIu32
        " threads %" PRIu32 " dropped records %" PRIu64 " dropped threads %" PRIu64
        " flags %" PRIu64 "\n",
        h.pid, h.parent_pid, h.image_ticks, h.start_ticks, h.end_ticks, h.split_method,
        h.clock_is_tsc, h.exit_seen, h.threads, h.dropped_records, h.dropped_threads, h.flags);
    records_add(d, block, sizeof h);
}

static void block_add(struct dump *d, const struct trace_block_view *block)
{
    static const char *const types[] = {"", "META", "PROCESS", "SEGMENT", "SAMPLES", "SUMMARY"};
    buf_printf(&d->out, "block %" PRIu64 " at byte %" PRIu64 ": %s", block->index,
        block->offset_bytes, types[block->id.type]);
    if (block->id.type == TRACE_BLOCK_PROCESS || block->id.type == TRACE_BLOCK_SEGMENT)
        buf_printf(
            &d->out, " process %" PRIu32 " image %" PRIu64, block->id.pid, block->id.image_ticks);
    if (block->id.type == TRACE_BLOCK_SEGMENT)
        buf_printf(&d->out, " thread %" PRIu32 " tid %" PRIu32 " segment %" PRIu32 " part %" PRIu32,
            block->id.thread_seq, block->id.tid, block->id.segment_seq, block->id.part);
    buf_printf(&d->out, ", %zu bytes in %zu%s\n", block->length_bytes, block->stored_bytes,
        block->coding == TRACE_CODING_PLANES_ZSTD ? " (planes)" : "");
    if (d->options.is_blocks_only)
        return;
    if (block->id.type == TRACE_BLOCK_META || block->id.type == TRACE_BLOCK_SUMMARY) {
        buf_puts(&d->out, "  ");
        dump_quoted_add(&d->out, (const char *)block->bytes, block->length_bytes);
        buf_putc(&d->out, '\n');
    } else if (block->id.type == TRACE_BLOCK_PROCESS) {
        process_add(d, block);
    } else {
        records_add(d, block, 0);
    }
}

static void damage_add(struct dump *d)
{
    for (size_t i = 0; i < trace_reader_damage_count(d->reader); i++)
        buf_printf(&d->out, "damage: %s\n", trace_reader_damage(d->reader, i).text);
    if (trace_reader_is_cut(d->reader))
        buf_puts(&d->out, "damage: the trace has no SUMMARY block: it was cut, or its launcher was "
                          "killed.\n");
}

static int reader_dump(struct trace_reader *reader, const struct trace_dump_options *options,
    trace_dump_fn write_fn, void *context)
{
    struct dump d = {
        .options = *options, .reader = reader, .write_fn = write_fn, .context = context};
    struct trace_block_view block;
    if (!reader)
        return -1;
    context_read(&d);
    const struct trace_file *file = trace_reader_file(reader);
    buf_printf(&d.out, "trace version %" PRIu32 ", created %" PRIu64 " ns, %" PRIu64 " bytes\n",
        file->version, file->created_unix_ns, trace_reader_file_bytes(reader));
    while (!d.is_stopped && trace_reader_next(reader, &block)) {
        block_add(&d, &block);
        flush(&d, FLUSH_BYTES);
    }
    damage_add(&d);
    flush(&d, 0);
    buf_fini(&d.out);
    for (size_t i = 0; i < d.names.count; i++)
        free(d.names.at[i].text);
    vec_fini(&d.names);
    trace_reader_close(&reader);
    return 0;
}

int trace_dump_file(const char *path, const struct trace_dump_options *options,
    trace_dump_fn write_fn, void *context, struct err *e)
{
    return reader_dump(trace_reader_open(path, e), options, write_fn, context);
}

int trace_dump_bytes(const void *bytes, size_t length_bytes, const char *name,
    const struct trace_dump_options *options, trace_dump_fn write_fn, void *context, struct err *e)
{
    return reader_dump(
        trace_reader_open_bytes(bytes, length_bytes, name, e), options, write_fn, context);
}
