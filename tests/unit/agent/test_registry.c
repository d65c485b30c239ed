// SPDX-License-Identifier: Apache-2.0
// The registry of hook sets: each set is named as its row, once, has help, and its functions have
// all their thunks, no two alike.
#include "agent/bridge.h"
#include "agent/hook.h"
#include "collect/bridges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const rows[] = {
#define ROW(name) #name,
#include "agent/hooks/registry.def"
#undef ROW
    NULL};

static void test_names_are_the_rows(void **state)
{
    (void)state;
    int count = 0;
    for (; rows[count]; count++) {
        assert_non_null(hook_sets[count]);
        assert_string_equal(hook_sets[count]->name, rows[count]);
        assert_true(strlen(hook_sets[count]->help) > 10);
        for (int other = 0; other < count; other++)
            assert_string_not_equal(rows[other], rows[count]);
    }
    assert_null(hook_sets[count]);
    assert_true(count > 3);
}

static void test_functions_have_their_thunks(void **state)
{
    (void)state;
    for (int set = 0; hook_sets[set]; set++) {
        assert_true(!hook_sets[set]->libraries || hook_sets[set]->functions);
        const struct hook_function *f = hook_sets[set]->functions;
        for (; f && f->symbol; f++) {
            if (!hook_sets[set]->libraries) {
                assert_null(f->thunks); // of libc: interposed
                continue;
            }
            assert_non_null(f->originals);
            for (int i = 0; i < HOOK_VARIANTS; i++) {
                assert_non_null(f->thunks[i]);
                for (int k = 0; k < i; k++)
                    assert_ptr_not_equal(f->thunks[i], f->thunks[k]);
            }
        }
    }
}

// The launcher's variables are those of the bridges.
static void test_bridges_are_the_rows(void **state)
{
    (void)state;
    static const char *const names[] = {
#define ROW(name) #name,
#include "agent/bridges/registry.def"
#undef ROW
        NULL};
    int count = 0;
    for (; names[count]; count++) {
        assert_non_null(bridges[count]);
        assert_string_equal(bridges[count]->name, names[count]);
        assert_true(strlen(bridges[count]->help) > 10);
        assert_non_null(bridges[count]->modules);
        assert_string_equal(bridges_rows[count].name, names[count]);
        assert_string_equal(bridges_rows[count].variable, bridges[count]->variable);
        for (int set = 0; rows[set]; set++)
            assert_string_not_equal(rows[set], names[count]);
    }
    assert_null(bridges[count]);
    assert_null(bridges_rows[count].name);
    struct launch_variable variables[BRIDGES_VARIABLES];
    const char *off[] = {"nvtx"};
    bridges_variables("/the/agent", off, 1, variables);
    assert_string_equal(variables[0].name, "INTEL_LIBITTNOTIFY64");
    assert_string_equal(variables[0].value, "/the/agent");
    assert_null(variables[1].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_the_rows),
        cmocka_unit_test(test_functions_have_their_thunks),
        cmocka_unit_test(test_bridges_are_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
