// SPDX-License-Identifier: Apache-2.0
// The order of a thread's spans and their lanes: what nests stays on the thread, a fold that would
// look like a caller does not. Threads: none.
#include "export/order.h"
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct model *new_model(void)
{
    struct model *m = model_new();
    struct model_process *p = vec_push(&m->processes);
    *p = (struct model_process){.pid = 1, .command = ""};
    model_thread_add(m, 0, 1);
    return m;
}

static uint32_t lane_of(const struct order *o, uint32_t span)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->at[i].span == span)
            return o->at[i].lane;
    fail();
    return 0;
}

static void test_outer_spans_come_first(void **state)
{
    (void)state;
    struct model *m = new_model();
    sample_span(m, 0, "inner", 10, 20);
    sample_span(m, 0, "same start", 10, 30);
    sample_span(m, 0, "twin of inner", 30, 40);
    sample_span(m, 0, "outer twin", 30, 40);
    sample_span(m, 0, "outer", 5, 50);
    sample_nest(m, 0);
    struct order o;
    order_init(&o, &m->threads.at[0]);
    const uint32_t expected[] = {4, 1, 0, 3, 2};
    assert_int_equal(o.count, 5);
    assert_int_equal(o.lanes, 1);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(o.at[i].span, expected[i]);
    order_fini(&o);
    model_free(&m);
}

// One fold and one span below an outer span; which lane the fold gets.
static void check_fold(int64_t fold_start_ns, int64_t fold_end_ns, uint32_t expected_lane)
{
    struct model *m = new_model();
    sample_span(m, 0, "span", 20, 30);
    const uint32_t fold = sample_span(m, 0, "fold", fold_start_ns, fold_end_ns);
    sample_make_fold(m, 0, fold, 10, 5);
    sample_span(m, 0, "outer", 0, 100);
    sample_nest(m, 0);
    struct order o;
    order_init(&o, &m->threads.at[0]);
    assert_int_equal(lane_of(&o, 0), 0);
    assert_int_equal(lane_of(&o, 2), 0);
    assert_int_equal(lane_of(&o, fold), expected_lane);
    assert_int_equal(o.lanes, expected_lane + 1);
    order_fini(&o);
    model_free(&m);
}

static void test_folds(void **state)
{
    (void)state;
    check_fold(5, 15, 0);  // before its sibling
    check_fold(5, 20, 0);  // touches it
    check_fold(30, 40, 0); // touches it from behind
    check_fold(40, 90, 0);
    check_fold(0, 10, 0);   // begins with its parent
    check_fold(15, 25, 1);  // crosses it
    check_fold(25, 35, 1);  // crosses it from behind
    check_fold(10, 90, 1);  // encloses it, and did not call it
    check_fold(20, 30, 1);  // as long as its sibling, which did not make the calls
    check_fold(-5, 10, 1);  // sticks out of what could be its parent
    check_fold(90, 110, 1); // as above
}

static void test_folds_beside_each_other(void **state)
{
    (void)state;
    struct model *m = new_model();
    sample_span(m, 0, "a", 0, 10);
    sample_span(m, 0, "b", 20, 30);
    const int64_t extents[][2] = {{5, 25}, {6, 26}, {25, 45}, {27, 50}, {60, 70}, {65, 75}};
    for (size_t i = 0; i < 6; i++)
        sample_make_fold(m, 0, sample_span(m, 0, "fold", extents[i][0], extents[i][1]), 3, 1);
    sample_nest(m, 0);
    struct order o;
    order_init(&o, &m->threads.at[0]);
    const uint32_t expected[] = {1, 2, 1, 2, 0, 1};
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(lane_of(&o, 2 + i), expected[i]);
    assert_int_equal(o.lanes, 3);
    order_fini(&o);
    model_free(&m);
}

// A model from elsewhere whose spans cross must not break the thread's lane.
static void test_crossing_spans(void **state)
{
    (void)state;
    struct model *m = new_model();
    sample_span(m, 0, "a", 0, 10);
    sample_span(m, 0, "b", 5, 15);
    struct order o;
    order_init(&o, &m->threads.at[0]);
    assert_int_equal(lane_of(&o, 0), 0);
    assert_int_equal(lane_of(&o, 1), 1);
    order_fini(&o);
    model_free(&m);
}

static void test_nothing(void **state)
{
    (void)state;
    struct model *m = new_model();
    struct order o;
    order_init(&o, &m->threads.at[0]);
    assert_int_equal(o.count, 0);
    assert_int_equal(o.lanes, 1);
    order_fini(&o);
    assert_int_equal(order_base_ns(m), 0);
    sample_span(m, 0, "early", -7, 10);
    assert_int_equal(order_base_ns(m), -7);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outer_spans_come_first),
        cmocka_unit_test(test_folds),
        cmocka_unit_test(test_folds_beside_each_other),
        cmocka_unit_test(test_crossing_spans),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
