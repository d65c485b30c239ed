// SPDX-License-Identifier: Apache-2.0
// Which lines of Python code the time belongs to, in models sketched by hand.
#include "account.h"

#include <string.h>

#define TID 100
#define ROUNDS 30

enum stack { IN_IMREAD = 1, IN_SCALE, IN_BOXES, IN_LIBRARY, OUTSIDE };

static void add_stack(
    struct model *m, uint32_t number, const struct model_place *places, size_t count)
{
    *vec_push(&m->stacks) =
        (struct model_stack){number, (uint32_t)m->places.count, (uint32_t)count};
    for (size_t i = 0; i < count; i++)
        *vec_push(&m->places) = places[i];
}

static void add_stacks(struct model *m)
{
    const struct model_place main_place = {"<module>", "/home/me/app.py", 50};
    add_stack(m, IN_IMREAD, (struct model_place[]){main_place, {"read", "/home/me/app.py", 10}}, 2);
    add_stack(m, IN_SCALE, (struct model_place[]){main_place, {"scale", "/home/me/app.py", 20}}, 2);
    add_stack(m, IN_BOXES, (struct model_place[]){main_place, {"boxes", "/home/me/app.py", 30}}, 2);
    add_stack(m, IN_LIBRARY,
        (struct model_place[]){main_place, {"boxes", "/home/me/app.py", 30},
            {"loads", "/usr/lib/python3.11/json/__init__.py", 346}},
        3);
    add_stack(m, OUTSIDE, (struct model_place[]){{"run", "/usr/lib/python3.11/runpy.py", 5}}, 1);
}

static void sampled(struct sketch *s, uint64_t ns, enum stack stack, int times)
{
    for (int i = 0; i < times; i++) {
        sketch_cpu(s, ns / (uint64_t)times / 2);
        sketch_sample(s, TRACE_METRIC_PYTHON_STACK, TID, (uint64_t)s->now_ns, stack);
        sketch_cpu(s, ns / (uint64_t)times / 2);
    }
}

// An item: 20 ms decoding, 40 ms between it and the inference, 10 ms of that, 30 ms behind it.
static void one_item(struct sketch *s)
{
    sketch_begin(s, "cv::imread", "decode");
    sampled(s, 20 * MS, IN_IMREAD, 2);
    sketch_end(s);
    sampled(s, 40 * MS, IN_SCALE, 4);
    sketch_call(s, "infer", "infer", 10 * MS);
    sampled(s, 20 * MS, IN_BOXES, 2);
    sampled(s, 10 * MS, IN_LIBRARY, 1);
}

static const struct facts_line *find(const struct facts *f, uint32_t line, const char *meaning)
{
    for (size_t i = 0; i < f->lines.count; i++)
        if (f->lines.at[i].place->line == line && strcmp(f->lines.at[i].meaning, meaning) == 0)
            return &f->lines.at[i];
    return NULL;
}

static struct facts *facts_of_items(struct model **m)
{
    struct sketch s = sketch_new(2, 0);
    sketch_thread(&s, TID, "", 0);
    add_stacks(s.m);
    for (int i = 0; i < ROUNDS; i++)
        one_item(&s);
    return facts_of(&s, m, "infer");
}

static void test_shares(void **state)
{
    (void)state;
    struct model *m;
    struct facts *f = facts_of_items(&m);
    const struct facts_line *scale = find(f, 20, "preprocess"), *read = find(f, 10, ""),
                            *boxes = find(f, 30, "postprocess");
    assert_non_null(scale);
    assert_non_null(read);
    assert_non_null(boxes);
    // Nine samples an item stand for 100 ms of it.
    assert_true(scale->share_ratio > 0.42 && scale->share_ratio < 0.47);
    assert_true(boxes->share_ratio > 0.30 && boxes->share_ratio < 0.36);
    assert_int_equal(scale->stage, MODEL_NONE);
    assert_string_equal(m->stages.at[read->stage].text, "decode");
    assert_ptr_equal(&f->lines.at[0], scale);
    double sum = 0;
    for (size_t i = 0; i < f->lines.count; i++)
        sum += f->lines.at[i].share_ratio;
    assert_true(sum > 0.999 && sum < 1.001);
    check_sums(f);
    done(f, m);
}

// What a library does for a line is the line's.
static void test_library_is_its_callers(void **state)
{
    (void)state;
    struct model *m;
    struct facts *f = facts_of_items(&m);
    for (size_t i = 0; i < f->lines.count; i++)
        assert_null(strstr(f->lines.at[i].place->file, "/lib/python3."));
    assert_true(find(f, 30, "postprocess")->samples >= 3 * (ROUNDS - 2));
    done(f, m);
}

static void test_unknown_stacks(void **state)
{
    (void)state;
    struct sketch s = sketch_new(2, 0);
    struct model *m;
    sketch_thread(&s, TID, "", 0);
    add_stacks(s.m);
    for (int i = 0; i < ROUNDS; i++) {
        sketch_call(&s, "infer", "infer", 10 * MS);
        sketch_sample(
            &s, TRACE_METRIC_PYTHON_STACK, TID, (uint64_t)s.now_ns, 77); // its text was lost
        sampled(&s, 10 * MS, OUTSIDE, 1);
        sketch_sample(
            &s, TRACE_METRIC_PYTHON_STACK, TID + 1, (uint64_t)s.now_ns, IN_BOXES); // no such thread
    }
    sketch_call(&s, "infer", "infer", 10 * MS);
    struct facts *f = facts_of(&s, &m, "infer");
    assert_int_equal(f->lines.count, 1);
    assert_string_equal(
        f->lines.at[0].place->function, "run");      // there is no code of the program's own
    assert_string_equal(f->lines.at[0].meaning, ""); // two inferences: nothing follows
    done(f, m);
}

static void test_texts_of_places(void **state)
{
    (void)state;
    struct model *m = model_new();
    const struct model_place own = {"f", "/home/me/app.py", 7},
                             library = {"f", "/usr/lib/python3.11/json/decoder.py", 8},
                             cell = {"f", "<stdin>", 1};
    assert_string_equal(model_place_text(m->arena, &own), "app.py:7");
    assert_string_equal(model_place_text(m->arena, &library), "json/decoder.py:8");
    assert_string_equal(model_place_text(m->arena, &cell), "<stdin>:1");
    model_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_library_is_its_callers),
        cmocka_unit_test(test_unknown_stacks),
        cmocka_unit_test(test_texts_of_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
