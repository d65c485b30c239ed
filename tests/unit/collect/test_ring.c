// SPDX-License-Identifier: Apache-2.0
// Which blocks the ring policy keeps: by their age, what later blocks need, what runs on; when it
// is worth it; and how the limit in bytes shortens it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above first.
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "collect/ring.h"
#include "trace/pack.h"
#include "trace/reader.h"
#include "trace/rundir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
#define RUN_S 1000u // the run began so long ago
#define LARGE_BYTES (1u << 20)

struct fixture {
    char folder[64], output[96];
    struct buf dir;
    int dir_fd;
    struct trace_clock clock;
    struct ring ring;
    uint64_t now_ns;
    struct err e;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/lightmeter-test-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->output, sizeof f->output, "%s/out.lmt", f->folder);
    assert_int_equal(rundir_create(f->folder, &f->dir, &f->e), 0);
    f->dir_fd = rundir_open(buf_text(&f->dir), &f->e);
    assert_true(f->dir_fd >= 0);
    f->now_ns = clock_mono_ns();
    f->clock.start.mono_ns = f->now_ns - RUN_S * SECOND_NS;
    f->ring = (struct ring){.clock = &f->clock, .keep_ns = 10 * SECOND_NS};
    f->ring.pack = trace_pack_create(f->output, 1, &f->e);
    assert_non_null(f->ring.pack);
    const struct drain_options options = {
        .dir = buf_text(&f->dir), .dir_fd = f->dir_fd, .pack = f->ring.pack};
    f->ring.drain = drain_open(&options, &f->e);
    assert_non_null(f->ring.drain);
    ring_start(&f->ring);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    drain_close(&f->ring.drain);
    trace_pack_abort(&f->ring.pack);
    close(f->dir_fd);
    assert_int_equal(file_remove_tree(f->folder, NULL), 0);
    buf_fini(&f->dir);
    free(f);
    return 0;
}

// A block that was appended `age_s` ago. Its bytes do not compress, and their first word is `mark`.
static void add(
    struct fixture *f, struct trace_block_id id, uint64_t mark, size_t length_bytes, uint64_t age_s)
{
    uint64_t *bytes = malloc(length_bytes), random = 88172645463325252u + mark;
    assert_non_null(bytes);
    for (size_t i = 0; i < length_bytes / 8; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        bytes[i] = random | 0x80; // the kind of no record
    }
    bytes[0] = mark << 8 | 0xff;
    assert_int_equal(trace_pack_block(f->ring.pack, &id, bytes, length_bytes, &f->e), 0);
    free(bytes);
    size_t count;
    struct trace_pack_entry *entries = trace_pack_entries(f->ring.pack, &count);
    if (count) // the times are those of the test
        entries[count - 1].appended_ns = f->now_ns - age_s * SECOND_NS;
}

static void add_json(
    struct fixture *f, enum trace_block_type type, const char *text, uint64_t age_s)
{
    const struct trace_block_id id = {.type = type};
    size_t count;
    assert_int_equal(trace_pack_block(f->ring.pack, &id, text, strlen(text), &f->e), 0);
    struct trace_pack_entry *entries = trace_pack_entries(f->ring.pack, &count);
    entries[count - 1].appended_ns = f->now_ns - age_s * SECOND_NS;
}

static void add_segment(struct fixture *f, uint32_t pid, uint32_t thread, uint32_t segment,
    uint64_t mark, size_t length_bytes, uint64_t age_s)
{
    const struct trace_block_id id = {.type = TRACE_BLOCK_SEGMENT,
        .pid = pid,
        .image_ticks = 1,
        .thread_seq = thread,
        .segment_seq = segment};
    add(f, id, mark, length_bytes, age_s);
}

static void add_process(struct fixture *f, uint32_t pid, uint64_t mark, uint64_t age_s)
{
    const struct trace_block_id id = {.type = TRACE_BLOCK_PROCESS, .pid = pid, .image_ticks = 1};
    add(f, id, mark, 64, age_s);
}

