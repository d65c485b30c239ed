// SPDX-License-Identifier: Apache-2.0
// What the tests of facts share: facts of a sketched run, one photograph's worth of work, and the
// law that every account must hold. Included once by each test. Threads: none.
#ifndef LIGHTMETER_TESTS_ANALYZE_ACCOUNT_H
#define LIGHTMETER_TESTS_ANALYZE_ACCOUNT_H

#include "analyze/facts.h"
#include "sketch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define ACCOUNT_UNUSED __attribute__((unused)) static
#define MS SKETCH_MS

ACCOUNT_UNUSED struct facts *facts_of(struct sketch *s, struct model **m, const char *item_stage)
{
    *m = sketch_finish(s);
    return facts_new(*m, &(struct facts_options){.item_stage = item_stage});
}

ACCOUNT_UNUSED void done(struct facts *f, struct model *m)
{
    facts_free(&f);
    assert_null(f);
    model_free(&m);
}

// The law: in the window, too, stages and unattributed make up the wall time of each thread.
ACCOUNT_UNUSED void check_sums(const struct facts *f)
{
    uint64_t stages_ns = 0, steady_ns = 0, gaps_ns = 0;
    for (size_t i = 0; i < f->threads.count; i++) {
        const struct facts_thread *t = &f->threads.at[i];
        assert_int_equal(t->residual_ns, 0);
        const struct facts_split *parts[] = {&t->whole, &t->steady};
        for (int k = 0; k < 2; k++) {
            uint64_t sum_ns = parts[k]->cpu_ns + parts[k]->runq_ns;
            for (int c = 0; c < TRACE_CAUSE_COUNT; c++)
                sum_ns += parts[k]->cause_ns[c];
            assert_int_equal(sum_ns, parts[k]->wall_ns);
        }
        assert_int_equal(t->whole.wall_ns, t->stages_ns + t->unattributed_ns);
        steady_ns += t->steady.wall_ns;
        gaps_ns += t->unattributed.wall_ns;
    }
    for (size_t i = 0; i < f->stages.count; i++)
        stages_ns += f->stages.at[i].split.wall_ns;
    assert_int_equal(steady_ns, stages_ns + gaps_ns);
    assert_int_equal(f->sum_ns, f->wall_ns);
    assert_true(f->residual_ratio == 0);
}

ACCOUNT_UNUSED void one_photo(struct sketch *s, uint64_t cpu_ns)
{
    sketch_begin(s, "cv::imread", "decode");
    sketch_cpu(s, cpu_ns / 2);
    sketch_begin(s, "read", "load");
    sketch_blocked(s, TRACE_CAUSE_IO, 2 * MS);
    sketch_bytes(s, 1000);
    sketch_end(s);
    sketch_cpu(s, cpu_ns / 2);
    sketch_end(s);
}

#endif
