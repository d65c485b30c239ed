// SPDX-License-Identifier: Apache-2.0
// The one pass over every span. Each thread is walked from its last span to its first, so that a
// parent is seen before its children and the path to the root is a stack. Adds own times and cost
// splits up by name, whole and within the steady window, outermost calls by stage, and the gaps
// between the outermost spans. The hot path of the analysis. Threads: one owner.
#include "analyze/build.h"
#include "analyze/pictures.h"

// A span that is open where the walk is.
struct open_span {
    uint32_t index, parent;
    int is_fold, is_root_fold; // root: it and all that enclose it are folds
    int in_call;               // it or one that encloses it is a hooked call
    int was_in_call;           // one that encloses it is
    int is_cut;                // by an edge of the window
    uint64_t stages, bytes_stages, pixels_stages,
        faults_stages;    // bits of the stages on the path, with attributes
    uint64_t children_ns; // of a cut span: of its children within the window
};

struct walk {
    struct build *b;
    const struct model_thread *t;
    struct facts_thread *out;
    struct walk_root root;
    int64_t next_root_ns;          // the start of the outermost span that comes after
    int is_unsplit;                // its process could not tell CPU from waiting
    struct model_split whole_wait; // what stands for the split of a wait then
    // Own time of spans that are not wholly in the window, and the part of it that is.
    struct facts_split beyond, cut;
    VEC(struct open_span) path;
    struct pictures pictures;
};

static const struct open_span outside_all = {.is_root_fold = 1};
static const struct open_span unknown_parent;

// Folds are written later than they ended, among the children of a span that came after them; so
// many may wait on the path above such a span.
#define FOLDS_BESIDE 8u

// Puts `own_ns` of a span, of whose own time `self_ns` the split was measured, into a sum. CPU time
// is what is left when everything has been added (build_split_settle).
static void add_off(
    struct facts_split *into, const struct model_split *split, uint64_t own_ns, uint64_t self_ns)
{
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
    into->runq_ns += runq_ns;
    into->cause_ns[split->cause] += off_ns - runq_ns;
}

static inline void add_own(
    struct facts_split *into, const struct model_split *split, uint64_t own_ns, uint64_t self_ns)
{
    into->wall_ns += own_ns;
    if (__builtin_expect(split != NULL, 0))
        add_off(into, split, own_ns, self_ns);
}

// What a thread does that is blocked in a call: waits for another thread, or for the world outside.
static void add_waiting(struct walk *w, unsigned flags, const struct model_split *split,
    uint64_t own_ns, uint64_t self_ns)
{
    struct facts_split part = {0};
    add_own(&part, split, own_ns, self_ns);
    build_split_settle(&part);
    const uint64_t blocked_ns = part.wall_ns - part.cpu_ns - part.runq_ns;
    const uint64_t outside_ns = part.cause_ns[TRACE_CAUSE_SLEEP] + part.cause_ns[TRACE_CAUSE_NET] +
                                part.cause_ns[TRACE_CAUSE_OTHER];
    if (flags & NAME_WAIT)
        w->out->idle_ns += blocked_ns - outside_ns;
    if (flags & NAME_LOCK)
        w->out->lock_ns += blocked_ns - outside_ns;
    w->out->paced_ns += outside_ns;
}

static inline void add_to_name(struct walk *w, const struct model_span *s,
    const struct model_split *split, uint64_t own_ns, int in_call)
{
    struct build *b = w->b;
    struct name_sum *sum = &b->names.at[s->name];
    if (__builtin_expect(!sum->is_touched, 0)) {
        sum->is_touched = 1;
        *vec_push(&b->touched) = s->name;
    }
    add_own(&sum->thread, split, own_ns, s->self_ns);
    const unsigned flags = b->info.at[s->name].flags;
    if (__builtin_expect(split && (flags & (NAME_WAIT | NAME_RECEIVE)) && !in_call, 0))
        add_waiting(w, flags, split, own_ns, s->self_ns);
}

