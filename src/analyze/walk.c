// SPDX-License-Identifier: Apache-2.0
// The one pass over every span. Each thread is walked from its last span to its first, so that a
// parent is seen before its children and the path to the root is a stack. Adds own times and cost
// splits up by name, whole and within the steady window, outermost calls by stage, and the gaps
// between the outermost spans. The hot path of the analysis. Threads: one owner.
#include "analyze/build.h"

#include <string.h>

// A span that is open where the walk is.
struct open_span {
    uint32_t index;
    int is_fold, is_root_fold; // root: it and all that enclose it are folds
    int in_call;               // it or one that encloses it is a hooked call
    int is_cut;                // by an edge of the window
    uint64_t stages, bytes_stages, pixels_stages; // bits of the stages on the path, with attributes
    uint64_t children_ns; // of a cut span: of its children within the window
};

struct walk {
    struct build *b;
    const struct model_thread *t;
    struct facts_thread *out;
    struct walk_root root;
    int64_t next_root_ns; // the start of the outermost span that comes after
    int is_unsplit; // its process could not tell CPU from waiting
    struct model_split whole_wait; // what stands for the split of a wait then
    VEC(struct open_span) path;
};

// Bits by stage; the last is shared by those beyond it.
static inline uint64_t stage_bit(uint32_t stage)
{
    return 1ull << (stage < 63 ? stage : 63);
}

// Puts `own_ns` of a span, of whose own time `self_ns` the split was measured, into a sum.
static inline void add_own(struct facts_split *into, const struct model_split *split,
    uint64_t own_ns, uint64_t self_ns)
{
    into->wall_ns += own_ns;
    if (__builtin_expect(!split, 1)) {
        into->cpu_ns += own_ns;
        return;
    }
    uint64_t off_ns = split->off_ns, runq_ns = split->runq_ns;
    if (own_ns != self_ns) {
        const double part = self_ns ? (double)own_ns / (double)self_ns : 0;
        off_ns = (uint64_t)((double)off_ns * part);
        runq_ns = (uint64_t)((double)runq_ns * part);
    }
    if (off_ns > own_ns)
        off_ns = own_ns;
    if (runq_ns > off_ns)
        runq_ns = off_ns;
    into->cpu_ns += own_ns - off_ns;
    into->runq_ns += runq_ns;
    into->cause_ns[split->cause] += off_ns - runq_ns;
}

// What a thread does that is blocked in a call: waits for another thread, or for the world outside.
static void add_waiting(
    struct walk *w, unsigned flags, const struct model_split *split, uint64_t own_ns, uint64_t self_ns)
{
    struct facts_split part = {0};
    add_own(&part, split, own_ns, self_ns);
    const uint64_t blocked_ns = part.wall_ns - part.cpu_ns - part.runq_ns;
    const uint64_t outside_ns = part.cause_ns[TRACE_CAUSE_SLEEP] + part.cause_ns[TRACE_CAUSE_NET] +
                                part.cause_ns[TRACE_CAUSE_OTHER];
    if (flags & NAME_WAIT)
        w->out->idle_ns += blocked_ns - outside_ns;
    if (flags & NAME_LOCK)
        w->out->lock_ns += blocked_ns - outside_ns;
    w->out->paced_ns += outside_ns;
}

static void add_to_name(struct walk *w, const struct model_span *s, const struct model_split *split,
    uint64_t own_ns, int in_call)
{
    struct build *b = w->b;
    struct name_sum *sum = &b->names.at[s->name];
    if (!sum->thread_ns && own_ns)
        *vec_push(&b->touched) = s->name;
    sum->thread_ns += own_ns;
    add_own(&sum->split, split, own_ns, s->self_ns);
    add_own(&w->out->steady, split, own_ns, s->self_ns);
    const unsigned flags = b->flags.at[s->name];
    if (__builtin_expect(flags & (NAME_WAIT | NAME_RECEIVE), 0) && !in_call && split)
        add_waiting(w, flags, split, own_ns, s->self_ns);
}

// An outermost call of its stage that ended in the window.
static void add_call(struct walk *w, const struct model_span *s, struct stage_sum *stage)
{
    stage->calls += s->calls;
    if (!stage->latency)
        stage->latency = hist_new();
    if (!s->is_fold)
        hist_add(stage->latency, s->dur_ns);
    else
        hist_add_many(stage->latency, s->self_ns / s->calls, s->calls);
    (void)w;
}

