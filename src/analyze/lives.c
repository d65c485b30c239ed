// SPDX-License-Identifier: Apache-2.0
// The kernel uses the numbers of threads and processes again: which samples of a number are whose.
// A number that was used once has all of its samples. Called by facts.c before the samples are
// asked for. Threads: one owner.
#include "analyze/build.h"

#include "base/heap.h"

#include <stdlib.h>

// A process was there before its agent, and a thread before its first record, by no more than that.
#define BEFORE_NS 100000000
// Images of one pid that follow each other sooner are one process, which became another program.
#define EXEC_NS 1000000000

// One use of a number.
struct use {
    uint32_t number, index; // of model.threads or model.processes
    int64_t start_ns, end_ns;
};

static int compare_use(const void *a, const void *b)
{
    const struct use *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

// Where the samples of a number go from one use to the next.
static int64_t border_ns(const struct use *before, const struct use *after)
{
    const int64_t early_ns = after->start_ns - BEFORE_NS;
    if (before->end_ns <= early_ns)
        return early_ns;
    return before->end_ns < after->start_ns ? before->end_ns : after->start_ns;
}

typedef int is_same_fn(const struct build *b, const struct use *before, const struct use *after);

static int is_same_process(const struct build *b, const struct use *before, const struct use *after)
{
    (void)b;
    return after->start_ns - before->end_ns < EXEC_NS;
}

// The first thread stays the same when its process becomes another program.
static int is_same_thread(const struct build *b, const struct use *before, const struct use *after)
{
    const uint32_t p = b->m->threads.at[before->index].process;
    const uint32_t q = b->m->threads.at[after->index].process;
    return p != q && b->m->processes.at[p].pid == before->number &&
           b->m->processes.at[q].pid == before->number &&
           b->process_lives.at[p].from_ns == b->process_lives.at[q].from_ns;
}

static void lives_fill(
    const struct build *b, struct use *uses, size_t count, is_same_fn *is_same, struct life *lives)
{
    if (count)
        qsort(uses, count, sizeof *uses, compare_use);
    for (size_t i = 0, end; i < count; i = end) {
        int64_t from_ns = INT64_MIN;
        const int is_first = i == 0 || uses[i - 1].number != uses[i].number;
        if (!is_first)
            from_ns = border_ns(&uses[i - 1], &uses[i]);
        for (end = i + 1; end < count && uses[end].number == uses[i].number &&
                          is_same(b, &uses[end - 1], &uses[end]);)
            end++;
        const int is_last = end == count || uses[end].number != uses[i].number;
        const int64_t to_ns = is_last ? INT64_MAX : border_ns(&uses[end - 1], &uses[end]);
        for (size_t k = i; k < end; k++)
            lives[uses[k].index] = (struct life){from_ns, to_ns};
    }
}

void build_lives_make(struct build *b)
{
    const size_t processes = b->m->processes.count, threads = b->m->threads.count;
    struct use *uses = heap_alloc((processes > threads ? processes : threads) + 1, sizeof *uses);
    for (uint32_t i = 0; i < processes; i++) {
        const struct model_process *p = &b->m->processes.at[i];
        uses[i] = (struct use){p->pid, i, p->start_ns, p->end_ns};
        vec_push(&b->process_lives);
    }
    lives_fill(b, uses, processes, is_same_process, b->process_lives.at);
    for (uint32_t i = 0; i < threads; i++) {
        const struct model_thread *t = &b->m->threads.at[i];
        uses[i] = (struct use){t->tid, i, t->start_ns, t->end_ns};
        vec_push(&b->thread_lives);
    }
    lives_fill(b, uses, threads, is_same_thread, b->thread_lives.at);
    free(uses);
}

// How many samples are before the moment.
static size_t count_before(const struct series *s, int64_t at_ns)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (s->at[mid].at_ns < at_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static struct series within(struct series s, const struct life *life)
{
    const size_t first = count_before(&s, life->from_ns), end = count_before(&s, life->to_ns);
    return (struct series){first < end ? s.at + first : NULL, first < end ? end - first : 0};
}

struct series build_series_of_thread(
    const struct build *b, enum trace_metric metric, const struct model_thread *t)
{
    return within(
        build_series_find(b, metric, t->tid), &b->thread_lives.at[(size_t)(t - b->m->threads.at)]);
}

struct series build_series_of_process(
    const struct build *b, enum trace_metric metric, uint32_t process)
{
    return within(build_series_find(b, metric, b->m->processes.at[process].pid),
        &b->process_lives.at[process]);
}
