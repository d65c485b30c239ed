// SPDX-License-Identifier: Apache-2.0
// One line of text per record. Called by dump.c for every record of a trace. Shows every field, and
// numbers it does not know as numbers. Threads: one owner.
#include "trace/dump_state.h"

#include <inttypes.h>

static const char *const causes[TRACE_CAUSE_COUNT] = {
    "other", "io", "net", "lock", "gil", "accel", "sleep"};
static const char *const keys[TRACE_ATTR_KEY_COUNT] = {"none", "bytes", "shape", "scale", "item",
    "caller", "source", "open", "file", "offset", "resident", "colour", "filter", "dtype",
    "elements", "session", "input", "output", "threads", "faults", "fresh", "accel", "pts",
    "calls_of", "elapsed"};
static const char *const item_ops[] = {"begin", "use", "end", "join", "many"};
static const char *const queue_ops[] = {"put", "get"};
static const char *const thread_ops[] = {"start", "seen", "end"};
static const char *const text_uses[] = {"name", "coverage", "note", "thread", "stack"};
static const char *const metrics[TRACE_METRIC_COUNT] = {"none", "process_cpu_ns",
    "process_rss_bytes", "process_threads", "process_minflt", "process_majflt",
    "process_read_bytes", "process_rchar_bytes", "process_write_bytes", "process_wchar_bytes",
    "thread_cpu_ns", "thread_runq_ns", "cgroup_periods", "cgroup_throttled", "cgroup_throttled_ns",
    "psi_cpu_some_us", "psi_io_some_us", "psi_io_full_us", "psi_memory_some_us", "steal_ns",
    "machine_busy_ns", "runnable", "thread_sleep_ns", "thread_disk_ns", "thread_runnable_ns",
    "thread_woken_by", "accel_busy_percent", "accel_memory_busy_percent", "accel_used_bytes",
    "accel_total_bytes", "python_stack"};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static void word_add(struct buf *out, const char *const *table, size_t count, uint32_t value)
{
    if (value < count && table[value])
        buf_printf(out, " %s", table[value]);
    else
        buf_printf(out, " %" PRIu32 "?", value);
}

static void moment_add(struct dump *d, const char *label, uint64_t ticks)
{
    if (!d->has_scale) {
        buf_printf(&d->out, " %s %" PRIu64, label, ticks);
        return;
    }
    const int64_t ns = ticks_scale_ns(&d->scale, ticks);
    const uint64_t size_ns = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    buf_printf(&d->out, " %s %s%" PRIu64 ".%09" PRIu64, label, ns < 0 ? "-" : "",
        size_ns / 1000000000u, size_ns % 1000000000u);
}

static void duration_add(struct dump *d, const char *label, uint64_t ticks)
{
    if (!d->has_scale)
        buf_printf(&d->out, " %s %" PRIu64 " ticks", label, ticks);
    else
        buf_printf(&d->out, " %s %" PRId64 " ns", label,
            ticks_scale_ns(&d->scale, d->scale.origin_ticks + ticks));
}

static void name_add(struct dump *d, const struct trace_block_id *id, uint16_t name)
{
    const char *text = dump_name_find(d, id, name);
    buf_printf(&d->out, " name %u", name);
    if (text)
        buf_printf(&d->out, " %s", text);
}

static void span_add(struct dump *d, const struct trace_block_id *id, const struct trace_record *r)
{
    const int is_long = r->kind == TRACE_SPAN_LONG;
    const uint64_t dur_ticks = is_long ? r->span_long->dur_ticks : r->span->dur_ticks;
    buf_printf(&d->out, " depth %u", r->span->depth);
    name_add(d, id, r->span->name);
    moment_add(d, "from", r->span->end_ticks - dur_ticks);
    moment_add(d, "to", r->span->end_ticks);
    duration_add(d, "took", dur_ticks);
}

static void fold_add(struct dump *d, const struct trace_block_id *id, const struct trace_fold *fold)
{
    buf_printf(&d->out, " depth %u", fold->depth);
    name_add(d, id, fold->name);
    buf_printf(&d->out, " calls %" PRIu32, fold->calls);
    moment_add(d, "from", fold->first_start_ticks);
    moment_add(d, "to", fold->last_end_ticks);
    duration_add(d, "self", fold->self_ticks);
    duration_add(d, "longest", fold->max_ticks);
    buf_printf(&d->out, " off %" PRIu64 " ns runq %" PRIu64 " ns bytes %" PRIu64, fold->off_ns,
        fold->runq_ns, fold->bytes);
}

