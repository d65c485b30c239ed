// SPDX-License-Identifier: Apache-2.0
// Makes the facts of a run: items and windows first, then one walk over all spans, then what
// follows from its sums. Called by the report and by `run`. Threads: no shared state.
#include "analyze/facts.h"

#include "analyze/build.h"
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

static void build_fini(struct build *b)
{
    for (size_t i = 0; i < b->stages.count; i++) {
        hist_free(&b->stages.at[i].latency);
        hist_free(&b->stages.at[i].images);
    }
    vec_fini(&b->info);
    vec_fini(&b->names);
    vec_fini(&b->stages);
    vec_fini(&b->thread_stages);
    vec_fini(&b->touched);
    vec_fini(&b->completions);
    vec_fini(&b->series);
    vec_fini(&b->thread_lives);
    vec_fini(&b->process_lives);
}

struct facts *facts_new(const struct model *m, const struct facts_options *options)
{
    struct facts *f = heap_alloc(1, sizeof *f);
    struct build b = {.m = m, .f = f, .options = options};
    f->model = m;
    build_names_classify(&b);
    build_series_make(&b);
    build_lives_make(&b);
    build_items(&b);
    build_walk(&b);
    build_accel(&b);
    build_startup(&b);
    build_stages(&b);
    build_lines(&b);
    build_queues(&b);
    build_scheduler(&b);
    build_machine(&b);
    build_fini(&b);
    return f;
}

void facts_free(struct facts **f)
{
    if (!f || !*f)
        return;
    vec_fini(&(*f)->stages);
    vec_fini(&(*f)->names);
    vec_fini(&(*f)->threads);
    vec_fini(&(*f)->queues);
    vec_fini(&(*f)->lines);
    free(*f);
    *f = NULL;
}

const struct facts_stage *facts_stage_find(const struct facts *f, const char *stage)
{
    for (size_t i = 0; i < f->stages.count; i++)
        if (strcmp(f->model->stages.at[f->stages.at[i].stage].text, stage) == 0)
            return &f->stages.at[i];
    return NULL;
}
