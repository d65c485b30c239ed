// SPDX-License-Identifier: Apache-2.0
// Tests of base/vec.h: elements keep their values while the array grows; reserve; reuse.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/vec.h"

struct point {
    int x, y;
};

static void keeps_elements_while_growing(void **state)
{
    (void)state;
    VEC(struct point) v = {0};
    for (int i = 0; i < 10000; i++)
        *vec_push(&v) = (struct point){i, -i};
    assert_int_equal(v.count, 10000);
    assert_true(v.capacity >= v.count && v.capacity < 2 * v.count);
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(v.at[i].x, i);
        assert_int_equal(v.at[i].y, -i);
    }
    assert_int_equal(vec_last(&v)->x, 9999);
    vec_fini(&v);
    assert_null(v.at);
    assert_int_equal(v.count + v.capacity, 0);
}

static void pushes_zeroed_elements(void **state)
{
    (void)state;
    VEC(struct point) v = {0};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 100; i++) {
            struct point *p = vec_push(&v);
            assert_int_equal(p->x | p->y, 0);
            *p = (struct point){-1, -1};
        }
        v.count = 0; // the storage now holds old values
    }
    vec_fini(&v);
}

static void reserve_keeps_the_array_in_place(void **state)
{
    (void)state;
    VEC(char) v = {0};
    vec_reserve(&v, 1000);
    char *before = v.at;
    for (int i = 0; i < 1000; i++)
        *vec_push(&v) = (char)i;
    assert_ptr_equal(v.at, before);
    vec_reserve(&v, 10);
    assert_ptr_equal(v.at, before);
    vec_fini(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_elements_while_growing),
        cmocka_unit_test(pushes_zeroed_elements),
        cmocka_unit_test(reserve_keeps_the_array_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
