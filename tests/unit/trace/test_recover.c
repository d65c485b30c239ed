// SPDX-License-Identifier: Apache-2.0
// Tests of `recover`: launchers killed at any moment, part files cut, done twice, writers still
// alive.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka needs the four above first.
#include <cmocka.h>

#include "base/file.h"
#include "run_place.h"
#include "trace/recover.h"
#include "trace/rundir.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void recover(const struct run_place *p, struct recover_result *result)
{
    struct err e = {0};
    const struct recover_options options = {.dir = p->dir.at};
    if (recover_run(&options, result, &e) < 0)
        fail_msg("%s", err_text(&e));
    assert_string_equal(buf_text(&result->output), p->output);
}

static unsigned files_count(const char *folder)
{
    char command[200];
    unsigned count = 0;
    snprintf(command, sizeof command, "find %s -type f | wc -l", folder);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    assert_int_equal(fscanf(out, "%u", &count), 1);
    pclose(out);
    return count;
}

// A launcher: drains until it is killed.
static pid_t launcher_start(const struct run_place *p, uint64_t *rounds)
{
    const pid_t pid = fork();
    if (pid == 0)
        for (;;) {
            if (drain_step(p->drain, 0, NULL) < 0)
                _exit(1);
            __atomic_add_fetch(rounds, 1, __ATOMIC_RELEASE);
        }
    return pid;
}

static void test_a_launcher_killed_at_any_moment_loses_nothing(void **state)
{
    (void)state;
    uint64_t *counters = counters_map();
    for (unsigned round = 0; round < 15; round++) {
        const struct drain_options options = {
            .is_pool_stocked = 1, .open_part_bytes = round % 2 ? 0 : 4096};
        struct run_place p;
        struct recover_result result;
        run_place_begin(&p, &options);
        memset(counters, 0, 64);
        const pid_t launcher = launcher_start(&p, &counters[2]);
        const pid_t writer = writer_start(&p, counters);
        run_place_leave(&p);
        const struct timespec moment = {.tv_nsec = 100000 * (1 + round * round)};
        nanosleep(&moment, NULL);
        process_kill(launcher);
        // The target goes on without its launcher, for some of the rounds.
        if (round % 3)
            nanosleep(&moment, NULL);
        process_kill(writer);
        recover(&p, &result);
        assert_int_equal(result.was_done, 0);
        assert_int_equal(result.is_kept, 0);
        const struct numbered_result a = numbered_read(p.output, (uint32_t)writer, 0);
        const struct numbered_result b = numbered_read(p.output, (uint32_t)writer, 1);
        assert_in_range(a.spans, counters[0], counters[0] + 1);
        assert_in_range(b.spans, counters[1], counters[1] + 1);
        assert_int_equal(a.first + b.first, 0);
        assert_int_equal(result.spans, a.spans + b.spans);
        assert_int_equal(result.threads, (a.spans > 0) + (b.spans > 0));
        assert_int_equal(access(p.dir.at, F_OK), -1);
        assert_int_equal(files_count(p.folder), 1);
        recover_result_fini(&result);
        run_place_remove(&p);
    }
}

// Writes half of the spans, packs some, writes the rest, and leaves all as a killed launcher would.
static uint64_t leave_run(struct run_place *p)
{
    const struct drain_options options = {.open_part_bytes = 4096};
    struct numbered_writer w;
    run_place_begin(p, &options);
    process_file_write(p, 100, 5);
    numbered_writer_init(&w, p, 100, 5, 0);
    numbered_writer_add(&w, 100000);
    assert_int_equal(drain_step(p->drain, 0, NULL), 0);
    numbered_writer_add(&w, 1000);
    assert_int_equal(drain_step(p->drain, 0, NULL), 0);
    numbered_writer_add(&w, 1000);
    return w.next; // its segments stay mapped and open, as those of a program that goes on
}

