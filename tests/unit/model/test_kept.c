// SPDX-License-Identifier: Apache-2.0
// Traces of which only the last part was kept: time counts from there, what ended before is left
// out with all that belongs to it, what was under way is cut, and the threads are as old as that.
#include "model/load.h"
#include "records.h"

#include "base/file.h"
#include "trace/pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define KEPT_FROM 1000

struct fixture {
    char dir[64], path[96];
    struct trace_pack *pack;
    struct buf records;
    struct model *m;
    struct err e;
};

static void put(struct fixture *x, struct trace_block_id id, const void *bytes, size_t length_bytes)
{
    assert_int_equal(trace_pack_block(x->pack, &id, bytes, length_bytes, &x->e), 0);
}

static void put_text(struct fixture *x, enum trace_block_type type, const char *text)
{
    put(x, (struct trace_block_id){.type = type}, text, strlen(text));
}

static int set_up(void **state)
{
    struct fixture *x = calloc(1, sizeof *x);
    const struct trace_process p = {
        .magic = TRACE_PROCESS_MAGIC, .pid = 9, .image_ticks = RECORDS_ORIGIN + 50};
    struct buf b = {0};
    strcpy(x->dir, "/tmp/lightmeter-kept-XXXXXX");
    assert_non_null(mkdtemp(x->dir));
    snprintf(x->path, sizeof x->path, "%s/run.lmt", x->dir);
    x->pack = trace_pack_create(x->path, 1, &x->e);
    assert_non_null(x->pack);
    put_text(x, TRACE_BLOCK_META,
        "{\"clock\":{\"is_tsc\":false,\"start_ticks\":1000000,\"start_mono_ns\":1000000,"
        "\"later_ticks\":3000000,\"later_mono_ns\":3000000}}");
    buf_add(&b, &p, sizeof p);
    add_text(&b, TRACE_TEXT_NAME, 5, 0, TRACE_CAUSE_IO, "call\0decode", 11);
    put(x, (struct trace_block_id){.type = TRACE_BLOCK_PROCESS, .pid = 9, .image_ticks = 9}, b.at,
        b.length_bytes);
    buf_fini(&b);
    *state = x;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *x = *state;
    model_free(&x->m);
    trace_pack_abort(&x->pack);
    file_remove_tree(x->dir, NULL);
    buf_fini(&x->records);
    free(x);
    return 0;
}

static const struct model_thread *load(struct fixture *x, const char *kept)
{
    const struct trace_block_id id = {
        .type = TRACE_BLOCK_SEGMENT, .pid = 9, .tid = 9, .image_ticks = 9};
    put(x, id, x->records.at, x->records.length_bytes);
    put_text(x, TRACE_BLOCK_META, kept);
    put_text(x, TRACE_BLOCK_SUMMARY, "{\"wall_ns\":2000}");
    assert_int_equal(trace_pack_commit(&x->pack, &x->e), 0);
    x->m = model_load(x->path, &x->e);
    assert_non_null(x->m);
    assert_int_equal(x->m->threads.count, 1);
    return &x->m->threads.at[0];
}

#define KEPT "{\"kept_from_ns\":1000}"

static void what_ended_before_is_left_out(void **state)
{
    struct fixture *x = *state;
    struct buf *b = &x->records;
    add_attr(b, 0, TRACE_ATTR_BYTES, 0, 77);
    add_split(b, 0, TRACE_CAUSE_IO, 10, 0);
    add_span(b, 0, 5, 100, 900);
    add_fold(b, 0, 5, 3, 30, 910, KEPT_FROM);
    add_span(b, 0, 5, KEPT_FROM + 100, KEPT_FROM + 250);
    const struct model_thread *t = load(x, KEPT);
    assert_int_equal(x->m->kept_from_ns, KEPT_FROM);
    assert_int_equal(t->spans.count, 1);
    assert_int_equal(t->spans.at[0].start_ns, 100);
    assert_int_equal(t->spans.at[0].dur_ns, 150);
    // What was said of the one before does not fall to it.
    assert_int_equal(t->spans.at[0].split, MODEL_NONE);
    assert_int_equal(t->spans.at[0].attrs, MODEL_NONE);
}