// The drain has taken the segments of the thread before this one.
static void taken_until(struct fixture *f, uint32_t pid, uint32_t thread, uint32_t segment)
{
    const struct trace_block_id id = {.type = TRACE_BLOCK_SEGMENT,
        .pid = pid,
        .image_ticks = 1,
        .thread_seq = thread,
        .segment_seq = segment};
    drain_seen(f->ring.drain, &id, 16);
}

// The drain has seen the process's file.
static void running(struct fixture *f, uint32_t pid)
{
    char path[200];
    snprintf(path, sizeof path, "%s/p-%x-1", buf_text(&f->dir), pid);
    assert_int_equal(file_write(path, "", 0, NULL), 0);
    drain_processes_ended(f->ring.drain, NULL, 0); // of nobody: it looks into the directory
    assert_int_equal(drain_image_is_ended(f->ring.drain, pid, 1), 0);
}

// The marks in the part file, as bits; what kept_from_ns is in its last META, in seconds.
static uint32_t marks_in(struct fixture *f, int64_t *kept_from_ns, unsigned *metas)
{
    struct trace_block_view block;
    uint32_t marks = 0;
    struct trace_reader *reader = trace_reader_open(trace_pack_part_path(f->ring.pack), &f->e);
    assert_non_null(reader);
    *metas = 0;
    *kept_from_ns = 0;
    while (trace_reader_next(reader, &block)) {
        if (block.id.type == TRACE_BLOCK_META) {
            struct json *meta =
                json_parse((const char *)block.bytes, block.length_bytes, "META", NULL);
            *kept_from_ns = json_get_int(meta, "kept_from_ns", *kept_from_ns);
            json_free(&meta);
            ++*metas;
        } else {
            marks |= 1u << (*(const uint64_t *)(const void *)block.bytes >> 8);
        }
    }
    assert_int_equal(trace_reader_damage_count(reader), 0);
    trace_reader_close(&reader);
    return marks;
}

static void check_marks(struct fixture *f, uint32_t marks, uint64_t from_s)
{
    int64_t kept_from_ns;
    unsigned metas;
    assert_int_equal(marks_in(f, &kept_from_ns, &metas), marks);
    // Between the test's clock and the ring's own some moments pass.
    assert_true(kept_from_ns >= (int64_t)(from_s * SECOND_NS));
    assert_true(kept_from_ns < (int64_t)((from_s + 60) * SECOND_NS));
    assert_true((uint64_t)kept_from_ns == f->ring.kept_from_ns);
}

static void old_segments_go(void **state)
{
    struct fixture *f = *state;
    add_json(f, TRACE_BLOCK_META, "{\"command\":[\"x\"]}", 1000);
    add_segment(f, 1, 0, 0, 1, LARGE_BYTES, 100);
    add_segment(f, 1, 0, 1, 2, LARGE_BYTES, 50);
    add_segment(f, 1, 0, 2, 3, 1000, 5);
    taken_until(f, 1, 0, 3);
    assert_int_equal(ring_step(&f->ring, f->now_ns, &f->e), 0);
    check_marks(f, 1u << 3, RUN_S - 10);
}

static void parts_of_an_open_segment_stay(void **state)
{
    struct fixture *f = *state;
    add_json(f, TRACE_BLOCK_META, "{}", 1000);
    add_segment(f, 1, 0, 0, 1, 3 * LARGE_BYTES, 100);
    add_segment(f, 1, 1, 0, 2, 1000, 100); // its next part needs it
    taken_until(f, 1, 0, 1);
    taken_until(f, 1, 1, 0);
    assert_int_equal(ring_step(&f->ring, f->now_ns, &f->e), 0);
    check_marks(f, 1u << 2, RUN_S - 10);
}

