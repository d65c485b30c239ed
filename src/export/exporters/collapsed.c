// SPDX-License-Identifier: Apache-2.0
// The sampled stacks of Python code as collapsed stacks, for flame graphs (flamegraph.pl, inferno,
// Speedscope): a line for each stack, its frames from the thread inwards, the stage that was open
// as the last, and the number of samples. Threads: one owner.
#include "base/utf8.h"
#include "export/export.h"
#include "export/stacks.h"

#include <stdlib.h>
#include <string.h>

struct collapsed {
    const struct model *m;
    struct stacks stacks;
    struct buf line;
};

static int seen_compare(const void *a, const void *b)
{
    const struct stacks_sample *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->stack->number != y->stack->number)
        return x->stack->number < y->stack->number ? -1 : 1;
    return (x->stage > y->stage) - (x->stage < y->stage);
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

static void make_line(struct collapsed *c, const struct stacks_sample *s, size_t count)
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
    const struct stacks_sample *at = c->stacks.samples.at;
    const size_t count = c->stacks.samples.count;
    for (size_t i = 0, same; i < count; i += same) {
        for (same = 1; i + same < count && seen_compare(&at[i], &at[i + same]) == 0; same++)
            ;
        make_line(c, &at[i], same);
        if (file_out_write(out, buf_text(&c->line), c->line.length_bytes, e) < 0)
            return -1;
    }
    return 0;
}

static int write_stacks(const struct model *m, struct file_out *out, struct err *e)
{
    struct collapsed c = {.m = m};
    if (stacks_collect(&c.stacks, m, e) < 0)
        return -1;
    qsort(c.stacks.samples.at, c.stacks.samples.count, sizeof *c.stacks.samples.at, seen_compare);
    const int result = write_lines(&c, out, e);
    stacks_fini(&c.stacks);
    buf_fini(&c.line);
    return result;
}

const struct exporter exporter_collapsed = {
    .name = "collapsed",
    .help = "stacks of Python code for flame graphs: flamegraph.pl, inferno, Speedscope",
    .file_extension = ".collapsed.txt",
    .write_fn = write_stacks,
};
