// SPDX-License-Identifier: Apache-2.0
// Where items are counted, by each rule: inference times batch, marks with batches, the stage that
// was asked for; and what a run with fewer than two of them gets.
#include "account.h"

#include <math.h>

static void test_items_by_inference_times_batch(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    sketch_call(&s, "OrtApi::CreateSession", "infer", 30 * MS);
    for (int i = 0; i < 5; i++) {
        one_photo(&s, 4 * MS);
        sketch_begin(&s, "OrtApi::Run", "infer");
        sketch_batch(&s, 4);
        sketch_cpu(&s, 10 * MS);
        sketch_end(&s);
    }
    struct facts *f = facts_of(&s, &m, NULL);
    assert_int_equal(f->counted_by, FACTS_BY_INFERENCE);
    assert_int_equal(f->items, 20);
    assert_int_equal(f->steady_ns, 64 * MS);
    assert_true(fabs(f->throughput_per_s - 16 / 0.064) < 1e-6);
    assert_int_equal(f->setup_ns, 30 * MS);
    assert_string_equal(f->setup_name, "OrtApi::CreateSession");
    check_sums(f);
    done(f, m);
}

static void test_items_by_marks_with_batches_and_latency(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    for (uint64_t i = 0; i < 4; i++) {
        sketch_item(&s, TRACE_ITEM_BEGIN, i, 0);
        sketch_cpu(&s, 5 * MS);
        sketch_item(&s, TRACE_ITEM_END, i, 0);
    }
    for (uint64_t i = 10; i < 13; i++)
        sketch_item(&s, TRACE_ITEM_JOIN, i, 99);
    sketch_cpu(&s, 5 * MS);
    sketch_item(&s, TRACE_ITEM_END, 10, 0); // by itself: the batch counts the two others
    sketch_item(&s, TRACE_ITEM_END, 99, 0);
    one_photo(&s, 4 * MS); // not counted: marks go first
    struct facts *f = facts_of(&s, &m, NULL);
    assert_int_equal(f->counted_by, FACTS_BY_MARKS);
    assert_int_equal(f->items, 4 + 1 + 2);
    assert_false(f->latency_is_gap);
    assert_int_equal(f->item_latency.n, 4);
    assert_int_equal(f->item_latency.max_ns, 5 * MS);
    check_sums(f);
    done(f, m);
}

static void test_items_at_the_stage_that_was_asked_for(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    for (uint64_t i = 0; i < 6; i++) {
        sketch_begin(&s, "page", NULL);
        sketch_call(&s, "page", NULL, MS); // within itself: not an item of its own
        one_photo(&s, 2 * MS);
        sketch_end(&s);
        sketch_item(&s, TRACE_ITEM_END, i, 0);
        sketch_item(&s, TRACE_ITEM_END, i + 100, 0);
    }
    struct facts *f = facts_of(&s, &m, "page");
    assert_int_equal(f->counted_by, FACTS_BY_ITEM_STAGE);
    assert_int_equal(f->items, 6);
    assert_string_equal(f->item_stage, "page");
    assert_int_equal(facts_stage_find(f, "page")->calls, 5);
    done(f, m);
}

static void test_fewer_than_two_items_is_one_window(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, 100, "", 0);
    sketch_cpu(&s, 50 * MS);
    one_photo(&s, 8 * MS);
    struct facts *f = facts_of(&s, &m, NULL);
    assert_int_equal(f->items, 1);
    assert_int_equal(f->startup_ns, 0);
    assert_int_equal(f->steady_ns, 60 * MS);
    assert_int_equal(f->teardown_ns, 0);
    assert_true(f->throughput_per_s == 0);
    check_sums(f);
    done(f, m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items_by_inference_times_batch),
        cmocka_unit_test(test_items_by_marks_with_batches_and_latency),
        cmocka_unit_test(test_items_at_the_stage_that_was_asked_for),
        cmocka_unit_test(test_fewer_than_two_items_is_one_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