static void old_samples_go(void **state)
{
    struct fixture *f = *state;
    const struct trace_block_id samples = {.type = TRACE_BLOCK_SAMPLES};
    add_json(f, TRACE_BLOCK_META, "{}", 1000);
    add(f, samples, 1, 2 * LARGE_BYTES, 11);
    add(f, samples, 2, 1000, 9);
    assert_int_equal(ring_step(&f->ring, f->now_ns, &f->e), 0);
    check_marks(f, 1u << 2, RUN_S - 10);
}

static void of_process_files_the_last_copy_counts(void **state)
{
    struct fixture *f = *state;
    add_json(f, TRACE_BLOCK_META, "{}", 1000);
    add_segment(f, 1, 0, 0, 1, 3 * LARGE_BYTES, 100);
    taken_until(f, 1, 0, 1);
    running(f, 1);
    add_process(f, 1, 2, 99); // it runs: its last copy stays, however old
    add_process(f, 1, 3, 50);
    assert_int_equal(ring_step(&f->ring, f->now_ns, &f->e), 0);
    check_marks(f, 1u << 3, RUN_S - 10);
}

static void ended_processes_stay_while_their_records_do(void **state)
{
    struct fixture *f = *state;
    const uint32_t pids[] = {1, 2};
    add_json(f, TRACE_BLOCK_META, "{}", 1000);
    add_segment(f, 1, 0, 0, 1, 3 * LARGE_BYTES, 100);
    add_segment(f, 2, 0, 0, 2, 1000, 5);
    add_process(f, 1, 3, 5);
    add_process(f, 2, 4, 50);
    for (unsigned i = 0; i < 2; i++) {
        taken_until(f, pids[i], 0, 1);
        running(f, pids[i]);
        drain_processes_ended(f->ring.drain, &(struct drain_ended){pids[i], UINT64_MAX}, 1);
        assert_int_equal(drain_image_is_ended(f->ring.drain, pids[i], 1), 1);
    }
    assert_int_equal(ring_step(&f->ring, f->now_ns, &f->e), 0);
    check_marks(f, 1u << 2 | 1u << 4, RUN_S - 10);
}

static void of_metas_the_first_and_young_ones_stay(void **state)
{
    struct fixture *f = *state;
    int64_t kept_from_ns;
    unsigned metas;
    add_json(f, TRACE_BLOCK_META, "{\"command\":[\"x\"]}", 1000);
    add_json(f, TRACE_BLOCK_META, "{\"clock\":1}", 500);
    add_json(f, TRACE_BLOCK_META, "{\"clock\":2}", 60);
    add_segment(f, 1, 0, 0, 1, 3 * LARGE_BYTES, 100);
    taken_until(f, 1, 0, 1);
    assert_int_equal(ring_step(&f->ring, f->now_ns, &f->e), 0);
    assert_int_equal(marks_in(f, &kept_from_ns, &metas), 0);
    assert_int_equal(metas, 3); // the first, the young one, and that of the horizon
}

static void a_little_is_not_worth_it(void **state)
{
    struct fixture *f = *state;
    int64_t kept_from_ns;
    unsigned metas;
    add_json(f, TRACE_BLOCK_META, "{}", 1000);
    add_segment(f, 1, 0, 0, 1, LARGE_BYTES / 2, 100);
    add_segment(f, 1, 0, 1, 2, 1000, 5);
    taken_until(f, 1, 0, 2);
    assert_int_equal(ring_step(&f->ring, f->now_ns, &f->e), 0);
    assert_int_equal(marks_in(f, &kept_from_ns, &metas), 1u << 1 | 1u << 2);
    // Nor is less than half of the file.
    add_segment(f, 1, 0, 1, 3, 3 * LARGE_BYTES, 5);
    add_segment(f, 1, 1, 0, 4, 2 * LARGE_BYTES, 100);
    taken_until(f, 1, 1, 1);
    f->ring.due_ns = 0;
    assert_int_equal(ring_step(&f->ring, f->now_ns, &f->e), 0);
    assert_int_equal(marks_in(f, &kept_from_ns, &metas), 0x1e);
    assert_int_equal(f->ring.kept_from_ns, 0);
    // At the end it goes all the same.
    assert_int_equal(ring_finish(&f->ring, &f->e), 0);
    check_marks(f, 1u << 2 | 1u << 3, RUN_S - 10);
}

