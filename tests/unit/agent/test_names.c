// SPDX-License-Identifier: Apache-2.0
// The name table: one number per name and stage, also from many threads at once, and when it is
// full.
#include "agent/names.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void test_same_name_same_number(void **state)
{
    (void)state;
    uint16_t first = names_intern("cv::imread", "decode", 0);
    assert_true(first > 1);
    assert_int_equal(names_intern("cv::imread", "decode", 0), first);
    assert_int_not_equal(names_intern("cv::imread", "load", 0), first);
    assert_int_not_equal(names_intern("cv::imrea", "ddecode", 0), first);
}

static uint16_t seen[4][100];

static void *intern_all(void *argument)
{
    uint16_t *own = argument;
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof name, "thread-%d", i);
        own[i] = names_intern(name, "stage", 0);
    }
    return NULL;
}

static void test_threads_agree_afterwards(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, intern_all, seen[i]), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    uint16_t last[100];
    intern_all(last);
    for (int i = 1; i < 100; i++)
        assert_int_not_equal(last[i], last[i - 1]);
    intern_all(seen[0]);
    for (int i = 0; i < 100; i++)
        assert_int_equal(seen[0][i], last[i]);
}

static void test_full_table_gives_the_overflow(void **state)
{
    (void)state;
    uint16_t before = names_intern("cv::imread", "decode", 0), last = 0;
    for (unsigned i = 0; i < NAMES_LIMIT + 100; i++) {
        char name[24];
        snprintf(name, sizeof name, "filler-%u", i);
        last = names_intern(name, "filler", 0);
        assert_true(last >= 1 && last < NAMES_LIMIT);
    }
    assert_int_equal(last, 1);
    assert_int_equal(names_intern("cv::imread", "decode", 0), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_name_same_number),
        cmocka_unit_test(test_threads_agree_afterwards),
        cmocka_unit_test(test_full_table_gives_the_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
