// SPDX-License-Identifier: Apache-2.0
// Tests of the checker and the dump: a good trace gives nothing to say, each kind of wrong record
// is found and placed, and the text shows every kind of record without obeying it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above first.
#include <cmocka.h>

#include "base/file.h"
#include "stream.h"
#include "trace/check.h"
#include "trace/dump.h"
#include "trace/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/lightmeter-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return file_remove_tree(folder, NULL);
}

static char *path_make(char path[128])
{
    snprintf(path, 128, "%s/a.lmt", folder);
    return path;
}

// Writes a trace whose one thread holds `s`, and checks it.
static void check_stream(struct stream *s, struct trace_check *check)
{
    const struct trace_block_id id = {
        .type = TRACE_BLOCK_SEGMENT, .pid = 4711, .tid = 7, .image_ticks = UINT64_C(999999000000)};
    const struct trace_block_id end = {.type = TRACE_BLOCK_SUMMARY};
    char path[128];
    struct err e = {0};
    struct trace_pack *p = stream_trace_begin(path_make(path), &e);
    assert_non_null(p);
    assert_int_equal(trace_pack_block(p, &id, s->bytes.at, s->bytes.length_bytes, &e), 0);
    assert_int_equal(trace_pack_block(p, &end, "{}", 2, &e), 0);
    assert_int_equal(trace_pack_commit(&p, &e), 0);
    assert_int_equal(trace_check_file(path, check, &e), 0);
    buf_fini(&s->bytes);
}

// The one finding of a stream must contain `what`; NULL: there is none.
static void expect(struct stream *s, const char *what)
{
    struct trace_check check;
    check_stream(s, &check);
    if (what ? check.findings != 1 || !strstr(buf_text(&check.text), what) : check.findings != 0)
        fail_msg("expected \"%s\", got %d: %s", what ? what : "", (int)check.findings,
            buf_text(&check.text));
    if (what)
        assert_non_null(strstr(buf_text(&check.text), "block 2 at byte "));
    trace_check_fini(&check);
}

#define STREAM                                                                                     \
    {                                                                                              \
        .now_ticks = STREAM_START_TICKS                                                            \
    }

static void span_between(struct stream *s, unsigned depth, uint64_t from, uint64_t to)
{
    s->now_ticks = STREAM_START_TICKS + to;
    stream_span(s, depth, 1, STREAM_START_TICKS + from);
}

static void test_good_streams_have_no_findings(void **state)
{
    (void)state;
    struct stream all = STREAM, nested = STREAM, split = STREAM;
    stream_thread(&all, 7, 60, 4);
    expect(&all, NULL);
    for (unsigned i = 0; i < 3; i++) {
        span_between(&nested, 2, 100 * i + 10, 100 * i + 20);
        span_between(&nested, 2, 100 * i + 20, 100 * i + 30);
        span_between(&nested, 1, 100 * i + 10, 100 * i + 40);
        span_between(&nested, 1, 100 * i + 50, 100 * i + 60);
        span_between(&nested, 0, 100 * i + 1, 100 * i + 60);
    }
    expect(&nested, NULL);
    // Killed: the parents never came.
    span_between(&split, 3, 1, 2);
    span_between(&split, 3, 3, 4);
    expect(&split, NULL);
}

static void fold_between(struct stream *s, unsigned depth, uint64_t from, uint64_t to)
{
    const struct trace_fold fold = {.kind = TRACE_FOLD,
        .depth = (uint8_t)depth,
        .name = 2,
        .calls = 2,
        .self_ticks = 1,
        .first_start_ticks = STREAM_START_TICKS + from,
        .last_end_ticks = STREAM_START_TICKS + to};
    stream_add(s, &fold, sizeof fold);
}

