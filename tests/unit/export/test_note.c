// SPDX-License-Identifier: Apache-2.0
// What the exporters are told of a span: every attribute under its own name, once, words where the
// number is a code, and nothing where nothing is known.
#include "export/note.h"
#include "sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct model *m;
    struct model_thread *t;
    uint32_t span;
};
static struct fixture x;
static struct note notes[NOTE_KEY_COUNT];
static size_t count;

static int set_up(void **state)
{
    (void)state;
    x.m = model_new();
    *(struct model_process *)vec_push(&x.m->processes) =
        (struct model_process){.pid = 1, .command = ""};
    model_thread_add(x.m, 0, 1);
    x.span = sample_span(x.m, 0, "call", 10, 30);
    x.t = &x.m->threads.at[0];
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    model_free(&x.m);
    return 0;
}

static struct model_span *span(void)
{
    return &x.t->spans.at[x.span];
}

static struct model_attrs *attrs(void)
{
    if (span()->attrs == MODEL_NONE) {
        vec_push(&x.t->attrs);
        span()->attrs = (uint32_t)(x.t->attrs.count - 1);
    }
    return &x.t->attrs.at[span()->attrs];
}

static void give(enum trace_attr_key key, uint64_t value)
{
    struct model_attrs *a = attrs();
    *vec_push(&x.t->values) = (struct model_value){value, 0, a->values, key};
    a->values = (uint32_t)x.t->values.count;
}

static const struct note *find(const char *name)
{
    const struct note *found = NULL;
    for (size_t i = 0; i < count; i++)
        if (strcmp(note_name(notes[i].key), name) == 0) {
            assert_null(found);
            found = &notes[i];
        }
    return found;
}

static void check_number(const char *name, uint64_t value)
{
    const struct note *note = find(name);
    assert_non_null(note);
    assert_string_equal(note->text, "");
    assert_true(note->value == value);
}

static void check_text(const char *name, const char *text)
{
    const struct note *note = find(name);
    assert_non_null(note);
    assert_string_equal(note->text, text);
}

static void collect(void)
{
    count = note_collect(x.t, span(), notes);
    assert_true(count <= NOTE_KEY_COUNT);
}

static void every_key_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < NOTE_KEY_COUNT; i++) {
        assert_non_null(note_name((enum note_key)i));
        for (int k = 0; k < i; k++)
            assert_string_not_equal(note_name((enum note_key)i), note_name((enum note_key)k));
    }
}

static void of_a_plain_span_nothing_is_said(void **state)
{
    (void)state;
    collect();
    assert_int_equal(count, 0);
    span()->self_ns = 15;
    collect();
    assert_int_equal(count, 1);
    check_number("self_ns", 15);
}

static void waits_are_said(void **state)
{
    (void)state;
    *vec_push(&x.t->splits) = (struct model_split){12, 5, 2, TRACE_CAUSE_GIL};
    span()->split = (uint32_t)(x.t->splits.count - 1);
    collect();
    check_number("off_cpu_ns", 12);
    check_number("runq_ns", 5);
    check_text("waited_for", "gil");
    check_number("switches", 2);
    x.t->splits.at[span()->split].runq_ns = 12; // all of it
    collect();
    assert_null(find("waited_for"));
}

static void values_go_by_their_names(void **state)
{
    static const struct {
        enum trace_attr_key key;
        const char *name;
    } cases[] = {{TRACE_ATTR_FILE, "file"}, {TRACE_ATTR_OFFSET, "offset_bytes"},
        {TRACE_ATTR_COLOUR, "colour_code"}, {TRACE_ATTR_ELEMENTS, "elements"},
        {TRACE_ATTR_SESSION, "session"}, {TRACE_ATTR_INPUT, "input"}, {TRACE_ATTR_OUTPUT, "output"},
        {TRACE_ATTR_THREADS, "threads"}, {TRACE_ATTR_FAULTS, "faults"},
        {TRACE_ATTR_FRESH, "fresh_bytes"}, {TRACE_ATTR_ACCEL, "accelerator_ns"},
        {TRACE_ATTR_PTS, "pts_us"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        give(cases[i].key, UINT64_C(0x100000000) + i);
    give(TRACE_ATTR_RESIDENT, UINT64_C(77) << 32 | 33);
    collect();
    assert_int_equal(count, sizeof cases / sizeof cases[0] + 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_number(cases[i].name, UINT64_C(0x100000000) + i);
    check_text("resident_pages", "33 of 77");
}

static void codes_are_words_where_they_are_known(void **state)
{
    (void)state;
    give(TRACE_ATTR_DTYPE, TRACE_DTYPE_F16);
    give(TRACE_ATTR_FILTER, TRACE_FILTER_AREA);
    collect();
    check_text("dtype", model_dtype_text(TRACE_DTYPE_F16));
    check_text("filter", model_filter_text(TRACE_FILTER_AREA));
    give(TRACE_ATTR_DTYPE, 1000);
    give(TRACE_ATTR_FILTER, UINT64_MAX);
    collect();
    check_number("dtype", 1000);
    check_number("filter", UINT64_MAX);
}

static void of_a_value_given_twice_the_last_counts(void **state)
{
    (void)state;
    give(TRACE_ATTR_ELEMENTS, 1);
    give(TRACE_ATTR_ELEMENTS, 2);
    collect();
    assert_int_equal(count, 1);
    check_number("elements", 2);
}

static void durations_of_sums_are_left_out(void **state)
{
    (void)state;
    give(TRACE_ATTR_CALLS_OF, 5);
    give(TRACE_ATTR_CALLS_OF, 6);
    collect();
    assert_int_equal(count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_key_has_a_name_of_its_own),
        TEST(of_a_plain_span_nothing_is_said),
        TEST(waits_are_said),
        TEST(values_go_by_their_names),
        TEST(codes_are_words_where_they_are_known),
        TEST(of_a_value_given_twice_the_last_counts),
        TEST(durations_of_sums_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