static void test_a_part_file_cut_anywhere(void **state)
{
    (void)state;
    struct run_place p;
    struct recover_result result;
    struct buf part = {0}, path = {0};
    const uint64_t spans = leave_run(&p);
    buf_puts(&path, trace_pack_part_path(p.pack));
    assert_int_equal(file_read(path.at, 1u << 24, &part, NULL), 0);
    run_place_leave(&p);
    // A killed launcher has at most its last block cut, and that one's segment is still there: here
    // the segments that were given back are gone, so that the trace begins later or ends earlier,
    // but what is there has to be right.
    struct buf copy = {0};
    for (size_t cut = 0; cut <= part.length_bytes; cut += 1 + part.length_bytes / 37) {
        copy.length_bytes = 0;
        buf_printf(&copy, "cp -r %s %s/again", p.dir.at, p.folder);
        assert_int_equal(system(copy.at), 0);
        copy.length_bytes = 0;
        buf_printf(&copy, "%s/again", p.folder);
        assert_int_equal(file_write(path.at, part.at, cut, NULL), 0);
        const struct recover_options options = {.dir = copy.at};
        assert_int_equal(recover_run(&options, &result, NULL), 0);
        assert_int_equal(numbered_read_only(p.output, 100, 0).spans, result.spans);
        assert_true(result.spans <= spans && result.spans > 1000);
        assert_int_equal(access(copy.at, F_OK), -1);
        recover_result_fini(&result);
    }
    assert_int_equal(file_write(path.at, part.at, part.length_bytes, NULL), 0);
    recover(&p, &result);
    assert_int_equal(result.spans, spans);
    assert_int_equal(result.processes, 1);
    assert_string_equal(buf_text(&result.notes), "");
    assert_int_equal(numbered_read(p.output, 100, 0).spans, spans);
    assert_int_equal(numbered_read(p.output, 100, 0).is_cut, 0);
    recover_result_fini(&result);
    buf_fini(&copy);
    buf_fini(&part);
    buf_fini(&path);
    run_place_remove(&p);
}

static void test_without_its_part_file_the_directory_is_recovered(void **state)
{
    (void)state;
    struct run_place p;
    struct recover_result result;
    leave_run(&p);
    assert_int_equal(unlink(trace_pack_part_path(p.pack)), 0);
    run_place_leave(&p);
    recover(&p, &result);
    assert_non_null(strstr(buf_text(&result.notes), "Only what the directory holds was recovered"));
    assert_true(result.spans > 1000);
    numbered_read_only(p.output, 100, 0);
    recover_result_fini(&result);
    run_place_remove(&p);
}

static void test_a_live_writer_keeps_the_directory(void **state)
{
    (void)state;
    const struct drain_options options = {.is_pool_stocked = 1};
    uint64_t *counters = counters_map();
    struct run_place p;
    struct recover_result result;
    run_place_begin(&p, &options);
    const pid_t writer = writer_start(&p, counters);
    while (!__atomic_load_n(&counters[1], __ATOMIC_ACQUIRE) || !counters[0])
        ;
    run_place_leave(&p);
    recover(&p, &result);
    assert_int_equal(result.is_kept, 1);
    assert_non_null(strstr(buf_text(&result.notes), "still writes to"));
    const uint64_t before = numbered_read(p.output, (uint32_t)writer, 0).spans;
    assert_true(before > 0);
    recover_result_fini(&result);
    while (__atomic_load_n(&counters[0], __ATOMIC_ACQUIRE) < before + 1000)
        ;
    process_kill(writer);
    recover(&p, &result);
    assert_int_equal(result.is_kept, 0);
    assert_string_equal(buf_text(&result.notes), "");
    assert_in_range(
        numbered_read(p.output, (uint32_t)writer, 0).spans, counters[0], counters[0] + 1);
    assert_int_equal(access(p.dir.at, F_OK), -1);
    recover_result_fini(&result);
    run_place_remove(&p);
}

// Killed after the trace got its name: recovering must not write it again from what is left.
static void test_a_finished_run_is_only_tidied_up(void **state)
{
    (void)state;
    for (int is_marked = 0; is_marked < 2; is_marked++) {
        struct run_place p;
        struct recover_result result;
        const struct trace_block_id id = {.type = TRACE_BLOCK_SUMMARY};
        const uint64_t spans = leave_run(&p);
        assert_int_equal(drain_finish(p.drain, NULL), 0);
        assert_int_equal(trace_pack_block(p.pack, &id, "{}", 2, NULL), 0);
        assert_int_equal(trace_pack_commit(&p.pack, NULL), 0);
        if (is_marked)
            assert_int_equal(rundir_done_mark(p.dir_fd, NULL), 0);
        run_place_leave(&p);
        recover(&p, &result);
        assert_int_equal(result.was_done, 1);
        assert_int_equal(access(p.dir.at, F_OK), -1);
        assert_int_equal(numbered_read(p.output, 100, 0).spans, spans);
        recover_result_fini(&result);
        run_place_remove(&p);
    }
}

// Killed while it removed its directory.
static void test_a_removal_is_finished(void **state)
{
    (void)state;
    struct run_place p;
    struct recover_result result;
    leave_run(&p);
    assert_int_equal(drain_finish(p.drain, NULL), 0);
    assert_int_equal(trace_pack_commit(&p.pack, NULL), 0);
    assert_int_equal(rundir_done_mark(p.dir_fd, NULL), 0);
    assert_int_equal(unlinkat(p.dir_fd, "meta.json", 0), 0);
    run_place_leave(&p);
    const struct recover_options options = {.dir = p.dir.at};
    assert_int_equal(recover_run(&options, &result, NULL), 0);
    assert_int_equal(result.was_done, 1);
    assert_int_equal(result.output.length_bytes, 0);
    assert_int_equal(access(p.dir.at, F_OK), -1);
    recover_result_fini(&result);
    run_place_remove(&p);
}

