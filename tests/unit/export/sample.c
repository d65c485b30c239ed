// SPDX-License-Identifier: Apache-2.0
// Models made by hand and by chance. Threads: none.
#include "sample.h"

#include <stdio.h>

#define MS 1000000

uint32_t sample_span(
    struct model *m, uint32_t thread, const char *name, int64_t start_ns, int64_t end_ns)
{
    const uint32_t id = model_name_id(m, name, "stage of spans", TRACE_CAUSE_OTHER);
    struct model_span *s = vec_push(&m->threads.at[thread].spans);
    *s = (struct model_span){.start_ns = start_ns,
        .dur_ns = (uint64_t)(end_ns - start_ns),
        .self_ns = (uint64_t)(end_ns - start_ns),
        .name = id,
        .calls = 1,
        .split = MODEL_NONE,
        .attrs = MODEL_NONE,
        .parent = MODEL_NONE};
    m->span_count++;
    return (uint32_t)(m->threads.at[thread].spans.count - 1);
}

void sample_make_fold(
    struct model *m, uint32_t thread, uint32_t span, uint32_t calls, uint64_t self_ns)
{
    struct model_span *s = &m->threads.at[thread].spans.at[span];
    s->is_fold = 1;
    s->calls = calls;
    s->self_ns = self_ns < s->dur_ns ? self_ns : s->dur_ns;
}

static int encloses(const struct model_span *outer, const struct model_span *inner)
{
    return outer->start_ns <= inner->start_ns &&
           outer->start_ns + (int64_t)outer->dur_ns >= inner->start_ns + (int64_t)inner->dur_ns;
}

void sample_nest(struct model *m, uint32_t thread)
{
    struct model_thread *t = &m->threads.at[thread];
    for (size_t i = 0; i < t->spans.count; i++)
        for (size_t k = i + 1; k < t->spans.count; k++)
            if (!t->spans.at[k].is_fold && encloses(&t->spans.at[k], &t->spans.at[i])) {
                t->spans.at[i].parent = (uint32_t)k;
                t->spans.at[k].self_ns -=
                    t->spans.at[i].is_fold ? t->spans.at[i].self_ns : t->spans.at[i].dur_ns;
                break;
            }
    for (size_t i = t->spans.count; i-- > 0;)
        if (t->spans.at[i].parent != MODEL_NONE)
            t->spans.at[i].depth = (uint8_t)(t->spans.at[t->spans.at[i].parent].depth + 1);
}

void sample_item(struct model *m, uint32_t thread, enum trace_item_op op, int64_t at_ns,
    uint64_t id, uint64_t other)
{
    struct model_item_event *e = vec_push(&m->items);
    *e = (struct model_item_event){at_ns, id, other, thread, op};
}

static void add_process(struct model *m, uint32_t pid, const char *command)
{
    struct model_process *p = vec_push(&m->processes);
    *p = (struct model_process){.pid = pid, .command = command, .end_ns = 900 * MS, .has_agent = 1};
}

static uint32_t add_thread(struct model *m, uint32_t process, uint32_t tid, const char *label)
{
    const uint32_t index = model_thread_add(m, process, tid);
    m->threads.at[index].label = label;
    return index;
}

// The main thread: two photographs, with folds that nest and folds that reach over both.
static void add_main_spans(struct model *m, uint32_t t)
{
    uint32_t fold = sample_span(m, t, "jpeg_read_scanlines", 2 * MS + 1, 9 * MS);
    sample_make_fold(m, t, fold, 1200, 6 * MS);
    sample_span(m, t, "at the end", 10 * MS, 10 * MS); // empty, in cv::imread
    sample_span(m, t, "cv::imread", 1 * MS + 123, 10 * MS);
    sample_span(m, t, "infer \"quoted\" \\ and\nbroken \xFF\xE7\xB4\xAB", 11 * MS, 20 * MS + 7);
    sample_span(m, t, "photo", 1 * MS, 21 * MS);
    sample_span(m, t, "cv::imread", 22 * MS, 31 * MS);
    sample_span(m, t, "twin", 32 * MS, 33 * MS); // the same extent as its parent
    sample_span(m, t, "twin", 32 * MS, 33 * MS);
    sample_span(m, t, "photo", 21 * MS, 34 * MS);
    fold = sample_span(m, t, "read", 500000, 35 * MS); // encloses what did not call it
    sample_make_fold(m, t, fold, 7, 2 * MS);
    fold = sample_span(m, t, "malloc", 15 * MS, 36 * MS); // crosses its siblings
    sample_make_fold(m, t, fold, 99, 1 * MS);
    fold = sample_span(m, t, "close", 35 * MS, 36 * MS); // crosses nothing
    sample_make_fold(m, t, fold, 2, 5);
    sample_nest(m, t);
}

static void add_details(struct model *m, uint32_t t)
{
    struct model_thread *thread = &m->threads.at[t];
    struct model_span *s = &thread->spans.at[2];
    struct model_split *split = vec_push(&thread->splits);
    *split = (struct model_split){2 * MS, 5000, 3, TRACE_CAUSE_IO};
    s->split = 0;
    struct model_attrs *a = vec_push(&thread->attrs);
    *a = (struct model_attrs){.bytes = 1234567890123,
        .width_px = 1920,
        .height_px = 1080,
        .channels = 3,
        .batch = 1,
        .source_width_px = 3840,
        .source_height_px = 2160,
        .scale_num = 1,
        .scale_den = 2};
    s->attrs = 0;
    a = vec_push(&thread->attrs);
    *a = (struct model_attrs){.item = 77, .has_item = 1};
    thread->spans.at[3].attrs = 1;
}

