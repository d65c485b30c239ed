// SPDX-License-Identifier: Apache-2.0
// Loading whole traces: names told after their use, several processes and threads, samples, ends of
// what was killed, damage, late parts. Traces are packed by trace/pack.h into a temporary folder.
#include "model/load.h"
#include "records.h"

#include "base/file.h"
#include "trace/meta.h"
#include "trace/pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    char dir[64], path[96];
    struct trace_pack *pack;
    struct err e;
};

static int set_up(void **state)
{
    struct fixture *x = calloc(1, sizeof *x);
    snprintf(x->dir, sizeof x->dir, "/tmp/lightmeter-load-XXXXXX");
    assert_non_null(mkdtemp(x->dir));
    snprintf(x->path, sizeof x->path, "%s/run.lmt", x->dir);
    x->pack = trace_pack_create(x->path, 1, &x->e);
    assert_non_null(x->pack);
    *state = x;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *x = *state;
    trace_pack_abort(&x->pack);
    file_remove_tree(x->dir, NULL);
    free(x);
    return 0;
}

static void put(struct fixture *x, struct trace_block_id id, struct buf *bytes)
{
    assert_int_equal(trace_pack_block(x->pack, &id, bytes->at, bytes->length_bytes, &x->e), 0);
    buf_fini(bytes);
}

static void put_text(struct fixture *x, enum trace_block_type type, const char *text)
{
    struct buf b = {0};
    buf_puts(&b, text);
    put(x, (struct trace_block_id){.type = type}, &b);
}

static void put_meta(struct fixture *x)
{
    put_text(x, TRACE_BLOCK_META,
        "{\"clock\":{\"is_tsc\":false,\"start_ticks\":1000000,\"start_mono_ns\":1000000,"
        "\"later_ticks\":3000000,\"later_mono_ns\":3000000},\"command\":[\"./photos\",\"a\"]}");
}

static void put_process(struct fixture *x, uint32_t pid, uint64_t end, const char *name)
{
    struct trace_process p = {.magic = TRACE_PROCESS_MAGIC,
        .pid = pid,
        .parent_pid = 1,
        .image_ticks = RECORDS_ORIGIN + 50,
        .start_ticks = RECORDS_ORIGIN + 20,
        .end_ticks = end ? RECORDS_ORIGIN + end : 0,
        .split_method = TRACE_SPLIT_RSEQ,
        .dropped_records = 3};
    struct buf b = {0};
    char text[64];
    buf_add(&b, &p, sizeof p);
    size_t length = (size_t)snprintf(text, sizeof text, "%s", name) + 1;
    length += (size_t)snprintf(text + length, sizeof text - length, "decode");
    add_text(&b, TRACE_TEXT_NAME, 5, 0, TRACE_CAUSE_IO, text, length);
    add_text(&b, TRACE_TEXT_COVERAGE, 0, 0, 0, "libjpeg.so.62\0libjpeg\0covered\0", 31);
    add_text(&b, TRACE_TEXT_THREAD, 0, pid + 1, 0, "pool\0libonnxruntime.so.1", 24);
    put(x, (struct trace_block_id){.type = TRACE_BLOCK_PROCESS, .pid = pid, .image_ticks = 9}, &b);
}

static struct trace_block_id segment(uint32_t pid, uint32_t thread, uint32_t seq, uint32_t part)
{
    return (struct trace_block_id){.type = TRACE_BLOCK_SEGMENT,
        .pid = pid,
        .tid = pid + thread,
        .image_ticks = 9,
        .thread_seq = thread,
        .segment_seq = seq,
        .part = part};
}

static void put_span(struct fixture *x, struct trace_block_id id, uint64_t start, uint64_t end)
{
    struct buf b = {0};
    add_span(&b, 0, 5, start, end);
    put(x, id, &b);
}

static void put_sample(struct fixture *x, enum trace_metric metric, uint32_t subject, uint64_t at)
{
    struct trace_sample s = {.kind = TRACE_SAMPLE,
        .metric = (uint16_t)metric,
        .subject = subject,
        .ticks = RECORDS_ORIGIN + at,
        .value = 7};
    struct buf b = {0};
    buf_add(&b, &s, sizeof s);
    put(x, (struct trace_block_id){.type = TRACE_BLOCK_SAMPLES}, &b);
}

static struct model *load(struct fixture *x)
{
    if (x->pack)
        assert_int_equal(trace_pack_commit(&x->pack, &x->e), 0);
    struct model *m = model_load(x->path, &x->e);
    if (!m)
        fail_msg("%s", err_text(&x->e));
    return m;
}