static void test_another_output_can_be_named(void **state)
{
    (void)state;
    struct run_place p;
    struct recover_result result;
    char path[128], dir[200];
    const uint64_t spans = leave_run(&p);
    run_place_leave(&p);
    snprintf(path, sizeof path, "%s/other.lmt", p.folder);
    snprintf(dir, sizeof dir, "%s//", p.dir.at);
    const struct recover_options options = {.dir = dir, .output = path};
    assert_int_equal(recover_run(&options, &result, NULL), 0);
    assert_string_equal(buf_text(&result.output), path);
    assert_int_equal(numbered_read(path, 100, 0).spans, spans);
    assert_int_equal(files_count(p.folder), 1);
    recover_result_fini(&result);
    run_place_remove(&p);
}

static void check_refused(const char *dir, const char *output, const char *what)
{
    struct err e = {0};
    struct recover_result result;
    const struct recover_options options = {.dir = dir, .output = output};
    assert_int_equal(recover_run(&options, &result, &e), -1);
    if (!strstr(err_text(&e), what))
        fail_msg("\"%s\" does not say \"%s\"", err_text(&e), what);
    recover_result_fini(&result);
}

static void test_what_cannot_be_recovered_says_why(void **state)
{
    (void)state;
    struct run_place p;
    struct buf meta = {0};
    leave_run(&p);
    check_refused(p.dir.at, NULL, "being packed by another Lightmeter");
    run_place_leave(&p);
    check_refused("/nonexistent", NULL, "cannot open the run directory /nonexistent");
    check_refused(p.output, NULL, "cannot open the run directory");
    check_refused(p.folder, NULL, "/meta.json; give the directory of a run");
    const unsigned files = files_count(p.folder);
    check_refused(
        p.dir.at, "/nonexistent/a.lmt", "cannot make the trace file /nonexistent/a.lmt.part");
    assert_int_equal(files_count(p.folder), files);
    buf_printf(&meta, "%s/meta.json", p.dir.at);
    assert_int_equal(file_write(meta.at, "{", 1, NULL), 0);
    check_refused(p.dir.at, NULL, "meta.json of the run directory");
    assert_int_equal(file_write(meta.at, "{\"schema\":\"lightmeter-run/9\"}", 29, NULL), 0);
    check_refused(p.dir.at, NULL, "use the Lightmeter that recorded the run");
    buf_fini(&meta);
    run_place_remove(&p);
}

static void nothing_recover(const char *dir)
{
    struct err e = {0};
    struct recover_result result;
    const struct recover_options options = {.dir = dir};
    if (recover_run(&options, &result, &e) < 0)
        fail_msg("%s", err_text(&e));
    assert_int_equal(result.was_nothing, 1);
    assert_int_equal(access(dir, F_OK), -1);
    recover_result_fini(&result);
}

static void test_a_launcher_killed_before_it_began_leaves_nothing(void **state)
{
    (void)state;
    char folder[] = "/tmp/lightmeter-test-XXXXXX", output[64];
    struct err e = {0};
    struct buf dir = {0}, part = {0}, file = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(output, sizeof output, "%s/out.lmt", folder);
    // Right after its first step.
    assert_int_equal(rundir_create(folder, &dir, &e), 0);
    nothing_recover(buf_text(&dir));
    // With what it was going to write, a part file and a segment in stock.
    dir.length_bytes = 0;
    assert_int_equal(rundir_create(folder, &dir, &e), 0);
    const int fd = rundir_open(buf_text(&dir), &e);
    trace_pack_part_name(output, (uint32_t)getpid(), &part);
    struct rundir_meta m = {.output = output,
        .part = part.at,
        .launcher_pid = (uint32_t)getpid(),
        .meta = json_object()};
    assert_int_equal(rundir_meta_write(fd, &m, &e), 0);
    struct trace_pack *pack = trace_pack_create(output, 1, &e);
    assert_non_null(pack);
    assert_string_equal(trace_pack_part_path(pack), buf_text(&part));
    trace_pack_leave(&pack);
    buf_printf(&file, "%s/free-65536-0", buf_text(&dir));
    assert_int_equal(file_write(buf_text(&file), "", 0, NULL), 0);
    close(fd);
    nothing_recover(buf_text(&dir));
    assert_int_equal(files_count(folder), 0);
    json_free(&m.meta);
    buf_fini(&file);
    buf_fini(&part);
    buf_fini(&dir);
    assert_int_equal(file_remove_tree(folder, NULL), 0);
}

