// SPDX-License-Identifier: Apache-2.0
// Tests of base/file.h: limits, atomic output (also with a full disk), removal that follows no
// link.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/lightmeter-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return file_remove_tree(folder, NULL);
}

static void write_plain(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void assert_content(const char *path, const char *expected)
{
    struct buf got = {0};
    struct err e = {0};
    if (file_read(path, 1u << 20, &got, &e) != 0)
        fail_msg("%s", err_text(&e));
    assert_string_equal(buf_text(&got), expected);
    buf_fini(&got);
}

static int entries(const char *path)
{
    DIR *dir = opendir(path);
    assert_non_null(dir);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void reads_up_to_the_limit(void **state)
{
    (void)state;
    write_plain(in_folder("a"), "12345");
    struct buf got = {0};
    struct err e = {0};
    buf_puts(&got, "<");
    assert_int_equal(file_read(in_folder("a"), 5, &got, &e), 0);
    assert_string_equal(buf_text(&got), "<12345");
    assert_int_equal(file_read(in_folder("a"), 4, &got, &e), -1);
    assert_non_null(strstr(err_text(&e), "larger than the 4 bytes"));
    buf_fini(&got);
}

static void reads_files_of_proc(void **state)
{
    (void)state;
    struct buf got = {0};
    assert_int_equal(file_read("/proc/self/stat", 1u << 16, &got, NULL), 0);
    assert_true(got.length_bytes > 20);
    buf_fini(&got);
}

static void says_why_it_cannot_read(void **state)
{
    (void)state;
    struct buf got = {0};
    struct err e = {0};
    assert_int_equal(file_read(in_folder("none"), 10, &got, &e), -1);
    assert_non_null(strstr(err_text(&e), "none: there is no such file"));
    assert_int_equal(file_read(folder, 10, &got, &e), -1);
    assert_non_null(strstr(err_text(&e), "is a directory"));
    assert_null(got.at);
}

static void maps_regular_files_only(void **state)
{
    (void)state;
    struct file_map map;
    struct err e = {0};
    write_plain(in_folder("m"), "mapped");
    assert_int_equal(file_map_open(in_folder("m"), &map, &e), 0);
    assert_int_equal(map.length_bytes, 6);
    assert_memory_equal(map.at, "mapped", 6);
    file_map_close(&map);
    assert_null(map.at);
    file_map_close(&map);
    write_plain(in_folder("empty"), "");
    assert_int_equal(file_map_open(in_folder("empty"), &map, &e), 0);
    assert_null(map.at);
    file_map_close(&map);
    assert_int_equal(mkfifo(in_folder("fifo"), 0600), 0);
    alarm(10); // a defect would wait here for a writer
    assert_int_equal(file_map_open(in_folder("fifo"), &map, &e), -1);
    alarm(0);
    assert_non_null(strstr(err_text(&e), "not a regular file"));
}

static void output_appears_only_at_commit(void **state)
{
    (void)state;
    const char *path = in_folder("out");
    struct err e = {0};
    struct file_out *f = file_out_open(path, &e);
    assert_non_null(f);
    assert_int_equal(file_out_write(f, "hello ", 6, &e), 0);
    assert_int_equal(file_out_write(f, "world", 5, &e), 0);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(file_out_commit(&f, &e), 0);
    assert_null(f);
    assert_content(path, "hello world");
    assert_int_equal(entries(folder), 1);
}

static void aborted_output_leaves_the_old_file(void **state)
{
    (void)state;
    const char *path = in_folder("out");
    write_plain(path, "old");
    struct file_out *f = file_out_open(path, NULL);
    assert_int_equal(file_out_write(f, "new", 3, NULL), 0);
    file_out_abort(&f);
    assert_null(f);
    file_out_abort(&f);
    assert_content(path, "old");
    assert_int_equal(entries(folder), 1);
}

static void large_and_small_writes_keep_their_order(void **state)
{
    (void)state;
    enum { LARGE = 200000 };
    char *expected = calloc(1, 3 * LARGE), *end = expected;
    struct file_out *f = file_out_open(in_folder("out"), NULL);
    for (size_t i = 0; i < 60; i++) {
        size_t length = i % 20 == 7 ? LARGE / 2 : i * 97;
        memset(end, (int)('a' + i % 26), length);
        assert_int_equal(file_out_write(f, end, length, NULL), 0);
        end += length;
    }
    assert_int_equal(file_out_commit(&f, NULL), 0);
    assert_content(in_folder("out"), expected);
    free(expected);
}

static void full_disk_leaves_the_old_file_and_nothing_else(void **state)
{
    (void)state;
    const char *path = in_folder("out");
    write_plain(path, "old");
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    char *bytes = calloc(1, 100000);
    struct err small_error = {0}, large_error = {0}, later_error = {0};
    int small_write = file_write(path, bytes, 2000, &small_error);
    struct file_out *f = file_out_open(path, NULL);
    int large_write = file_out_write(f, bytes, 100000, &large_error);
    int later_write = file_out_write(f, bytes, 1, &later_error);
    int commit = file_out_commit(&f, NULL);
    setrlimit(RLIMIT_FSIZE, &before);
    free(bytes);
    assert_int_equal(small_write, -1);
    assert_int_equal(large_write, -1);
    assert_int_equal(later_write, -1);
    assert_int_equal(commit, -1);
    assert_non_null(strstr(err_text(&small_error), "writing failed"));
    assert_non_null(strstr(err_text(&large_error), "File too large"));
    assert_non_null(strstr(err_text(&later_error), "earlier write"));
    assert_content(path, "old");
    assert_int_equal(entries(folder), 1);
}

// A pipe stands for all that is no regular file: a defect here must not replace the devices of the
// machine, which the superuser may do.
static void pipes_are_written_in_place(void **state)
{
    (void)state;
    struct err e = {0};
    struct stat st;
    char got[8] = "";
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    int reader = open(in_folder("pipe"), O_RDONLY | O_NONBLOCK);
    assert_int_equal(file_write(in_folder("pipe"), "x", 1, &e), 0);
    assert_int_equal(read(reader, got, sizeof got), 1);
    assert_string_equal(got, "x");
    signal(SIGPIPE, SIG_IGN);
    struct file_out *f = file_out_open(in_folder("pipe"), &e);
    close(reader);
    assert_int_equal(file_out_write(f, "y", 1, &e), 0);
    assert_int_equal(file_out_commit(&f, &e), -1);
    assert_non_null(strstr(err_text(&e), "pipe: writing failed"));
    assert_non_null(strstr(err_text(&e), "Broken pipe"));
    assert_int_equal(stat(in_folder("pipe"), &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    assert_int_equal(entries(folder), 1);
}

static void links_keep_pointing_to_what_is_written(void **state)
{
    (void)state;
    assert_int_equal(mkdir(in_folder("real"), 0700), 0);
    write_plain(in_folder("real/file"), "old");
    assert_int_equal(chmod(in_folder("real/file"), 0640), 0);
    assert_int_equal(symlink("real/file", in_folder("link")), 0);
    assert_int_equal(file_write(in_folder("link"), "new", 3, NULL), 0);
    struct stat st;
    assert_int_equal(lstat(in_folder("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_content(in_folder("real/file"), "new");
    assert_int_equal(stat(in_folder("real/file"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

static void leftover_of_a_dead_process_makes_room(void **state)
{
    (void)state;
    char left[300];
    snprintf(left, sizeof left, "%s.tmp-%ld", in_folder("out"), (long)getpid());
    write_plain(left, "left over, and longer than what comes");
    assert_int_equal(file_write(in_folder("out"), "new", 3, NULL), 0);
    assert_content(in_folder("out"), "new");
    assert_int_equal(entries(folder), 1);
    // A link laid there must not be written through.
    write_plain(in_folder("victim"), "safe");
    assert_int_equal(symlink("victim", left), 0);
    assert_int_equal(file_write(in_folder("out"), "again", 5, NULL), 0);
    assert_content(in_folder("victim"), "safe");
    assert_content(in_folder("out"), "again");
}

static void says_why_it_cannot_write(void **state)
{
    (void)state;
    struct err e = {0};
    assert_null(file_out_open(in_folder("no/such/place"), &e));
    assert_non_null(strstr(err_text(&e), "no/such/place: cannot be created"));
    assert_null(file_out_open(folder, &e));
    assert_non_null(strstr(err_text(&e), "Is a directory"));
    assert_null(file_out_open("", &e));
    assert_non_null(strstr(err_text(&e), "empty"));
}

static void dash_is_standard_output(void **state)
{
    (void)state;
    int saved = dup(STDOUT_FILENO);
    int fd = open(in_folder("stdout"), O_CREAT | O_RDWR, 0600);
    fflush(stdout);
    dup2(fd, STDOUT_FILENO);
    int result = file_write("-", "to the pipe", 11, NULL);
    int still_open = fcntl(STDOUT_FILENO, F_GETFD);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(fd);
    assert_int_equal(result, 0);
    assert_true(still_open >= 0);
    assert_content(in_folder("stdout"), "to the pipe");
    assert_int_equal(access("-", F_OK), -1);
}

static void full_standard_output_is_an_error(void **state)
{
    (void)state;
    struct err e = {0};
    int full = open("/dev/full", O_WRONLY);
    if (full < 0)
        skip();
    int saved = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(full, STDOUT_FILENO);
    int result = file_write("-", "x", 1, &e);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(full);
    assert_int_equal(result, -1);
    assert_non_null(strstr(err_text(&e), "standard output: writing failed"));
    assert_non_null(strstr(err_text(&e), "No space left on device"));
}

static void removes_a_tree_but_not_what_links_lead_to(void **state)
{
    (void)state;
    assert_int_equal(mkdir(in_folder("keep"), 0700), 0);
    write_plain(in_folder("keep/file"), "kept");
    assert_int_equal(mkdir(in_folder("tree"), 0700), 0);
    assert_int_equal(mkdir(in_folder("tree/sub"), 0700), 0);
    write_plain(in_folder("tree/sub/file"), "x");
    assert_int_equal(symlink("../keep", in_folder("tree/to-folder")), 0);
    assert_int_equal(symlink("../keep/file", in_folder("tree/to-file")), 0);
    assert_int_equal(symlink("nowhere", in_folder("tree/dangling")), 0);
    assert_int_equal(symlink("tree", in_folder("to-tree")), 0);
    struct err e = {0};
    if (file_remove_tree(in_folder("tree"), &e) != 0)
        fail_msg("%s", err_text(&e));
    assert_int_equal(access(in_folder("tree"), F_OK), -1);
    assert_content(in_folder("keep/file"), "kept");
    assert_int_equal(symlink("keep", in_folder("to-keep")), 0);
    assert_int_equal(file_remove_tree(in_folder("to-keep"), &e), 0);
    assert_content(in_folder("keep/file"), "kept");
    assert_int_equal(file_remove_tree(in_folder("tree"), &e), 0);
    write_plain(in_folder("single"), "x");
    assert_int_equal(file_remove_tree(in_folder("single"), &e), 0);
    assert_int_equal(access(in_folder("single"), F_OK), -1);
}

static void stops_at_a_bottomless_tree(void **state)
{
    (void)state;
    char path[512];
    int length = snprintf(path, sizeof path, "%s/deep", folder);
    for (int i = 0; i < 80; i++) {
        assert_int_equal(mkdir(path, 0700), 0);
        length += snprintf(path + length, sizeof path - (size_t)length, "/d");
    }
    struct err e = {0};
    assert_int_equal(file_remove_tree(in_folder("deep"), &e), -1);
    assert_non_null(strstr(err_text(&e), "deeper than"));
    snprintf(path, sizeof path, "rm -r %s/deep", folder);
    assert_int_equal(system(path), 0);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(reads_up_to_the_limit),
        IN_FOLDER(reads_files_of_proc),
        IN_FOLDER(says_why_it_cannot_read),
        IN_FOLDER(maps_regular_files_only),
        IN_FOLDER(output_appears_only_at_commit),
        IN_FOLDER(aborted_output_leaves_the_old_file),
        IN_FOLDER(large_and_small_writes_keep_their_order),
        IN_FOLDER(full_disk_leaves_the_old_file_and_nothing_else),
        IN_FOLDER(pipes_are_written_in_place),
        IN_FOLDER(links_keep_pointing_to_what_is_written),
        IN_FOLDER(leftover_of_a_dead_process_makes_room),
        IN_FOLDER(says_why_it_cannot_write),
        IN_FOLDER(dash_is_standard_output),
        IN_FOLDER(full_standard_output_is_an_error),
        IN_FOLDER(removes_a_tree_but_not_what_links_lead_to),
        IN_FOLDER(stops_at_a_bottomless_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