// The durations that came with a fold go into the quantiles; how many calls these are.
static uint64_t add_durations(
    struct stage_sum *stage, const struct model_thread *t, const struct model_span *s)
{
    uint64_t calls = 0;
    uint32_t at = s->attrs == MODEL_NONE ? 0 : t->attrs.at[s->attrs].values;
    for (; at; at = t->values.at[at - 1].next) {
        const struct model_value *v = &t->values.at[at - 1];
        if (v->key != TRACE_ATTR_CALLS_OF || v->aux >= TRACE_BUCKETS)
            continue;
        if (!stage->latency)
            stage->latency = hist_new();
        hist_add_many(stage->latency, trace_bucket_ns(v->aux), v->value);
        calls += v->value;
    }
    return calls;
}

// Of other folded calls there is no distribution, so that they stay out of the quantiles. Durations
// are written less often than sums: those with a fold may be of earlier ones too.
static void add_folded(
    struct stage_sum *stage, const struct model_thread *t, const struct model_span *s)
{
    struct facts_folded *sum = &stage->folded;
    const uint64_t max_ns = s->attrs == MODEL_NONE ? 0 : t->attrs.at[s->attrs].max_ns;
    stage->bucketed_calls += add_durations(stage, t, s);
    sum->calls += s->calls;
    sum->own_ns += s->self_ns;
    if (max_ns > sum->max_ns)
        sum->max_ns = max_ns;
}

// A picture that took many calls is timed from the first of them on.
static void add_image(struct stage_sum *stage, const struct model_thread *t,
    const struct model_span *s, unsigned flags)
{
    const struct model_value *elapsed = model_value_find(t, s, TRACE_ATTR_ELAPSED);
    if (!elapsed && flags & NAME_IMAGE_END)
        return;
    if (!stage->images)
        stage->images = hist_new();
    stage->has_elapsed |= elapsed != NULL;
    hist_add(stage->images, elapsed ? elapsed->value : s->dur_ns);
}

// An outermost call of its stage that ended in the window.
static inline void add_call(struct stage_sum *stage, const struct model_thread *t,
    const struct model_span *s, unsigned flags)
{
    stage->calls += s->calls;
    if (__builtin_expect(flags & (NAME_IMAGE | NAME_IMAGE_END), 0) && !s->is_fold)
        add_image(stage, t, s, flags);
    if (s->is_fold) {
        add_folded(stage, t, s);
        return;
    }
    if (__builtin_expect(!stage->latency, 0))
        stage->latency = hist_new();
    hist_add(stage->latency, s->dur_ns);
}

static void add_faults(struct walk *w, const struct model_span *s, const struct open_span *above,
    struct open_span *here)
{
    const struct name_info *info = &w->b->info.at[s->name];
    const struct model_value *faults = model_value_find(w->t, s, TRACE_ATTR_FAULTS);
    if (!faults)
        return;
    here->faults_stages |= info->stage_bit;
    if (above->faults_stages & info->stage_bit)
        return;
    w->b->stages.at[info->stage].minor_faults += faults->value;
    w->b->stages.at[info->stage].major_faults += faults->aux;
}

// A file that was opened to be read, where the kernel tells how much of it is in memory.
static void add_file(struct walk *w, const struct model_span *s)
{
    const struct model_value *pages = model_value_find(w->t, s, TRACE_ATTR_RESIDENT);
    if (!pages)
        return;
    w->b->f->files.looked_at++;
    w->b->f->files.in_memory += (uint32_t)pages->value >= pages->value >> 32;
}

#define OF_PICTURES                                                                                \
    (NAME_IMAGE | NAME_IMAGE_START | NAME_IMAGE_END | NAME_IMAGE_PART | NAME_IMAGE_MADE)

