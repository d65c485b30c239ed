// SPDX-License-Identifier: Apache-2.0
// Tests of the drain: all spans arrive, once and in order, while writers write, die, or lie.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above first.
#include <cmocka.h>

#include "base/file.h"
#include "run_place.h"
#include "stream.h"
#include "trace/names.h"
#include "trace/reader.h"
#include "trace/records.h"
#include "trace/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void test_segments_are_packed_and_recycled(void **state)
{
    (void)state;
    const struct drain_options options = {.is_pool_stocked = 1};
    struct run_place p;
    struct numbered_writer w;
    run_place_begin(&p, &options);
    process_file_write(&p, 100, 5);
    run_place_step(&p);
    assert_true(drain_stats_get(p.drain)->pool_bytes > 0);
    numbered_writer_init(&w, &p, 100, 5, 0);
    for (int i = 0; i < 8; i++) {
        numbered_writer_add(&w, LARGE_SPANS / 2);
        run_place_step(&p);
    }
    trace_writer_close(&w.writer, &w.place);
    run_place_step(&p);
    const struct drain_stats *stats = drain_stats_get(p.drain);
    assert_int_equal(stats->spans, w.next);
    assert_int_equal(stats->segments, w.writer.segment_seq + 1);
    assert_true(stats->recycled >= 2);
    assert_int_equal(stats->dir_bytes, 0);
    assert_true(stats->stored_bytes * 4 < stats->raw_bytes);
    run_place_finish(&p);
    run_place_end(&p);
    const struct numbered_result result = numbered_read(p.output, 100, 0);
    assert_int_equal(result.spans, 8 * (LARGE_SPANS / 2));
    assert_int_equal(result.first, 0);
    assert_int_equal(result.is_cut, 0);
    run_place_remove(&p);
}

// A recycled file that is claimed again shows nothing of its first owner.
static void test_a_recycled_segment_is_empty(void **state)
{
    (void)state;
    const struct drain_options options = {.is_pool_stocked = 1, .dir_limit_bytes = 1};
    struct run_place p;
    struct numbered_writer a, b;
    run_place_begin(&p, &options);
    process_file_write(&p, 100, 5);
    process_file_write(&p, 200, 6);
    numbered_writer_init(&a, &p, 100, 5, 0);
    numbered_writer_add(&a, SMALL_SPANS);
    trace_writer_close(&a.writer, &a.place);
    run_place_step(&p);
    assert_int_equal(drain_stats_get(p.drain)->recycled, 1);
    struct buf path = {0};
    buf_printf(&path, "%s/free-%x-0", p.dir.at, TRACE_SEGMENT_SMALL_BYTES);
    struct buf free_bytes = {0};
    static const uint8_t zeros[64];
    assert_int_equal(file_read(path.at, TRACE_SEGMENT_SMALL_BYTES, &free_bytes, NULL), 0);
    assert_int_equal(free_bytes.length_bytes, TRACE_SEGMENT_SMALL_BYTES);
    assert_memory_equal(free_bytes.at, zeros, sizeof zeros);
    buf_fini(&free_bytes);
    numbered_writer_init(&b, &p, 200, 6, 0);
    numbered_writer_stock(&b, &p);
    numbered_writer_add(&b, 3);
    assert_int_equal(access(path.at, F_OK), -1);
    run_place_finish(&p);
    run_place_end(&p);
    assert_int_equal(numbered_read(p.output, 100, 0).spans, SMALL_SPANS);
    assert_int_equal(numbered_read(p.output, 200, 0).spans, 3);
    trace_writer_close(&b.writer, &b.place);
    buf_fini(&path);
    run_place_remove(&p);
}

