// SPDX-License-Identifier: Apache-2.0
// A run as Chrome's trace-event JSON (chrome://tracing, Perfetto, Speedscope). Spans are complete
// events
// ("X"), folds that would not nest are asynchronous pairs, items are flows, values over time are
// counters. Times are microseconds since the launch with three decimals, exact to the nanosecond.
// One event at a time. Threads: one owner.
#include "base/utf8.h"
#include "export/counter.h"
#include "export/export.h"
#include "export/flow.h"
#include "export/note.h"
#include "export/order.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

struct chrome {
    const struct model *m;
    struct file_out *out;
    struct err *e;
    int64_t base_ns;
    int has_failed;
    uint64_t events, folds;
    struct buf line;
    struct buf quoted;     // all names, then all stages, as JSON strings, each NUL-terminated
    VEC(size_t) quoted_at; // where each begins
};

// A JSON string, with broken UTF-8 repaired.
static void add_quoted(struct buf *b, const char *text)
{
    struct buf repaired = {0};
    utf8_repair(text, strlen(text), &repaired);
    buf_putc(b, '"');
    for (const char *c = buf_text(&repaired); *c; c++) {
        if (*c == '"' || *c == '\\')
            buf_putc(b, '\\');
        if ((unsigned char)*c < 0x20)
            buf_printf(b, "\\u%04x", (unsigned)*c);
        else
            buf_putc(b, *c);
    }
    buf_putc(b, '"');
    buf_fini(&repaired);
}

static void quote_names(struct chrome *c)
{
    const struct model *m = c->m;
    for (size_t i = 0; i < m->names.count + m->stages.count; i++) {
        *vec_push(&c->quoted_at) = c->quoted.length_bytes;
        add_quoted(&c->quoted,
            i < m->names.count ? m->names.at[i].text : m->stages.at[i - m->names.count].text);
        buf_putc(&c->quoted, '\0');
    }
}

static const char *quoted_name(const struct chrome *c, uint32_t name)
{
    return c->quoted.at + c->quoted_at.at[name];
}

static const char *quoted_stage(const struct chrome *c, uint32_t name)
{
    const size_t stage = c->m->names.count + c->m->names.at[name].stage;
    return c->quoted.at + c->quoted_at.at[stage];
}

static void flush(struct chrome *c)
{
    if (!c->has_failed && file_out_write(c->out, c->line.at, c->line.length_bytes, c->e) < 0)
        c->has_failed = 1;
    c->line.length_bytes = 0;
}

// Microseconds, exact to the nanosecond.
static void add_us(struct chrome *c, const char *key, uint64_t ns)
{
    buf_printf(&c->line, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned)(ns % 1000));
}

static uint64_t since_base(const struct chrome *c, int64_t at_ns)
{
    return (uint64_t)(at_ns - c->base_ns);
}

