// SPDX-License-Identifier: Apache-2.0
// What the other files need to know first: what each name stands for, and the samples as series.
// Called by facts.c before anything else. Threads: one owner.
#include "analyze/build.h"
#include "analyze/pictures.h"

#include "base/stats.h"

#include <stdlib.h>
#include <string.h>

static int starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static int is_setup(const char *name)
{
    static const char *const parts[] = {
        "CreateSession", "readNet", "LoadModel", "load_model", "InferenceSession", "CreateEnv"};
    static const char *const starts[] = {"setup", "set-up", "set up", "init", "import "};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(name, parts[i]))
            return 1;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (starts_with(name, starts[i]))
            return 1;
    return 0;
}

static int is_own_word(const char *stage)
{
    for (size_t i = 0; model_stage_words[i]; i++)
        if (strcmp(model_stage_words[i], stage) == 0)
            return 0;
    return 1;
}

static int is_lock(const char *name)
{
    return strstr(name, "mutex") || strstr(name, "rwlock") || strstr(name, "spin_lock") ||
           strstr(name, "mtx_") || strstr(name, "critical") || strstr(name, "omp_set_");
}

static unsigned classify(const struct model *m, const struct model_name *n, const char *item)
{
    const char *stage = m->stages.at[n->stage].text;
    if (n->is_team)
        return NAME_TEAM;
    unsigned flags = strcmp(n->text, stage) != 0 ? NAME_CALL : 0;
    if (n->is_wait)
        flags |= NAME_WAIT | (is_lock(n->text) ? NAME_LOCK : 0);
    else if (strcmp(stage, "receive") == 0)
        flags |= NAME_RECEIVE;
    else
        flags |= pictures_flags(stage, n->text);
    if (is_setup(n->text))
        flags |= NAME_SETUP;
    else if (strcmp(stage, "infer") == 0)
        flags |= NAME_INFER;
    if (!(flags & (NAME_WAIT | NAME_SETUP | NAME_RECEIVE)) && !starts_with(stage, "load") &&
        strcmp(stage, "?") != 0 && strcmp(stage, "save") != 0 && strcmp(stage, "send") != 0)
        flags |= NAME_WORK | (is_own_word(stage) ? NAME_OWN : 0);
    if (item && (strcmp(item, n->text) == 0 || strcmp(item, stage) == 0))
        flags |= NAME_ITEM;
    return flags;
}

void build_names_classify(struct build *b)
{
    const struct model *m = b->m;
    const char *item = b->options ? b->options->item_stage : NULL;
    if (!item)
        item = json_get_string(json_get(m->meta, "options"), "item_stage", NULL);
    b->f->item_stage = item ? item : "";
    b->f->counted_by = item ? FACTS_BY_ITEM_STAGE : FACTS_BY_NOTHING;
    for (size_t i = 0; i < m->names.count; i++) {
        const struct model_name *n = &m->names.at[i];
        *vec_push(&b->info) = (struct name_info){
            classify(m, n, item), n->stage, 1ull << (n->stage < 63 ? n->stage : 63)};
        vec_push(&b->names);
    }
    for (size_t i = 0; i < m->stages.count; i++)
        vec_push(&b->stages);
    for (size_t i = 0; i < m->processes.count; i++)
        b->f->split_is_measured |= m->processes.at[i].split_method != TRACE_SPLIT_NONE;
}

static int compare_sample(const void *a, const void *b)
{
    const struct model_sample *x = a, *y = b;
    if (x->metric != y->metric)
        return x->metric < y->metric ? -1 : 1;
    if (x->subject != y->subject)
        return x->subject < y->subject ? -1 : 1;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

void build_series_make(struct build *b)
{
    const size_t count = b->m->samples.count;
    if (!count)
        return;
    vec_reserve(&b->series, count);
    memcpy(b->series.at, b->m->samples.at, count * sizeof *b->series.at);
    b->series.count = count;
    qsort(b->series.at, count, sizeof *b->series.at, compare_sample);
}

// The first sample that is not before (metric, subject).
static size_t lower_bound(const struct build *b, unsigned metric, uint64_t subject)
{
    size_t low = 0, high = b->series.count;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        const struct model_sample *s = &b->series.at[mid];
        if (s->metric < metric || (s->metric == metric && s->subject < subject))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

struct series build_series_find(const struct build *b, enum trace_metric metric, uint32_t subject)
{
    const size_t first = lower_bound(b, metric, subject);
    const size_t end = lower_bound(b, metric, (uint64_t)subject + 1);
    return (struct series){first < end ? &b->series.at[first] : NULL, end - first};
}

double build_series_value(const struct series *s, int64_t at_ns, int64_t start_ns)
{
    if (!s->count)
        return -1;
    size_t next = 0;
    while (next < s->count && s->at[next].at_ns <= at_ns)
        next++;
    if (next == s->count)
        return (double)s->at[s->count - 1].value;
    const struct model_sample *after = &s->at[next];
    int64_t before_ns = start_ns;
    double before = 0;
    if (next > 0) {
        before_ns = s->at[next - 1].at_ns;
        before = (double)s->at[next - 1].value;
    } else if (start_ns < 0 || start_ns >= after->at_ns) {
        return (double)after->value;
    }
    if (at_ns <= before_ns)
        return before;
    const double part = (double)(at_ns - before_ns) / (double)(after->at_ns - before_ns);
    return before + ((double)after->value - before) * part;
}

int64_t build_overlap_ns(const struct build *b, int64_t start_ns, int64_t end_ns)
{
    const int64_t from_ns = start_ns > b->from_ns ? start_ns : b->from_ns;
    const int64_t to_ns = end_ns < b->to_ns ? end_ns : b->to_ns;
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

void build_split_settle(struct facts_split *s)
{
    uint64_t off_ns = s->runq_ns;
    for (int i = 0; i < TRACE_CAUSE_COUNT; i++)
        off_ns += s->cause_ns[i];
    s->cpu_ns = s->wall_ns - off_ns;
}

void build_split_add(struct facts_split *into, const struct facts_split *more)
{
    into->wall_ns += more->wall_ns;
    into->cpu_ns += more->cpu_ns;
    into->runq_ns += more->runq_ns;
    for (int i = 0; i < TRACE_CAUSE_COUNT; i++)
        into->cause_ns[i] += more->cause_ns[i];
}

struct facts_latency build_latency(const struct hist *h)
{
    const uint64_t n = hist_count(h);
    return (struct facts_latency){
        .p50_ns = hist_quantile(h, 0.50),
        .p90_ns = hist_quantile(h, 0.90),
        .p95_ns = hist_quantile(h, 0.95),
        .p99_ns = hist_quantile(h, 0.99),
        .max_ns = hist_max(h),
        .n = n,
        .p90_is_valid = stats_tail_is_valid(0.90, n),
        .p95_is_valid = stats_tail_is_valid(0.95, n),
        .p99_is_valid = stats_tail_is_valid(0.99, n),
    };
}
