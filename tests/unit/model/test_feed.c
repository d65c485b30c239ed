// SPDX-License-Identifier: Apache-2.0
// The decoder of a thread's records: nesting, own times, folds, splits, crashes, hostile records.
// The law under test: the own times of a thread and the gaps between its roots add up to its wall
// time, exactly, whatever the records say.
#include "model/feed.h"
#include "records.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

struct fixture {
    struct model *m;
    struct load_process process;
    struct ticks_scale scale;
    struct feed feed;
    struct buf records;
};

static int set_up(void **state)
{
    struct fixture *x = calloc(1, sizeof *x);
    x->m = model_new();
    vec_push(&x->m->processes);
    static const char *const names[] = {"outer", "inner", "leaf"};
    for (int i = 0; i < 3; i++)
        *vec_push(&x->process.names) =
            model_name_id(x->m, names[i], i ? "decode" : "load", TRACE_CAUSE_IO);
    x->scale = ticks_scale_identity(RECORDS_ORIGIN);
    uint32_t thread = model_thread_add(x->m, 0, 7);
    feed_init(&x->feed, x->m, &x->process, &x->scale, thread);
    *state = x;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *x = *state;
    feed_fini(&x->feed);
    load_process_fini(&x->process);
    buf_fini(&x->records);
    model_free(&x->m);
    free(x);
    return 0;
}

static const struct model_thread *feed_all(struct fixture *x)
{
    size_t fault;
    assert_int_equal(feed_records(&x->feed, x->records.at, x->records.length_bytes, &fault), 0);
    feed_end(&x->feed);
    return &x->m->threads.at[0];
}

// Own times, and what the roots hold of the wall.
static uint64_t sum_self(const struct model_thread *t)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < t->spans.count; i++)
        sum_ns += t->spans.at[i].self_ns;
    return sum_ns;
}

static uint64_t fold_total(const struct model_thread *t, size_t fold)
{
    uint64_t sum_ns = t->spans.at[fold].self_ns;
    for (size_t i = 0; i < fold; i++)
        if (t->spans.at[i].parent == fold)
            sum_ns += t->spans.at[i].is_fold ? fold_total(t, i) : t->spans.at[i].dur_ns;
    return sum_ns;
}

static uint64_t sum_roots(const struct model_thread *t)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < t->spans.count; i++)
        if (t->spans.at[i].parent == MODEL_NONE)
            sum_ns += t->spans.at[i].is_fold ? fold_total(t, i) : t->spans.at[i].dur_ns;
    return sum_ns;
}

static void test_child_time_is_not_the_parents(void **state)
{
    struct fixture *x = *state;
    add_span(&x->records, 1, 1, 10, 30);
    add_span(&x->records, 1, 1, 30, 35);
    add_span(&x->records, 0, 0, 5, 50);
    const struct model_thread *t = feed_all(x);
    assert_int_equal(t->spans.count, 3);
    assert_int_equal(t->spans.at[2].self_ns, 20);
    assert_int_equal(t->spans.at[0].parent, 2);
    assert_int_equal(t->spans.at[1].parent, 2);
    assert_int_equal(t->spans.at[2].parent, MODEL_NONE);
    assert_int_equal(t->spans.at[2].start_ns, 5);
}

static void test_split_and_attributes_go_to_their_depth(void **state)
{
    struct fixture *x = *state;
    add_split(&x->records, 1, TRACE_CAUSE_IO, 12, 2);
    add_attr(&x->records, 1, TRACE_ATTR_BYTES, 0, 4096);
    add_span(&x->records, 1, 1, 10, 30);
    add_split(&x->records, 0, TRACE_CAUSE_LOCK, 500, 600); // more than the own time: cut to it
    add_attr(&x->records, 0, TRACE_ATTR_SHAPE, 3 | 4u << 16, 640 | 480ull << 32);
    add_span(&x->records, 0, 0, 5, 50);
    add_span(&x->records, 0, 0, 60, 70);
    const struct model_thread *t = feed_all(x);
    const struct model_split *inner = &t->splits.at[t->spans.at[0].split];
    assert_int_equal(inner->off_ns, 12);
    assert_int_equal(inner->runq_ns, 2);
    assert_int_equal(inner->cause, TRACE_CAUSE_IO);
    assert_int_equal(t->attrs.at[t->spans.at[0].attrs].bytes, 4096);
    const struct model_split *outer = &t->splits.at[t->spans.at[1].split];
    assert_int_equal(outer->off_ns, 25);
    assert_int_equal(outer->runq_ns, 25);
    const struct model_attrs *a = &t->attrs.at[t->spans.at[1].attrs];
    assert_int_equal(a->width_px, 640);
    assert_int_equal(a->height_px, 480);
    assert_int_equal(a->channels, 3);
    assert_int_equal(a->batch, 4);
    assert_int_equal(t->spans.at[2].split, MODEL_NONE);
    assert_int_equal(t->spans.at[2].attrs, MODEL_NONE);
}

