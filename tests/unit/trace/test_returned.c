// SPDX-License-Identifier: Apache-2.0
// Tests of the segments that the launcher returns to their thread in place: all spans arrive once,
// memory stays bounded, and nothing is left.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above first.
#include <cmocka.h>

#include "run_place.h"
#include "trace/names.h"

#include <dirent.h>
#include <stdio.h>

static void end_run(struct run_place *p, uint64_t spans)
{
    run_place_finish(p);
    run_place_end(p);
    const struct numbered_result result = numbered_read(p->output, 100, 0);
    assert_int_equal(result.spans, spans);
    assert_int_equal(result.is_cut, 0);
    run_place_remove(p);
}

// The names of the segments in the directory, and the inode of the one with the highest number.
static unsigned segments_list(const struct run_place *p, ino_t *last)
{
    DIR *dir = opendir(p->dir.at);
    const struct dirent *entry;
    unsigned count = 0;
    uint32_t highest = 0;
    while ((entry = readdir(dir))) {
        const struct trace_name name = trace_name_parse(entry->d_name);
        if (name.kind != TRACE_NAME_SEGMENT)
            continue;
        count++;
        if (name.segment_seq >= highest)
            *last = entry->d_ino;
        highest = name.segment_seq >= highest ? name.segment_seq : highest;
    }
    closedir(dir);
    return count;
}

// A thread that gets its full segment back writes it again: two files serve it when the launcher
// keeps up.
static void test_a_returned_segment_is_written_again(void **state)
{
    (void)state;
    struct run_place p;
    struct numbered_writer w;
    ino_t inodes[8];
    run_place_begin(&p, &(struct drain_options){0});
    process_file_write(&p, 100, 5);
    numbered_writer_init(&w, &p, 100, 5, 0);
    numbered_writer_add(&w, SMALL_SPANS + 1);
    for (int i = 0; i < 8; i++) {
        numbered_writer_add(&w, LARGE_SPANS);
        run_place_step(&p);
        assert_true(segments_list(&p, &inodes[i]) <= 2);
    }
    for (int i = 2; i < 8; i++)
        assert_int_equal(inodes[i], inodes[i - 2]);
    assert_int_equal(w.place.kept_count, 1);
    trace_writer_close(&w.writer, &w.place);
    assert_int_equal(w.place.kept_count, 0);
    run_place_step(&p);
    assert_int_equal(segments_list(&p, &inodes[0]), 0);
    end_run(&p, w.next);
}

// When the launcher is behind, the thread takes another file; nothing is lost or doubled.
static void test_a_segment_that_is_not_returned(void **state)
{
    (void)state;
    struct run_place p;
    struct numbered_writer w;
    ino_t last;
    run_place_begin(&p, &(struct drain_options){0});
    process_file_write(&p, 100, 5);
    numbered_writer_init(&w, &p, 100, 5, 0);
    numbered_writer_add(&w, 5 * LARGE_SPANS);
    assert_int_equal(w.place.kept_count, TRACE_WRITER_KEPT);
    run_place_step(&p);
    numbered_writer_add(&w, 4 * LARGE_SPANS);
    run_place_step(&p);
    // Its process is gone: nobody else will let go of the kept one.
    drain_processes_ended(p.drain, &(struct drain_ended){100, UINT64_MAX}, 1);
    run_place_step(&p);
    assert_int_equal(segments_list(&p, &last), 0);
    end_run(&p, w.next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_returned_segment_is_written_again),
        cmocka_unit_test(test_a_segment_that_is_not_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
