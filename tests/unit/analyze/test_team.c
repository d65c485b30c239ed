// SPDX-License-Identifier: Apache-2.0
// What threads of a team did of calls that another thread had open, in models sketched by hand.
#include "account.h"

// Pieces of a call on threads of its team are time of its stage, and neither calls nor items of it.
static void test_work_of_a_team(void **state)
{
    (void)state;
    struct sketch s = sketch_new(4, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < 5; i++) {
        sketch_call(&s, "cv::imread", "decode", 5 * MS);
        sketch_call(&s, "cv::resize", "preprocess", 15 * MS);
    }
    const uint32_t piece = model_name_id(s.m, "cv::resize (team)", "preprocess", TRACE_CAUSE_OTHER);
    s.m->names.at[piece].is_team = 1;
    for (uint32_t t = 0; t < 2; t++) {
        sketch_thread(&s, 103 + t, t ? "libtbb.so.12" : "", 0);
        for (int i = 0; i < 5; i++) {
            sketch_blocked(&s, TRACE_CAUSE_OTHER, 10 * MS);
            sketch_begin(&s, "cv::resize (team)", "preprocess");
            sketch_cpu(&s, 6 * MS);
            sketch_call(&s, "cv::imread", "decode", 4 * MS); // a call of its own
            sketch_end(&s);
        }
    }
    struct facts *f = facts_of(&s, &m, "preprocess");
    const struct facts_stage *stage = facts_stage_find(f, "preprocess");
    assert_int_equal(f->items, 5);
    assert_true(stage->calls == 4 && stage->threads == 1); // those that ended in the window
    assert_int_equal(stage->split.wall_ns, 60 * MS);
    assert_true(stage->team.wall_ns >= 48 * MS && stage->team.cpu_ns == stage->team.wall_ns);
    assert_int_equal(stage->library_cpu_ns, stage->team.cpu_ns);
    for (size_t i = 1; i < 3; i++)
        assert_true(f->item_threads == 1 && f->threads.at[i].is_pool &&
                    f->threads.at[i].stage == stage->stage);
    assert_true(facts_stage_find(f, "decode")->calls > 4 + 2);
    done(f, m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_of_a_team),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
