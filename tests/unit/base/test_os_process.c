// SPDX-License-Identifier: Apache-2.0
// Tests of pressure, steal, and process counters of base/os.h, on given text and on this process.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/os.h"

#include "tree.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define REST                                                                                       \
    " S 41 42 43 0 -1 4194304 101 102 7 104 250 50 0 0 20 -5 3 0 6000 9999 25 184467 1 2 3 4 5\n"

static uint64_t jiffy_ns(void)
{
    return 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
}

static void reads_any_name_of_a_process(void **state)
{
    (void)state;
    static const char *const names[] = {
        "cat", "a b", "x) S 1 2", "((", ")", "", "new\nline", ") R 1 ("};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct os_process_stat stat = {0};
        char text[256];
        snprintf(text, sizeof text, "40 (%s)" REST, names[i]);
        assert_int_equal(os_process_stat_parse(text, &stat), 0);
        assert_string_equal(stat.name, names[i]);
        assert_int_equal(stat.state, 'S');
        assert_int_equal(stat.parent_pid, 41);
        assert_int_equal(stat.minor_faults, 101);
        assert_int_equal(stat.major_faults, 7);
        assert_int_equal(stat.user_ns, 250 * jiffy_ns());
        assert_int_equal(stat.system_ns, 50 * jiffy_ns());
        assert_int_equal(stat.thread_count, 3);
        assert_int_equal(stat.start_ns, 6000 * jiffy_ns());
        assert_int_equal(stat.resident_bytes, 25 * sysconf(_SC_PAGESIZE));
    }
}

static void cuts_names_that_are_too_long(void **state)
{
    (void)state;
    struct os_process_stat stat;
    char name[101], text[256];
    memset(name, 'n', 100);
    name[100] = 0;
    snprintf(text, sizeof text, "1 (%s)" REST, name);
    assert_int_equal(os_process_stat_parse(text, &stat), 0);
    assert_int_equal(strlen(stat.name), sizeof stat.name - 1);
}

static void refuses_malformed_stat(void **state)
{
    (void)state;
    static const char *const cases[] = {"", "1", "1 (x", "1 x) S 1", "(x)" REST, "1 (x)", "1 (x) ",
        "1 (x) S", "1 (x) S ", "1 (x) S 1 2 3", "1 )x(" REST, "1 (x) 5 41 42", "1 (x)S 41",
        "1 (x) S 99999999999 2 3 0 -1 4 5 6 7 8 9 10 0 0 20 0 1 0 600 9 25 1",
        "1 (x) S 1 2 3 0 -1 y 5 6 7 8 9 10 0 0 20 0 1 0 600 9 25 1"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct os_process_stat stat = {.minor_faults = 77};
        assert_int_equal(os_process_stat_parse(cases[i], &stat), -1);
        assert_int_equal(stat.minor_faults, 77);
    }
    char whole[256] = "40 (x)" REST;
    struct os_process_stat stat;
    for (size_t length = strlen(whole); length > 75; length--) {
        whole[length] = 0;
        os_process_stat_parse(whole, &stat); // must only stay within the text
    }
}

static void reads_io(void **state)
{
    (void)state;
    static const char text[] = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\n"
                               "write_bytes: 6\ncancelled_write_bytes: 7\n";
    struct os_process_io io = {0};
    assert_int_equal(os_process_io_parse(text, &io), 0);
    assert_int_equal(io.called_read_bytes, 1);
    assert_int_equal(io.called_write_bytes, 2);
    assert_int_equal(io.read_calls, 3);
    assert_int_equal(io.write_calls, 4);
    assert_int_equal(io.disk_read_bytes, 5);
    assert_int_equal(io.disk_write_bytes, 6);
    io.read_calls = 77;
    assert_int_equal(os_process_io_parse("", &io), -1);
    assert_int_equal(os_process_io_parse("rchar: 1\nwchar: 2\nsyscr: x\n", &io), -1);
    assert_int_equal(os_process_io_parse("cancelled_write_bytes: 7\n", &io), -1);
    assert_int_equal(io.read_calls, 77);
}

