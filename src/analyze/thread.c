// SPDX-License-Identifier: Apache-2.0
// The time of a thread outside all its spans: how much there is, how it was spent, and whether the
// thread's numbers agree with the kernel's. Called at the end of each thread's walk. The walk knows
// the gaps; what happened in them is in the thread's root splits. Threads: one owner.
#include "analyze/build.h"

#include <string.h>

static int is_pool_creator(const char *creator)
{
    static const char *const libraries[] = {"onnxruntime", "libtbb", "libgomp", "libiomp", "libomp",
        "libopencv", "libtorch", "libopenblas", "libblas", "libdnnl", "libavcodec", "libavfilter",
        "libavutil", "libx264", "libx265", "libvpx", "libaom", "libdav1d", "libSvtAv1"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strstr(creator, libraries[i]))
            return 1;
    return 0;
}

// A share of a time, rounded down and never more than it.
static uint64_t share_ns(uint64_t ns, double ratio)
{
    if (!(ratio > 0))
        return 0;
    const double part = (double)ns * ratio;
    return ratio >= 1 || part >= (double)ns ? ns : (uint64_t)part;
}

static void limit_split(struct facts_split *s)
{
    uint64_t left_ns = s->wall_ns;
    if (s->runq_ns > left_ns)
        s->runq_ns = left_ns;
    left_ns -= s->runq_ns;
    for (int i = 0; i < TRACE_CAUSE_COUNT; i++) {
        if (s->cause_ns[i] > left_ns)
            s->cause_ns[i] = left_ns;
        left_ns -= s->cause_ns[i];
    }
    s->cpu_ns = left_ns;
}

// Adds the recorded off-CPU time between the spans; the window gets its part by overlap.
static void add_root_splits(const struct build *b, const struct model_thread *t,
    struct facts_split *whole, struct facts_split *steady)
{
    int64_t since_ns = t->start_ns;
    for (size_t i = 0; i < t->root_splits.count; i++) {
        const struct model_root_split *r = &t->root_splits.at[i];
        const int64_t until_ns = r->until_ns > since_ns ? r->until_ns : since_ns;
        const double length_ns = (double)(until_ns - since_ns);
        const double ratio = length_ns > 0
                                 ? (double)build_overlap_ns(b, since_ns, until_ns) / length_ns
                                 : (double)(until_ns >= b->from_ns && until_ns <= b->to_ns);
        const uint64_t blocked_ns = r->split.off_ns - r->split.runq_ns;
        whole->runq_ns += r->split.runq_ns;
        whole->cause_ns[r->split.cause] += blocked_ns;
        steady->runq_ns += share_ns(r->split.runq_ns, ratio);
        steady->cause_ns[r->split.cause] += share_ns(blocked_ns, ratio);
        since_ns = until_ns;
    }
    limit_split(whole);
    limit_split(steady);
}

// CPU and run-queue time over the thread's life as the kernel tells it: at its end, or sampled.
static uint64_t kernel_ns(const struct build *b, const struct model_thread *t, uint64_t end_ns,
    uint64_t start_ns, enum trace_metric metric)
{
    if (end_ns != UINT64_MAX)
        return end_ns > start_ns ? end_ns - start_ns : 0;
    const struct series s = build_series_of_thread(b, metric, t);
    const int64_t zero_ns = build_zero_ns(b, t->start_ns);
    const double from = build_series_value(&s, t->start_ns, zero_ns);
    const double to = build_series_value(&s, t->end_ns, zero_ns);
    if (from < 0 || s.count < 2)
        return UINT64_MAX;
    return to > from ? (uint64_t)(to - from) : 0;
}

static void move_cpu(struct facts_split *s, uint64_t runq_ns, uint64_t other_ns)
{
    if (runq_ns > s->cpu_ns)
        runq_ns = s->cpu_ns;
    s->cpu_ns -= runq_ns;
    s->runq_ns += runq_ns;
    if (other_ns > s->cpu_ns)
        other_ns = s->cpu_ns;
    s->cpu_ns -= other_ns;
    s->cause_ns[TRACE_CAUSE_OTHER] += other_ns;
}

// After a thread's last record nothing tells whether it ran: what the kernel did not count as CPU
// by then was waiting. Only that stretch is put right, so that the rest stays an independent
// account.
static void settle_tail(struct build *b, const struct model_thread *t, struct facts_thread *out,
    const struct walk_root *root, struct facts_split *gaps)
{
    int64_t last_ns = root->last_ns;
    if (t->root_splits.count && vec_last(&t->root_splits)->until_ns > last_ns)
        last_ns = vec_last(&t->root_splits)->until_ns;
    if (t->end_ns <= last_ns)
        return;
    const uint64_t tail_ns = (uint64_t)(t->end_ns - last_ns);
    const uint64_t counted_ns = out->whole.cpu_ns + gaps->cpu_ns;
    uint64_t excess_ns = tail_ns; // without the kernel's word the tail is not claimed as CPU
    if (out->kernel_cpu_ns != UINT64_MAX)
        excess_ns = counted_ns > out->kernel_cpu_ns ? counted_ns - out->kernel_cpu_ns : 0;
    if (excess_ns > tail_ns)
        excess_ns = tail_ns;
    const uint64_t kernel_runq_ns =
        kernel_ns(b, t, t->runq_ns, t->start_runq_ns, TRACE_METRIC_THREAD_RUNQ_NS);
    const uint64_t known_runq_ns = out->whole.runq_ns + gaps->runq_ns;
    uint64_t runq_ns = 0;
    if (kernel_runq_ns != UINT64_MAX && kernel_runq_ns > known_runq_ns)
        runq_ns = kernel_runq_ns - known_runq_ns;
    if (runq_ns > excess_ns)
        runq_ns = excess_ns;
    const double ratio = (double)build_overlap_ns(b, last_ns, t->end_ns) / (double)tail_ns;
    move_cpu(gaps, runq_ns, excess_ns - runq_ns);
    move_cpu(&out->unattributed, share_ns(runq_ns, ratio), share_ns(excess_ns - runq_ns, ratio));
}

void build_thread_root(struct build *b, struct facts_thread *out, const struct walk_root *root)
{
    const struct model_thread *t = &b->m->threads.at[out->thread];
    struct facts_split gaps = {0};
    gaps.wall_ns = root->gap_ns > root->fold_ns ? root->gap_ns - root->fold_ns : 0;
    out->unattributed.wall_ns =
        root->gap_steady_ns > root->fold_steady_ns ? root->gap_steady_ns - root->fold_steady_ns : 0;
    out->unattributed_ns = gaps.wall_ns;
    out->is_pool = is_pool_creator(t->creator) || out->team_ns * 2 > out->work_ns;
    out->kernel_cpu_ns = kernel_ns(b, t, t->cpu_ns, t->start_cpu_ns, TRACE_METRIC_THREAD_CPU_NS);
    add_root_splits(b, t, &gaps, &out->unattributed);
    settle_tail(b, t, out, root, &gaps);
    build_split_add(&out->whole, &gaps);
    build_split_add(&out->steady, &out->unattributed);
    out->residual_ns =
        (t->end_ns - t->start_ns) - (int64_t)out->stages_ns - (int64_t)out->unattributed_ns;
    // Samples are too coarse to judge our own account by; an exact end is not.
    if (t->cpu_ns != UINT64_MAX && t->end_is_exact)
        out->cpu_residual_ns = (int64_t)out->kernel_cpu_ns - (int64_t)out->whole.cpu_ns;
}