static void test_a_directory_that_is_not_ours_is_left_alone(void **state)
{
    (void)state;
    char folder[] = "/tmp/lightmeter-test-XXXXXX";
    struct buf other = {0};
    assert_non_null(mkdtemp(folder));
    buf_printf(&other, "%s/empty", folder);
    assert_int_equal(mkdir(other.at, 0700), 0);
    check_refused(other.at, NULL, "/meta.json; give the directory of a run");
    other.length_bytes = 0;
    buf_printf(&other, "%s/foreign", folder);
    assert_int_equal(file_write(other.at, "", 0, NULL), 0);
    check_refused(folder, NULL, "/meta.json; give the directory of a run");
    buf_fini(&other);
    assert_int_equal(file_remove_tree(folder, NULL), 0);
}

// A program that was given the directory, and has not come so far that it writes.
static void test_a_program_that_comes_up_keeps_the_directory(void **state)
{
    (void)state;
    struct run_place p;
    struct recover_result result;
    struct buf variable = {0};
    char *argv[] = {"sleep", "60", NULL}, *env[] = {"A=1", NULL, NULL};
    (void)leave_run(&p);
    buf_printf(&variable, "LIGHTMETER_RUN_DIR=%s", p.dir.at);
    env[1] = variable.at;
    run_place_leave(&p);
    const pid_t pid = process_fork();
    if (pid == 0) {
        execve("/bin/sleep", argv, env);
        _exit(1);
    }
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    while (!memmem(text, sizeof text, "LIGHTMETER_RUN_DIR", 18)) { // until it is the program
        FILE *file = fopen(path, "r");
        if (file) {
            (void)!fread(text, 1, sizeof text, file);
            fclose(file);
        }
    }
    recover(&p, &result);
    assert_int_equal(result.is_kept, 1);
    assert_non_null(strstr(buf_text(&result.notes), "was started to write to"));
    assert_int_equal(access(p.dir.at, F_OK), 0);
    recover_result_fini(&result);
    process_kill(pid);
    recover(&p, &result);
    assert_int_equal(result.is_kept, 0);
    assert_int_equal(access(p.dir.at, F_OK), -1);
    recover_result_fini(&result);
    buf_fini(&variable);
    run_place_remove(&p);
}

static void test_a_killed_recovery_is_begun_again(void **state)
{
    (void)state;
    struct run_place p;
    struct recover_result result;
    struct buf made = {0};
    const uint64_t spans = leave_run(&p);
    run_place_leave(&p);
    trace_pack_part_name(p.output, (uint32_t)getpid(), &made);
    buf_puts(&made, TRACE_PACK_NEW);
    assert_int_equal(file_write(made.at, "what it had written", 19, NULL), 0);
    recover(&p, &result);
    assert_int_equal(numbered_read(p.output, 100, 0).spans, spans);
    assert_int_equal(files_count(p.folder), 1);
    recover_result_fini(&result);
    buf_fini(&made);
    run_place_remove(&p);
}

static void test_a_run_directory_is_private(void **state)
{
    (void)state;
    struct err e = {0};
    struct buf path = {0};
    struct stat st;
    assert_int_equal(rundir_create("/nonexistent", &path, &e), -1);
    assert_non_null(strstr(err_text(&e), "/nonexistent"));
    assert_int_equal(rundir_create(NULL, &path, &e), 0);
    assert_int_equal(stat(path.at, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    const int fd = rundir_open(path.at, &e);
    assert_int_equal(rundir_remove(fd, path.at, NULL, &e), 0);
    assert_int_equal(stat(path.at, &st), -1);
    close(fd);
    buf_fini(&path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_launcher_killed_at_any_moment_loses_nothing),
        cmocka_unit_test(test_a_part_file_cut_anywhere),
        cmocka_unit_test(test_without_its_part_file_the_directory_is_recovered),
        cmocka_unit_test(test_a_live_writer_keeps_the_directory),
        cmocka_unit_test(test_a_finished_run_is_only_tidied_up),
        cmocka_unit_test(test_a_removal_is_finished),
        cmocka_unit_test(test_another_output_can_be_named),
        cmocka_unit_test(test_what_cannot_be_recovered_says_why),
        cmocka_unit_test(test_a_launcher_killed_before_it_began_leaves_nothing),
        cmocka_unit_test(test_a_directory_that_is_not_ours_is_left_alone),
        cmocka_unit_test(test_a_program_that_comes_up_keeps_the_directory),
        cmocka_unit_test(test_a_killed_recovery_is_begun_again),
        cmocka_unit_test(test_a_run_directory_is_private),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