static void add_attrs(struct walk *w, const struct model_span *s, struct stage_sum *stage,
    const struct open_span *above, struct open_span *here)
{
    const struct model_attrs *a = &w->t->attrs.at[s->attrs];
    const uint64_t bit = stage_bit(w->b->m->names.at[s->name].stage);
    const uint64_t pixels = (uint64_t)a->width_px * a->height_px * (a->batch ? a->batch : 1);
    w->b->names.at[s->name].bytes += a->bytes;
    if (a->bytes && !(above->bytes_stages & bit))
        stage->bytes += a->bytes;
    if (pixels && !(above->pixels_stages & bit))
        stage->pixels += pixels;
    here->bytes_stages |= a->bytes ? bit : 0;
    here->pixels_stages |= pixels ? bit : 0;
}

static inline const struct model_split *split_of(struct walk *w, const struct model_span *s)
{
    if (s->split != MODEL_NONE)
        return &w->t->splits.at[s->split];
    if (__builtin_expect(!w->is_unsplit, 1) || !(w->b->flags.at[s->name] & NAME_WAIT))
        return NULL;
    w->whole_wait = (struct model_split){s->self_ns, 0, 1, w->b->m->names.at[s->name].cause};
    return &w->whole_wait;
}

// A span that an edge of the window cuts is settled when all its children have been seen.
static void settle(struct walk *w, const struct open_span *o)
{
    const struct model_span *s = &w->t->spans.at[o->index];
    const uint64_t overlap_ns =
        (uint64_t)build_overlap_ns(w->b, s->start_ns, s->start_ns + (int64_t)s->dur_ns);
    uint64_t own_ns = overlap_ns > o->children_ns ? overlap_ns - o->children_ns : 0;
    if (own_ns > s->self_ns)
        own_ns = s->self_ns;
    const int in_call = w->path.count && vec_last(&w->path)->in_call;
    add_to_name(w, s, split_of(w, s), own_ns, in_call);
}

static inline void path_pop(struct walk *w)
{
    const struct open_span o = *vec_last(&w->path);
    w->path.count--;
    if (__builtin_expect(o.is_cut, 0))
        settle(w, &o);
}

// The time of a child within the window belongs to no cut span above it but the nearest real one.
static void give_to_cut(struct walk *w, uint64_t inside_ns)
{
    for (size_t i = w->path.count; i > 0; i--) {
        struct open_span *o = &w->path.at[i - 1];
        if (o->is_fold)
            continue;
        o->children_ns += inside_ns;
        return;
    }
}

static void add_root(struct walk *w, const struct model_span *s, int64_t end_ns)
{
    if (w->next_root_ns > end_ns) {
        w->root.gap_ns += (uint64_t)(w->next_root_ns - end_ns);
        w->root.gap_steady_ns += (uint64_t)build_overlap_ns(w->b, end_ns, w->next_root_ns);
    }
    w->next_root_ns = s->start_ns;
}

// What of a span's time lies in the window when that is not plain: cut spans and folds.
static uint64_t inside_of(const struct walk *w, const struct model_span *s, int64_t end_ns)
{
    const uint64_t overlap_ns = (uint64_t)build_overlap_ns(w->b, s->start_ns, end_ns);
    if (!s->is_fold || overlap_ns == s->dur_ns)
        return s->is_fold ? s->self_ns : overlap_ns;
    return s->dur_ns ? (uint64_t)((double)s->self_ns * ((double)overlap_ns / (double)s->dur_ns)) : 0;
}

