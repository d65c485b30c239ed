// SPDX-License-Identifier: Apache-2.0
// What stands below the table of stages: the time that it cannot have, and the calls that never
// returned. Threads: none.
#include "report/report.h"
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_time_before_the_agent_is_told(void **state)
{
    (void)state;
    static const struct {
        int64_t startup_ms, agent_ms;
        const char *text; // NULL: nothing is said
    } cases[] = {
        {0, 2, NULL},
        {0, 12, "first 12.0 ms of the window (24 %)"},
        {0, 49, "first 49.0 ms of the window (98 %)"},
        {20, 12, NULL},
        {20, 45, "first 25.0 ms of the window (50 %)"},
        {20, 90, "first 50.0 ms of the window (100 %)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf text = {0};
        const struct report_options o = {.width_columns = 200, .has_utf8 = 1};
        struct sample *s = sample_damaged();
        s->facts.startup_ns = cases[i].startup_ms * 1000000;
        s->model->processes.at[0].agent_ns = cases[i].agent_ms * 1000000;
        report_write(report_format_find("terminal", NULL), &s->facts, &s->verdict, NULL, &o, &text);
        const char *found = strstr(buf_text(&text), " of the window (");
        if (cases[i].text ? !strstr(buf_text(&text), cases[i].text) : found != NULL)
            fail_msg("case %zu: %s", i, buf_text(&text));
        buf_fini(&text);
        sample_free(&s);
    }
}

static void test_calls_open_at_death_are_told(void **state)
{
    (void)state;
    struct buf text = {0};
    const struct report_options o = {.width_columns = 200, .has_utf8 = 1};
    struct sample *s = sample_damaged();
    const uint32_t name = model_name_id(s->model, "nanosleep", "wait", TRACE_CAUSE_SLEEP);
    for (uint32_t i = 0; i < 5; i++) {
        struct model_thread *t = &s->model->threads.at[model_thread_add(s->model, 0, 4001 + i)];
        vec_push(&t->attrs)->is_open = i != 2;
        *vec_push(&t->spans) = (struct model_span){.dur_ns = 20000000,
            .name = name,
            .calls = 1,
            .split = MODEL_NONE,
            .parent = MODEL_NONE};
    }
    report_write(report_format_find("terminal", NULL), &s->facts, &s->verdict, NULL, &o, &text);
    assert_non_null(
        strstr(buf_text(&text), "Still waiting when it was killed: nanosleep for 20.0 ms (thread "
                                "4001), nanosleep for 20.0 ms "
                                "(thread 4002), nanosleep for 20.0 ms (thread 4004), and 1 more."));
    buf_fini(&text);
    sample_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_before_the_agent_is_told),
        cmocka_unit_test(test_calls_open_at_death_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
