// SPDX-License-Identifier: Apache-2.0
// Tests of leaving out blocks of a trace that is being written: what is kept stays whole and in
// order, writing goes on behind it, and a failure leaves the part file as it was.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above first.
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "stream.h"
#include "trace/pack.h"
#include "trace/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCKS 6

struct fixture {
    char folder[64], output[96], made[128];
    struct trace_pack *pack;
    struct err e;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/lightmeter-test-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->output, sizeof f->output, "%s/out.lmt", f->folder);
    f->pack = trace_pack_create(f->output, 1, &f->e);
    assert_non_null(f->pack);
    snprintf(f->made, sizeof f->made, "%s" TRACE_PACK_NEW, trace_pack_part_path(f->pack));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    trace_pack_abort(&f->pack);
    assert_int_equal(file_remove_tree(f->folder, NULL), 0);
    free(f);
    return 0;
}

// A block of its own length, of thread `number`.
static void block_add(struct fixture *f, unsigned number)
{
    const struct trace_block_id id = {.type = TRACE_BLOCK_SEGMENT, .pid = 1, .thread_seq = number};
    struct stream s = {.now_ticks = STREAM_START_TICKS, .random = number + 1};
    stream_thread(&s, 100 + number, number + 1, 3);
    assert_int_equal(trace_pack_block(f->pack, &id, s.bytes.at, s.bytes.length_bytes, &f->e), 0);
    buf_fini(&s.bytes);
}

static void blocks_add(struct fixture *f)
{
    for (unsigned i = 0; i < BLOCKS; i++)
        block_add(f, i);
}

// The threads whose blocks a file has, as bits; each must hold what block_add wrote.
static unsigned threads_in(const char *path)
{
    struct err e = {0};
    struct trace_block_view block;
    unsigned found = 0, last = 0;
    struct trace_reader *reader = trace_reader_open(path, &e);
    assert_non_null(reader);
    while (trace_reader_next(reader, &block)) {
        struct stream s = {.now_ticks = STREAM_START_TICKS, .random = block.id.thread_seq + 1};
        stream_thread(&s, 100 + block.id.thread_seq, block.id.thread_seq + 1, 3);
        assert_int_equal(block.length_bytes, s.bytes.length_bytes);
        assert_memory_equal(block.bytes, s.bytes.at, s.bytes.length_bytes);
        buf_fini(&s.bytes);
        assert_true(found == 0 || block.id.thread_seq > last);
        last = block.id.thread_seq;
        found |= 1u << last;
    }
    assert_int_equal(trace_reader_damage_count(reader), 0);
    trace_reader_close(&reader);
    return found;
}

static void keep(struct fixture *f, unsigned bits)
{
    size_t count;
    struct trace_pack_entry *entries = trace_pack_entries(f->pack, &count);
    for (size_t i = 0; i < count; i++)
        entries[i].is_kept = (int)(bits >> entries[i].id.thread_seq & 1);
}

static void test_the_index_tells_where_blocks_lie(void **state)
{
    struct fixture *f = *state;
    size_t count;
    const uint64_t before_ns = clock_mono_ns();
    trace_pack_remember(f->pack);
    blocks_add(f);
    const struct trace_pack_entry *entries = trace_pack_entries(f->pack, &count);
    uint64_t at_bytes = sizeof(struct trace_file);
    assert_int_equal(count, BLOCKS);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(entries[i].id.thread_seq, i);
        assert_int_equal(entries[i].offset_bytes, at_bytes);
        assert_true(
            entries[i].appended_ns >= before_ns && entries[i].appended_ns <= clock_mono_ns());
        at_bytes += entries[i].length_bytes;
    }
    assert_int_equal(at_bytes, trace_pack_file_bytes(f->pack));
}

static void test_nothing_is_remembered_unasked(void **state)
{
    struct fixture *f = *state;
    size_t count;
    blocks_add(f);
    (void)trace_pack_entries(f->pack, &count);
    assert_int_equal(count, 0);
}