static void test_an_open_segment_is_packed_in_parts(void **state)
{
    (void)state;
    const struct drain_options options = {.open_part_bytes = 4096};
    struct run_place p;
    struct numbered_writer w;
    run_place_begin(&p, &options);
    process_file_write(&p, 100, 5);
    numbered_writer_init(&w, &p, 100, 5, 7);
    numbered_writer_add(&w, 100);
    run_place_step(&p);
    assert_int_equal(drain_stats_get(p.drain)->spans, 0);
    for (int i = 0; i < 3; i++) {
        numbered_writer_add(&w, 300);
        run_place_step(&p);
        assert_int_equal(drain_stats_get(p.drain)->spans, w.next);
    }
    numbered_writer_add(&w, LARGE_SPANS);
    run_place_finish(&p);
    run_place_end(&p);
    const struct numbered_result result = numbered_read(p.output, 100, 7);
    assert_int_equal(result.spans, w.next);
    assert_int_equal(result.blocks, 5);
    trace_writer_close(&w.writer, &w.place);
    run_place_remove(&p);
}

static void test_a_budget_ends_a_round(void **state)
{
    (void)state;
    const struct drain_options options = {0};
    struct run_place p;
    struct numbered_writer w;
    run_place_begin(&p, &options);
    process_file_write(&p, 100, 5);
    numbered_writer_init(&w, &p, 100, 5, 0);
    numbered_writer_add(&w, SMALL_SPANS + 3 * LARGE_SPANS);
    trace_writer_close(&w.writer, &w.place);
    unsigned rounds = 0;
    while (drain_step(p.drain, 1000000, NULL) == 1)
        rounds++;
    assert_int_equal(rounds, 3);
    assert_int_equal(drain_stats_get(p.drain)->spans, w.next);
    run_place_finish(&p);
    run_place_end(&p);
    assert_int_equal(numbered_read(p.output, 100, 0).spans, w.next);
    run_place_remove(&p);
}

static void test_a_writer_killed_at_any_moment_loses_nothing(void **state)
{
    (void)state;
    uint64_t *written = counters_map();
    for (unsigned round = 0; round < 12; round++) {
        const struct drain_options options = {.is_pool_stocked = round % 2 == 0};
        struct run_place p;
        run_place_begin(&p, &options);
        written[0] = written[1] = 0;
        const pid_t writer = writer_start(&p, written);
        // Killed at an arbitrary moment, after about as many spans as the round says.
        while (__atomic_load_n(&written[round & 1], __ATOMIC_ACQUIRE) < round * round * 3000)
            run_place_step(&p);
        process_kill(writer);
        const uint64_t first = written[0], second = written[1];
        if (round % 3 == 0) {
            drain_processes_ended(p.drain, &(struct drain_ended){(uint32_t)writer, UINT64_MAX}, 1);
            run_place_step(&p);
            assert_in_range(drain_stats_get(p.drain)->spans, first + second, first + second + 2);
        }
        run_place_finish(&p);
        run_place_end(&p);
        const struct numbered_result a = numbered_read(p.output, (uint32_t)writer, 0);
        const struct numbered_result b = numbered_read(p.output, (uint32_t)writer, 1);
        assert_in_range(a.spans, first, first + 1);
        assert_in_range(b.spans, second, second + 1);
        assert_int_equal(a.spans ? a.first : 0, 0);
        assert_int_equal(b.spans ? b.first : 0, 0);
        run_place_remove(&p);
    }
}

static void test_two_drainers_exclude_each_other(void **state)
{
    (void)state;
    const struct drain_options options = {0};
    struct run_place p;
    struct err e = {0};
    run_place_begin(&p, &options);
    assert_int_equal(rundir_open(buf_text(&p.dir), &e), -1);
    assert_non_null(strstr(err_text(&e), "being packed by another Lightmeter"));
    run_place_leave(&p);
    const int fd = rundir_open(buf_text(&p.dir), &e);
    assert_true(fd >= 0);
    close(fd);
    run_place_remove(&p);
}

