// SPDX-License-Identifier: Apache-2.0
// Tests of what a killed process was waiting in: a span to its death when that is certain, nothing
// when it may be otherwise.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above first.
#include <cmocka.h>

#include "run_place.h"
#include "trace/check.h"
#include "trace/reader.h"
#include "trace/records.h"

#include <fcntl.h>
#include <unistd.h>

// What a process left in the header of its segment, and whether a span of it is to be in the trace.
struct last_words {
    const char *what;
    int64_t behind_ticks; // the wait's start behind the last span; INT64_MIN: it was in none
    uint32_t exit_seen;
    int is_closed, is_alive, is_told;
};

// The spans of a trace that the launcher wrote for calls without an end.
static uint64_t open_spans(const char *path, struct trace_span_long *last)
{
    struct trace_block_view block;
    struct trace_record r;
    uint64_t count = 0;
    int is_open = 0;
    struct trace_reader *reader = trace_reader_open(path, NULL);
    while (trace_reader_next(reader, &block)) {
        struct trace_cursor c = {.at = block.bytes, .length_bytes = block.length_bytes};
        while (block.id.type == TRACE_BLOCK_SEGMENT && trace_records_next(&c, &r) > 0) {
            if (r.kind == TRACE_SPAN_LONG && is_open && ++count)
                *last = *r.span_long;
            is_open = r.kind == TRACE_ATTR && r.attr->key == TRACE_ATTR_OPEN && r.attr->value == 1;
        }
    }
    trace_reader_close(&reader);
    return count;
}

static void put_exit(const struct run_place *p, uint32_t pid, uint32_t exit_seen)
{
    struct buf path = {0};
    buf_printf(&path, "%s/p-%x-5", p->dir.at, pid);
    const int fd = open(path.at, O_RDWR);
    assert_int_equal(
        pwrite(fd, &exit_seen, sizeof exit_seen, offsetof(struct trace_process, exit_seen)),
        sizeof exit_seen);
    close(fd);
    buf_fini(&path);
}

static void check_last_words(const struct last_words *words)
{
    const uint32_t pid = words->is_alive ? (uint32_t)getpid() : 100;
    struct run_place p;
    struct numbered_writer w;
    struct trace_span_long told = {0};
    struct trace_check check;
    struct err e = {0};
    const struct drain_options options = {.clock = &p.clock};
    run_place_begin(&p, &options);
    process_file_write(&p, pid, 5);
    put_exit(&p, pid, words->exit_seen);
    numbered_writer_init(&w, &p, pid, 5, 0);
    w.now_ticks = clock_mono_ns() - 1000000000;
    numbered_writer_add(&w, 10);
    struct trace_segment *h = w.writer.segment;
    const uint64_t start_ticks = w.now_ticks + (uint64_t)words->behind_ticks;
    h->wait_name = 1;
    h->wait_start_ticks = words->behind_ticks == INT64_MIN ? 0 : start_ticks;
    h->state = words->is_closed ? TRACE_SEGMENT_CLOSED : TRACE_SEGMENT_OPEN;
    if (!words->is_alive)
        drain_processes_ended(p.drain, &(struct drain_ended){pid, UINT64_MAX}, 1);
    if (drain_step(p.drain, 0, &e) < 0 || drain_finish(p.drain, &e) < 0)
        fail_msg("%s", err_text(&e));
    run_place_end(&p);
    const uint64_t count = open_spans(p.output, &told);
    if (count != (uint64_t)words->is_told)
        fail_msg("%s: %d spans", words->what, (int)count);
    if (count) {
        assert_int_equal(told.end_ticks - told.dur_ticks, start_ticks);
        assert_in_range(told.end_ticks, start_ticks, clock_mono_ns());
    }
    assert_int_equal(trace_check_file(p.output, &check, &e), 0);
    assert_string_equal(buf_text(&check.text), "");
    trace_check_fini(&check);
    trace_writer_close(&w.writer, &w.place);
    run_place_remove(&p);
}

static void test_the_call_that_a_process_was_killed_in(void **state)
{
    (void)state;
    static const struct last_words cases[] = {
        {.what = "killed in it", .behind_ticks = 1000, .is_told = 1},
        {.what = "in none", .behind_ticks = INT64_MIN},
        {.what = "left by a jump, as a later record shows", .behind_ticks = -5},
        {.what = "from the future", .behind_ticks = INT64_MAX / 2},
        {.what = "in it as the program ended", .behind_ticks = 1000, .exit_seen = 1},
        {.what = "the thread had ended", .behind_ticks = 1000, .is_closed = 1},
        {.what = "lives on", .behind_ticks = 1000, .is_alive = 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_last_words(&cases[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_call_that_a_process_was_killed_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
