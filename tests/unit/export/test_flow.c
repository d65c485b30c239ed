// SPDX-License-Identifier: Apache-2.0
// Which spans an item's flow touches: by attribute, by use before and within a span, across
// threads, through batches, and when an id begins again. Threads: none.
#include "export/flow.h"
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
    model_thread_add(m, 0, 2);
    return m;
}

static size_t steps_of(const struct flow *f, uint32_t thread, uint32_t span)
{
    size_t count;
    const struct flow_step *s = flow_steps_of(f, thread, span, &count);
    assert_true((s == NULL) == (count == 0));
    return count;
}

static uint64_t flow_of(const struct flow *f, uint32_t thread, uint32_t span)
{
    size_t count;
    const struct flow_step *s = flow_steps_of(f, thread, span, &count);
    assert_int_equal(count, 1);
    return s->flow;
}

static void test_use_before_a_span(void **state)
{
    (void)state;
    struct model *m = new_model();
    const uint32_t before = sample_span(m, 0, "before", 0, 5);
    const uint32_t inner = sample_span(m, 0, "inner", 11, 12);
    const uint32_t first = sample_span(m, 0, "first", 10, 20);
    const uint32_t second = sample_span(m, 0, "second", 21, 25);
    const uint32_t after = sample_span(m, 0, "after", 31, 35);
    sample_nest(m, 0);
    sample_item(m, 0, TRACE_ITEM_USE, 7, 42, 0);
    sample_item(m, 0, TRACE_ITEM_END, 30, 42, 0);
    struct flow f;
    flow_init(&f, m);
    assert_int_equal(steps_of(&f, 0, before), 0);
    assert_int_equal(steps_of(&f, 0, after), 0);
    assert_int_equal(steps_of(&f, 0, inner), 0); // its parent says it
    assert_int_equal(flow_of(&f, 0, first), flow_of(&f, 0, second));
    size_t count;
    assert_int_equal(flow_steps_of(&f, 0, first, &count)->is_first, 1);
    assert_int_equal(flow_steps_of(&f, 0, first, &count)->is_last, 0);
    assert_int_equal(flow_steps_of(&f, 0, second, &count)->is_last, 1);
    flow_fini(&f);
    model_free(&m);
}

static void test_use_within_a_span(void **state)
{
    (void)state;
    struct model *m = new_model();
    const uint32_t inner = sample_span(m, 0, "inner", 12, 13);
    const uint32_t one = sample_span(m, 0, "one item", 10, 20);
    const uint32_t loop_first = sample_span(m, 0, "in loop", 32, 33);
    const uint32_t loop_second = sample_span(m, 0, "in loop", 42, 43);
    const uint32_t loop = sample_span(m, 0, "loop over items", 30, 50);
    sample_nest(m, 0);
    sample_item(m, 0, TRACE_ITEM_BEGIN, 11, 1, 0);
    sample_item(m, 0, TRACE_ITEM_BEGIN, 31, 2, 0);
    sample_item(m, 0, TRACE_ITEM_BEGIN, 41, 3, 0);
    struct flow f;
    flow_init(&f, m);
    assert_int_equal(steps_of(&f, 0, one), 1);
    assert_int_equal(steps_of(&f, 0, inner), 0);
    assert_int_equal(steps_of(&f, 0, loop), 0);
    assert_true(flow_of(&f, 0, loop_first) != flow_of(&f, 0, loop_second));
    assert_true(flow_of(&f, 0, one) != flow_of(&f, 0, loop_first));
    flow_fini(&f);
    model_free(&m);
}

