// SPDX-License-Identifier: Apache-2.0
// The agent's reading of the launcher's configuration: good lines, unknown ones, and files that are
// not what they should be.
#include "agent/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/lightmeter-config-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char path[64];
    (void)state;
    snprintf(path, sizeof path, "%s/config", folder);
    unlink(path);
    return rmdir(folder);
}

static int read_text(const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "%s/config", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    config = (struct config){0};
    return config_read(folder);
}

static void test_reads_all_lines(void **state)
{
    (void)state;
    assert_int_equal(read_text("version 1\nclock tsc\nscale 123456 32\nnohook libjpeg\n"
                               "function own::* mine\nlibrary libfoo* foo\nlater word\n"
                               "range infer ocr:find text*\n"),
        0);
    assert_true(config.clock_is_tsc);
    assert_int_equal(config.scale_mult, 123456);
    assert_int_equal(config.scale_shift, 32);
    assert_true(config_is_off("libjpeg"));
    assert_false(config_is_off("libjpe"));
    assert_int_equal(config.map_count, 2);
    assert_string_equal(config.maps[0].pattern, "own::*");
    assert_string_equal(config.maps[0].stage, "mine");
    assert_false(config.maps[0].is_library);
    assert_true(config.maps[1].is_library);
    assert_int_equal(config.range_count, 1);
    assert_string_equal(config.ranges[0].pattern, "ocr:find text*");
    assert_string_equal(config.ranges[0].word, "infer");
}

static void test_refuses_what_it_cannot_use(void **state)
{
    (void)state;
    assert_int_equal(read_text(""), -1);
    assert_int_equal(read_text("clock tsc\n"), -1);
    assert_int_equal(read_text("scale 0 32\n"), -1);
    assert_int_equal(read_text("scale 1 64\n"), -1);
    assert_int_equal(config_read("/nonexistent/folder"), -1);
}

static void test_leaves_out_half_lines(void **state)
{
    (void)state;
    assert_int_equal(read_text("scale 5 1\nfunction onlypattern\nlibrary\nrange word\n"), 0);
    assert_int_equal(config.range_count, 0);
    assert_int_equal(config.map_count, 0);
}

static void test_matches_globs(void **state)
{
    (void)state;
    assert_true(config_matches("abc", "abc"));
    assert_false(config_matches("abc", "abcd"));
    assert_true(config_matches("a*c", "abbbc"));
    assert_true(config_matches("a*c*", "acb"));
    assert_true(config_matches("*", ""));
    assert_true(config_matches("a?c", "abc"));
    assert_false(config_matches("a?c", "ac"));
    assert_true(config_matches("*b*b*", "abab"));
    assert_false(config_matches("*x", "abab"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_all_lines),
        cmocka_unit_test(test_refuses_what_it_cannot_use),
        cmocka_unit_test(test_leaves_out_half_lines),
        cmocka_unit_test(test_matches_globs),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
