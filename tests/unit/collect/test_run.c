// SPDX-License-Identifier: Apache-2.0
// Whole runs without the preloaded library: the trace is sound and says what ran and how it ended,
// and nothing is left behind, also when the launch fails.
#include "collect/run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/json.h"
#include "trace/check.h"
#include "trace/reader.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/lightmeter-test-XXXXXX", trace[64];

static int run(const char *script, struct collect_result *r, struct err *e)
{
    char shell[] = "/bin/sh", flag[] = "-c", text[256];
    char *argv[] = {shell, flag, text, NULL};
    snprintf(text, sizeof text, "%s", script);
    const struct collect_options o = {.argv = argv, .output = trace, .item_stage = "decode"};
    return collect_run(&o, r, e);
}

// The JSON of the first block of that type.
static struct json *block_json(enum trace_block_type type)
{
    struct err e = {0};
    struct trace_block_view block;
    struct json *found = NULL;
    struct trace_reader *reader = trace_reader_open(trace, &e);
    assert_non_null(reader);
    while (!found && trace_reader_next(reader, &block) > 0)
        if (block.id.type == type)
            found = json_parse((const char *)block.bytes, block.length_bytes, trace, &e);
    trace_reader_close(&reader);
    assert_non_null(found);
    return found;
}

static unsigned run_dirs(void)
{
    unsigned count = 0;
    char mine[32];
    snprintf(mine, sizeof mine, "lightmeter-%d-", (int)getpid());
    DIR *dir = opendir("/dev/shm");
    for (struct dirent *d; dir && (d = readdir(dir)) != NULL;)
        count += strncmp(d->d_name, mine, strlen(mine)) == 0;
    if (dir)
        closedir(dir);
    return count;
}

static void a_run_leaves_a_sound_trace(void **state)
{
    (void)state;
    struct collect_result r;
    struct err e = {0};
    assert_int_equal(run("sleep 0.3; exit 7", &r, &e), 0);
    assert_true(WIFEXITED(r.wait_status));
    assert_int_equal(WEXITSTATUS(r.wait_status), 7);
    assert_true(r.is_whole);
    assert_string_equal(buf_text(&r.trace), trace);
    assert_string_equal(buf_text(&r.losses), "");
    struct trace_check check = {0};
    assert_int_equal(trace_check_file(trace, &check, &e), 0);
    assert_string_equal(buf_text(&check.text), "");
    assert_int_equal(check.findings, 0);
    assert_false(check.is_cut);
    assert_true(check.samples > 10);
    trace_check_fini(&check);
    struct json *meta = block_json(TRACE_BLOCK_META);
    assert_string_equal(json_text(json_at(json_get(meta, "command"), 2), ""), "sleep 0.3; exit 7");
    assert_string_equal(json_get_string(json_get(meta, "options"), "item_stage", ""), "decode");
    assert_true(json_get_bool(json_get(meta, "target"), "is_preloadable", 0));
    json_free(&meta);
    struct json *summary = block_json(TRACE_BLOCK_SUMMARY);
    assert_int_equal(json_get_int(json_get(summary, "exit"), "status", -1), 7);
    assert_int_equal(json_get_int(json_get(summary, "exit"), "signal", -1), 0);
    assert_true(json_get_int(summary, "wall_ns", 0) >= 300000000);
    assert_true(json_get_int(json_get(summary, "usage"), "max_rss_bytes", 0) > 100000);
    assert_true(json_get_int(json_get(summary, "launcher"), "cpu_ns", 0) > 0);
    assert_string_equal(
        json_get_string(json_at(json_get(summary, "processes"), 0), "name", ""), "sh");
    json_free(&summary);
    collect_result_fini(&r);
    assert_int_equal(run_dirs(), 0);
}

