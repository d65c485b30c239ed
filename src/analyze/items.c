// SPDX-License-Identifier: Apache-2.0
// Items: where they are counted, when each was done, and the windows and latencies that follow from
// it. Called by facts.c before the walk, which needs the window. Threads: one owner.
#include "analyze/build.h"

#include "base/heap.h"
#include "base/stats.h"

#include <stdlib.h>
#include <string.h>

// Whether no enclosing span is of the same kind.
static int is_outermost(
    const struct build *b, const struct model_thread *t, const struct model_span *s, unsigned flag)
{
    const uint32_t stage = b->info.at[s->name].stage;
    for (uint32_t p = s->parent; p != MODEL_NONE; p = t->spans.at[p].parent) {
        if (b->info.at[t->spans.at[p].name].flags & NAME_TEAM)
            continue;
        if ((b->info.at[t->spans.at[p].name].flags & flag) ||
            (flag != NAME_ITEM && b->info.at[t->spans.at[p].name].stage == stage))
            return 0;
    }
    return 1;
}

static uint64_t batch_of(const struct model_thread *t, const struct model_span *s)
{
    const uint64_t batch = s->attrs == MODEL_NONE ? 0 : t->attrs.at[s->attrs].batch;
    return batch ? batch : 1;
}

// Whether a call is one that `flag` asks for.
static int is_such(
    const struct build *b, const struct model_thread *t, const struct model_span *s, unsigned flag)
{
    const unsigned flags = b->info.at[s->name].flags;
    return flags & flag || (flag == NAME_IMAGE && flags & NAME_IMAGE_END &&
                               model_value_find(t, s, TRACE_ATTR_ELAPSED));
}

static int has_name(const struct build *b, unsigned flag)
{
    for (size_t i = 0; i < b->info.count; i++)
        if (b->info.at[i].flags & flag)
            return 1;
    return 0;
}

// Every outermost call whose name has `flag` completes an item (an inference: its batch); those of
// folds only `with_folded`. How many folded calls there are of which it is not known when each was
// done, or that were left out.
static uint64_t count_calls(struct build *b, unsigned flag, int with_folded)
{
    const struct model *m = b->m;
    uint64_t folded = 0;
    b->completions.count = 0;
    const unsigned names = flag | (flag == NAME_IMAGE ? NAME_IMAGE_END : 0);
    for (size_t i = 0; has_name(b, names) && i < m->threads.count; i++) {
        const struct model_thread *t = &m->threads.at[i];
        for (size_t k = 0; k < t->spans.count; k++) {
            const struct model_span *s = &t->spans.at[k];
            if (!is_such(b, t, s, flag) || !is_outermost(b, t, s, flag))
                continue;
            if (s->is_fold && (s->calls > 1 || !with_folded))
                folded += s->calls;
            if (s->is_fold && !with_folded)
                continue;
            const uint64_t each = flag == NAME_INFER ? batch_of(t, s) : 1;
            *vec_push(&b->completions) =
                (struct completion){s->start_ns + (int64_t)s->dur_ns, each * s->calls};
        }
    }
    return folded;
}

// By a rule of our own: each call is an item, however it was recorded.
static void count_all_calls(struct build *b, unsigned flag)
{
    b->f->item_folded_calls = count_calls(b, flag, 1);
    b->f->folded_are_items = b->f->item_folded_calls > 0;
}

static void count_images(struct build *b)
{
    count_all_calls(b, NAME_IMAGE);
    if (!b->completions.count)
        count_all_calls(b, NAME_IMAGE_START);
    if (!b->completions.count)
        count_all_calls(b, NAME_IMAGE_END);
}

// Whether a name that items were asked for at has all of `flags`.
static int is_asked_for(const struct build *b, unsigned flags)
{
    for (size_t i = 0; i < b->info.count; i++)
        if ((b->info.at[i].flags & (NAME_ITEM | flags)) == (NAME_ITEM | flags) &&
            (flags != NAME_CALL || strcmp(b->m->names.at[i].text, b->f->item_stage) == 0))
            return 1;
    return 0;
}