static void reads_schedstat(void **state)
{
    (void)state;
    struct os_schedstat s = {0};
    assert_int_equal(os_schedstat_parse("123 456 7\n", &s), 0);
    assert_int_equal(s.run_ns, 123);
    assert_int_equal(s.wait_ns, 456);
    assert_int_equal(s.turns, 7);
    assert_int_equal(os_schedstat_parse("", &s), -1);
    assert_int_equal(os_schedstat_parse("1 2\n", &s), -1);
    assert_int_equal(os_schedstat_parse("1 2 x\n", &s), -1);
    assert_int_equal(os_schedstat_parse("-1 2 3\n", &s), -1);
    assert_int_equal(os_schedstat_parse("1 2 18446744073709551616\n", &s), -1);
    assert_int_equal(s.run_ns, 123);
}

static void reads_pressure(void **state)
{
    (void)state;
    struct os_psi_line line;
    os_psi_parse("some avg10=76.23 avg60=1.00 avg300=2.00 total=253911735\n"
                 "full avg10=0.00 avg60=0.00 avg300=0.00 total=17\n",
        &line);
    assert_true(line.is_known && line.has_full);
    assert_int_equal(line.some_us, 253911735);
    assert_int_equal(line.full_us, 17);
    os_psi_parse("some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n", &line); // older kernels: cpu
    assert_true(line.is_known && !line.has_full);
    assert_int_equal(line.some_us, 5);
    static const char *const cases[] = {"", "some\n", "some total=\n", "some total=x\n",
        "full avg10=0 total=3\n", "something total=4\n"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        os_psi_parse(cases[i], &line);
        assert_false(line.is_known || line.has_full);
    }
}

static void reads_pressure_files_that_are_there(void **state)
{
    (void)state;
    struct os_psi psi;
    tree_put("/proc/pressure/io", "some avg10=0 total=9\nfull avg10=0 total=8\n");
    os_psi_read(tree_root, &psi);
    assert_false(psi.cpu.is_known);
    assert_false(psi.memory.is_known);
    assert_true(psi.io.is_known && psi.io.some_us == 9 && psi.io.full_us == 8);
}

static void reads_steal(void **state)
{
    (void)state;
    uint64_t steal_ns = 77;
    assert_int_equal(os_steal_read(tree_root, &steal_ns), -1);
    tree_put("/proc/stat", "cpu  1 2 3 4 5 6 7\ncpu0 1 2 3 4 5 6 7 9\n");
    assert_int_equal(os_steal_read(tree_root, &steal_ns), -1);
    assert_int_equal(steal_ns, 77);
    tree_put("/proc/stat", "cpu  1 2 3 4 5 6 7 3772 0 0\ncpu0 1 2 3 4 5 6 7 9 0 0\n");
    assert_int_equal(os_steal_read(tree_root, &steal_ns), 0);
    assert_int_equal(steal_ns, 3772 * jiffy_ns());
}

struct seen_thread {
    pthread_barrier_t *barrier;
    char path[64]; // of its stat file
};

static void *wait_at_barrier(void *context)
{
    struct seen_thread *seen = context;
    prctl(PR_SET_NAME, "a) R (b 9");
    snprintf(seen->path, sizeof seen->path, "/proc/self/task/%d/stat", gettid());
    pthread_barrier_wait(seen->barrier);
    pthread_barrier_wait(seen->barrier);
    return NULL;
}

static void knows_a_thread_of_this_process(void **state)
{
    (void)state;
    pthread_barrier_t barrier;
    pthread_t thread;
    struct buf text = {0};
    struct os_process_stat stat = {0};
    struct seen_thread seen = {.barrier = &barrier};
    pthread_barrier_init(&barrier, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, wait_at_barrier, &seen), 0);
    pthread_barrier_wait(&barrier);
    int result = file_read(seen.path, 4096, &text, NULL);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    assert_int_equal(result, 0);
    assert_int_equal(os_process_stat_parse(buf_text(&text), &stat), 0);
    assert_string_equal(stat.name, "a) R (b 9");
    assert_int_equal(stat.parent_pid, getppid());
    assert_true(stat.thread_count >= 2);
    assert_true(stat.resident_bytes > 4096);
    buf_fini(&text);
}

int main(void)
{
#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, tree_set_up, tree_tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_any_name_of_a_process),
        cmocka_unit_test(cuts_names_that_are_too_long),
        cmocka_unit_test(refuses_malformed_stat),
        cmocka_unit_test(reads_io),
        cmocka_unit_test(reads_schedstat),
        cmocka_unit_test(reads_pressure),
        IN_TREE(reads_pressure_files_that_are_there),
        IN_TREE(reads_steal),
        cmocka_unit_test(knows_a_thread_of_this_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