static uint64_t pixels_of(struct walk *w, const struct model_span *s, uint64_t pixels)
{
    const unsigned flags = w->b->info.at[s->name].flags;
    if (!(flags & OF_PICTURES))
        return pixels;
    const struct pictures_call call = {w->b->m->names.at[s->name].text, flags,
        model_value_find(w->t, s, TRACE_ATTR_ELAPSED) != NULL};
    return pictures_pixels(&w->pictures, &call, pixels);
}

static void add_attrs(struct walk *w, const struct model_span *s, const struct open_span *above,
    struct open_span *here)
{
    const struct model_attrs *a = &w->t->attrs.at[s->attrs];
    const struct name_info *info = &w->b->info.at[s->name];
    struct stage_sum *stage = &w->b->stages.at[info->stage];
    const uint64_t pixels = (uint64_t)a->width_px * a->height_px * (a->batch ? a->batch : 1);
    w->b->names.at[s->name].bytes += a->bytes;
    if (a->bytes && !(above->bytes_stages & info->stage_bit))
        stage->bytes += a->bytes;
    if (!(above->pixels_stages & info->stage_bit))
        stage->pixels += pixels_of(w, s, pixels);
    add_faults(w, s, above, here);
    if (a->values) {
        add_file(w, s);
        const struct model_value *work = model_value_find(w->t, s, TRACE_ATTR_ACCEL);
        stage->accel_work_ns += work ? work->value : 0;
    }
    here->bytes_stages |= a->bytes ? info->stage_bit : 0;
    here->pixels_stages |= pixels ? info->stage_bit : 0;
}

static inline const struct model_split *split_of(struct walk *w, const struct model_span *s)
{
    if (s->split != MODEL_NONE)
        return &w->t->splits.at[s->split];
    if (__builtin_expect(!w->is_unsplit, 1) || !(w->b->info.at[s->name].flags & NAME_WAIT))
        return NULL;
    w->whole_wait = (struct model_split){s->self_ns, 0, 1, w->b->m->names.at[s->name].cause};
    return &w->whole_wait;
}

// Own time, in the window, of a span that is not wholly in it.
static void add_part(struct walk *w, const struct model_span *s, uint64_t own_ns, int in_call)
{
    const struct model_split *split = split_of(w, s);
    add_to_name(w, s, split, own_ns, in_call);
    add_own(&w->cut, split, own_ns, s->self_ns);
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
    add_part(w, s, own_ns, o->was_in_call);
}

// Whether more children of a fold above path[count - 1] may come: its parent is further down.
static int is_beside(const struct walk *w, const struct open_span *o, size_t count)
{
    if (!o->is_fold || o->parent == w->path.at[count - 1].index)
        return 0;
    for (size_t i = count - 1; i > 0; i--)
        if (w->path.at[i - 1].index == o->parent)
            return 1;
    return o->parent == MODEL_NONE;
}

// Leaves the spans above path[count - 1]: the walk is before them.
static void path_leave(struct walk *w, size_t count)
{
    size_t kept = count;
    for (size_t i = count; i < w->path.count; i++) {
        const struct open_span o = w->path.at[i];
        if (o.is_cut)
            settle(w, &o);
        if (count && kept - count < FOLDS_BESIDE && is_beside(w, &o, count))
            w->path.at[kept++] = o;
    }
    w->path.count = kept;
}

// How much of the path encloses `s`; leaves what the walk is before.
static inline size_t path_enclosing(struct walk *w, const struct model_span *s)
{
    size_t count = w->path.count;
    while (count && w->path.at[count - 1].index != s->parent)
        count--;
    if (count != w->path.count && !s->is_fold && (count || s->parent == MODEL_NONE))
        path_leave(w, count);
    return count;
}