// Folded calls are parts of the work on an item (scanlines) more often than an item. Where a stage
// has them, what makes an image is counted, else the calls that were recorded one by one.
static void count_asked_for(struct build *b)
{
    struct facts *f = b->f;
    const uint64_t folded = count_calls(b, NAME_ITEM, 0);
    if (!folded)
        return;
    const int has_single = b->completions.count > 0;
    b->completions.count = 0;
    if (is_asked_for(b, NAME_IMAGE) || is_asked_for(b, NAME_IMAGE_START) ||
        is_asked_for(b, NAME_IMAGE_END))
        count_images(b);
    if (is_asked_for(b, NAME_CALL) || (!b->completions.count && !has_single))
        count_all_calls(b, NAME_ITEM);
    else if (!b->completions.count)
        count_calls(b, NAME_ITEM, 0);
    if (!f->folded_are_items)
        f->item_folded_calls = folded;
}

// ---- Marks. -----------------------------------------------------------------------------------

struct item_key {
    uint32_t process;
    uint64_t id;
};

// What the marks said of one item.
struct item {
    struct item_key key;
    int64_t begin_ns, end_ns; // -1: not told
    struct item_key batch;    // that it was joined to
    int is_joined, is_used;
    uint64_t members; // joined to it, that have no end of their own
    int is_batch;
};

struct item_table {
    struct item *at;
    size_t slots, used;
};

