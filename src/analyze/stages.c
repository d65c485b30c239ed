// SPDX-License-Identifier: Apache-2.0
// From the sums of the walk to facts: which threads carry items, what each stage took, what remains
// unattributed, and whether everything adds up. Called by facts.c after the walk. Threads: one
// owner.
#include "analyze/build.h"
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

// A thread that works less than this share of the window only helps now and then.
#define CARRIES_RATIO 0.001
// One that computes this much of it outside all known stages still is part of the pipeline.
#define COMPUTES_RATIO 0.2
// One that is busy for less than this, and waits for others or its source else, only hands over.
#define BUSY_RATIO 0.01
// What a span, a switched-out span and a folded call cost the target (docs/benchmarks.md).
#define SPAN_COST_NS 40.0
#define SPLIT_COST_NS 1500.0
#define FOLDED_COST_NS 56.0

static struct facts_thread *busiest(struct facts *f)
{
    struct facts_thread *best = NULL;
    for (size_t i = 0; i < f->threads.count; i++) {
        struct facts_thread *t = &f->threads.at[i];
        if (!t->is_pool && (!best || t->steady.cpu_ns > best->steady.cpu_ns))
            best = t;
    }
    return best && best->steady.cpu_ns ? best : NULL;
}

// The threads that the account of the stages is about: not the pools of libraries, and not those
// that only wait.
static void choose_carriers(struct build *b)
{
    struct facts *f = b->f;
    const double steady_ns = f->steady_ns > 0 ? (double)f->steady_ns : 1;
    for (size_t i = 0; i < f->threads.count; i++) {
        struct facts_thread *t = &f->threads.at[i];
        const int works = t->work_ns && (double)t->work_ns >= CARRIES_RATIO * steady_ns &&
                          (double)facts_busy_ns(t) >= BUSY_RATIO * steady_ns;
        const int computes = (double)t->steady.cpu_ns >= COMPUTES_RATIO * steady_ns;
        t->carries_items = !t->is_pool && (works || computes);
        f->item_threads += (uint32_t)t->carries_items;
    }
    struct facts_thread *alone = f->item_threads ? NULL : busiest(f);
    if (alone) {
        alone->carries_items = 1;
        f->item_threads = 1;
    }
}

static uint64_t carriers_wall_ns(const struct facts *f)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < f->threads.count; i++)
        if (f->threads.at[i].carries_items)
            sum_ns += f->threads.at[i].steady.wall_ns;
    return sum_ns;
}

static int compare_stage(const void *a, const void *b)
{
    const struct facts_stage *x = a, *y = b;
    if (x->split.wall_ns != y->split.wall_ns)
        return x->split.wall_ns < y->split.wall_ns ? 1 : -1;
    return (x->stage > y->stage) - (x->stage < y->stage);
}

// Waiting is no work: however long it is, a table of stages begins with what was done.
static void put_wait_last(struct facts *f)
{
    for (size_t i = 0; i + 1 < f->stages.count; i++) {
        const struct facts_stage s = f->stages.at[i];
        if (strcmp(f->model->stages.at[s.stage].text, "wait") != 0)
            continue;
        memmove(&f->stages.at[i], &f->stages.at[i + 1], (f->stages.count - i - 1) * sizeof s);
        f->stages.at[f->stages.count - 1] = s;
        return;
    }
}

static int compare_name(const void *a, const void *b)
{
    const struct facts_name *x = a, *y = b;
    if (x->split.wall_ns != y->split.wall_ns)
        return x->split.wall_ns < y->split.wall_ns ? 1 : -1;
    return (x->name > y->name) - (x->name < y->name);
}

static void fill_names(struct build *b, struct facts_split *by_stage)
{
    struct facts *f = b->f;
    for (uint32_t i = 0; i < b->names.count; i++) {
        const struct name_sum *sum = &b->names.at[i];
        if (!sum->split.wall_ns && !sum->calls)
            continue;
        *vec_push(&f->names) = (struct facts_name){i, sum->calls, sum->split, sum->bytes};
        if (!(b->info.at[i].flags & NAME_TEAM))
            build_split_add(&by_stage[b->m->names.at[i].stage], &sum->split);
    }
    if (f->names.count)
        qsort(f->names.at, f->names.count, sizeof *f->names.at, compare_name);
}