static void test_an_exec_ends_the_old_image(void **state)
{
    (void)state;
    const struct drain_options options = {0};
    struct run_place p;
    struct numbered_writer w;
    struct trace_process h;
    run_place_begin(&p, &options);
    process_file_write(&p, 100, 5);
    numbered_writer_init(&w, &p, 100, 5, 0);
    numbered_writer_add(&w, 10);
    run_place_step(&p);
    struct buf path = {0};
    buf_printf(&path, "%s/p-64-5", p.dir.at);
    const int fd = open(path.at, O_RDWR);
    assert_int_equal(pread(fd, &h, sizeof h, 0), sizeof h);
    h.exit_seen = 3;
    h.end_ticks = 99;
    assert_int_equal(pwrite(fd, &h, sizeof h, 0), sizeof h);
    close(fd);
    run_place_step(&p);
    assert_int_equal(drain_stats_get(p.drain)->spans, 0); // exec may still fail
    process_file_write(&p, 100, 6);
    for (int i = 0; i < 3; i++)
        run_place_step(&p);
    assert_int_equal(drain_stats_get(p.drain)->spans, 10);
    assert_int_equal(access(path.at, F_OK), -1);
    run_place_finish(&p);
    run_place_end(&p);
    assert_int_equal(numbered_read(p.output, 100, 0).spans, 10);
    trace_writer_close(&w.writer, &w.place);
    buf_fini(&path);
    run_place_remove(&p);
}

// Makes a file of the run directory.
static void put_file(const struct run_place *p, const char *name, const void *bytes, size_t length)
{
    struct buf path = {0};
    buf_printf(&path, "%s/%s", p->dir.at, name);
    const int fd = open(path.at, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), length);
    close(fd);
    buf_fini(&path);
}

static void put_segment(const struct run_place *p, uint32_t thread_seq, uint64_t used_bytes,
    uint32_t pid, uint64_t magic)
{
    struct {
        struct trace_segment h;
        struct trace_span spans[4];
    } file = {.h = {.magic = magic,
                  .pid = pid,
                  .image_ticks = 5,
                  .thread_seq = thread_seq,
                  .length_bytes = UINT32_MAX,
                  .state = TRACE_SEGMENT_FULL,
                  .used_bytes = used_bytes}};
    char name[TRACE_NAME_BYTES];
    const struct trace_name n = {
        .kind = TRACE_NAME_SEGMENT, .pid = 100, .image_ticks = 5, .thread_seq = thread_seq};
    for (uint32_t i = 0; i < 4; i++)
        file.spans[i] = (struct trace_span){TRACE_SPAN, 0, 1, i + 1, 1000 + 100 * i};
    put_file(p, trace_name_format(name, &n), &file, sizeof file);
}

