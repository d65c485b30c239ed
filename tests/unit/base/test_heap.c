// SPDX-License-Identifier: Apache-2.0
// Tests of base/heap.h: growth, and how a process ends that runs out of memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/heap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Runs `act` in a child with its standard error in `out`; gives the child's wait status.
static int run_apart(void (*act)(void), char *out, size_t out_bytes)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        act();
        _exit(0);
    }
    close(ends[1]);
    size_t total = 0;
    for (ssize_t got; (got = read(ends[0], out + total, out_bytes - 1 - total)) > 0;)
        total += (size_t)got;
    out[total] = 0;
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void want_too_much(void)
{
    (void)heap_alloc(1, (size_t)PTRDIFF_MAX - 100);
}

static void want_a_product_that_wraps(void)
{
    (void)heap_resize(NULL, (size_t)1 << 40, (size_t)1 << 40);
}

static void want_too_many_elements(void)
{
    (void)heap_capacity(8, (size_t)1 << 62, 16);
}

static void ends_the_process_with_125_and_a_message(void **state)
{
    (void)state;
    void (*acts[])(void) = {want_too_much, want_a_product_that_wraps, want_too_many_elements};
    for (size_t i = 0; i < 3; i++) {
        char said[16384];
        int status = run_apart(acts[i], said, sizeof said);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 125);
        assert_non_null(strstr(said, "lightmeter: out of memory"));
        assert_int_equal(said[strlen(said) - 1], '\n');
    }
}

static void gives_zeroed_memory_also_for_nothing(void **state)
{
    (void)state;
    unsigned char *at = heap_alloc(100, 3);
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(at[i], 0);
    free(at);
    at = heap_alloc(0, 8);
    assert_non_null(at);
    at = heap_resize(at, 0, 8);
    assert_non_null(at);
    free(at);
}

static void capacity_doubles_and_suffices(void **state)
{
    (void)state;
    assert_int_equal(heap_capacity(0, 1, 4), 8);
    assert_int_equal(heap_capacity(8, 9, 4), 16);
    assert_int_equal(heap_capacity(16, 100, 4), 100);
    size_t most = (size_t)PTRDIFF_MAX / 16;
    assert_int_equal(heap_capacity(most - 1, most, 16), most);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_the_process_with_125_and_a_message),
        cmocka_unit_test(gives_zeroed_memory_also_for_nothing),
        cmocka_unit_test(capacity_doubles_and_suffices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