static void what_was_under_way_is_cut(void **state)
{
    struct fixture *x = *state;
    add_span(&x->records, 1, 5, 800, 900);
    add_span(&x->records, 1, 5, 950, KEPT_FROM + 40);
    add_span(&x->records, 0, 5, 100, KEPT_FROM + 100);
    const struct model_thread *t = load(x, KEPT);
    assert_int_equal(t->spans.count, 2);
    assert_int_equal(t->spans.at[0].start_ns, 0);
    assert_int_equal(t->spans.at[0].dur_ns, 40);
    assert_int_equal(t->spans.at[0].parent, 1);
    assert_int_equal(t->spans.at[1].start_ns, 0);
    assert_int_equal(t->spans.at[1].dur_ns, 100);
    assert_int_equal(t->spans.at[1].self_ns, 60);
}

static void an_older_thread_was_there_from_the_first_moment_on(void **state)
{
    struct fixture *x = *state;
    add_thread(&x->records, TRACE_THREAD_START, 9, 60, 5, 5);
    add_span(&x->records, 0, 5, KEPT_FROM + 100, KEPT_FROM + 250);
    add_thread(&x->records, TRACE_THREAD_END, 9, KEPT_FROM + 500, 400, 30);
    const struct model_thread *t = load(x, KEPT);
    assert_int_equal(t->start_ns, 0);
    assert_int_equal(t->end_ns, 500);
    assert_true(t->cpu_ns == UINT64_MAX && t->runq_ns == UINT64_MAX);
}

static void a_younger_thread_keeps_its_own_account(void **state)
{
    struct fixture *x = *state;
    add_thread(&x->records, TRACE_THREAD_START, 9, KEPT_FROM + 60, 0, 0);
    add_thread(&x->records, TRACE_THREAD_END, 9, KEPT_FROM + 500, 400, 30);
    const struct model_thread *t = load(x, KEPT);
    assert_int_equal(t->start_ns, 60);
    assert_int_equal(t->cpu_ns, 400);
    assert_int_equal(t->runq_ns, 30);
}

static void samples_and_items_before_are_left_out(void **state)
{
    struct fixture *x = *state;
    for (unsigned at = 500; at <= 1500; at += 1000) {
        const struct trace_sample sample = {.kind = TRACE_SAMPLE,
            .metric = TRACE_METRIC_RUNNABLE,
            .ticks = RECORDS_ORIGIN + at,
            .value = at};
        const struct trace_item item = {
            .kind = TRACE_ITEM, .op = TRACE_ITEM_END, .ticks = RECORDS_ORIGIN + at, .id = at};
        put(x, (struct trace_block_id){.type = TRACE_BLOCK_SAMPLES}, &sample, sizeof sample);
        buf_add(&x->records, &item, sizeof item);
    }
    (void)load(x, KEPT);
    assert_int_equal(x->m->samples.count, 1);
    assert_int_equal(x->m->samples.at[0].at_ns, 500);
    assert_int_equal(x->m->items.count, 1);
    assert_int_equal(x->m->items.at[0].id, 1500);
    assert_int_equal(x->m->items.at[0].at_ns, 500);
}

static void odd_moments_keep_all(void **state)
{
    struct fixture *x = *state;
    add_span(&x->records, 0, 5, 100, 900);
    const struct model_thread *t = load(x, "{\"kept_from_ns\":-5}");
    assert_int_equal(x->m->kept_from_ns, 0);
    assert_int_equal(t->spans.count, 1);
    assert_int_equal(t->spans.at[0].start_ns, 100);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_ended_before_is_left_out),
        TEST(what_was_under_way_is_cut),
        TEST(an_older_thread_was_there_from_the_first_moment_on),
        TEST(a_younger_thread_keeps_its_own_account),
        TEST(samples_and_items_before_are_left_out),
        TEST(odd_moments_keep_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