static void a_signal_is_in_the_summary(void **state)
{
    (void)state;
    struct collect_result r;
    struct err e = {0};
    assert_int_equal(run("kill -KILL $$", &r, &e), 0);
    assert_true(WIFSIGNALED(r.wait_status));
    assert_int_equal(WTERMSIG(r.wait_status), SIGKILL);
    struct json *summary = block_json(TRACE_BLOCK_SUMMARY);
    assert_int_equal(json_get_int(json_get(summary, "exit"), "signal", -1), SIGKILL);
    json_free(&summary);
    collect_result_fini(&r);
}

static void descendants_are_told_not_waited_for(void **state)
{
    (void)state;
    struct collect_result r;
    struct err e = {0};
    char pid_path[96], script[200];
    struct buf pid = {0};
    snprintf(pid_path, sizeof pid_path, "%s/pid", folder);
    snprintf(script, sizeof script, "sleep 50 </dev/null >/dev/null 2>&1 & echo $! >%s; sleep 0.5",
        pid_path);
    assert_int_equal(run(script, &r, &e), 0);
    assert_int_equal(file_read(pid_path, 64, &pid, &e), 0);
    kill((pid_t)strtol(buf_text(&pid), NULL, 10), SIGKILL);
    buf_fini(&pid);
    struct json *summary = block_json(TRACE_BLOCK_SUMMARY);
    assert_true(json_get_int(summary, "wall_ns", 0) < 40000000000);
    const struct json *all = json_get(summary, "processes");
    unsigned alive = 0;
    for (size_t i = 0; i < json_count(all); i++)
        alive += json_get_bool(json_at(all, i), "is_alive", 0) != 0;
    assert_int_equal(alive, 1);
    json_free(&summary);
    collect_result_fini(&r);
}

static void a_failed_launch_leaves_nothing(void **state)
{
    (void)state;
    char name[] = "no-such-program-anywhere";
    char *argv[] = {name, NULL};
    struct collect_options o = {.argv = argv, .output = trace};
    struct collect_result r;
    struct err e = {0};
    unlink(trace);
    assert_int_equal(collect_run(&o, &r, &e), -1);
    assert_int_equal(r.launch_status, 127);
    assert_non_null(strstr(e.text, name));
    collect_result_fini(&r);
    char shell[] = "/bin/true";
    argv[0] = shell;
    o.output = "/nonexistent/folder/x.lmt";
    assert_int_equal(collect_run(&o, &r, &e), -1);
    assert_int_equal(r.launch_status, COLLECT_FAILED);
    assert_non_null(strstr(e.text, "/nonexistent/folder"));
    collect_result_fini(&r);
    assert_int_equal(run_dirs(), 0);
    DIR *dir = opendir(folder);
    for (struct dirent *d; (d = readdir(dir)) != NULL;)
        assert_null(strstr(d->d_name, ".part"));
    closedir(dir);
}

static void the_agent_is_found_by_name(void **state)
{
    (void)state;
    struct buf path = {0};
    struct err e = {0};
    setenv("LIGHTMETER_AGENT", "/nonexistent/agent.so", 1);
    assert_int_equal(collect_agent_find(&path, &e), -1);
    assert_non_null(strstr(e.text, "/nonexistent/agent.so"));
    buf_fini(&path);
    setenv("LIGHTMETER_AGENT", "/bin/sh", 1); // any file that can be read
    assert_int_equal(collect_agent_find(&path, &e), 0);
    assert_string_equal(buf_text(&path), "/bin/sh");
    buf_fini(&path);
    unsetenv("LIGHTMETER_AGENT");
}

static int begin(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(trace, sizeof trace, "%s/x.lmt", folder);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return file_remove_tree(folder, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_leaves_a_sound_trace),
        cmocka_unit_test(a_signal_is_in_the_summary),
        cmocka_unit_test(descendants_are_told_not_waited_for),
        cmocka_unit_test(a_failed_launch_leaves_nothing),
        cmocka_unit_test(the_agent_is_found_by_name),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
