// SPDX-License-Identifier: Apache-2.0
// What the preloaded library is told: the text of config, the control word, the scale of the clock.
#include "collect/handover.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// 2.5 GHz over 2 ms.
static const struct trace_clock tsc = {
    .is_tsc = 1, .start = {1000, 50}, .later = {1000 + 5000000, 50 + 2000000}};
static const struct trace_clock mono = {.is_tsc = 0, .start = {7, 7}, .later = {2000007, 2000007}};

static void the_text_has_every_word(void **state)
{
    (void)state;
    const char *no_hooks[] = {"file_io", "sleep"};
    struct stagemap map;
    struct err e = {0};
    struct buf text = {0};
    const char *yaml = "functions:\n  f*: decode\nlibraries:\n  libx.so: infer\n"
                       "ranges:\n  \"a b\": item\n";
    assert_int_equal(stagemap_parse(yaml, strlen(yaml), "m", &map, &e), 0);
    const struct handover_options o = {.clock = &tsc,
        .no_hooks = no_hooks,
        .no_hook_count = 2,
        .map = &map,
        .opencv_trace = 1,
        .cuda_activity = 1};
    assert_int_equal(handover_config_text(&o, &text, &e), 0);
    assert_string_equal(buf_text(&text),
        "version 1\nclock tsc\nscale 1677722 22\nnohook file_io\nnohook sleep\n"
        "opencv-trace 1\ncuda-activity 1\n"
        "function f* decode\nlibrary libx.so infer\nrange item a b\n");
    buf_fini(&text);
    const struct handover_options plain = {.clock = &mono};
    assert_int_equal(handover_config_text(&plain, &text, &e), 0);
    assert_string_equal(buf_text(&text), "version 1\nclock mono\nscale 1 0\n");
    buf_fini(&text);
    stagemap_fini(&map);
}

static void the_scale_is_exact_and_does_not_overflow(void **state)
{
    (void)state;
    uint64_t mult;
    unsigned shift;
    assert_int_equal(handover_scale(&tsc, &mult, &shift, NULL), 0);
    uint64_t hour_ticks = 3600ull * 2500000000ull; // ticks of an hour
    double ns = (double)((hour_ticks / 8 * mult) >> shift) * 8;
    assert_true(ns > 3600e9 * 0.999999 && ns < 3600e9 * 1.000001);
    assert_true(hour_ticks <= UINT64_MAX / mult);
}

static void a_clock_without_sense_is_refused(void **state)
{
    (void)state;
    uint64_t mult;
    unsigned shift;
    struct err e = {0};
    const struct trace_clock standing = {.is_tsc = 1, .start = {5, 5}, .later = {5, 500}};
    assert_int_equal(handover_scale(&standing, &mult, &shift, &e), -1);
    assert_non_null(strstr(e.text, "doctor"));
}

static void control_reaches_another_mapping(void **state)
{
    (void)state;
    char folder[] = "/tmp/lightmeter-test-XXXXXX", path[64];
    struct err e = {0};
    assert_non_null(mkdtemp(folder));
    int fd = open(folder, O_RDONLY | O_DIRECTORY);
    const struct handover_options o = {.clock = &mono};
    struct trace_control *control = handover_open(fd, &o, &e);
    assert_non_null(control);
    assert_int_equal(control->state, HANDOVER_RECORD);
    handover_set(control, HANDOVER_AGGREGATE);
    handover_beat(control, 77);
    handover_stock(control, 5, 6);
    struct trace_control seen = {0};
    snprintf(path, sizeof path, "%s/control", folder);
    int other = open(path, O_RDONLY);
    assert_int_equal(read(other, &seen, sizeof seen), sizeof seen);
    assert_int_equal(seen.state, HANDOVER_AGGREGATE);
    assert_int_equal(seen.beat_ns, 77);
    assert_int_equal(seen.stock[0], 1ull << 32 | 5);
    assert_int_equal(seen.stock[1], 1ull << 32 | 6);
    handover_stock(control, 0, 0);
    assert_int_equal(control->stock[0], 2ull << 32);
    assert_int_equal(lseek(other, 0, SEEK_END), 4096);
    close(other);
    // A second launcher in the same directory would disturb the first.
    assert_null(handover_open(fd, &o, &e));
    handover_close(&control);
    assert_null(control);
    close(fd);
    assert_int_equal(file_remove_tree(folder, &e), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_text_has_every_word),
        cmocka_unit_test(the_scale_is_exact_and_does_not_overflow),
        cmocka_unit_test(a_clock_without_sense_is_refused),
        cmocka_unit_test(control_reaches_another_mapping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
