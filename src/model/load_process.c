// SPDX-License-Identifier: Apache-2.0
// Turns a process file into the model: its header, and its TEXT records (names, coverage, notes,
// thread labels). Called by the loader. Texts are copied and cut to sane lengths; numbers and times
// are distrusted. Threads: one owner.
#include "model/load_process.h"

#include "base/heap.h"
#include "trace/records.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_LIMIT_BYTES 512u

static const char *copy_field(struct model *m, const struct trace_text *text, unsigned index)
{
    struct trace_field f = trace_text_field(text, index);
    size_t length_bytes = f.length_bytes < TEXT_LIMIT_BYTES ? f.length_bytes : TEXT_LIMIT_BYTES;
    return length_bytes ? arena_strndup(m->arena, f.at, length_bytes) : "";
}

void load_process_keep(struct load_process *p, const uint8_t *bytes, size_t length_bytes)
{
    uint8_t *copy = heap_resize(NULL, length_bytes, 1);
    memcpy(copy, bytes, length_bytes);
    free(p->file);
    p->file = copy;
    p->file_bytes = length_bytes;
}

static void add_name(struct load_process *p, struct model *m, const struct trace_text *text)
{
    const char *name = copy_field(m, text, 0), *stage = copy_field(m, text, 1);
    const uint32_t aux = text->aux & ~TRACE_NAME_TEAM;
    enum trace_cause cause = aux < TRACE_CAUSE_COUNT ? (enum trace_cause)aux : TRACE_CAUSE_OTHER;
    if (!*name)
        name = "?";
    while (p->names.count <= text->id)
        *vec_push(&p->names) = MODEL_NONE;
    p->names.at[text->id] = model_name_id(m, name, *stage ? stage : name, cause);
    if (text->aux & TRACE_NAME_TEAM)
        m->names.at[p->names.at[text->id]].is_team = 1;
}

static void add_coverage(struct load_process *p, struct model *m, const struct trace_text *text)
{
    struct model_coverage *c = vec_push(&m->coverage);
    c->library = copy_field(m, text, 0);
    c->hooks = copy_field(m, text, 1);
    c->status = copy_field(m, text, 2);
    c->why = copy_field(m, text, 3);
    c->process = p ? p->index : MODEL_NONE;
}

// The next of the fields of a text, each ended by a NUL; NULL: there is none.
static const char *next_field(struct model *m, const char **at, const char *end)
{
    const char *field = *at, *nul = field < end ? memchr(field, 0, (size_t)(end - field)) : NULL;
    if (!nul)
        return NULL;
    *at = nul + 1;
    const size_t length_bytes = (size_t)(nul - field);
    return arena_strndup(
        m->arena, field, length_bytes < TEXT_LIMIT_BYTES ? length_bytes : TEXT_LIMIT_BYTES);
}

static void add_stack(struct model *m, const struct trace_text *text)
{
    const char *at = (const char *)(text + 1), *end = at + text->length_bytes;
    struct model_stack stack = {text->subject, (uint32_t)m->places.count, 0};
    // Numbers only grow; others are damage.
    if (m->stacks.count && vec_last(&m->stacks)->number >= stack.number)
        return;
    for (;;) {
        const char *function = next_field(m, &at, end), *file = next_field(m, &at, end),
                   *line = next_field(m, &at, end);
        if (!function || !file || !line)
            break;
        *vec_push(&m->places) =
            (struct model_place){function, file, (uint32_t)strtoul(line, NULL, 10)};
        stack.count++;
    }
    if (stack.count)
        *vec_push(&m->stacks) = stack;
}

void load_process_text(struct load_process *p, struct model *m, const struct trace_text *text)
{
    if (text->use == TRACE_TEXT_NAME && p)
        add_name(p, m, text);
    else if (text->use == TRACE_TEXT_COVERAGE)
        add_coverage(p, m, text);
    else if (text->use == TRACE_TEXT_STACK)
        add_stack(m, text);
    else if (text->use == TRACE_TEXT_NOTE)
        *vec_push(&m->notes) = copy_field(m, text, 0);
    else if (text->use == TRACE_TEXT_THREAD && p)
        *vec_push(&p->labels) =
            (struct load_label){text->subject, copy_field(m, text, 0), copy_field(m, text, 1)};
}

