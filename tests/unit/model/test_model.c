// SPDX-License-Identifier: Apache-2.0
// The life of a model built by hand: names and stages are added once, events are put into order.
#include "model/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static void test_names_and_stages_are_added_once(void **state)
{
    (void)state;
    struct model *m = model_new();
    uint32_t imread = model_name_id(m, "imread", "decode", TRACE_CAUSE_IO);
    assert_int_equal(model_name_id(m, "imread", "decode", TRACE_CAUSE_IO), imread);
    assert_int_not_equal(model_name_id(m, "imread", "load", TRACE_CAUSE_IO), imread);
    assert_int_not_equal(model_name_id(m, "imread", "decode", TRACE_CAUSE_LOCK), imread);
    assert_int_equal(m->stages.count, 2);
    assert_true(m->stages.at[model_stage_id(m, "decode")].is_known);
    assert_false(m->stages.at[model_stage_id(m, "my step")].is_known);
    model_free(&m);
    assert_null(m);
    model_free(&m);
}

static void test_many_names_keep_their_numbers(void **state)
{
    (void)state;
    struct model *m = model_new();
    char text[32];
    for (uint32_t i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "name %u", i);
        assert_int_equal(model_name_id(m, text, text, TRACE_CAUSE_OTHER), i);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "name %u", i);
        assert_int_equal(model_name_id(m, text, text, TRACE_CAUSE_OTHER), i);
        assert_int_equal(model_stage_id(m, text), i);
    }
    model_free(&m);
}

static void test_events_are_put_into_order_stably(void **state)
{
    (void)state;
    struct model *m = model_new();
    for (uint32_t i = 0; i < 1000; i++)
        *vec_push(&m->items) = (struct model_item_event){
            .at_ns = (int64_t)(i * 7919u % 50), .id = i, .thread = 0, .op = TRACE_ITEM_USE};
    model_finish(m);
    for (size_t i = 1; i < m->items.count; i++) {
        const struct model_item_event *a = &m->items.at[i - 1], *b = &m->items.at[i];
        assert_true(a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->id < b->id));
    }
    assert_int_equal(m->end_ns, 49);
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_and_stages_are_added_once),
        cmocka_unit_test(test_many_names_keep_their_numbers),
        cmocka_unit_test(test_events_are_put_into_order_stably),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
