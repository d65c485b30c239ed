// SPDX-License-Identifier: Apache-2.0
// The sampled stacks of Python code as collapsed stacks, for flame graphs (flamegraph.pl, inferno,
// Speedscope): a line for each stack, its frames from the thread inwards, the stage that was open
// as the last, and the number of samples. Threads: one owner.
#include "base/utf8.h"
#include "export/export.h"

#include <stdlib.h>
#include <string.h>

struct seen {
    const struct model_stack *stack;
    uint32_t thread, stage;
};

struct collapsed {
    const struct model *m;
    VEC(struct model_sample) samples; // by thread, then time
    VEC(struct seen) seen;
    struct buf line;
};

static int seen_compare(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->stack->number != y->stack->number)
        return x->stack->number < y->stack->number ? -1 : 1;
    return (x->stage > y->stage) - (x->stage < y->stage);
}

static int sample_compare(const void *a, const void *b)
{
    const struct model_sample *x = a, *y = b;
    if (x->subject != y->subject)
        return x->subject < y->subject ? -1 : 1;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static void sort_samples(struct collapsed *c)
{
    for (size_t i = 0; i < c->m->samples.count; i++)
        if (c->m->samples.at[i].metric == TRACE_METRIC_PYTHON_STACK)
            *vec_push(&c->samples) = c->m->samples.at[i];
    if (c->samples.count)
        qsort(c->samples.at, c->samples.count, sizeof *c->samples.at, sample_compare);
}

// The first sample of the thread.
static size_t first_of(const struct collapsed *c, const struct model_thread *t)
{
    const struct model_sample start = {.subject = t->tid, .at_ns = t->start_ns};
    size_t low = 0, high = c->samples.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sample_compare(&c->samples.at[middle], &start) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void take_thread(struct collapsed *c, uint32_t thread)
{
    const struct model_thread *t = &c->m->threads.at[thread];
    size_t next = 0;
    for (size_t i = first_of(c, t); i < c->samples.count; i++) {
        const struct model_sample *s = &c->samples.at[i];
        if (s->subject != t->tid || s->at_ns > t->end_ns)
            break;
        const struct model_stack *stack = model_stack_find(c->m, s->value);
        const uint32_t name = model_name_at(t, s->at_ns, &next);
        const uint32_t stage = name == MODEL_NONE ? MODEL_NONE : c->m->names.at[name].stage;
        if (stack)
            *vec_push(&c->seen) = (struct seen){stack, thread, stage};
    }
}

// Without what separates frames and lines.
static void add_text(struct buf *out, const char *text)
{
    struct buf repaired = {0};
    utf8_repair(text, strlen(text), &repaired);
    for (const char *c = buf_text(&repaired); *c; c++)
        buf_putc(out, *c == ';' ? ',' : (unsigned char)*c < ' ' ? '?' : *c);
    buf_fini(&repaired);
}

static void make_line(struct collapsed *c, const struct seen *s, size_t count)
{
    const struct model_thread *t = &c->m->threads.at[s->thread];
    c->line.length_bytes = 0;
    buf_printf(&c->line, "thread %u", t->tid);
    if (*t->label)
        buf_putc(&c->line, ' ');
    add_text(&c->line, t->label);
    for (uint32_t i = 0; i < s->stack->count; i++) {
        const struct model_place *p = &c->m->places.at[s->stack->first + i];
        buf_putc(&c->line, ';');
        add_text(&c->line, p->function);
        buf_puts(&c->line, " (");
        add_text(&c->line, p->file);
        buf_printf(&c->line, ":%u)", p->line);
    }
    if (s->stage != MODEL_NONE) {
        buf_puts(&c->line, ";[");
        add_text(&c->line, c->m->stages.at[s->stage].text);
        buf_putc(&c->line, ']');
    }
    buf_printf(&c->line, " %zu\n", count);
}

static int write_lines(struct collapsed *c, struct file_out *out, struct err *e)
{
    for (size_t i = 0, same; i < c->seen.count; i += same) {
        for (same = 1;
             i + same < c->seen.count && seen_compare(&c->seen.at[i], &c->seen.at[i + same]) == 0;
             same++)
            ;
        make_line(c, &c->seen.at[i], same);
        if (file_out_write(out, buf_text(&c->line), c->line.length_bytes, e) < 0)
            return -1;
    }
    return 0;
}

static int write_stacks(const struct model *m, struct file_out *out, struct err *e)
{
    struct collapsed c = {.m = m};
    sort_samples(&c);
    for (uint32_t i = 0; i < m->threads.count; i++)
        take_thread(&c, i);
    vec_fini(&c.samples);
    if (!c.seen.count)
        return err_set(e, "the trace has no sampled stacks: they are those of Python code "
                          "(CPython 3.8 to 3.13), of some 10 ms and more");
    qsort(c.seen.at, c.seen.count, sizeof *c.seen.at, seen_compare);
    const int result = write_lines(&c, out, e);
    vec_fini(&c.seen);
    buf_fini(&c.line);
    return result;
}

const struct exporter exporter_collapsed = {
    .name = "collapsed",
    .help = "stacks of Python code for flame graphs: flamegraph.pl, inferno, Speedscope",
    .file_extension = ".collapsed.txt",
    .write_fn = write_stacks,
};
