// SPDX-License-Identifier: Apache-2.0
// The life of a model: made empty, names and stages added once each, events put into order, freed.
// Called by the loader, by importers and by tests that build models by hand. Does not read traces.
// Threads: one owner while it is filled.
#include "model/model.h"
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

const char *const model_stage_words[] = {"setup", "load", "receive", "decode", "convert",
    "preprocess", "transfer", "enqueue", "infer", "postprocess", "track", "draw", "encode", "save",
    "send", "wait", NULL};

// Open addressing over both tables; a slot holds an index + 1.
struct model_index {
    uint32_t *names, *stages;
    size_t name_slots, stage_slots; // powers of two
};

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash ^ hash >> 29;
}

struct model *model_new(void)
{
    struct arena *arena = arena_new();
    if (!arena)
        heap_exhausted(sizeof(struct model));
    struct model *m = arena_alloc(arena, sizeof *m);
    m->arena = arena;
    m->damage = "";
    m->index = arena_alloc(arena, sizeof *m->index);
    return m;
}

static void free_threads(struct model *m)
{
    for (size_t i = 0; i < m->threads.count; i++) {
        struct model_thread *t = &m->threads.at[i];
        vec_fini(&t->spans);
        vec_fini(&t->splits);
        vec_fini(&t->attrs);
        vec_fini(&t->values);
        vec_fini(&t->root_splits);
    }
    vec_fini(&m->threads);
}

void model_free(struct model **m)
{
    if (!m || !*m)
        return;
    struct model *model = *m;
    *m = NULL;
    free_threads(model);
    vec_fini(&model->names);
    vec_fini(&model->stages);
    vec_fini(&model->processes);
    vec_fini(&model->items);
    vec_fini(&model->queues);
    vec_fini(&model->counts);
    vec_fini(&model->samples);
    vec_fini(&model->places);
    vec_fini(&model->stacks);
    vec_fini(&model->coverage);
    vec_fini(&model->notes);
    free(model->index->names);
    free(model->index->stages);
    json_free(&model->meta);
    json_free(&model->summary);
    struct arena *arena = model->arena; // holds the model itself
    arena_free(&arena);
}

static int is_stage_word(const char *text)
{
    for (const char *const *word = model_stage_words; *word; word++)
        if (strcmp(*word, text) == 0)
            return 1;
    return 0;
}

static uint64_t hash_name(const struct model *m, const struct model_name *n)
{
    return hash_text(hash_text(0xcbf29ce484222325u, n->text), m->stages.at[n->stage].text) +
           n->cause;
}

static void grow_stages(struct model *m)
{
    struct model_index *x = m->index;
    if (m->stages.count * 2 < x->stage_slots)
        return;
    free(x->stages);
    x->stage_slots = x->stage_slots ? x->stage_slots * 2 : 64;
    x->stages = heap_alloc(x->stage_slots, sizeof *x->stages);
    for (uint32_t i = 0; i < m->stages.count; i++) {
        size_t slot = hash_text(0xcbf29ce484222325u, m->stages.at[i].text) & (x->stage_slots - 1);
        while (x->stages[slot])
            slot = (slot + 1) & (x->stage_slots - 1);
        x->stages[slot] = i + 1;
    }
}

static void grow_names(struct model *m)
{
    struct model_index *x = m->index;
    if (m->names.count * 2 < x->name_slots)
        return;
    free(x->names);
    x->name_slots = x->name_slots ? x->name_slots * 2 : 256;
    x->names = heap_alloc(x->name_slots, sizeof *x->names);
    for (uint32_t i = 0; i < m->names.count; i++) {
        size_t slot = hash_name(m, &m->names.at[i]) & (x->name_slots - 1);
        while (x->names[slot])
            slot = (slot + 1) & (x->name_slots - 1);
        x->names[slot] = i + 1;
    }
}

uint32_t model_stage_id(struct model *m, const char *text)
{
    grow_stages(m);
    struct model_index *x = m->index;
    size_t slot = hash_text(0xcbf29ce484222325u, text) & (x->stage_slots - 1);
    for (; x->stages[slot]; slot = (slot + 1) & (x->stage_slots - 1))
        if (strcmp(m->stages.at[x->stages[slot] - 1].text, text) == 0)
            return x->stages[slot] - 1;
    struct model_stage *stage = vec_push(&m->stages);
    stage->text = arena_strdup(m->arena, text);
    stage->is_known = is_stage_word(text);
    x->stages[slot] = (uint32_t)m->stages.count;
    return (uint32_t)m->stages.count - 1;
}

uint32_t model_name_id(struct model *m, const char *text, const char *stage, enum trace_cause cause)
{
    struct model_name wanted = {
        text, model_stage_id(m, stage), cause, strcmp(stage, "wait") == 0, 0};
    grow_names(m);
    struct model_index *x = m->index;
    size_t slot = hash_name(m, &wanted) & (x->name_slots - 1);
    for (; x->names[slot]; slot = (slot + 1) & (x->name_slots - 1)) {
        const struct model_name *n = &m->names.at[x->names[slot] - 1];
        if (n->stage == wanted.stage && n->cause == cause && strcmp(n->text, text) == 0)
            return x->names[slot] - 1;
    }
    wanted.text = arena_strdup(m->arena, text);
    *vec_push(&m->names) = wanted;
    x->names[slot] = (uint32_t)m->names.count;
    return (uint32_t)m->names.count - 1;
}