// The time of a child within the window belongs to no cut span above it but the nearest real one.
static void give_to_cut(struct walk *w, size_t count, uint64_t inside_ns)
{
    while (count && w->path.at[count - 1].is_fold)
        count--;
    if (count)
        w->path.at[count - 1].children_ns += inside_ns;
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
    return s->dur_ns ? (uint64_t)((double)s->self_ns * ((double)overlap_ns / (double)s->dur_ns))
                     : 0;
}

// Whether a span has no children: the one that ended before it is not inside it. A fold says
// nothing, since it is written later than it ended.
static inline int is_leaf(const struct model_span *s, uint32_t index)
{
    return index == 0 || (s[-1].depth <= s->depth && !s[-1].is_fold);
}

static void take_folded(
    struct walk *w, const struct model_span *s, size_t enclosing, uint64_t inside_ns)
{
    if (s->is_fold)
        w->b->names.at[s->name].folded += s->calls;
    if (s->parent == MODEL_NONE ? s->is_fold
                                : enclosing && w->path.at[enclosing - 1].is_root_fold) {
        w->root.fold_ns += s->is_fold ? s->self_ns : s->dur_ns;
        w->root.fold_steady_ns += inside_ns;
    }
    if (inside_ns)
        give_to_cut(w, enclosing, inside_ns);
}

static inline void take_span(struct walk *w, uint32_t index)
{
    struct build *b = w->b;
    const struct model_span *s = &w->t->spans.at[index];
    const struct name_info info = b->info.at[s->name];
    const int64_t end_ns = s->start_ns + (int64_t)s->dur_ns;
    const size_t enclosing = path_enclosing(w, s);
    const struct open_span *above = enclosing                 ? &w->path.at[enclosing - 1]
                                    : s->parent == MODEL_NONE ? &outside_all
                                                              : &unknown_parent;
    const struct model_split *split = split_of(w, s);
    const int is_inside = s->start_ns >= b->from_ns && end_ns <= b->to_ns;
    const uint64_t inside_ns = is_inside && !s->is_fold ? s->dur_ns : inside_of(w, s, end_ns);
    struct open_span here = {.index = index,
        .parent = s->parent,
        .was_in_call = above->in_call,
        .is_fold = s->is_fold,
        .is_root_fold = s->is_fold && above->is_root_fold,
        .in_call = above->in_call || (info.flags & (NAME_CALL | NAME_WAIT)) == NAME_CALL,
        .is_cut = !is_inside && !s->is_fold && inside_ns > 0,
        .stages = above->stages | (info.flags & NAME_TEAM ? 0 : info.stage_bit),
        .bytes_stages = above->bytes_stages,
        .pixels_stages = above->pixels_stages,
        .faults_stages = above->faults_stages};
    if (__builtin_expect(is_inside, 1)) {
        add_to_name(w, s, split, s->self_ns, above->in_call);
    } else {
        add_own(&w->beyond, split, s->self_ns, s->self_ns);
        if (!here.is_cut && inside_ns)
            add_part(w, s, inside_ns, above->in_call);
    }
    if (end_ns > b->from_ns && end_ns <= b->to_ns) {
        b->names.at[s->name].calls += s->calls;
        if (!(above->stages & info.stage_bit) && !(info.flags & NAME_TEAM))
            add_call(&b->stages.at[info.stage], w->t, s, info.flags);
        if (s->attrs != MODEL_NONE)
            add_attrs(w, s, above, &here);
    }
    if (s->parent == MODEL_NONE && !s->is_fold)
        add_root(w, s, end_ns);
    if (__builtin_expect(s->is_fold || above->is_fold || above->is_cut, 0))
        take_folded(w, s, enclosing, inside_ns);
    if (end_ns > w->root.last_ns)
        w->root.last_ns = end_ns;
    if (here.is_cut || !is_leaf(s, index))
        *(w->path.count < w->path.capacity ? &w->path.at[w->path.count++] : vec_push(&w->path)) =
            here;
}