static void split_add(struct dump *d, const struct trace_split *split)
{
    if (split->depth == TRACE_DEPTH_ROOT)
        buf_puts(&d->out, " outside spans");
    else
        buf_printf(&d->out, " depth %u", split->depth);
    word_add(&d->out, causes, COUNT(causes), split->cause);
    buf_printf(&d->out, " off %" PRIu64 " ns runq %" PRIu64 " ns switches %" PRIu32, split->off_ns,
        split->runq_ns, split->switches);
}

static void attr_add(struct dump *d, const struct trace_attr *attr)
{
    const uint32_t low = (uint32_t)attr->value, high = (uint32_t)(attr->value >> 32);
    buf_printf(&d->out, " depth %u", attr->depth);
    word_add(&d->out, keys, COUNT(keys), attr->key);
    if (attr->key == TRACE_ATTR_SHAPE)
        buf_printf(&d->out, " %" PRIu32 "x%" PRIu32 " channels %" PRIu32 " batch %" PRIu32, low,
            high, attr->aux & 0xffff, attr->aux >> 16);
    else if (attr->key == TRACE_ATTR_SOURCE)
        buf_printf(&d->out, " %" PRIu32 "x%" PRIu32, low, high);
    else if (attr->key == TRACE_ATTR_SCALE)
        buf_printf(&d->out, " %" PRIu32 "/%" PRIu32, low, high);
    else
        buf_printf(&d->out, " %" PRIu64, attr->value);
    if (attr->aux && attr->key != TRACE_ATTR_SHAPE)
        buf_printf(&d->out, " aux %" PRIu32, attr->aux);
}

static void text_add(struct dump *d, const struct trace_text *text)
{
    word_add(&d->out, text_uses, COUNT(text_uses), text->use);
    buf_printf(
        &d->out, " id %u subject %" PRIu32 " aux %" PRIu32 " ", text->id, text->subject, text->aux);
    dump_quoted_add(&d->out, (const char *)(text + 1), text->length_bytes);
}

static void thread_add(struct dump *d, const struct trace_thread *thread)
{
    word_add(&d->out, thread_ops, COUNT(thread_ops), thread->op);
    buf_printf(&d->out, " tid %" PRIu32, thread->tid);
    moment_add(d, "at", thread->ticks);
    buf_printf(&d->out, " cpu %" PRIu64 " ns", thread->cpu_ns);
    if (thread->runq_ns == UINT64_MAX)
        buf_puts(&d->out, " runq unknown");
    else
        buf_printf(&d->out, " runq %" PRIu64 " ns", thread->runq_ns);
}

static void item_add(struct dump *d, const struct trace_item *item)
{
    word_add(&d->out, item_ops, COUNT(item_ops), item->op);
    buf_printf(&d->out, " id %" PRIu64, item->id);
    if (item->op == TRACE_ITEM_JOIN || item->other)
        buf_printf(&d->out, " batch %" PRIu64, item->other);
    moment_add(d, "at", item->ticks);
}

static void queue_add(struct dump *d, const struct trace_block_id *id, const struct trace_queue *q)
{
    word_add(&d->out, queue_ops, COUNT(queue_ops), q->op);
    name_add(d, id, q->name);
    buf_printf(&d->out, " depth %" PRIu32, q->depth);
    moment_add(d, "at", q->ticks);
}

void dump_record_add(struct dump *d, const struct trace_block_id *id, const struct trace_record *r)
{
    buf_printf(&d->out, "  %s", trace_kind_name(r->kind));
    switch (r->kind) {
    case TRACE_SPAN:
    case TRACE_SPAN_LONG:
        span_add(d, id, r);
        break;
    case TRACE_SPLIT:
        split_add(d, r->split);
        break;
    case TRACE_FOLD:
        fold_add(d, id, r->fold);
        break;
    case TRACE_ATTR:
        attr_add(d, r->attr);
        break;
    case TRACE_ITEM:
        item_add(d, r->item);
        break;
    case TRACE_QUEUE:
        queue_add(d, id, r->queue);
        break;
    case TRACE_COUNTER:
        name_add(d, id, r->counter->name);
        buf_printf(&d->out, " delta %" PRId64, r->counter->delta);
        moment_add(d, "at", r->counter->ticks);
        break;
    case TRACE_TEXT:
        text_add(d, r->text);
        break;
    case TRACE_THREAD:
        thread_add(d, r->thread);
        break;
    case TRACE_DROP:
        buf_printf(&d->out, " records %" PRIu32, r->drop->records);
        moment_add(d, "at", r->drop->ticks);
        break;
    case TRACE_SAMPLE:
        word_add(&d->out, metrics, COUNT(metrics), r->sample->metric);
        buf_printf(
            &d->out, " subject %" PRIu32 " value %" PRIu64, r->sample->subject, r->sample->value);
        moment_add(d, "at", r->sample->ticks);
        break;
    default:
        break;
    }
    buf_putc(&d->out, '\n');
}