static void test_what_is_kept_stays_and_writing_goes_on(void **state)
{
    struct fixture *f = *state;
    struct stat st;
    size_t count;
    trace_pack_remember(f->pack);
    blocks_add(f);
    keep(f, 1u << 1 | 1u << 4);
    assert_int_equal(trace_pack_rewrite(f->pack, &f->e), 0);
    assert_int_equal(threads_in(trace_pack_part_path(f->pack)), 1u << 1 | 1u << 4);
    assert_int_equal(access(f->made, F_OK), -1);
    assert_int_equal(stat(trace_pack_part_path(f->pack), &st), 0);
    assert_int_equal(st.st_size, trace_pack_file_bytes(f->pack));
    // Again, behind what was kept.
    block_add(f, 7);
    const struct trace_pack_entry *entries = trace_pack_entries(f->pack, &count);
    assert_int_equal(count, 3);
    assert_int_equal(entries[2].offset_bytes, st.st_size);
    keep(f, 1u << 4 | 1u << 7);
    assert_int_equal(trace_pack_rewrite(f->pack, &f->e), 0);
    block_add(f, 8);
    assert_int_equal(trace_pack_commit(&f->pack, &f->e), 0);
    assert_int_equal(threads_in(f->output), 1u << 4 | 1u << 7 | 1u << 8);
}

static void test_all_or_nothing_may_be_kept(void **state)
{
    struct fixture *f = *state;
    trace_pack_remember(f->pack);
    blocks_add(f);
    keep(f, ~0u);
    const uint64_t all_bytes = trace_pack_file_bytes(f->pack);
    assert_int_equal(trace_pack_rewrite(f->pack, &f->e), 0);
    assert_int_equal(trace_pack_file_bytes(f->pack), all_bytes);
    assert_int_equal(threads_in(trace_pack_part_path(f->pack)), (1u << BLOCKS) - 1);
    keep(f, 0);
    assert_int_equal(trace_pack_rewrite(f->pack, &f->e), 0);
    assert_int_equal(trace_pack_file_bytes(f->pack), sizeof(struct trace_file));
    assert_int_equal(threads_in(trace_pack_part_path(f->pack)), 0);
}

static void test_a_rest_of_a_killed_one_is_written_over(void **state)
{
    struct fixture *f = *state;
    trace_pack_remember(f->pack);
    blocks_add(f);
    assert_int_equal(file_write(f->made, "rest", 4, NULL), 0);
    keep(f, 1);
    assert_int_equal(trace_pack_rewrite(f->pack, &f->e), 0);
    assert_int_equal(threads_in(trace_pack_part_path(f->pack)), 1);
}

static void test_a_failure_leaves_the_part_file_as_it_was(void **state)
{
    struct fixture *f = *state;
    size_t count;
    trace_pack_remember(f->pack);
    blocks_add(f);
    keep(f, 1);
    assert_int_equal(mkdir(f->made, 0700), 0);
    assert_int_equal(trace_pack_rewrite(f->pack, &f->e), -1);
    assert_non_null(strstr(err_text(&f->e), "cannot write what is kept of the trace"));
    (void)trace_pack_entries(f->pack, &count);
    assert_int_equal(count, BLOCKS);
    block_add(f, 7);
    assert_int_equal(threads_in(trace_pack_part_path(f->pack)), ((1u << BLOCKS) - 1) | 1u << 7);
    assert_int_equal(rmdir(f->made), 0);
}

static void test_the_part_of_a_killed_recovery_is_written_over(void **state)
{
    struct fixture *f = *state;
    struct buf name = {0};
    assert_int_equal(file_write(f->made, "a longer rest of it than a header", 33, NULL), 0);
    struct trace_pack *again = trace_pack_create_over(f->output, f->made, 1, &f->e);
    assert_non_null(again);
    assert_string_equal(trace_pack_part_path(again), f->made);
    assert_int_equal(threads_in(f->made), 0);
    assert_int_equal(trace_pack_commit(&again, &f->e), 0);
    assert_int_equal(access(f->made, F_OK), -1);
    trace_pack_part_name(f->output, (uint32_t)getpid(), &name);
    assert_string_equal(buf_text(&name), trace_pack_part_path(f->pack));
    buf_fini(&name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_index_tells_where_blocks_lie, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_is_remembered_unasked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_what_is_kept_stays_and_writing_goes_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_all_or_nothing_may_be_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_a_rest_of_a_killed_one_is_written_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_a_failure_leaves_the_part_file_as_it_was, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_the_part_of_a_killed_recovery_is_written_over, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