static void test_hostile_files_do_no_harm(void **state)
{
    (void)state;
    const struct drain_options options = {.is_pool_stocked = 1};
    struct run_place p;
    struct buf path = {0};
    struct buf before = {0};
    char outside[128];
    unsigned left = 0;
    run_place_begin(&p, &options);
    process_file_write(&p, 100, 5);
    // A segment that would be right, were it not a link.
    put_segment(&p, 9, 64, 100, TRACE_SEGMENT_MAGIC);
    snprintf(outside, sizeof outside, "%s/outside", p.folder);
    buf_printf(&path, "%s/s-64-5-9-0", p.dir.at);
    assert_int_equal(rename(path.at, outside), 0);
    assert_int_equal(file_read(outside, 4096, &before, NULL), 0);
    put_segment(&p, 1, 64, 100, TRACE_SEGMENT_MAGIC);         // right
    put_segment(&p, 2, UINT64_MAX, 100, TRACE_SEGMENT_MAGIC); // says too much: what is there
    put_segment(&p, 3, 40, 100, TRACE_SEGMENT_MAGIC);         // half a record: the whole ones
    put_segment(&p, 4, 64, 101, TRACE_SEGMENT_MAGIC);         // of someone else
    put_segment(&p, 5, 64, 100, 0x1234);                      // no segment at all
    put_segment(&p, 6, 64, 100, 0);                           // claimed, not begun
    put_file(&p, "s-64-5-7-0", "short", 5);
    put_file(&p, "s-64-5-8-0", "", 0);
    put_file(&p, "p-65-5", "short", 5);
    put_file(&p, "somebody's", "notes", 5);
    const char *const special[] = {"s-64-5-9-0", "s-64-5-a-0", "s-64-5-b-0", "p-64-9"};
    for (int i = 0; i < 4; i++) {
        path.length_bytes = 0;
        buf_printf(&path, "%s/%s", p.dir.at, special[i]);
        assert_int_equal(i == 1   ? mkdir(path.at, 0700)
                         : i == 2 ? mkfifo(path.at, 0600)
                                  : symlink(outside, path.at),
            0);
    }
    run_place_step(&p);
    run_place_step(&p);
    run_place_finish(&p);
    assert_int_equal(drain_stats_get(p.drain)->damaged_segments, 4);
    drain_close(&p.drain);
    assert_int_equal(trace_pack_commit(&p.pack, NULL), 0);
    // The directory and the foreign file stay, and so does the run directory.
    assert_int_equal(rundir_remove(p.dir_fd, p.dir.at, &left, NULL), 0);
    assert_int_equal(left, 2);
    struct buf text = {0};
    assert_int_equal(file_read(outside, 4096, &text, NULL), 0);
    assert_int_equal(text.length_bytes, before.length_bytes);
    assert_memory_equal(text.at, before.at, before.length_bytes);
    assert_int_equal(numbered_read_only(p.output, 100, 1).spans, 4);
    assert_int_equal(numbered_read_only(p.output, 100, 2).spans, 4);
    assert_int_equal(numbered_read_only(p.output, 100, 3).spans, 2);
    for (uint32_t i = 4; i < 12; i++)
        assert_int_equal(numbered_read_only(p.output, 100, i).spans, 0);
    buf_fini(&text);
    buf_fini(&before);
    buf_fini(&path);
    run_place_remove(&p);
}

// Texts that were reserved but not written when their process died do not hide those behind them.
static void test_a_hole_in_a_process_file(void **state)
{
    (void)state;
    const struct drain_options options = {0};
    struct run_place p;
    struct buf bytes = {0};
    struct trace_block_view block;
    struct trace_record r;
    run_place_begin(&p, &options);
    stream_process(&bytes, 100, 5, 6);
    const size_t second = 128 + 32; // behind the first text
    assert_int_equal(bytes.at[second], TRACE_TEXT);
    memset(bytes.at + second, 0, 32);
    put_file(&p, "p-64-5", bytes.at, bytes.length_bytes);
    run_place_step(&p);
    run_place_finish(&p);
    run_place_end(&p);
    struct trace_reader *reader = trace_reader_open(p.output, NULL);
    unsigned texts[2] = {0}, blocks = 0;
    while (trace_reader_next(reader, &block)) {
        struct trace_cursor c = {.at = block.bytes + 128, .length_bytes = block.length_bytes - 128};
        if (block.id.type != TRACE_BLOCK_PROCESS)
            continue;
        while (trace_records_next(&c, &r) > 0)
            texts[blocks]++;
        blocks++;
    }
    assert_int_equal(blocks, 2);
    assert_int_equal(texts[0], 1); // it may still be written
    assert_int_equal(texts[1], 6); // five names and the coverage
    trace_reader_close(&reader);
    buf_fini(&bytes);
    run_place_remove(&p);
}

static void test_beyond_its_limit_a_trace_grows_no_more(void **state)
{
    (void)state;
    const struct drain_options options = {.is_pool_stocked = 1, .trace_limit_bytes = 4000};
    struct run_place p;
    struct numbered_writer w;
    run_place_begin(&p, &options);
    process_file_write(&p, 100, 5);
    numbered_writer_init(&w, &p, 100, 5, 0);
    for (int i = 0; i < 12; i++) {
        numbered_writer_add(&w, LARGE_SPANS);
        run_place_step(&p);
    }
    trace_writer_close(&w.writer, &w.place);
    run_place_finish(&p);
    const struct drain_stats *stats = drain_stats_get(p.drain);
    assert_int_equal(w.lost, 0);
    assert_true(stats->discarded_bytes > 0);
    assert_int_equal(stats->spans + stats->discarded_bytes / 16, w.next);
    assert_in_range(trace_pack_file_bytes(p.pack), 4000, 40000);
    const uint64_t spans = stats->spans;
    run_place_end(&p);
    assert_int_equal(numbered_read_only(p.output, 100, 0).spans, spans);
    run_place_remove(&p);
}

