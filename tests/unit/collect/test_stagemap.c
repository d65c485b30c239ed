// SPDX-License-Identifier: Apache-2.0
// Stage maps: what is read, and that each message names file, line and column and what to do.
#include "collect/stagemap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static int parse(const char *text, struct stagemap *map, struct err *e)
{
    return stagemap_parse(text, strlen(text), "m.yaml", map, e);
}

static void both_sections_are_read(void **state)
{
    (void)state;
    struct stagemap map;
    struct err e = {0};
    assert_int_equal(parse("functions:\n  decode_row*: decode\n  \"fn::x\": 'track'\n"
                           "libraries:\n  \"libpre.so*\": preprocess\n",
                         &map, &e),
        0);
    assert_int_equal(map.entries.count, 3);
    assert_string_equal(map.entries.at[0].pattern, "decode_row*");
    assert_string_equal(map.entries.at[0].stage, "decode");
    assert_false(map.entries.at[0].is_library);
    assert_string_equal(map.entries.at[1].pattern, "fn::x");
    assert_string_equal(map.entries.at[2].pattern, "libpre.so*");
    assert_true(map.entries.at[2].is_library);
    stagemap_fini(&map);
    assert_int_equal(map.entries.count, 0);
}

static void ranges_are_read(void **state)
{
    (void)state;
    struct stagemap map;
    struct err e = {0};
    assert_int_equal(parse("ranges:\n  \"ocr:detect text*\": infer\n  \"frame #\": item\n"
                           "  conv1: ignore\nfunctions:\n  f1: decode\n",
                         &map, &e),
        0);
    assert_int_equal(map.entries.count, 4);
    assert_int_equal(map.range_count, 3);
    assert_string_equal(map.entries.at[0].pattern, "ocr:detect text*");
    assert_true(map.entries.at[0].is_range);
    assert_string_equal(map.entries.at[1].stage, "item");
    assert_false(map.entries.at[3].is_range);
    stagemap_fini(&map);
}

static void refused(const char *text, const char *begin, const char *part)
{
    struct stagemap map;
    struct err e = {0};
    assert_int_equal(parse(text, &map, &e), -1);
    assert_int_equal(map.entries.count, 0);
    if (strncmp(e.text, begin, strlen(begin)) != 0 || !strstr(e.text, part))
        fail_msg("'%s' does not begin with '%s' and hold '%s'", e.text, begin, part);
}

static void messages_name_the_place(void **state)
{
    (void)state;
    refused("functions:\n  a: b\nlibrarys:\n  x: y\n", "m.yaml:3:1: ", "Did you mean 'libraries'?");
    refused("functions:\n  a: b\nqqqqq: 1\n", "m.yaml:3:1: ", "functions, libraries and ranges");
    refused("functions: decode\n", "m.yaml:1:12: ", "PATTERN: STAGE");
    refused("functions:\n- a\n", "m.yaml:2:1: ", "PATTERN: STAGE");
    refused("libraries:\n  lib.so:\n    x: y\n", "m.yaml:3:5: ", "must be a word");
    refused("functions:\n  ok: fine\n  f: 12\n", "m.yaml:3:6: ", "quote it");
    refused("functions:\n  a b: decode\n", "m.yaml:2:3: ", "blank");
    refused("functions:\n  f: two words\n", "m.yaml:2:6: ", "blank");
    refused("functions:\n  f: \"\"\n", "m.yaml:2:6: ", "empty");
    refused("functions:\n  f: \"a\\tb\"\n", "m.yaml:2:6: ", "control");
    refused("functions:\n  f: [1, 2\n", "m.yaml:", "YAML");
    refused("- functions\n", "m.yaml:1:1: ", "functions:");
    refused("", "m.yaml:1:1: ", "functions:");
    refused("ranges:\n  a: b\n  \"frame 12\": item\n", "m.yaml:3:3: ", "write #");
    refused("ranges:\n  conv12: item\n", "m.yaml:2:3: ", "write #");
    refused("ranges:\n  a: two words\n", "m.yaml:2:6: ", "blank");
    refused("ranges:\n  \" a\": item\n", "m.yaml:2:3: ", "blank");
    refused("range:\n  a: item\n", "m.yaml:1:1: ", "Did you mean 'ranges'?");
    refused("functions: {}\n", "m.yaml:1:1: ", "no entries");
}

static void the_key_of_its_own_section_is_found(void **state)
{
    (void)state;
    // The same pattern stands in both sections; the second is the wrong one.
    refused("functions:\n  x: decode\nlibraries:\n  y: infer\n  x: 5\n", "m.yaml:5:6: ", "'x'");
}

static void entries_are_limited(void **state)
{
    (void)state;
    static char text[16384];
    size_t n = (size_t)snprintf(text, sizeof text, "functions:\n");
    for (int i = 0; i < STAGEMAP_ENTRIES_LIMIT; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "  f%d: decode\n", i);
    struct stagemap map;
    struct err e = {0};
    assert_int_equal(parse(text, &map, &e), 0);
    assert_int_equal(map.entries.count, STAGEMAP_ENTRIES_LIMIT);
    stagemap_fini(&map);
    snprintf(text + n, sizeof text - n, "  one_more: decode\n");
    refused(text, "m.yaml:130:3: ", "128");
    memset(text, 'a', 300);
    snprintf(text + 300, sizeof text - 300, ": x");
    char long_one[400];
    snprintf(long_one, sizeof long_one, "functions:\n  %.320s\n", text);
    refused(long_one, "m.yaml:2:3: ", "200");
}

static void a_missing_file_is_told(void **state)
{
    (void)state;
    struct stagemap map;
    struct err e = {0};
    assert_int_equal(stagemap_read("/nonexistent/m.yaml", &map, &e), -1);
    assert_non_null(strstr(e.text, "/nonexistent/m.yaml"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sections_are_read),
        cmocka_unit_test(ranges_are_read),
        cmocka_unit_test(messages_name_the_place),
        cmocka_unit_test(the_key_of_its_own_section_is_found),
        cmocka_unit_test(entries_are_limited),
        cmocka_unit_test(a_missing_file_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