// Nobody measured the split of a waiting call whose process was killed in it: it waited throughout.
static void test_a_call_open_at_death_waited(void **state)
{
    struct fixture *x = *state;
    add_attr(&x->records, 0, TRACE_ATTR_OPEN, 0, 0); // says no
    add_span(&x->records, 0, 1, 10, 20);
    add_attr(&x->records, 0, TRACE_ATTR_OPEN, 0, 1);
    add_span(&x->records, 0, 1, 30, 90);
    const struct model_thread *t = feed_all(x);
    assert_int_equal(t->spans.at[0].split, MODEL_NONE);
    assert_false(t->attrs.at[t->spans.at[0].attrs].is_open);
    assert_true(t->attrs.at[t->spans.at[1].attrs].is_open);
    const struct model_split *split = &t->splits.at[t->spans.at[1].split];
    assert_int_equal(split->off_ns, 60);
    assert_int_equal(split->runq_ns, 0);
    assert_int_equal(split->cause, x->m->names.at[t->spans.at[1].name].cause);
}

// As a process ends, one of its threads writes the ends of those that live on.
static void test_the_end_of_another_thread(void **state)
{
    struct fixture *x = *state;
    const uint32_t tid = x->m->threads.at[0].tid;
    add_span(&x->records, 0, 1, 10, 20);
    add_thread(&x->records, TRACE_THREAD_END, tid + 1, 25, 5000, 600);
    const struct model_thread *t = feed_all(x);
    assert_false(t->end_is_exact);
    assert_int_equal(t->cpu_ns, UINT64_MAX);
    assert_int_equal(t->end_ns, 20);
}

static void test_split_of_a_lost_span_goes_to_none(void **state)
{
    struct fixture *x = *state;
    add_split(&x->records, 2, TRACE_CAUSE_IO, 5, 0); // its span was dropped
    add_span(&x->records, 0, 0, 5, 50);
    add_span(&x->records, 2, 1, 61, 69);
    add_span(&x->records, 0, 0, 60, 70);
    const struct model_thread *t = feed_all(x);
    assert_int_equal(t->spans.at[1].split, MODEL_NONE);
}

static void test_fold_counts_as_its_calls(void **state)
{
    struct fixture *x = *state;
    add_span(&x->records, 2, 1, 12, 14); // made by a folded call
    add_fold(&x->records, 1, 2, 100, 20, 10, 40);
    add_span(&x->records, 0, 0, 0, 50);
    const struct model_thread *t = feed_all(x);
    assert_int_equal(t->spans.at[1].self_ns, 20);
    assert_int_equal(t->spans.at[1].calls, 100);
    assert_int_equal(t->spans.at[0].parent, 1);
    assert_int_equal(t->spans.at[1].parent, 2);
    assert_int_equal(t->spans.at[2].self_ns, 28);
    assert_int_equal(sum_self(t), 50);
}

// A call that turned out long is written behind the folds of its parent and of itself.
static void test_folds_between_a_span_and_its_children(void **state)
{
    struct fixture *x = *state;
    add_span(&x->records, 2, 1, 22, 24);       // child of the long call
    add_fold(&x->records, 1, 2, 5, 6, 2, 12);  // earlier calls beside it
    add_fold(&x->records, 2, 2, 3, 4, 24, 30); // short calls within it
    add_span(&x->records, 1, 1, 20, 40);       // the long call
    add_span(&x->records, 0, 0, 0, 50);
    const struct model_thread *t = feed_all(x);
    assert_int_equal(t->spans.at[0].parent, 3);
    assert_int_equal(t->spans.at[2].parent, 3);
    assert_int_equal(t->spans.at[1].parent, 4);
    assert_int_equal(t->spans.at[3].self_ns, 20 - 2 - 4);
    assert_int_equal(t->spans.at[4].self_ns, 50 - 20 - 6);
    assert_int_equal(sum_self(t), 50);
}