static inline void take_span(struct walk *w, uint32_t index)
{
    struct build *b = w->b;
    const struct model_span *s = &w->t->spans.at[index];
    const int64_t end_ns = s->start_ns + (int64_t)s->dur_ns;
    while (w->path.count && vec_last(&w->path)->index != s->parent)
        path_pop(w);
    const struct open_span none = {.is_root_fold = 1};
    const struct open_span above = w->path.count ? *vec_last(&w->path) : none;
    const uint32_t stage_id = b->m->names.at[s->name].stage;
    const uint64_t bit = stage_bit(stage_id);
    const unsigned flags = b->flags.at[s->name];
    const struct model_split *split = split_of(w, s);
    struct open_span here = {.index = index, .is_fold = s->is_fold,
        .is_root_fold = s->is_fold && above.is_root_fold,
        .in_call = above.in_call || ((flags & NAME_CALL) && !(flags & NAME_WAIT)),
        .stages = above.stages | bit, .bytes_stages = above.bytes_stages,
        .pixels_stages = above.pixels_stages};

    add_own(&w->out->whole, split, s->self_ns, s->self_ns);
    const int is_inside = s->start_ns >= b->from_ns && end_ns <= b->to_ns;
    const uint64_t inside_ns = is_inside && !s->is_fold ? s->dur_ns : inside_of(w, s, end_ns);
    here.is_cut = !is_inside && !s->is_fold && inside_ns > 0;
    if (!here.is_cut && inside_ns)
        add_to_name(w, s, split, is_inside ? s->self_ns : inside_ns, above.in_call);
    if (w->path.count && above.is_cut + above.is_fold && inside_ns)
        give_to_cut(w, inside_ns);
    if (end_ns > b->from_ns && end_ns <= b->to_ns) {
        struct stage_sum *stage = &b->stages.at[stage_id];
        b->names.at[s->name].calls += s->calls;
        if (!(above.stages & bit))
            add_call(w, s, stage);
        if (s->attrs != MODEL_NONE)
            add_attrs(w, s, stage, &above, &here);
    }
    if (s->is_fold)
        b->names.at[s->name].folded += s->calls;
    if (s->parent == MODEL_NONE && !s->is_fold)
        add_root(w, s, end_ns);
    if (above.is_root_fold && (s->is_fold || w->path.count)) {
        w->root.fold_ns += s->is_fold ? s->self_ns : s->dur_ns;
        w->root.fold_steady_ns += inside_ns;
    }
    if (end_ns > w->root.last_ns)
        w->root.last_ns = end_ns;
    *(w->path.count < w->path.capacity ? &w->path.at[w->path.count++] : vec_push(&w->path)) = here;
}

// Adds the thread's own times by name to the stages, and finds the stage that took most of it.
static void end_thread(struct build *b, struct facts_thread *out, uint32_t place)
{
    VEC(uint32_t) stages = {0};
    for (size_t i = 0; i < b->touched.count; i++) {
        const uint32_t name = b->touched.at[i], stage = b->m->names.at[name].stage;
        struct stage_sum *sum = &b->stages.at[stage];
        if (!sum->thread_ns)
            *vec_push(&stages) = stage;
        sum->thread_ns += b->names.at[name].thread_ns;
        if (!(b->flags.at[name] & NAME_WAIT))
            out->work_ns += b->names.at[name].thread_ns;
        b->names.at[name].thread_ns = 0;
    }
    b->touched.count = 0;
    out->stage = MODEL_NONE;
    for (size_t i = 0; i < stages.count; i++) {
        struct stage_sum *sum = &b->stages.at[stages.at[i]];
        const int is_wait = strcmp(b->m->stages.at[stages.at[i]].text, "wait") == 0;
        if (!is_wait && sum->thread_ns > out->stage_ns) {
            out->stage_ns = sum->thread_ns;
            out->stage = stages.at[i];
        }
        *vec_push(&b->thread_stages) =
            (struct thread_stage){place, stages.at[i], sum->thread_ns};
        sum->threads++;
        sum->thread_ns = 0;
    }
    vec_fini(&stages);
}

static void walk_thread(struct build *b, uint32_t index, struct walk *w)
{
    const struct model_thread *t = &b->m->threads.at[index];
    const uint32_t place = (uint32_t)b->f->threads.count;
    struct facts_thread *out = vec_push(&b->f->threads);
    out->thread = index;
    w->t = t;
    w->out = out;
    w->root = (struct walk_root){.last_ns = t->start_ns};
    w->next_root_ns = t->end_ns;
    w->path.count = 0;
    w->is_unsplit = b->m->processes.at[t->process].split_method == TRACE_SPLIT_NONE;
    for (size_t i = t->spans.count; i > 0; i--)
        take_span(w, (uint32_t)(i - 1));
    while (w->path.count)
        path_pop(w);
    if (w->next_root_ns > t->start_ns) {
        w->root.gap_ns += (uint64_t)(w->next_root_ns - t->start_ns);
        w->root.gap_steady_ns += (uint64_t)build_overlap_ns(b, t->start_ns, w->next_root_ns);
    }
    out->stages_ns = out->whole.wall_ns;
    end_thread(b, out, place);
    build_thread_root(b, out, &w->root);
}

void build_walk(struct build *b)
{
    struct walk w = {.b = b};
    vec_reserve(&b->f->threads, b->m->threads.count);
    for (uint32_t i = 0; i < b->m->threads.count; i++)
        walk_thread(b, i, &w);
    vec_fini(&w.path);
}
