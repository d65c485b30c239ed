// SPDX-License-Identifier: Apache-2.0
// Tests that the drain gives up what it knows of threads and processes that are over.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above first.
#include <cmocka.h>

#include "run_place.h"
#include "trace/drain_state.h"

static void steps(struct run_place *p, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        run_place_step(p);
}

// What is over and packed is given up, and its records are in the trace once.
static void test_what_is_over_is_forgotten(void **state)
{
    (void)state;
    const struct drain_options options = {.is_pool_stocked = 1};
    struct run_place p;
    struct numbered_writer w;
    run_place_begin(&p, &options);
    process_file_write(&p, 100, 5);
    for (uint32_t thread = 0; thread < 50; thread++) {
        numbered_writer_init(&w, &p, 100, 5, thread);
        numbered_writer_add(&w, SMALL_SPANS + 10); // in two segments
        if (thread % 2)
            trace_writer_close(&w.writer, &w.place);
    }
    steps(&p, 1);
    assert_int_equal(p.drain->threads.count, 50);
    steps(&p, 8);
    assert_int_equal(p.drain->threads.count, 25);
    assert_int_equal(drain_image_is_ended(p.drain, 100, 5), 0);
    drain_processes_ended(p.drain, &(struct drain_ended){100, UINT64_MAX}, 1);
    steps(&p, 8);
    assert_int_equal(p.drain->threads.count, 0);
    assert_int_equal(p.drain->processes.count, 0);
    assert_int_equal(drain_image_is_ended(p.drain, 100, 5), 1);
    run_place_finish(&p);
    assert_int_equal(drain_stats_get(p.drain)->threads, 50);
    run_place_end(&p);
    for (uint32_t thread = 0; thread < 50; thread++)
        assert_int_equal(numbered_read(p.output, 100, thread).spans, SMALL_SPANS + 10);
    run_place_remove(&p);
}

// Of a pid that is used again only the images up to the moment told are over.
static void test_later_images_of_a_pid_go_on(void **state)
{
    (void)state;
    const struct drain_options options = {.is_pool_stocked = 1};
    struct run_place p;
    struct numbered_writer w[2];
    run_place_begin(&p, &options);
    for (uint32_t i = 0; i < 2; i++) {
        process_file_write(&p, 100, 5 + i);
        numbered_writer_init(&w[i], &p, 100, 5 + i, 0);
        numbered_writer_add(&w[i], 10);
    }
    drain_processes_ended(p.drain, &(struct drain_ended){100, 5}, 1);
    assert_int_equal(drain_image_is_ended(p.drain, 100, 5), 1);
    assert_int_equal(drain_image_is_ended(p.drain, 100, 6), 0);
    steps(&p, 8);
    assert_int_equal(p.drain->threads.count, 1);
    numbered_writer_add(&w[1], 10); // its segment is its own still
    assert_int_equal(drain_finish(p.drain, NULL), 0);
    assert_int_equal(drain_stats_get(p.drain)->spans, 30);
    run_place_end(&p);
    run_place_remove(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_over_is_forgotten),
        cmocka_unit_test(test_later_images_of_a_pid_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