static void test_folds_at_the_root_may_overlap(void **state)
{
    struct fixture *x = *state;
    add_thread(&x->records, TRACE_THREAD_START, 7, 0, 0, 0);
    add_span(&x->records, 0, 0, 20, 40);
    add_fold(&x->records, 0, 1, 10, 15, 5, 60);
    add_fold(&x->records, 0, 2, 10, 7, 8, 70);
    add_thread(&x->records, TRACE_THREAD_END, 7, 100, 50, 3);
    const struct model_thread *t = feed_all(x);
    assert_int_equal(sum_self(t), 20 + 15 + 7);
    assert_int_equal(t->end_ns - t->start_ns, 100);
    assert_int_equal(t->cpu_ns, 50);
    assert_int_equal(t->runq_ns, 3);
    assert_true(t->end_is_exact && t->start_is_exact);
}

// Folds that claim more than the span they lie in has: what is too much is taken from their own
// time.
static void test_own_time_is_never_negative(void **state)
{
    struct fixture *x = *state;
    add_fold(&x->records, 1, 1, 3, 8, 2, 11);
    add_fold(&x->records, 1, 2, 3, 8, 3, 11);
    add_span(&x->records, 0, 0, 2, 11);
    const struct model_thread *t = feed_all(x);
    assert_int_equal(t->spans.at[2].self_ns, 0);
    assert_int_equal(t->spans.at[0].self_ns, 1);
    assert_int_equal(t->spans.at[1].self_ns, 8);
    assert_int_equal(sum_self(t), sum_roots(t));
}

static void test_children_of_a_span_lost_in_a_crash_are_roots(void **state)
{
    struct fixture *x = *state;
    add_span(&x->records, 0, 0, 0, 10);
    add_span(&x->records, 2, 1, 20, 30);
    add_span(&x->records, 2, 1, 30, 45);
    add_span(&x->records, 1, 0, 15, 50);
    add_span(&x->records, 1, 0, 60, 70);
    const struct model_thread *t = feed_all(x);
    assert_int_equal(t->spans.at[1].parent, 3);
    assert_int_equal(t->spans.at[3].parent, MODEL_NONE);
    assert_int_equal(t->spans.at[4].parent, MODEL_NONE);
    assert_int_equal(t->spans.at[3].depth, 1);
    assert_int_equal(sum_self(t), 10 + 35 + 10);
    assert_int_equal(t->end_ns, 70);
}

// The span that enclosed the first child was dropped: the next at its depth must not claim it.
static void test_a_later_span_does_not_adopt_an_earlier_child(void **state)
{
    struct fixture *x = *state;
    add_span(&x->records, 2, 1, 10, 20);
    add_span(&x->records, 1, 1, 30, 40);
    add_span(&x->records, 0, 0, 0, 50);
    const struct model_thread *t = feed_all(x);
    assert_int_equal(t->spans.at[0].parent, 2);
    assert_int_equal(t->spans.at[1].self_ns, 10);
    assert_int_equal(t->spans.at[2].self_ns, 30);
}

static void test_time_outside_spans_is_dated(void **state)
{
    struct fixture *x = *state;
    add_thread(&x->records, TRACE_THREAD_SEEN, 7, 2, 5, 1);
    add_split(&x->records, TRACE_DEPTH_ROOT, TRACE_CAUSE_OTHER, 6, 1);
    add_span(&x->records, 1, 1, 15, 18);
    add_span(&x->records, 0, 0, 10, 20);
    add_split(&x->records, TRACE_DEPTH_ROOT, TRACE_CAUSE_OTHER, 4, 0);
    add_thread(&x->records, TRACE_THREAD_END, 7, 30, 20, 2);
    const struct model_thread *t = feed_all(x);
    assert_int_equal(t->root_splits.count, 2);
    assert_int_equal(t->root_splits.at[0].until_ns, 10);
    assert_int_equal(t->root_splits.at[0].split.off_ns, 6);
    assert_int_equal(t->root_splits.at[1].until_ns, 30);
    assert_int_equal(t->start_ns, 2);
    assert_int_equal(t->start_cpu_ns, 5);
    assert_false(t->start_is_exact);
}