static void add_events(struct model *m, uint32_t decoder, uint32_t worker)
{
    const uint32_t queue = model_name_id(m, "queue \"q\"", "queue", TRACE_CAUSE_LOCK);
    const uint32_t faces = model_name_id(m, "faces", "count", TRACE_CAUSE_OTHER);
    sample_item(m, decoder, TRACE_ITEM_BEGIN, 1 * MS + 10, 1, 0);
    sample_item(m, decoder, TRACE_ITEM_BEGIN, 21 * MS + 10, 2, 0);
    sample_item(m, decoder, TRACE_ITEM_JOIN, 33 * MS, 1, 900);
    sample_item(m, decoder, TRACE_ITEM_JOIN, 33 * MS, 2, 900);
    sample_item(m, worker, TRACE_ITEM_USE, 40 * MS, 900, 0);
    sample_item(m, worker, TRACE_ITEM_END, 50 * MS, 900, 0);
    *vec_push(&m->queues) = (struct model_queue_event){21 * MS, queue, 1, decoder, TRACE_QUEUE_PUT};
    *vec_push(&m->queues) = (struct model_queue_event){34 * MS, queue, 2, decoder, TRACE_QUEUE_PUT};
    *vec_push(&m->queues) = (struct model_queue_event){39 * MS, queue, 0, worker, TRACE_QUEUE_GET};
    *vec_push(&m->counts) = (struct model_counter_event){20 * MS, 3, faces, decoder};
    *vec_push(&m->counts) = (struct model_counter_event){30 * MS, -5, faces, decoder};
    for (uint64_t i = 0; i < 4; i++) {
        const int64_t at_ns = (int64_t)i * 100 * MS;
        *vec_push(&m->samples) =
            (struct model_sample){at_ns, i * 50 * MS, 100, TRACE_METRIC_PROCESS_CPU_NS};
        *vec_push(&m->samples) =
            (struct model_sample){at_ns, 4096 * (i + 1), 100, TRACE_METRIC_PROCESS_RSS_BYTES};
        *vec_push(&m->samples) = (struct model_sample){at_ns, 3 - i, 0, TRACE_METRIC_RUNNABLE};
        *vec_push(&m->samples) =
            (struct model_sample){at_ns, i * i * MS, 102, TRACE_METRIC_THREAD_RUNQ_NS};
        *vec_push(&m->samples) =
            (struct model_sample){at_ns, 1, 9999, TRACE_METRIC_PROCESS_THREADS};
    }
}

struct model *sample_pipeline(void)
{
    struct model *m = model_new();
    add_process(m, 100, "pipeline | \"x\"");
    add_process(m, 200, "");
    const uint32_t decoder = add_thread(m, 0, 100, "main");
    const uint32_t worker = add_thread(m, 0, 102, "worker \t\xC3");
    const uint32_t child = add_thread(m, 1, 200, "");
    add_main_spans(m, decoder);
    add_details(m, decoder);
    sample_span(m, worker, "infer", 41 * MS, 48 * MS);
    sample_span(m, worker, "batch", 40 * MS + 5, 49 * MS);
    sample_span(m, worker, "idle", 51 * MS, 899 * MS + 999999);
    sample_nest(m, worker);
    sample_span(m, child, "child", -5 * MS, 3 * MS); // before the launch was seen
    add_events(m, decoder, worker);
    m->end_ns = 900 * MS;
    return m;
}

// ---- By chance. ---------------------------------------------------------------------------------

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15u;
    uint64_t x = *state;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

// Spans that nest within [from, to], children before their parent.
static void add_nested(
    struct model *m, uint32_t thread, uint64_t *state, int64_t from_ns, int64_t to_ns, int depth)
{
    char name[24];
    int64_t at_ns = from_ns;
    const uint64_t children = next_random(state) % 5;
    for (uint64_t i = 0; i < children && depth < 5; i++) {
        const int64_t room_ns = to_ns - at_ns;
        const int64_t start_ns =
            at_ns + (int64_t)(next_random(state) % (uint64_t)(room_ns / 4 + 1));
        const int64_t end_ns =
            start_ns + (int64_t)(next_random(state) % (uint64_t)((to_ns - start_ns) / 2 + 1));
        add_nested(m, thread, state, start_ns, end_ns, depth + 1);
        snprintf(name, sizeof name, "span %u", (unsigned)(next_random(state) % 20));
        sample_span(m, thread, name, start_ns, end_ns);
        at_ns = end_ns;
    }
}

static void add_folds(struct model *m, uint32_t thread, uint64_t *state, int64_t to_ns)
{
    char name[24];
    for (uint64_t i = next_random(state) % 12; i > 0; i--) {
        const int64_t start_ns = (int64_t)(next_random(state) % (uint64_t)to_ns);
        const int64_t length_ns = (int64_t)(next_random(state) % (uint64_t)(to_ns / 3));
        snprintf(name, sizeof name, "fold %u", (unsigned)(next_random(state) % 5));
        const uint32_t fold = sample_span(m, thread, name, start_ns, start_ns + length_ns);
        sample_make_fold(m, thread, fold, (uint32_t)i + 1, (uint64_t)length_ns / 3);
    }
}

struct model *sample_random(uint64_t seed)
{
    struct model *m = model_new();
    uint64_t state = seed;
    add_process(m, 100, "random");
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t thread = add_thread(m, 0, 100 + i, "");
        // Short times, so that many spans touch or are empty.
        const int64_t to_ns = 40 + (int64_t)(next_random(&state) % 4000);
        for (int k = 0; k < 4; k++)
            add_nested(m, thread, &state, k * to_ns, (k + 1) * to_ns, 0);
        sample_nest(m, thread);
        add_folds(m, thread, &state, 4 * to_ns);
    }
    m->end_ns = 1000000;
    return m;
}