// A folded call is written when it can no longer go on being folded, which may be behind the span
// that came after it; what it called stands before either.
static void test_what_folded_calls_made_is_theirs(void **state)
{
    (void)state;
    struct stream below = STREAM, late = STREAM, two = STREAM, folds = STREAM;
    span_between(&below, 2, 10, 20);
    fold_between(&below, 1, 5, 30);
    span_between(&below, 0, 1, 50);
    expect(&below, NULL);
    // The span behind has children too, and is written first.
    span_between(&late, 2, 10, 20);
    span_between(&late, 2, 42, 45);
    fold_between(&late, 1, 5, 30);
    span_between(&late, 1, 40, 50);
    span_between(&late, 0, 1, 60);
    expect(&late, NULL);
    // Two folded calls around, and a span that closes before their FOLDs come.
    span_between(&two, 2, 10, 20);
    span_between(&two, 1, 42, 45);
    fold_between(&two, 0, 8, 25);
    fold_between(&two, 0, 5, 30);
    span_between(&two, 0, 40, 50);
    expect(&two, NULL);
    fold_between(&folds, 2, 10, 20);
    span_between(&folds, 2, 22, 24);
    fold_between(&folds, 1, 5, 30);
    span_between(&folds, 1, 40, 50);
    span_between(&folds, 0, 1, 60);
    expect(&folds, NULL);
}

static void test_many_children_are_sound(void **state)
{
    (void)state;
    struct stream s = STREAM, folds = STREAM;
    for (unsigned i = 1; i <= 150000; i++)
        span_between(&s, 1, 10 * i, 10 * i + 5);
    span_between(&s, 0, 1, 2000000);
    expect(&s, NULL);
    for (unsigned i = 1; i <= 3000; i++)
        fold_between(&folds, 1, 10 * i, 10 * i + 5);
    span_between(&folds, 0, 1, 2000000);
    expect(&folds, NULL);
}

static void test_disorder_around_folds_is_found(void **state)
{
    (void)state;
    struct stream outside = STREAM, early = STREAM, child = STREAM;
    span_between(&outside, 2, 32, 40); // behind the FOLD: of no call
    fold_between(&outside, 1, 5, 30);
    span_between(&outside, 0, 1, 50);
    expect(&outside, "more than one level deeper");
    fold_between(&early, 1, 5, 30);
    span_between(&early, 0, 10, 50);
    expect(&early, "calls folded into it began before it");
    span_between(&child, 2, 10, 45);
    fold_between(&child, 1, 5, 50);
    span_between(&child, 1, 40, 60);
    span_between(&child, 0, 1, 70);
    expect(&child, NULL); // cannot be told from a call that went on until then
}

static void test_disorder_is_found(void **state)
{
    (void)state;
    struct stream earlier = STREAM, overlap = STREAM, child = STREAM, deep = STREAM;
    span_between(&earlier, 0, 100, 200);
    span_between(&earlier, 1, 120, 150);
    expect(&earlier, "SPAN, 16 bytes into its content, of thread 0 in process 4711: it is earlier");
    span_between(&overlap, 0, 100, 200);
    span_between(&overlap, 0, 150, 250);
    expect(&overlap, "overlaps the span before it");
    span_between(&child, 1, 50, 200);
    span_between(&child, 0, 100, 250);
    expect(&child, "its first child began before it");
    span_between(&deep, 2, 50, 60);
    span_between(&deep, 0, 10, 100);
    expect(&deep, "more than one level deeper");
}

static void test_after_a_drop_levels_may_be_missing(void **state)
{
    (void)state;
    struct stream s = STREAM;
    struct trace_drop drop = {.kind = TRACE_DROP, .records = 3, .ticks = STREAM_START_TICKS + 70};
    span_between(&s, 2, 50, 60);
    stream_add(&s, &drop, sizeof drop);
    span_between(&s, 0, 10, 100);
    expect(&s, NULL);
}

static void test_bad_values_are_found(void **state)
{
    (void)state;
    struct stream split_stream = STREAM, fold_stream = STREAM, name = STREAM, item_stream = STREAM;
    const struct trace_split split = {.kind = TRACE_SPLIT, .off_ns = 5, .runq_ns = 6};
    stream_add(&split_stream, &split, sizeof split);
    span_between(&split_stream, 0, 1, 2);
    expect(&split_stream, "wait for a CPU is longer than its time off");
    const struct trace_fold fold = {.kind = TRACE_FOLD,
        .name = 1,
        .calls = 2,
        .self_ticks = 11,
        .first_start_ticks = 10,
        .last_end_ticks = 20};
    stream_add(&fold_stream, &fold, sizeof fold);
    expect(&fold_stream, "its calls took longer");
    const struct trace_item item = {.kind = TRACE_ITEM, .op = 9, .ticks = 1};
    stream_add(&item_stream, &item, sizeof item);
    expect(&item_stream, "its operation is unknown");
    name.now_ticks += 10;
    stream_span(&name, 0, 77, STREAM_START_TICKS);
    struct trace_check check;
    check_stream(&name, &check);
    assert_string_equal(buf_text(&check.text), "name 77 of process 4711 is used but not defined\n");
    trace_check_fini(&check);
}