// A lock or a sleep inside a stage is that stage's time; outside of any it is the stage `wait`.
static void test_waits_join_the_stage_they_are_in(void **state)
{
    struct fixture *x = *state;
    *vec_push(&x->process.names) = model_name_id(x->m, "nanosleep", "wait", TRACE_CAUSE_SLEEP);
    add_span(&x->records, 2, 3, 12, 14);
    add_span(&x->records, 1, 1, 10, 20);
    add_span(&x->records, 0, 0, 5, 30);
    add_span(&x->records, 0, 3, 40, 50);
    const struct model_thread *t = feed_all(x);
    const struct model_name *inside = &x->m->names.at[t->spans.at[0].name];
    const struct model_name *outside = &x->m->names.at[t->spans.at[3].name];
    assert_string_equal(x->m->stages.at[inside->stage].text, "decode");
    assert_string_equal(x->m->stages.at[outside->stage].text, "wait");
    assert_string_equal(inside->text, "nanosleep");
    assert_int_equal(inside->cause, TRACE_CAUSE_SLEEP);
    assert_true(inside->is_wait && outside->is_wait);
}

static void test_unknown_names_are_question_marks(void **state)
{
    struct fixture *x = *state;
    add_span(&x->records, 0, 999, 0, 10);
    const struct model_thread *t = feed_all(x);
    assert_string_equal(x->m->names.at[t->spans.at[0].name].text, "?");
}

static void test_long_spans(void **state)
{
    struct fixture *x = *state;
    struct trace_span_long s = {
        TRACE_SPAN_LONG, 0, 0, 0, RECORDS_ORIGIN + 20000000000u, 10000000000u, 0};
    buf_add(&x->records, &s, sizeof s);
    const struct model_thread *t = feed_all(x);
    assert_int_equal(t->spans.at[0].dur_ns, 10000000000u);
    assert_int_equal(t->spans.at[0].start_ns, 10000000000);
}