// Adds the thread's own times by name to the names' and the stages'.
static void end_names(struct build *b, struct facts_thread *out, uint32_t place)
{
    const size_t first = b->thread_stages.count;
    for (size_t i = 0; i < b->touched.count; i++) {
        struct name_sum *sum = &b->names.at[b->touched.at[i]];
        const struct name_info *info = &b->info.at[b->touched.at[i]];
        struct stage_sum *stage = &b->stages.at[info->stage];
        build_split_settle(&sum->thread);
        build_split_add(&sum->split, &sum->thread);
        build_split_add(&out->steady, &sum->thread);
        if (!stage->thread_ns && sum->thread.wall_ns)
            *vec_push(&b->thread_stages) = (struct thread_stage){place, info->stage, 0};
        stage->thread_ns += sum->thread.wall_ns;
        if (!(info->flags & NAME_WAIT))
            stage->thread_work_ns += sum->thread.wall_ns;
        if (info->flags & NAME_TEAM) {
            build_split_add(&stage->team, &sum->thread);
            stage->thread_team_ns += sum->thread.wall_ns;
        }
        sum->thread = (struct facts_split){0};
        sum->is_touched = 0;
    }
    b->touched.count = 0;
    out->stage = MODEL_NONE;
    for (size_t i = first; i < b->thread_stages.count; i++) {
        struct thread_stage *ts = &b->thread_stages.at[i];
        struct stage_sum *stage = &b->stages.at[ts->stage];
        ts->own_ns = stage->thread_ns;
        out->work_ns += stage->thread_work_ns;
        out->team_ns += stage->thread_team_ns;
        if (stage->thread_work_ns > out->stage_ns) {
            out->stage_ns = stage->thread_work_ns;
            out->stage = ts->stage;
        }
        stage->threads += stage->thread_ns > stage->thread_team_ns;
        stage->thread_ns = stage->thread_work_ns = stage->thread_team_ns = 0;
    }
}

// All own times of the thread: those in the window, and of the others what is not in it.
static void end_whole(struct walk *w)
{
    struct facts_split *whole = &w->out->whole;
    *whole = w->out->steady;
    build_split_add(whole, &w->beyond);
    whole->wall_ns -= w->cut.wall_ns;
    whole->runq_ns -= w->cut.runq_ns;
    for (int i = 0; i < TRACE_CAUSE_COUNT; i++)
        whole->cause_ns[i] -= w->cut.cause_ns[i];
    build_split_settle(whole);
    w->out->stages_ns = whole->wall_ns;
}

static void walk_thread(struct build *b, uint32_t index, struct walk *w)
{
    const struct model_thread *t = &b->m->threads.at[index];
    const uint32_t place = (uint32_t)b->f->threads.count;
    w->out = vec_push(&b->f->threads);
    w->out->thread = index;
    w->t = t;
    w->root = (struct walk_root){.last_ns = t->start_ns};
    w->next_root_ns = t->end_ns;
    w->beyond = w->cut = (struct facts_split){0};
    w->path.count = 0;
    w->pictures = (struct pictures){0};
    w->is_unsplit = b->m->processes.at[t->process].split_method == TRACE_SPLIT_NONE;
    for (size_t i = t->spans.count; i > 0; i--)
        take_span(w, (uint32_t)(i - 1));
    path_leave(w, 0);
    if (w->next_root_ns > t->start_ns) {
        w->root.gap_ns += (uint64_t)(w->next_root_ns - t->start_ns);
        w->root.gap_steady_ns += (uint64_t)build_overlap_ns(b, t->start_ns, w->next_root_ns);
    }
    end_names(b, w->out, place);
    end_whole(w);
    build_thread_root(b, w->out, &w->root);
}

void build_walk(struct build *b)
{
    struct walk w = {.b = b};
    vec_reserve(&b->f->threads, b->m->threads.count);
    for (uint32_t i = 0; i < b->m->threads.count; i++)
        walk_thread(b, i, &w);
    vec_fini(&w.path);
}