// A trace that cannot grow (its disk is full) keeps everything in the directory until it can.
static void test_a_full_disk_delays_only(void **state)
{
    (void)state;
    const struct drain_options options = {0};
    struct run_place p;
    struct numbered_writer w;
    struct err e = {0};
    struct rlimit before;
    run_place_begin(&p, &options);
    process_file_write(&p, 100, 5);
    numbered_writer_init(&w, &p, 100, 5, 0);
    numbered_writer_add(&w, SMALL_SPANS + 2 * LARGE_SPANS);
    trace_writer_close(&w.writer, &w.place);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {
        .rlim_cur = trace_pack_file_bytes(p.pack) + 100, .rlim_max = before.rlim_max};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(drain_step(p.drain, 0, &e), -1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_non_null(strstr(err_text(&e), "cannot write the trace"));
    run_place_step(&p);
    run_place_finish(&p);
    run_place_end(&p);
    assert_int_equal(numbered_read(p.output, 100, 0).spans, w.next);
    run_place_remove(&p);
}

// A run directory whose memory is used up: writers lose spans and count them, nobody gets a signal.
static void test_a_full_run_directory(void **state)
{
    (void)state;
    const struct drain_options options = {.is_pool_stocked = 1};
    struct run_place p;
    struct numbered_writer w;
    run_place_begin(&p, &options);
    if (mount("tmpfs", p.dir.at, "tmpfs", 0, "size=3m") < 0) {
        run_place_remove(&p);
        skip();
    }
    struct err e = {0};
    const int mounted_fd = rundir_open(buf_text(&p.dir), &e);
    assert_true(mounted_fd >= 0);
    drain_close(&p.drain);
    struct drain_options again = options;
    again.dir = p.dir.at;
    again.dir_fd = mounted_fd;
    again.pack = p.pack;
    p.drain = drain_open(&again, NULL);
    process_file_write(&p, 100, 5);
    run_place_step(&p);
    numbered_writer_init(&w, &p, 100, 5, 0);
    numbered_writer_stock(&w, &p);
    // Asking in vain is slow: the memory is used up and given back each time.
    while (w.lost < 3 && w.next < 10 * LARGE_SPANS)
        numbered_writer_add(&w, 1);
    assert_int_equal(w.lost, 3);
    const uint64_t before = w.next;
    run_place_step(&p);
    numbered_writer_stock(&w, &p);
    numbered_writer_add(&w, 100);
    assert_int_equal(w.next, before + 100); // there is room again
    run_place_finish(&p);
    drain_close(&p.drain);
    assert_int_equal(trace_pack_commit(&p.pack, NULL), 0);
    assert_int_equal(numbered_read_only(p.output, 100, 0).spans, w.next);
    trace_writer_close(&w.writer, &w.place);
    close(mounted_fd);
    assert_int_equal(umount(p.dir.at), 0);
    run_place_remove(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segments_are_packed_and_recycled),
        cmocka_unit_test(test_a_recycled_segment_is_empty),
        cmocka_unit_test(test_an_open_segment_is_packed_in_parts),
        cmocka_unit_test(test_a_budget_ends_a_round),
        cmocka_unit_test(test_a_writer_killed_at_any_moment_loses_nothing),
        cmocka_unit_test(test_two_drainers_exclude_each_other),
        cmocka_unit_test(test_an_exec_ends_the_old_image),
        cmocka_unit_test(test_hostile_files_do_no_harm),
        cmocka_unit_test(test_a_hole_in_a_process_file),
        cmocka_unit_test(test_beyond_its_limit_a_trace_grows_no_more),
        cmocka_unit_test(test_a_full_disk_delays_only),
        cmocka_unit_test(test_a_full_run_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