// Whatever spans say, they nest and the law holds.
static void check_law(const struct model *m, const struct model_thread *t)
{
    int64_t roots_end_ns = INT64_MIN;
    for (size_t i = 0; i < t->spans.count; i++) {
        const struct model_span *s = &t->spans.at[i];
        const int64_t end_ns = s->start_ns + (int64_t)s->dur_ns;
        assert_true(s->name < m->names.count);
        assert_true(s->self_ns <= s->dur_ns);
        assert_true(s->start_ns >= t->start_ns && end_ns <= t->end_ns);
        assert_true(s->split == MODEL_NONE || s->split < t->splits.count);
        assert_true(s->attrs == MODEL_NONE || s->attrs < t->attrs.count);
        if (s->split != MODEL_NONE)
            assert_true(t->splits.at[s->split].off_ns <= s->self_ns);
        if (s->parent == MODEL_NONE) {
            assert_true(s->is_fold || s->start_ns >= roots_end_ns);
            if (!s->is_fold)
                roots_end_ns = end_ns;
            continue;
        }
        assert_true(s->parent > i && s->parent < t->spans.count);
        const struct model_span *p = &t->spans.at[s->parent];
        assert_true(p->depth < s->depth && s->start_ns >= p->start_ns);
        assert_true(end_ns <= p->start_ns + (int64_t)p->dur_ns);
    }
    assert_int_equal(sum_self(t), sum_roots(t));
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

// Spans with random depths, starts and ends, most of them impossible.
static void test_random_spans_keep_the_law(void **state)
{
    struct fixture *x = *state;
    uint32_t seed = 42;
    for (uint64_t at = 100, i = 0; i < 4000; i++) {
        uint64_t dur = next_random(&seed) % (next_random(&seed) % 8 ? 60 : 2000);
        at += next_random(&seed) % 20;
        uint64_t end = next_random(&seed) % 50 ? at : at / 2;
        if (next_random(&seed) % 10 == 0)
            add_split(&x->records, next_random(&seed) % 6, TRACE_CAUSE_IO, dur, dur / 2);
        add_span(&x->records, next_random(&seed) % 6, next_random(&seed) % 4,
            dur < end ? end - dur : 0, end);
    }
    check_law(x->m, feed_all(x));
}

// A random tree of calls, recorded as the agent does; own times are known.
struct tree {
    struct buf *records;
    uint32_t seed;
    uint64_t now, self[3];
};

static void run_call(struct tree *t, unsigned depth)
{
    const unsigned name = next_random(&t->seed) % 3, children = next_random(&t->seed) % 4;
    const uint64_t start = t->now;
    for (unsigned i = 0; depth < 5 && i < children; i++) {
        uint64_t step = next_random(&t->seed) % 9;
        t->now += step;
        t->self[name] += step;
        run_call(t, depth + 1);
    }
    uint64_t fold_first = t->now, fold_self = 0;
    uint32_t calls = next_random(&t->seed) % 3;
    for (uint32_t i = 0; i < calls; i++) {
        t->now += 5;
        fold_self += 4;
    }
    t->self[2] += fold_self;
    t->self[name] += calls;
    if (calls)
        add_fold(t->records, depth + 1, 2, calls, fold_self, fold_first, t->now);
    add_span(t->records, depth, name, start, t->now);
}

static void test_random_trees_give_their_own_times(void **state)
{
    struct fixture *x = *state;
    struct tree tree = {.records = &x->records, .seed = 7, .now = 10};
    for (int i = 0; i < 300; i++) {
        run_call(&tree, 0);
        tree.now += 3;
    }
    const struct model_thread *t = feed_all(x);
    uint64_t self[3] = {0};
    for (size_t i = 0; i < t->spans.count; i++)
        self[t->spans.at[i].name] += t->spans.at[i].self_ns;
    for (int i = 0; i < 3; i++)
        assert_int_equal(self[i], tree.self[i]);
    check_law(x->m, t);
}

// Any bytes: no crash (the sanitizers watch), and the spans still nest.
static void test_random_bytes_stay_in_bounds(void **state)
{
    struct fixture *x = *state;
    uint32_t seed = 99;
    static uint64_t bytes[512];
    for (int round = 0; round < 2000; round++) {
        for (size_t i = 0; i < 512; i++)
            bytes[i] = (uint64_t)next_random(&seed) << 40 | (uint64_t)next_random(&seed) << 16 |
                       next_random(&seed) % 14;
        size_t fault;
        feed_records(&x->feed, bytes, sizeof bytes, &fault);
        assert_true(fault <= sizeof bytes);
    }
    feed_end(&x->feed);
    const struct model_thread *t = &x->m->threads.at[0];
    for (size_t i = 0; i < t->spans.count; i++) {
        assert_true(t->spans.at[i].name < x->m->names.count);
        assert_true(t->spans.at[i].parent == MODEL_NONE || t->spans.at[i].parent < t->spans.count);
        assert_true(t->spans.at[i].self_ns <= t->spans.at[i].dur_ns);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_child_time_is_not_the_parents),
        TEST(test_split_and_attributes_go_to_their_depth),
        TEST(test_a_call_open_at_death_waited),
        TEST(test_the_end_of_another_thread),
        TEST(test_split_of_a_lost_span_goes_to_none),
        TEST(test_fold_counts_as_its_calls),
        TEST(test_folds_between_a_span_and_its_children),
        TEST(test_folds_at_the_root_may_overlap),
        TEST(test_own_time_is_never_negative),
        TEST(test_children_of_a_span_lost_in_a_crash_are_roots),
        TEST(test_a_later_span_does_not_adopt_an_earlier_child),
        TEST(test_time_outside_spans_is_dated),
        TEST(test_waits_join_the_stage_they_are_in),
        TEST(test_unknown_names_are_question_marks),
        TEST(test_long_spans),
        TEST(test_random_spans_keep_the_law),
        TEST(test_random_trees_give_their_own_times),
        TEST(test_random_bytes_stay_in_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