static void test_names_told_after_their_use(void **state)
{
    struct fixture *x = *state;
    put_meta(x);
    put_span(x, segment(10, 0, 0, 0), 100, 200);
    put_span(x, segment(11, 0, 0, 0), 100, 250);
    put_process(x, 10, 400, "imread");
    put_process(x, 11, 0, "imdecode");
    put_text(x, TRACE_BLOCK_SUMMARY, "{\"exit\":0}");
    struct model *m = load(x);
    assert_int_equal(m->threads.count, 2);
    const struct model_span *s = &m->threads.at[0].spans.at[0];
    assert_string_equal(m->names.at[s->name].text, "imread");
    assert_string_equal(m->stages.at[m->names.at[s->name].stage].text, "decode");
    assert_int_equal(m->names.at[s->name].cause, TRACE_CAUSE_IO);
    assert_string_equal(m->names.at[m->threads.at[1].spans.at[0].name].text, "imdecode");
    assert_string_equal(m->damage, "");
    assert_int_equal(m->span_count, 2);
    assert_int_equal(m->processes.at[0].agent_ns, 50);
    assert_int_equal(m->processes.at[0].start_ns, 20);
    assert_int_equal(m->processes.at[0].dropped_records, 3);
    assert_string_equal(m->processes.at[0].command, "./photos");
    assert_int_equal(m->end_ns, 400);
    assert_non_null(m->summary);
    model_free(&m);
}

static void test_a_killed_process_ends_when_last_seen(void **state)
{
    struct fixture *x = *state;
    put_meta(x);
    put_process(x, 10, 0, "imread");
    put_span(x, segment(10, 0, 0, 0), 100, 200);
    put_span(x, segment(10, 1, 0, 0), 100, 150);
    put_sample(x, TRACE_METRIC_PROCESS_CPU_NS, 10, 900);
    put_sample(x, TRACE_METRIC_PROCESS_CPU_NS, 77, 300);
    struct model *m = load(x);
    assert_int_equal(m->processes.count, 2);
    assert_int_equal(m->processes.at[0].end_ns, 900);
    assert_false(m->processes.at[0].end_is_exact);
    assert_int_equal(m->threads.at[0].end_ns, 900);
    assert_int_equal(m->threads.at[1].end_ns, 900);
    assert_string_equal(m->threads.at[1].creator, "libonnxruntime.so.1");
    assert_string_equal(m->threads.at[1].label, "pool");
    assert_false(m->processes.at[1].has_agent);
    assert_int_equal(m->end_ns, 900);
    assert_true(*m->damage); // no SUMMARY block: the trace was cut
    model_free(&m);
}

static void test_segments_go_on_in_order_and_late_parts_are_left_out(void **state)
{
    struct fixture *x = *state;
    put_meta(x);
    put_span(x, segment(10, 0, 0, 0), 100, 200);
    put_span(x, segment(10, 0, 0, 1), 300, 400);
    put_span(x, segment(10, 0, 2, 0), 500, 600); // segment 1 was lost
    put_span(x, segment(10, 0, 2, 0), 500, 600); // twice
    put_text(x, TRACE_BLOCK_SUMMARY, "{}");
    struct model *m = load(x);
    assert_int_equal(m->threads.count, 1);
    assert_int_equal(m->threads.at[0].spans.count, 3);
    assert_non_null(strstr(m->damage, "1 blocks repeat"));
    assert_string_equal(m->names.at[m->threads.at[0].spans.at[0].name].text, "?");
    model_free(&m);
}

static void test_a_trace_without_a_clock_is_refused(void **state)
{
    struct fixture *x = *state;
    put_text(x, TRACE_BLOCK_META, "{}");
    assert_int_equal(trace_pack_commit(&x->pack, &x->e), 0);
    assert_null(model_load(x->path, &x->e));
    assert_true(*err_text(&x->e));
}

// Cut at every byte, and every byte changed: a model or a message, never a crash.
static void test_damage_anywhere(void **state)
{
    struct fixture *x = *state;
    put_meta(x);
    put_process(x, 10, 400, "imread");
    put_span(x, segment(10, 0, 0, 0), 100, 200);
    put_sample(x, TRACE_METRIC_PROCESS_CPU_NS, 10, 300);
    put_text(x, TRACE_BLOCK_SUMMARY, "{}");
    assert_int_equal(trace_pack_commit(&x->pack, &x->e), 0);
    struct buf whole = {0};
    assert_int_equal(file_read(x->path, 1 << 20, &whole, &x->e), 0);
    size_t loaded = 0;
    for (size_t i = 0; i < whole.length_bytes; i++) {
        struct err e = {0};
        struct model *cut = model_load_bytes(whole.at, i, "cut", &e);
        assert_true(cut ? *cut->damage != 0 : *err_text(&e) != 0);
        model_free(&cut);
        whole.at[i] ^= 0x55;
        struct model *m = model_load_bytes(whole.at, whole.length_bytes, "changed", &e);
        assert_true(m || *err_text(&e));
        loaded += m != NULL;
        model_free(&m);
        whole.at[i] ^= 0x55;
    }
    assert_true(loaded > 0);
    buf_fini(&whole);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_names_told_after_their_use),
        TEST(test_a_killed_process_ends_when_last_seen),
        TEST(test_segments_go_on_in_order_and_late_parts_are_left_out),
        TEST(test_a_trace_without_a_clock_is_refused),
        TEST(test_damage_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
