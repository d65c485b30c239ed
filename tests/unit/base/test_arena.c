// SPDX-License-Identifier: Apache-2.0
// Tests of base/arena.h: alignment, zeroing, separateness of objects, strings.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"

#include <string.h>

static void gives_aligned_zeroed_separate_memory(void **state)
{
    (void)state;
    struct arena *a = arena_new();
    unsigned char *at[400];
    size_t length[400];
    for (size_t i = 0; i < 400; i++) {
        length[i] = (i * 7919) % 3000 + (i % 50 == 0 ? 100000 : 0);
        at[i] = arena_alloc(a, length[i]);
        assert_int_equal((uintptr_t)at[i] % 16, 0);
        for (size_t j = 0; j < length[i]; j++)
            assert_int_equal(at[i][j], 0);
        memset(at[i], (int)(i & 0xff), length[i]);
    }
    for (size_t i = 0; i < 400; i++)
        for (size_t j = 0; j < length[i]; j++)
            assert_int_equal(at[i][j], i & 0xff);
    arena_free(&a);
    assert_null(a);
}

static void small_objects_go_on_behind_a_large_one(void **state)
{
    (void)state;
    struct arena *a = arena_new();
    char *first = arena_alloc(a, 16);
    (void)arena_alloc(a, 5u << 20);
    char *second = arena_alloc(a, 16);
    assert_ptr_equal(second, first + 16);
    arena_free(&a);
}

static void empty_objects_differ(void **state)
{
    (void)state;
    struct arena *a = arena_new();
    char *one = arena_alloc(a, 0), *other = arena_alloc(a, 0);
    assert_ptr_not_equal(one, other);
    arena_free(&a);
}

static void copies_strings(void **state)
{
    (void)state;
    struct arena *a = arena_new();
    char from[] = "decode";
    char *whole = arena_strdup(a, from), *part = arena_strndup(a, from, 3);
    char *beyond = arena_strndup(a, from, 100), *none = arena_strdup(a, "");
    from[0] = 'X';
    assert_string_equal(whole, "decode");
    assert_string_equal(part, "dec");
    assert_string_equal(beyond, "decode");
    assert_string_equal(none, "");
    arena_free(&a);
}

static void prints_text_of_any_length(void **state)
{
    (void)state;
    struct arena *a = arena_new();
    assert_string_equal(arena_printf(a, "%s-%d", "x", 42), "x-42");
    assert_string_equal(arena_printf(a, "%s", ""), "");
    char *text = arena_printf(a, "%050000d|", 7);
    assert_int_equal(strlen(text), 50001);
    assert_string_equal(text + 49999, "7|");
    arena_free(&a);
}

static void frees_nothing_quietly(void **state)
{
    (void)state;
    struct arena *a = NULL;
    arena_free(&a);
    arena_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_aligned_zeroed_separate_memory),
        cmocka_unit_test(small_objects_go_on_behind_a_large_one),
        cmocka_unit_test(empty_objects_differ),
        cmocka_unit_test(copies_strings),
        cmocka_unit_test(prints_text_of_any_length),
        cmocka_unit_test(frees_nothing_quietly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