static struct item *item_slot(struct item *at, size_t slots, struct item_key key)
{
    uint64_t hash = (key.id + key.process * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu;
    size_t slot = (hash >> 20) & (slots - 1);
    while (at[slot].is_used && (at[slot].key.id != key.id || at[slot].key.process != key.process))
        slot = (slot + 1) & (slots - 1);
    return &at[slot];
}

static struct item *item_find(struct item_table *t, struct item_key key)
{
    if (t->used * 2 >= t->slots) {
        struct item_table bigger = {.slots = t->slots ? t->slots * 2 : 1024, .used = t->used};
        bigger.at = heap_alloc(bigger.slots, sizeof *bigger.at);
        for (size_t i = 0; i < t->slots; i++)
            if (t->at[i].is_used)
                *item_slot(bigger.at, bigger.slots, t->at[i].key) = t->at[i];
        free(t->at);
        *t = bigger;
    }
    struct item *item = item_slot(t->at, t->slots, key);
    if (!item->is_used) {
        *item = (struct item){.key = key, .begin_ns = -1, .end_ns = -1, .is_used = 1};
        t->used++;
    }
    return item;
}

static void take_event(struct build *b, struct item_table *table, const struct model_item_event *e,
    struct hist *latency)
{
    const uint32_t process = b->m->threads.at[e->thread].process;
    if (e->op == TRACE_ITEM_MANY) {
        if (e->id)
            *vec_push(&b->completions) = (struct completion){e->at_ns, e->id};
        return;
    }
    struct item *item = item_find(table, (struct item_key){process, e->id});
    if (e->op == TRACE_ITEM_BEGIN) {
        item->begin_ns = e->at_ns;
    } else if (e->op == TRACE_ITEM_JOIN) {
        item->batch = (struct item_key){process, e->other};
        item->is_joined = 1;
        struct item *batch = item_find(table, item->batch);
        batch->is_batch = 1;
        batch->members++;
    } else if (e->op == TRACE_ITEM_END) {
        // A batch stands for its members; one that ended by itself no longer counts with it.
        if (item->is_joined && !item->is_batch) {
            struct item *batch = item_find(table, item->batch);
            batch->members -= batch->members > 0;
            item = item_find(table, (struct item_key){process, e->id});
            item->is_joined = 0;
        }
        const uint64_t count = item->is_batch ? item->members : 1;
        item->members = 0;
        if (count)
            *vec_push(&b->completions) = (struct completion){e->at_ns, count};
        if (item->begin_ns >= 0 && latency)
            hist_add(latency, (uint64_t)(e->at_ns - item->begin_ns));
        item->begin_ns = -1;
    }
}

static void count_marks(struct build *b, struct hist *latency)
{
    struct item_table table = {0};
    for (size_t i = 0; i < b->m->items.count; i++)
        take_event(b, &table, &b->m->items.at[i], latency);
    free(table.at);
}

static int has_ends(const struct model *m)
{
    for (size_t i = 0; i < m->items.count; i++)
        if (m->items.at[i].op == TRACE_ITEM_END || m->items.at[i].op == TRACE_ITEM_MANY)
            return 1;
    return 0;
}

// ---- Choosing, windows. -----------------------------------------------------------------------

static void count_by_rule(struct build *b, struct hist *latency)
{
    struct facts *f = b->f;
    if (f->counted_by == FACTS_BY_ITEM_STAGE) {
        count_asked_for(b);
        return;
    }
    f->counted_by = FACTS_BY_MARKS;
    if (has_ends(b->m))
        count_marks(b, latency);
    if (b->completions.count)
        return;
    f->counted_by = FACTS_BY_INFERENCE;
    f->item_stage = "infer";
    count_all_calls(b, NAME_INFER);
    if (b->completions.count)
        return;
    f->counted_by = FACTS_BY_DECODES;
    f->item_stage = "decode";
    count_images(b);
    if (b->completions.count)
        return;
    f->counted_by = FACTS_BY_NOTHING;
    f->item_stage = "";
}

static int compare_completion(const void *a, const void *b)
{
    const struct completion *x = a, *y = b;
    return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

static void sort_completions(struct build *b)
{
    size_t i = 1;
    while (i < b->completions.count && b->completions.at[i - 1].at_ns <= b->completions.at[i].at_ns)
        i++;
    if (i < b->completions.count)
        qsort(
            b->completions.at, b->completions.count, sizeof *b->completions.at, compare_completion);
}

static void set_windows(struct build *b)
{
    struct facts *f = b->f;
    b->from_ns = 0;
    b->to_ns = b->m->end_ns;
    const size_t n = b->completions.count;
    if (n >= 2 && b->completions.at[n - 1].at_ns > b->completions.at[0].at_ns) {
        // What was kept of a long run has no start-up.
        b->from_ns = b->m->kept_from_ns ? 0 : b->completions.at[0].at_ns;
        b->to_ns = b->completions.at[n - 1].at_ns;
        const uint64_t after = f->items - b->completions.at[0].count;
        f->throughput_per_s = (double)after * 1e9 / (double)(b->to_ns - b->from_ns);
    }
    f->startup_ns = b->from_ns;
    f->steady_ns = b->to_ns - b->from_ns;
    f->teardown_ns = b->m->end_ns - b->to_ns;
}

// Times between completions are those of items unless folded calls, done at times not known, are
// more than a hundredth of them: no p99 is then told.
static int has_moments(const struct facts *f)
{
    return !f->folded_are_items || f->item_folded_calls * 100 <= f->items;
}

static void measure_gaps(struct build *b)
{
    struct hist *gaps = hist_new();
    for (size_t i = 1; has_moments(b->f) && i < b->completions.count; i++)
        hist_add(gaps, (uint64_t)(b->completions.at[i].at_ns - b->completions.at[i - 1].at_ns));
    b->f->gap = build_latency(gaps);
    b->f->gap_spread_ratio = -1;
    if (hist_count(gaps) >= 10 && b->f->gap.p50_ns)
        b->f->gap_spread_ratio =
            ((double)hist_quantile(gaps, 0.9) - (double)hist_quantile(gaps, 0.1)) /
            (double)b->f->gap.p50_ns;
    hist_free(&gaps);
}

void build_items(struct build *b)
{
    struct facts *f = b->f;
    struct hist *latency = hist_new();
    count_by_rule(b, latency);
    sort_completions(b);
    for (size_t i = 0; i < b->completions.count; i++)
        f->items += b->completions.at[i].count;
    set_windows(b);
    measure_gaps(b);
    f->latency_is_gap = hist_count(latency) == 0;
    f->item_latency = f->latency_is_gap ? f->gap : build_latency(latency);
    hist_free(&latency);
}