// Begins an event of a process and, when there is one, a thread.
static void begin_event(struct chrome *c, char phase, uint32_t pid, uint32_t tid)
{
    buf_puts(&c->line, c->events++ ? ",\n" : "\n");
    buf_printf(&c->line, "{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, phase, pid, tid);
}

static void end_event(struct chrome *c)
{
    buf_putc(&c->line, '}');
    flush(c);
}

static void begin_thread_event(struct chrome *c, char phase, uint32_t thread)
{
    const struct model_thread *t = &c->m->threads.at[thread];
    begin_event(c, phase, c->m->processes.at[t->process].pid, t->tid);
}

static void add_metadata(
    struct chrome *c, uint32_t pid, uint32_t tid, const char *what, const char *name)
{
    if (!*name)
        return;
    begin_event(c, 'M', pid, tid);
    buf_printf(&c->line, ",\"name\":\"%s\",\"args\":{\"name\":", what);
    add_quoted(&c->line, name);
    buf_putc(&c->line, '}');
    end_event(c);
}

static void add_all_metadata(struct chrome *c)
{
    const struct model *m = c->m;
    for (size_t i = 0; i < m->processes.count; i++) {
        const struct model_process *p = &m->processes.at[i];
        add_metadata(c, p->pid, 0, "process_name", p->command);
    }
    for (size_t i = 0; i < m->threads.count; i++) {
        const struct model_thread *t = &m->threads.at[i];
        add_metadata(c, m->processes.at[t->process].pid, t->tid, "thread_name", t->label);
    }
}

static void add_args(struct chrome *c, const struct model_thread *t, const struct model_span *s)
{
    struct note notes[NOTE_KEY_COUNT];
    const size_t count = note_collect(t, s, notes);
    if (!count)
        return;
    buf_puts(&c->line, ",\"args\":{");
    for (size_t i = 0; i < count; i++) {
        buf_printf(&c->line, "%s\"%s\":", i ? "," : "", note_name(notes[i].key));
        if (notes[i].text[0])
            add_quoted(&c->line, notes[i].text);
        else
            buf_printf(&c->line, "%" PRIu64, notes[i].value);
    }
    buf_putc(&c->line, '}');
}

static void add_name(struct chrome *c, const struct model_span *s)
{
    buf_printf(
        &c->line, ",\"name\":%s,\"cat\":%s", quoted_name(c, s->name), quoted_stage(c, s->name));
}

static void add_span(struct chrome *c, uint32_t thread, const struct order_entry *e)
{
    const struct model_thread *t = &c->m->threads.at[thread];
    const struct model_span *s = &t->spans.at[e->span];
    begin_thread_event(c, 'X', thread);
    add_name(c, s);
    add_us(c, "ts", since_base(c, e->start_ns));
    add_us(c, "dur", e->dur_ns);
    add_args(c, t, s);
    end_event(c);
}

static void add_fold(struct chrome *c, uint32_t thread, const struct order_entry *e)
{
    const struct model_thread *t = &c->m->threads.at[thread];
    const struct model_span *s = &t->spans.at[e->span];
    c->folds++;
    for (int is_end = 0; is_end < 2; is_end++) {
        begin_thread_event(c, is_end ? 'e' : 'b', thread);
        add_name(c, s);
        buf_printf(&c->line, ",\"id\":\"0x%" PRIx64 "\"", c->folds);
        add_us(c, "ts", since_base(c, is_end ? order_end_ns(e) : e->start_ns));
        if (!is_end)
            add_args(c, t, s);
        end_event(c);
    }
}

static void add_spans(struct chrome *c, uint32_t thread)
{
    struct order order;
    order_init(&order, &c->m->threads.at[thread]);
    for (size_t i = 0; i < order.count && !c->has_failed; i++) {
        if (order.at[i].lane)
            add_fold(c, thread, &order.at[i]);
        else
            add_span(c, thread, &order.at[i]);
    }
    order_fini(&order);
}

// Arrows between the spans of an item; an item with one span has none.
static void add_flows(struct chrome *c)
{
    struct flow flow;
    flow_init(&flow, c->m);
    flow_sort_by_time(&flow);
    for (size_t i = 0; i < flow.steps.count && !c->has_failed; i++) {
        const struct flow_step *s = &flow.steps.at[i];
        if (s->is_first && s->is_last)
            continue;
        begin_thread_event(c, s->is_first ? 's' : s->is_last ? 'f' : 't', s->thread);
        buf_printf(&c->line, ",\"name\":\"item\",\"cat\":\"item\",\"id\":%" PRIu64, s->flow);
        add_us(c, "ts", since_base(c, s->at_ns));
        if (!s->is_first)
            buf_puts(&c->line, ",\"bp\":\"e\"");
        end_event(c);
    }
    flow_fini(&flow);
}

static void begin_counter(void *context, const struct counter *counter)
{
    (void)context;
    (void)counter;
}

// A rate with six decimals, with a point in every locale.
static void add_real(struct buf *b, double value)
{
    if (!(value >= 0 && value < 1e12)) {
        buf_printf(b, "%" PRIi64, value >= 1e18 ? INT64_MAX : value > 0 ? (int64_t)value : 0);
        return;
    }
    const uint64_t millionths = (uint64_t)llround(value * 1e6);
    buf_printf(b, "%" PRIu64 ".%06u", millionths / 1000000, (unsigned)(millionths % 1000000));
}

static void add_value(
    void *context, const struct counter *counter, int64_t at_ns, struct counter_value value)
{
    struct chrome *c = context;
    const char *unit = counter_unit_text(counter->unit);
    if (counter->thread != MODEL_NONE)
        begin_thread_event(c, 'C', counter->thread);
    else
        begin_event(c, 'C',
            counter->process == MODEL_NONE ? 0 : c->m->processes.at[counter->process].pid, 0);
    // Viewers keep one counter per process and name, so a thread's says whose it is.
    struct buf name = {0};
    buf_puts(&name, counter->name);
    if (*unit)
        buf_printf(&name, " (%s)", unit);
    if (counter->thread != MODEL_NONE)
        buf_printf(&name, " of thread %" PRIu32, c->m->threads.at[counter->thread].tid);
    buf_puts(&c->line, ",\"name\":");
    add_quoted(&c->line, buf_text(&name));
    buf_fini(&name);
    add_us(c, "ts", since_base(c, at_ns));
    buf_puts(&c->line, ",\"args\":{\"value\":");
    if (counter->is_real)
        add_real(&c->line, value.real);
    else
        buf_printf(&c->line, "%" PRIi64, value.integer);
    buf_putc(&c->line, '}');
    end_event(c);
}

static int write_trace(const struct model *m, struct file_out *out, struct err *e)
{
    struct chrome c = {.m = m, .out = out, .e = e, .base_ns = order_base_ns(m)};
    const struct counter_visitor visitor = {&c, begin_counter, add_value};
    quote_names(&c);
    buf_puts(&c.line,
        "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"writer\":\"lightmeter " LIGHTMETER_VERSION
        "\","
        "\"clock\":\"microseconds since the launch\"},\"traceEvents\":[");
    flush(&c);
    add_all_metadata(&c);
    for (uint32_t i = 0; i < m->threads.count; i++)
        add_spans(&c, i);
    add_flows(&c);
    counter_visit(m, &visitor);
    buf_puts(&c.line, "\n]}\n");
    flush(&c);
    buf_fini(&c.line);
    buf_fini(&c.quoted);
    vec_fini(&c.quoted_at);
    return c.has_failed ? -1 : 0;
}

const struct exporter exporter_chrome = {
    .name = "chrome",
    .help = "Chrome trace-event JSON: chrome://tracing, Perfetto, Speedscope",
    .file_extension = ".trace.json",
    .write_fn = write_trace,
};