// Folded calls whose durations are known are told of in the quantiles.
static struct facts_folded folded_rest(const struct stage_sum *sum)
{
    struct facts_folded rest = sum->folded;
    if (!sum->bucketed_calls)
        return rest;
    rest.calls -= sum->bucketed_calls < rest.calls ? sum->bucketed_calls : rest.calls;
    rest.own_ns = (uint64_t)((double)rest.own_ns * (double)rest.calls / (double)sum->folded.calls);
    return rest;
}

static void fill_stage(struct build *b, uint32_t stage, const struct facts_split *split)
{
    struct facts *f = b->f;
    const struct stage_sum *sum = &b->stages.at[stage];
    const uint64_t wall_ns = carriers_wall_ns(f);
    struct facts_stage *s = vec_push(&f->stages);
    s->stage = stage;
    s->calls = sum->calls;
    s->items = f->items;
    s->split = *split;
    s->team = sum->team;
    s->library_cpu_ns = sum->team.cpu_ns;
    s->share_ratio = wall_ns ? (double)sum->carried_ns / (double)wall_ns : 0;
    s->threads = sum->threads;
    if (sum->threads && f->steady_ns > 0)
        s->occupancy_ratio = (double)split->wall_ns / ((double)sum->threads * (double)f->steady_ns);
    s->bytes = sum->bytes;
    s->pixels = sum->pixels;
    s->minor_faults = sum->minor_faults;
    s->major_faults = sum->major_faults;
    s->accel_work_ns = sum->accel_work_ns;
    s->is_of_images = sum->has_elapsed;
    if (sum->latency)
        s->latency = build_latency(sum->has_elapsed ? sum->images : sum->latency);
    s->folded = folded_rest(sum);
}

static void fill_stages(struct build *b)
{
    struct facts *f = b->f;
    struct facts_split *by_stage = heap_alloc(b->stages.count, sizeof *by_stage);
    for (size_t i = 0; i < b->thread_stages.count; i++) {
        const struct thread_stage *ts = &b->thread_stages.at[i];
        if (f->threads.at[ts->thread].carries_items)
            b->stages.at[ts->stage].carried_ns += ts->own_ns;
    }
    fill_names(b, by_stage);
    for (uint32_t i = 0; i < b->stages.count; i++)
        if (by_stage[i].wall_ns || b->stages.at[i].calls || b->stages.at[i].team.wall_ns)
            fill_stage(b, i, &by_stage[i]);
    free(by_stage);
    if (f->stages.count)
        qsort(f->stages.at, f->stages.count, sizeof *f->stages.at, compare_stage);
    put_wait_last(f);
}

static struct facts_stage *stage_called(struct build *b, const char *text)
{
    struct facts *f = b->f;
    for (size_t i = 0; i < f->stages.count; i++)
        if (strcmp(b->m->stages.at[f->stages.at[i].stage].text, text) == 0)
            return &f->stages.at[i];
    return NULL;
}

// The stage that the threads of a video library work for. libavcodec's own are those of decoders
// but for a few encoders. Those of libavutil serve filters, scaling and codecs: there is no
// telling.
static struct facts_stage *served_by_video(struct build *b, const char *creator)
{
    static const char *const libraries[][2] = {{"libx264", "encode"}, {"libx265", "encode"},
        {"libSvtAv1", "encode"}, {"libdav1d", "decode"}, {"libavcodec", "decode"},
        {"libavfilter", "preprocess"}};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strstr(creator, libraries[i][0]))
            return stage_called(b, libraries[i][1]);
    return NULL;
}

// The stage that a library's own threads work for: inference for the inference engines, what a
// video library does, else the largest stage whose calls are of that library, else the largest that
// computes.
static struct facts_stage *served_by(struct build *b, const char *creator)
{
    struct facts *f = b->f;
    const struct model *m = b->m;
    if (strstr(creator, "onnxruntime") || strstr(creator, "libtorch") || strstr(creator, "libdnnl"))
        for (size_t i = 0; i < f->stages.count; i++)
            if (strcmp(m->stages.at[f->stages.at[i].stage].text, "infer") == 0)
                return &f->stages.at[i];
    struct facts_stage *video = served_by_video(b, creator);
    if (video)
        return video;
    for (size_t n = 0; strstr(creator, "libopencv") && n < f->names.count; n++) {
        const struct model_name *name = &m->names.at[f->names.at[n].name];
        for (size_t i = 0; strncmp(name->text, "cv::", 4) == 0 && i < f->stages.count; i++)
            if (f->stages.at[i].stage == name->stage)
                return &f->stages.at[i];
    }
    for (size_t i = 0; i < f->stages.count; i++) {
        const char *text = m->stages.at[f->stages.at[i].stage].text;
        if (strcmp(text, "wait") != 0 && strcmp(text, "load") != 0)
            return &f->stages.at[i];
    }
    return NULL;
}