static void read_header(
    const struct trace_process *h, struct model_process *p, const struct ticks_scale *scale)
{
    p->pid = h->pid;
    p->parent_pid = h->parent_pid;
    p->has_agent = 1;
    p->agent_ns = ticks_scale_ns(scale, h->image_ticks);
    p->start_ns = h->start_ticks ? ticks_scale_ns(scale, h->start_ticks) : p->agent_ns;
    // The kernel tells the start of a process in steps of 10 ms; the run began at 0.
    if (p->start_ns > p->agent_ns)
        p->start_ns = p->agent_ns;
    if (p->start_ns < 0)
        p->start_ns = 0;
    if (h->end_ticks) {
        p->end_ns = ticks_scale_ns(scale, h->end_ticks);
        p->end_is_exact = 1;
    }
    if (h->split_method <= TRACE_SPLIT_PERF_PAGE)
        p->split_method = (enum trace_split_method)h->split_method;
    p->dropped_records = h->dropped_records;
    p->dropped_threads = h->dropped_threads;
}

int load_process_read(struct load_process *p, struct model *m, const struct ticks_scale *scale,
    size_t *fault_offset_bytes)
{
    struct trace_process header;
    *fault_offset_bytes = 0;
    if (p->file_bytes < sizeof header)
        return -1;
    memcpy(&header, p->file, sizeof header);
    if (header.magic != TRACE_PROCESS_MAGIC)
        return -1;
    read_header(&header, &m->processes.at[p->index], scale);
    struct trace_cursor c = {p->file + sizeof header, p->file_bytes - sizeof header, 0};
    struct trace_record r;
    int more;
    while ((more = trace_records_next(&c, &r)) > 0)
        if (r.kind == TRACE_TEXT)
            load_process_text(p, m, r.text);
    *fault_offset_bytes = sizeof header + c.offset_bytes;
    // Kind 0 is where a writer had reserved room and not yet finished.
    const int is_damaged = more < 0 && c.at[c.offset_bytes] != TRACE_NONE;
    free(p->file); // a run may have very many
    p->file = NULL;
    return is_damaged ? -1 : 0;
}

static void put_label(struct model_thread *t, const struct load_label *l)
{
    if (*l->label)
        t->label = l->label;
    if (*l->creator)
        t->creator = l->creator;
}

// A thread or label, to be sorted by tid and then by its place.
struct by_tid {
    uint32_t tid, place;
};

static int compare_tid(const void *a, const void *b)
{
    const struct by_tid *x = a, *y = b;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

// Labels of a tid in the order told; threads that used one tid after each other get each their own.
void load_process_label(
    struct load_process *p, struct model *m, const uint32_t *of_process, size_t count)
{
    VEC(struct by_tid) threads = {0}, labels = {0};
    if (!count || !p->labels.count)
        return;
    for (size_t i = 0; i < count; i++)
        *vec_push(&threads) = (struct by_tid){m->threads.at[of_process[i]].tid, of_process[i]};
    for (uint32_t i = 0; i < p->labels.count; i++)
        *vec_push(&labels) = (struct by_tid){p->labels.at[i].tid, i};
    qsort(threads.at, threads.count, sizeof *threads.at, compare_tid);
    qsort(labels.at, labels.count, sizeof *labels.at, compare_tid);
    size_t t = 0;
    for (size_t i = 0; i < labels.count && t < threads.count; i++) {
        while (t < threads.count && threads.at[t].tid < labels.at[i].tid)
            t++;
        if (t == threads.count || threads.at[t].tid != labels.at[i].tid)
            continue;
        put_label(&m->threads.at[threads.at[t].place], &p->labels.at[labels.at[i].place]);
        if (t + 1 < threads.count && threads.at[t + 1].tid == threads.at[t].tid)
            t++;
    }
    vec_fini(&threads);
    vec_fini(&labels);
}

void load_process_fini(struct load_process *p)
{
    free(p->file);
    p->file = NULL;
    vec_fini(&p->names);
    vec_fini(&p->labels);
}