static void test_thread_records_are_checked(void **state)
{
    (void)state;
    struct stream twice = STREAM, after = STREAM;
    struct trace_thread thread = {.kind = TRACE_THREAD, .tid = 7, .ticks = STREAM_START_TICKS};
    stream_add(&twice, &thread, sizeof thread);
    stream_add(&twice, &thread, sizeof thread);
    expect(&twice, "the thread begins a second time");
    thread.op = TRACE_THREAD_END;
    stream_add(&after, &thread, sizeof thread);
    span_between(&after, 0, 1, 2);
    expect(&after, "it comes after its thread's end");
    // As a process ends, one thread tells the end of another, and goes on.
    struct stream other = STREAM;
    thread.tid = 8;
    stream_add(&other, &thread, sizeof thread);
    span_between(&other, 0, 1, 2);
    expect(&other, NULL);
}

static void test_unknown_kinds_end_their_block(void **state)
{
    (void)state;
    struct stream s = STREAM;
    const uint8_t unknown[16] = {77};
    span_between(&s, 0, 1, 2);
    stream_add(&s, unknown, sizeof unknown);
    span_between(&s, 0, 3, 4);
    expect(&s, "a record of unknown kind 77, 16 bytes into its content");
}

static void test_holes_between_segments_are_found(void **state)
{
    (void)state;
    static const struct {
        uint32_t segment_seq, part;
        uint64_t findings; // so far, after it
    } blocks[] = {
        {0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {2, 0, 0}, {2, 1, 0}, {4, 0, 1}, {4, 2, 2}, {3, 0, 3}};
    for (size_t count = 1; count <= sizeof blocks / sizeof blocks[0]; count++) {
        char path[128];
        struct err e = {0};
        struct trace_check check;
        struct trace_pack *p = stream_trace_begin(path_make(path), &e);
        for (size_t i = 0; i < count; i++) {
            const struct trace_block_id id = {.type = TRACE_BLOCK_SEGMENT,
                .pid = 4711,
                .image_ticks = UINT64_C(999999000000),
                .segment_seq = blocks[i].segment_seq,
                .part = blocks[i].part};
            struct stream s = STREAM;
            span_between(&s, 0, i * 10 + 1, i * 10 + 2);
            assert_int_equal(trace_pack_block(p, &id, s.bytes.at, s.bytes.length_bytes, &e), 0);
            buf_fini(&s.bytes);
        }
        assert_int_equal(trace_pack_commit(&p, &e), 0);
        assert_int_equal(trace_check_file(path, &check, &e), 0);
        assert_int_equal(check.findings, blocks[count - 1].findings);
        assert_int_equal(check.is_cut, 1);
        trace_check_fini(&check);
    }
}

static void test_bad_blocks_are_found(void **state)
{
    (void)state;
    static const struct {
        enum trace_block_type type;
        const char *bytes, *what;
    } cases[] = {
        {TRACE_BLOCK_META, "[]", "its META cannot be read"},
        {TRACE_BLOCK_SUMMARY, "{", "its SUMMARY cannot be read"},
        {TRACE_BLOCK_PROCESS, "short", "a process block of 5 bytes is too short"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[128];
        struct err e = {0};
        struct trace_check check;
        const struct trace_block_id id = {.type = cases[i].type};
        struct trace_pack *p = stream_trace_begin(path_make(path), &e);
        assert_int_equal(trace_pack_block(p, &id, cases[i].bytes, strlen(cases[i].bytes), &e), 0);
        assert_int_equal(trace_pack_commit(&p, &e), 0);
        assert_int_equal(trace_check_file(path, &check, &e), 0);
        assert_non_null(strstr(buf_text(&check.text), cases[i].what));
        trace_check_fini(&check);
    }
    struct trace_check check;
    struct err e = {0};
    assert_int_equal(trace_check_file("/nonexistent", &check, &e), -1);
    assert_int_equal(trace_check_bytes("x", 1, "x", &check, &e), -1);
    trace_check_fini(&check);
}

static int collect(void *context, const char *text, size_t length_bytes)
{
    buf_add(context, text, length_bytes);
    return 0;
}

static int refuse(void *context, const char *text, size_t length_bytes)
{
    (void)text;
    *(size_t *)context += length_bytes;
    return 1;
}

static void test_a_dump_shows_everything(void **state)
{
    (void)state;
    char path[128];
    struct err e = {0};
    struct buf text = {0};
    struct trace_dump_options options = {0};
    assert_int_equal(stream_trace_write(path_make(path), &e), 0);
    assert_int_equal(trace_dump_file(path, &options, collect, &text, &e), 0);
    for (uint32_t kind = 1; kind < TRACE_KIND_COUNT; kind++) {
        char line[32];
        snprintf(line, sizeof line, "\n  %s ", trace_kind_name(kind));
        if (!strstr(buf_text(&text), line))
            fail_msg("no %s in the dump", trace_kind_name(kind));
    }
    // 2 GHz, and the first record of the thread lies 2 ticks behind the start.
    assert_non_null(strstr(buf_text(&text), "  THREAD start tid 4711 at 0.000000001 cpu 0 ns"));
    assert_non_null(strstr(buf_text(&text), " name 1 \"call_1\" from "));
    assert_non_null(strstr(buf_text(&text), "coverage id 0 subject 0 aux 0 \"libjpeg.so.62\\x00"));
    assert_null(strstr(buf_text(&text), "damage:"));
    buf_fini(&text);
    options = (struct trace_dump_options){.is_raw_time = 1, .record_limit = 2};
    assert_int_equal(trace_dump_file(path, &options, collect, &text, &e), 0);
    assert_non_null(strstr(buf_text(&text), "  THREAD start tid 4711 at 1000000000002 cpu"));
    assert_non_null(strstr(buf_text(&text), "\n  ...\n"));
    buf_fini(&text);
    options = (struct trace_dump_options){.is_blocks_only = 1};
    assert_int_equal(trace_dump_file(path, &options, collect, &text, &e), 0);
    assert_null(strstr(buf_text(&text), "THREAD"));
    assert_non_null(strstr(buf_text(&text), "block 6 at byte "));
    buf_fini(&text);
    size_t taken = 0;
    assert_int_equal(trace_dump_file(path, &options, refuse, &taken, &e), 0);
    assert_true(taken > 0);
    assert_int_equal(trace_dump_file("/nonexistent", &options, collect, &text, &e), -1);
}

static void test_a_dump_escapes_text(void **state)
{
    (void)state;
    char path[128];
    struct err e = {0};
    struct buf text = {0};
    const struct trace_dump_options options = {0};
    const struct trace_block_id id = {.type = TRACE_BLOCK_SAMPLES};
    struct stream s = STREAM;
    struct trace_pack *p = stream_trace_begin(path_make(path), &e);
    stream_text(&s, TRACE_TEXT_NOTE, 0, 0, "\033[2J\"\\\n\177", 8);
    assert_int_equal(trace_pack_block(p, &id, s.bytes.at, s.bytes.length_bytes, &e), 0);
    assert_int_equal(trace_pack_commit(&p, &e), 0);
    assert_int_equal(trace_dump_file(path, &options, collect, &text, &e), 0);
    assert_non_null(strstr(buf_text(&text), "\"\\x1b[2J\\\"\\\\\\x0a\\x7f\"\n"));
    assert_non_null(strstr(buf_text(&text), "damage: the trace has no SUMMARY block"));
    buf_fini(&s.bytes);
    buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_streams_have_no_findings),
        cmocka_unit_test(test_what_folded_calls_made_is_theirs),
        cmocka_unit_test(test_many_children_are_sound),
        cmocka_unit_test(test_disorder_around_folds_is_found),
        cmocka_unit_test(test_disorder_is_found),
        cmocka_unit_test(test_after_a_drop_levels_may_be_missing),
        cmocka_unit_test(test_bad_values_are_found),
        cmocka_unit_test(test_thread_records_are_checked),
        cmocka_unit_test(test_unknown_kinds_end_their_block),
        cmocka_unit_test(test_holes_between_segments_are_found),
        cmocka_unit_test(test_bad_blocks_are_found),
        cmocka_unit_test(test_a_dump_shows_everything),
        cmocka_unit_test(test_a_dump_escapes_text),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
