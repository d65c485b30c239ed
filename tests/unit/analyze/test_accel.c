// SPDX-License-Identifier: Apache-2.0
// Whose work an accelerator did, in models sketched by hand.
#include "account.h"

#define ACROSS 4

static void call_with_work(struct sketch *s, const char *name, const char *stage, uint64_t work_ns)
{
    sketch_call(s, name, stage, MS);
    struct model_thread *t = &s->m->threads.at[0];
    *vec_push(&t->values) = (struct model_value){.key = TRACE_ATTR_ACCEL, .value = work_ns};
    vec_push(&t->attrs)->values = (uint32_t)t->values.count;
    t->spans.at[t->spans.count - 1].attrs = (uint32_t)t->attrs.count - 1;
}

static void count(struct sketch *s, const char *name, const char *stage, int64_t delta)
{
    *vec_push(&s->m->counts) = (struct model_counter_event){.at_ns = s->now_ns,
        .delta = delta,
        .name = model_name_id(s->m, name, stage, TRACE_CAUSE_OTHER)};
}

static uint64_t work_of(const struct facts *f, const char *stage)
{
    return facts_stage_find(f, stage)->accel_work_ns;
}

// Of calls that waited, where nothing else is known.
static void test_work_by_calls_that_waited(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    for (int i = 0; i < ACROSS; i++) {
        sketch_call(&s, "cv::imread", "decode", 5 * MS);
        call_with_work(&s, "clEnqueueReadBuffer", "transfer", 2 * MS);
    }
    sketch_call(&s, "cv::imread", "decode", 5 * MS);
    struct facts *f = facts_of(&s, &m, NULL);
    assert_false(f->accel.is_by_stage);
    assert_int_equal(f->accel.work_ns, ACROSS * 2 * MS);
    assert_int_equal(work_of(f, "transfer"), ACROSS * 2 * MS);
    assert_int_equal(work_of(f, "decode"), 0);
    done(f, m);
}

// Of the stages that queued it, where counters say so; what calls waited for is the same work.
static void test_work_by_counters(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    count(&s, "infer on the accelerator: kernels, ns", "infer", 9 * MS); // before the window
    sketch_call(&s, "session", "infer", 5 * MS);
    for (int i = 0; i < ACROSS; i++) {
        sketch_call(&s, "cv::imread", "decode", 5 * MS);
        sketch_call(&s, "infer", "infer", MS);
        call_with_work(&s, "cudaMemcpy", "transfer", 8 * MS);
        count(&s, "infer on the accelerator: kernels, ns", "infer", 7 * MS);
        count(&s, "transfer on the accelerator: copies, ns", "transfer", MS);
        count(&s, "transfer on the accelerator: copies, bytes", "transfer", 1000000);
        count(&s, "photos", "decode", 5);
    }
    sketch_call(&s, "cv::imread", "decode", 5 * MS);
    struct facts *f = facts_of(&s, &m, "decode");
    assert_true(f->accel.is_by_stage);
    assert_int_equal(work_of(f, "infer"), ACROSS * 7 * MS);
    assert_int_equal(work_of(f, "transfer"), ACROSS * MS);
    assert_int_equal(f->accel.work_ns, ACROSS * 8 * MS);
    done(f, m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work_by_calls_that_waited),
        cmocka_unit_test(test_work_by_counters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