uint32_t model_name_within(struct model *m, uint32_t wait, uint32_t stage)
{
    const struct model_name n = m->names.at[wait];
    const uint32_t id = model_name_id(m, n.text, m->stages.at[stage].text, n.cause);
    m->names.at[id].is_wait = 1;
    return id;
}

const struct model_value *model_value_find(
    const struct model_thread *t, const struct model_span *s, enum trace_attr_key key)
{
    if (s->attrs == MODEL_NONE)
        return NULL;
    for (uint32_t at = t->attrs.at[s->attrs].values; at; at = t->values.at[at - 1].next)
        if (t->values.at[at - 1].key == key)
            return &t->values.at[at - 1];
    return NULL;
}

const char *model_filter_text(enum trace_filter filter)
{
    static const char *const texts[TRACE_FILTER_COUNT] = {
        "other", "nearest", "bilinear", "bicubic", "area", "lanczos"};
    return (unsigned)filter < TRACE_FILTER_COUNT ? texts[filter] : texts[TRACE_FILTER_OTHER];
}

const char *model_dtype_text(enum trace_dtype dtype)
{
    static const char *const texts[TRACE_DTYPE_COUNT] = {
        "unknown", "u8", "i8", "u16", "i16", "i32", "f32", "f64", "f16", "bf16", "i64", "bool"};
    return (unsigned)dtype < TRACE_DTYPE_COUNT ? texts[dtype] : texts[TRACE_DTYPE_UNKNOWN];
}

uint32_t model_thread_add(struct model *m, uint32_t process, uint32_t tid)
{
    struct model_thread *t = vec_push(&m->threads);
    t->process = process;
    t->tid = tid;
    t->label = t->creator = "";
    t->cpu_ns = t->runq_ns = UINT64_MAX;
    return (uint32_t)m->threads.count - 1;
}

// Every event struct begins with at_ns.
static int compare_time(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// A merge sort: stable, and one pass over what is in order already, as a single thread's events
// are.
static void sort_by_time(void *at, size_t count, size_t element_bytes)
{
    char *base = at;
    size_t i = 1;
    while (i < count && compare_time(base + (i - 1) * element_bytes, base + i * element_bytes) <= 0)
        i++;
    if (i >= count)
        return;
    size_t half = count / 2;
    sort_by_time(base, half, element_bytes);
    sort_by_time(base + half * element_bytes, count - half, element_bytes);
    char *left = heap_resize(NULL, half, element_bytes);
    memcpy(left, base, half * element_bytes);
    size_t l = 0, r = half, out = 0;
    while (l < half) {
        int take_right =
            r < count && compare_time(base + r * element_bytes, left + l * element_bytes) < 0;
        const char *from = take_right ? base + r++ * element_bytes : left + l++ * element_bytes;
        memmove(base + out++ * element_bytes, from, element_bytes);
    }
    free(left);
}

static void extend(struct model *m, int64_t at_ns)
{
    if (at_ns > m->end_ns)
        m->end_ns = at_ns;
}

void model_finish(struct model *m)
{
    sort_by_time(m->items.at, m->items.count, sizeof *m->items.at);
    sort_by_time(m->queues.at, m->queues.count, sizeof *m->queues.at);
    sort_by_time(m->counts.at, m->counts.count, sizeof *m->counts.at);
    sort_by_time(m->samples.at, m->samples.count, sizeof *m->samples.at);
    for (size_t i = 0; i < m->threads.count; i++)
        extend(m, m->threads.at[i].end_ns);
    for (size_t i = 0; i < m->processes.count; i++)
        extend(m, m->processes.at[i].end_ns);
    if (m->items.count)
        extend(m, vec_last(&m->items)->at_ns);
    if (m->queues.count)
        extend(m, vec_last(&m->queues)->at_ns);
}

const struct model_stack *model_stack_find(const struct model *m, uint64_t number)
{
    size_t low = 0, high = m->stacks.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (m->stacks.at[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->stacks.count && m->stacks.at[low].number == number ? &m->stacks.at[low] : NULL;
}

// The file with its folder, where that tells more than the path's end.
static const char *file_text(const char *path)
{
    const char *slash = strrchr(path, '/'), *from = slash;
    if (!slash)
        return path;
    const int is_library = strstr(path, "/lib/python3.") || strstr(path, "-packages/");
    while (is_library && from > path && from[-1] != '/')
        from--;
    return is_library ? from : slash + 1;
}

const char *model_place_text(struct arena *a, const struct model_place *p)
{
    return arena_printf(a, "%s:%u", file_text(p->file), p->line);
}

// Folded calls do not fill their time: such a span counts where they were most of it.
static int is_in(const struct model_span *s, int64_t at_ns)
{
    return s->start_ns <= at_ns && (!s->is_fold || s->self_ns > s->dur_ns / 2);
}

uint32_t model_name_at(const struct model_thread *t, int64_t at_ns, size_t *next)
{
    while (*next < t->spans.count &&
           t->spans.at[*next].start_ns + (int64_t)t->spans.at[*next].dur_ns <= at_ns)
        ++*next;
    // What encloses the first span that ends later, or it itself.
    for (uint32_t i = *next < t->spans.count ? (uint32_t)*next : MODEL_NONE; i != MODEL_NONE;
         i = t->spans.at[i].parent)
        if (is_in(&t->spans.at[i], at_ns))
            return t->spans.at[i].name;
    return MODEL_NONE;
}
