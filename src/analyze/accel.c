// SPDX-License-Identifier: Apache-2.0
// How long an accelerator worked for the program in the steady window. Where counters tell it by
// the stage that queued the work (CUDA's, by CUPTI) they do; else it is of the stages whose calls
// waited for it (OpenCL's events). How busy the device was is sampled. Called by facts.c after the
// walk. Threads: one owner.
#include "analyze/build.h"

#include <string.h>

#define DEVICES 16u // that are looked at

// Of a counter's name (agent/cuda_work.c): "infer on the accelerator: kernels, ns".
static int counts_work(const char *name)
{
    const char *what = strstr(name, " on the accelerator: ");
    return what && strstr(what, ", ns");
}

static void add_counters(struct build *b)
{
    for (size_t i = 0; i < b->m->counts.count; i++) {
        const struct model_counter_event *c = &b->m->counts.at[i];
        const struct model_name *name = &b->m->names.at[c->name];
        if (c->delta <= 0 || c->at_ns <= b->from_ns || c->at_ns > b->to_ns ||
            !counts_work(name->text))
            continue;
        b->stages.at[name->stage].queued_work_ns += (uint64_t)c->delta;
        b->f->accel.is_by_stage = 1;
    }
}

static int is_in_window(const struct build *b, const struct model_sample *s)
{
    return s->at_ns >= b->from_ns && s->at_ns <= b->to_ns;
}

static double mean_busy_ratio(const struct build *b, uint32_t device)
{
    const struct series s = build_series_find(b, TRACE_METRIC_ACCEL_BUSY_PERCENT, device);
    uint64_t sum_percent = 0, count = 0;
    for (size_t i = 0; i < s.count; i++) {
        const int is_in = is_in_window(b, &s.at[i]);
        sum_percent += is_in ? s.at[i].value : 0;
        count += (uint64_t)is_in;
    }
    return count ? (double)sum_percent / (double)count / 100 : -1;
}

static uint64_t most(const struct build *b, enum trace_metric metric, uint32_t device)
{
    const struct series s = build_series_find(b, metric, device);
    uint64_t value = 0;
    for (size_t i = 0; i < s.count; i++)
        if (is_in_window(b, &s.at[i]) && s.at[i].value > value)
            value = s.at[i].value;
    return value;
}

static void fill_device(struct build *b)
{
    struct facts_accel *a = &b->f->accel;
    a->busy_ratio = -1;
    for (uint32_t device = 0; device < DEVICES; device++) {
        const double busy_ratio = mean_busy_ratio(b, device);
        if (busy_ratio <= a->busy_ratio)
            continue;
        a->busy_ratio = busy_ratio;
        a->used_bytes = most(b, TRACE_METRIC_ACCEL_USED_BYTES, device);
        a->has_bytes = most(b, TRACE_METRIC_ACCEL_TOTAL_BYTES, device);
    }
}

void build_accel(struct build *b)
{
    struct facts_accel *a = &b->f->accel;
    fill_device(b);
    add_counters(b);
    for (size_t i = 0; i < b->stages.count; i++) {
        struct stage_sum *s = &b->stages.at[i];
        if (a->is_by_stage)
            s->accel_work_ns = s->queued_work_ns;
        a->work_ns += s->accel_work_ns;
    }
}
