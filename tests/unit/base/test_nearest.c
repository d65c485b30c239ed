// SPDX-License-Identifier: Apache-2.0
// Tests of base/nearest.h: distances with known values, and which suggestion is made.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/nearest.h"

#include <string.h>

static void knows_distances(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        size_t distance;
    } cases[] = {{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"format", "fromat", 1},
        {"report", "report", 0}, {"run", "rnu", 1}, {"ab", "ba", 1}, {"decode", "encode", 2},
        {"abcdef", "acbdfe", 2}, {"flaw", "lawn", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(nearest_distance(cases[i].a, cases[i].b), cases[i].distance);
        assert_int_equal(nearest_distance(cases[i].b, cases[i].a), cases[i].distance);
    }
}

static void very_long_words_are_far(void **state)
{
    (void)state;
    char longest[66];
    memset(longest, 'a', 65);
    longest[65] = 0;
    assert_true(nearest_distance(longest, "a") == SIZE_MAX);
    assert_int_equal(nearest_distance(longest + 1, "a"), 63);
}

static void suggests_the_nearest(void **state)
{
    (void)state;
    static const char *const words[] = {
        "report", "record", "recover", "run", "doctor", "dump", NULL};
    assert_string_equal(nearest_word("reprot", words), "report");
    assert_string_equal(nearest_word("recrod", words), "record");
    assert_string_equal(nearest_word("rnu", words), "run");
    assert_string_equal(nearest_word("doc", words), "doctor");
    assert_string_equal(nearest_word("recov", words), "recover");
    assert_string_equal(nearest_word("dumb", words), "dump");
    assert_string_equal(nearest_word("run", words), "run");
    static const char *const twins[] = {"hook-b", "hook-a", NULL};
    assert_string_equal(nearest_word("hook-c", twins), "hook-b");
}

static void suggests_nothing_far_fetched(void **state)
{
    (void)state;
    static const char *const words[] = {"report", "run", "dump", NULL};
    assert_null(nearest_word("compare", words));
    assert_null(nearest_word("x", words));
    assert_null(nearest_word("", words));
    assert_null(nearest_word("xyz", words));
    static const char *const none[] = {NULL};
    assert_null(nearest_word("run", none));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_distances),
        cmocka_unit_test(very_long_words_are_far),
        cmocka_unit_test(suggests_the_nearest),
        cmocka_unit_test(suggests_nothing_far_fetched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