static void steps_keep_their_distance(void **state)
{
    struct fixture *f = *state;
    add_json(f, TRACE_BLOCK_META, "{}", 1000);
    assert_int_equal(ring_step(&f->ring, f->now_ns, &f->e), 0);
    assert_true(f->ring.due_ns > f->now_ns);
    add_segment(f, 1, 0, 0, 1, 2 * LARGE_BYTES, 100);
    taken_until(f, 1, 0, 1);
    assert_int_equal(ring_step(&f->ring, f->now_ns + 1, &f->e), 0);
    assert_int_equal(f->ring.kept_from_ns, 0);
    assert_int_equal(ring_step(&f->ring, f->ring.due_ns, &f->e), 0);
    assert_true(f->ring.kept_from_ns > 0);
}

static void the_limit_shortens_it(void **state)
{
    struct fixture *f = *state;
    f->ring.max_bytes = 4 * LARGE_BYTES;
    add_json(f, TRACE_BLOCK_META, "{}", 1000);
    for (uint32_t i = 0; i < 4; i++)
        add_segment(f, 1, 0, i, i, LARGE_BYTES, 8 - 2 * i); // 8, 6, 4, 2 s ago
    taken_until(f, 1, 0, 4);
    assert_int_equal(ring_step(&f->ring, f->now_ns, &f->e), 0);
    // All are young enough; half of the limit holds the last one, with its header.
    check_marks(f, 1u << 3, RUN_S - 4);
    assert_true(trace_pack_file_bytes(f->ring.pack) < f->ring.max_bytes / 2);
}

static void without_a_ring_all_is_kept(void **state)
{
    struct fixture *f = *state;
    int64_t kept_from_ns;
    unsigned metas;
    f->ring.keep_ns = 0;
    add_json(f, TRACE_BLOCK_META, "{}", 1000);
    add_segment(f, 1, 0, 0, 1, 2 * LARGE_BYTES, 900);
    taken_until(f, 1, 0, 1);
    assert_int_equal(ring_step(&f->ring, f->now_ns, &f->e), 0);
    assert_int_equal(ring_finish(&f->ring, &f->e), 0);
    assert_int_equal(marks_in(f, &kept_from_ns, &metas), 1u << 1);
    assert_int_equal(kept_from_ns, 0);
}

static void a_run_shorter_than_it_is_kept_whole(void **state)
{
    struct fixture *f = *state;
    f->ring.keep_ns = 2 * RUN_S * SECOND_NS;
    add_json(f, TRACE_BLOCK_META, "{}", 1000);
    add_segment(f, 1, 0, 0, 1, 2 * LARGE_BYTES, 999);
    taken_until(f, 1, 0, 1);
    assert_int_equal(ring_step(&f->ring, f->now_ns, &f->e), 0);
    assert_int_equal(ring_finish(&f->ring, &f->e), 0);
    assert_int_equal(f->ring.kept_from_ns, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(old_segments_go),
        TEST(parts_of_an_open_segment_stay),
        TEST(old_samples_go),
        TEST(of_process_files_the_last_copy_counts),
        TEST(ended_processes_stay_while_their_records_do),
        TEST(of_metas_the_first_and_young_ones_stay),
        TEST(a_little_is_not_worth_it),
        TEST(steps_keep_their_distance),
        TEST(the_limit_shortens_it),
        TEST(without_a_ring_all_is_kept),
        TEST(a_run_shorter_than_it_is_kept_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