static void test_across_threads_and_batches(void **state)
{
    (void)state;
    struct model *m = new_model();
    const uint32_t a = sample_span(m, 0, "decode", 10, 20);
    const uint32_t b = sample_span(m, 0, "decode", 30, 40);
    const uint32_t batch = sample_span(m, 1, "infer", 50, 60);
    sample_item(m, 0, TRACE_ITEM_BEGIN, 5, 1, 0);
    sample_item(m, 0, TRACE_ITEM_BEGIN, 25, 2, 0);
    sample_item(m, 0, TRACE_ITEM_JOIN, 41, 1, 100);
    sample_item(m, 0, TRACE_ITEM_JOIN, 41, 2, 100);
    sample_item(m, 0, TRACE_ITEM_JOIN, 42, 2, 100); // said twice
    sample_item(m, 1, TRACE_ITEM_USE, 45, 100, 0);
    struct flow f;
    size_t count;
    flow_init(&f, m);
    const struct flow_step *steps = flow_steps_of(&f, 1, batch, &count);
    assert_int_equal(count, 2);
    assert_int_equal(steps[0].flow, flow_of(&f, 0, a));
    assert_int_equal(steps[1].flow, flow_of(&f, 0, b));
    assert_true(steps[0].is_last && steps[1].is_last);
    flow_fini(&f);
    model_free(&m);
}

static void test_an_id_that_begins_again(void **state)
{
    (void)state;
    struct model *m = new_model();
    const uint32_t first = sample_span(m, 0, "first time", 10, 20);
    const uint32_t second = sample_span(m, 0, "second time", 30, 40);
    const uint32_t by_attribute = sample_span(m, 1, "by attribute", 32, 39);
    const uint32_t early = sample_span(m, 1, "by attribute, earlier", 12, 19);
    struct model_attrs *attrs = vec_push(&m->threads.at[1].attrs);
    *attrs = (struct model_attrs){.item = 7, .has_item = 1};
    m->threads.at[1].spans.at[by_attribute].attrs = 0;
    m->threads.at[1].spans.at[early].attrs = 0;
    sample_item(m, 0, TRACE_ITEM_BEGIN, 5, 7, 0);
    sample_item(m, 0, TRACE_ITEM_END, 21, 7, 0);
    sample_item(m, 0, TRACE_ITEM_BEGIN, 25, 7, 0);
    sample_item(m, 0, TRACE_ITEM_END, 41, 7, 0);
    struct flow f;
    flow_init(&f, m);
    assert_true(flow_of(&f, 0, first) != flow_of(&f, 0, second));
    assert_int_equal(flow_of(&f, 0, second), flow_of(&f, 1, by_attribute));
    assert_int_equal(flow_of(&f, 0, first), flow_of(&f, 1, early));
    flow_fini(&f);
    model_free(&m);
}

// Items of different processes are different, whatever their ids; many of them find their place.
static void test_many_items(void **state)
{
    (void)state;
    struct model *m = new_model();
    struct model_process *p = vec_push(&m->processes);
    *p = (struct model_process){.pid = 2, .command = ""};
    m->threads.at[1].process = 1;
    for (uint32_t i = 0; i < 2000; i++)
        for (uint32_t thread = 0; thread < 2; thread++) {
            sample_span(m, thread, "span", i * 10 + 5, i * 10 + 9);
            sample_item(m, thread, TRACE_ITEM_BEGIN, i * 10, i, 0);
        }
    struct flow f;
    flow_init(&f, m);
    assert_int_equal(f.steps.count, 4000);
    flow_sort_by_time(&f);
    for (size_t i = 0; i < f.steps.count; i++)
        assert_true(f.steps.at[i].is_first && f.steps.at[i].is_last);
    flow_fini(&f);
    model_free(&m);
}

static void test_no_items(void **state)
{
    (void)state;
    struct model *m = new_model();
    sample_span(m, 0, "span", 0, 5);
    struct flow f;
    flow_init(&f, m);
    assert_int_equal(f.steps.count, 0);
    assert_int_equal(steps_of(&f, 0, 0), 0);
    flow_fini(&f);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_use_before_a_span),
        cmocka_unit_test(test_use_within_a_span),
        cmocka_unit_test(test_across_threads_and_batches),
        cmocka_unit_test(test_an_id_that_begins_again),
        cmocka_unit_test(test_many_items),
        cmocka_unit_test(test_no_items),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