static void add_pools(struct build *b)
{
    struct facts *f = b->f;
    double cpu_ns = 0;
    for (size_t i = 0; i < f->threads.count; i++) {
        const struct facts_thread *t = &f->threads.at[i];
        if (!t->is_pool || !t->steady.cpu_ns)
            continue;
        // Of a team it is known what it worked for; what else it did is waiting for work.
        struct facts_stage *s =
            t->team_ns ? NULL : served_by(b, b->m->threads.at[t->thread].creator);
        if (s)
            s->library_cpu_ns += t->steady.cpu_ns;
        f->machine.pool_threads++;
        cpu_ns += (double)t->steady.cpu_ns;
    }
    f->machine.pool_cores = f->steady_ns > 0 ? cpu_ns / (double)f->steady_ns : 0;
}

static void sum_unattributed(struct facts *f)
{
    for (size_t i = 0; i < f->threads.count; i++)
        if (f->threads.at[i].carries_items)
            build_split_add(&f->unattributed, &f->threads.at[i].unattributed);
    const uint64_t wall_ns = carriers_wall_ns(f);
    f->unattributed_ratio = wall_ns ? (double)f->unattributed.wall_ns / (double)wall_ns : 0;
}

static void reconcile(struct build *b)
{
    struct facts *f = b->f;
    double residual_ns = 0, cpu_residual_ns = 0, cpu_wall_ns = 0;
    for (size_t i = 0; i < f->threads.count; i++) {
        const struct facts_thread *t = &f->threads.at[i];
        const struct model_thread *mt = &b->m->threads.at[t->thread];
        f->wall_ns += (uint64_t)(mt->end_ns - mt->start_ns);
        f->sum_ns += t->stages_ns + t->unattributed_ns;
        residual_ns += (double)llabs(t->residual_ns);
        f->dropped_records += mt->dropped_records;
        if (mt->cpu_ns == UINT64_MAX || !mt->end_is_exact)
            continue;
        cpu_residual_ns += (double)llabs(t->cpu_residual_ns);
        cpu_wall_ns += (double)(mt->end_ns - mt->start_ns);
    }
    f->residual_ratio = f->wall_ns ? residual_ns / (double)f->wall_ns : 0;
    f->cpu_residual_ratio = cpu_wall_ns > 0 ? cpu_residual_ns / cpu_wall_ns : -1;
    for (size_t i = 0; i < b->m->processes.count; i++)
        f->dropped_records += b->m->processes.at[i].dropped_records;
}

// Our own time in the target, by what a record of each kind costs, over the wall time of the
// threads that carry items.
static void estimate_overhead(struct build *b)
{
    struct facts *f = b->f;
    double cost_ns = 0, wall_ns = 0;
    for (size_t i = 0; i < f->threads.count; i++) {
        const struct facts_thread *t = &f->threads.at[i];
        const struct model_thread *mt = &b->m->threads.at[t->thread];
        if (!t->carries_items)
            continue;
        cost_ns += (double)mt->spans.count * SPAN_COST_NS +
                   (double)(mt->splits.count + mt->root_splits.count) * SPLIT_COST_NS;
        for (size_t k = 0; k < mt->attrs.count; k++)
            cost_ns += mt->attrs.at[k].max_ns ? 0 : SPAN_COST_NS / 2;
        wall_ns += (double)(mt->end_ns - mt->start_ns);
    }
    for (size_t i = 0; i < b->names.count; i++)
        cost_ns += (double)b->names.at[i].folded * FOLDED_COST_NS;
    f->overhead_ratio = wall_ns > 0 ? cost_ns / wall_ns : 0;
}

void build_stages(struct build *b)
{
    choose_carriers(b);
    fill_stages(b);
    add_pools(b);
    sum_unattributed(b->f);
    reconcile(b);
    estimate_overhead(b);
}
