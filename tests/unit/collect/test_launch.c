// SPDX-License-Identifier: Apache-2.0
// Launching: exit statuses as a shell gives them, the order in LD_PRELOAD, and that the child's
// signals, descriptors and environment are those of the caller.
#include "collect/launch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void preload(const char *asan, const char *old, const char *wanted)
{
    char *value = launch_preload_value("/x/agent.so", asan, old);
    assert_string_equal(value, wanted);
    free(value);
}

static void the_library_comes_first_but_for_asan(void **state)
{
    (void)state;
    preload("", NULL, "/x/agent.so");
    preload("", "", "/x/agent.so");
    preload("", "a.so:b.so", "/x/agent.so:a.so:b.so");
    preload("libasan.so.8", NULL, "libasan.so.8:/x/agent.so");
    preload("", "a.so /usr/lib/libasan.so.6",
        "/usr/lib/libasan.so.6:/x/agent.so:a.so /usr/lib/libasan.so.6");
    preload("libasan.so.8", "libasan.so.6", "libasan.so.6:/x/agent.so:libasan.so.6");
}

static struct launch_options options_for(char *const *argv)
{
    return (struct launch_options){
        .argv = argv, .asan = "", .run_dir = "/the/run", .found_path = ""};
}

// Launches a program, its standard output going to `out_fd` (-1: ours), and gives its wait status.
static int run_program(char *const *argv, int out_fd)
{
    struct launch_options o = options_for(argv);
    struct launch_signals s = {.fd = -1};
    struct err e = {0};
    pid_t pid = 0;
    int status = -1, ours = out_fd < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 100);
    fflush(NULL);
    if (out_fd >= 0)
        dup2(out_fd, STDOUT_FILENO);
    assert_int_equal(launch_signals_hold(&s, &e), 0);
    int failed = launch_start(&o, &s, &pid, &e);
    if (ours >= 0) {
        dup2(ours, STDOUT_FILENO);
        close(ours);
    }
    assert_int_equal(failed, 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    launch_signals_fini(&s);
    sigprocmask(SIG_SETMASK, &s.mask, NULL);
    sigaction(SIGCHLD, &s.child, NULL);
    return status;
}

static int run_shell(char *script)
{
    static char shell[] = "/bin/sh", flag[] = "-c";
    char *argv[] = {shell, flag, script, NULL};
    return run_program(argv, -1);
}

// What `program` prints when launched.
static void output_of(char *const *argv, struct buf *text)
{
    char path[] = "/tmp/lightmeter-test-XXXXXX";
    int fd = mkostemp(path, O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(run_program(argv, fd), 0);
    assert_int_equal(file_read(path, 1 << 16, text, NULL), 0);
    close(fd);
    unlink(path);
}

// The line of a /proc/PID/status text that begins with `key`.
static const char *line_of(const char *status, const char *key)
{
    static char line[64];
    const char *at = strstr(status, key);
    assert_non_null(at);
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    return line;
}

static void signals_are_as_the_callers(void **state)
{
    (void)state;
    char cat[] = "/bin/cat", file[] = "/proc/self/status";
    char *argv[] = {cat, file, NULL};
    struct buf ours = {0}, theirs = {0};
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGWINCH);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, &old);
    signal(SIGUSR2, SIG_IGN);
    signal(SIGCHLD, SIG_IGN);
    assert_int_equal(file_read(file, 1 << 16, &ours, NULL), 0);
    output_of(argv, &theirs);
    static const char *const keys[] = {"SigBlk:", "SigIgn:"};
    for (size_t i = 0; i < 2; i++) {
        char line[64];
        snprintf(line, sizeof line, "%s", line_of(buf_text(&ours), keys[i]));
        assert_string_equal(line_of(buf_text(&theirs), keys[i]), line);
    }
    assert_non_null(strstr(buf_text(&ours), "SigBlk:\t0000000008004000"));
    sigprocmask(SIG_SETMASK, &old, NULL);
    signal(SIGUSR2, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    buf_fini(&ours);
    buf_fini(&theirs);
}

static void descriptors_and_environment_are_the_callers(void **state)
{
    (void)state;
    char ls[] = "/bin/ls", folder[] = "/proc/self/fd", env[] = "/usr/bin/env";
    char *list[] = {ls, folder, NULL}, *words[] = {env, NULL};
    struct buf text = {0};
    setenv("LIGHTMETER_RUN_DIR", "/an/old/one", 1);
    int inherited = fcntl(STDERR_FILENO, F_DUPFD, 50);
    output_of(list, &text);
    int ours = 0;
    for (int fd = 0; fd < 1024; fd++)
        ours += fcntl(fd, F_GETFD) >= 0 && !(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    int theirs = 0;
    for (const char *c = buf_text(&text); *c; c++)
        theirs += *c == '\n';
    assert_int_equal(theirs, ours + 1); // and the folder that ls reads
    buf_fini(&text);
    output_of(words, &text);
    assert_non_null(strstr(buf_text(&text), "LIGHTMETER_RUN_DIR=/the/run\n"));
    assert_null(strstr(buf_text(&text), "/an/old/one"));
    assert_null(strstr(buf_text(&text), "LD_PRELOAD=/x"));
    buf_fini(&text);
    close(inherited);
    unsetenv("LIGHTMETER_RUN_DIR");
}

static void statuses_come_back(void **state)
{
    (void)state;
    char exits[] = "exit 127", dies[] = "kill -SEGV $$";
    int status = run_shell(exits); // its own 127, not that of a failed launch
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 127);
    status = run_shell(dies);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void fails(const char *name, const char *found, int wanted, const char *part)
{
    char word[256];
    char *argv[] = {word, NULL};
    struct launch_options o = options_for(argv);
    struct launch_signals s = {.fd = -1};
    struct err e = {0};
    pid_t pid = -7;
    snprintf(word, sizeof word, "%s", name);
    o.found_path = found;
    sigprocmask(SIG_SETMASK, NULL, &s.mask);
    assert_int_equal(launch_start(&o, &s, &pid, &e), wanted);
    assert_int_equal(pid, -7);
    if (!strstr(e.text, part))
        fail_msg("'%s' does not say '%s'", e.text, part);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); // nothing is left behind
}

static void failures_are_told_apart(void **state)
{
    (void)state;
    char folder[] = "/tmp/lightmeter-test-XXXXXX", path[96];
    assert_non_null(mkdtemp(folder));
    fails("no-such-program-anywhere", "", LAUNCH_NOT_FOUND, "PATH");
    fails("/nonexistent/program", "", LAUNCH_NOT_FOUND, "no such file");
    fails(folder, "", LAUNCH_NOT_EXECUTABLE, "directory");
    snprintf(path, sizeof path, "%s/plain", folder);
    assert_int_equal(file_write(path, "x", 1, NULL), 0);
    assert_int_equal(chmod(path, 0644), 0);
    fails(path, "", LAUNCH_NOT_EXECUTABLE, "chmod");
    snprintf(path, sizeof path, "%s/orphan", folder);
    assert_int_equal(file_write(path, "#!/nonexistent/interpreter\n", 27, NULL), 0);
    assert_int_equal(chmod(path, 0755), 0);
    fails(path, path, LAUNCH_NOT_EXECUTABLE, "interpreter");
    assert_int_equal(file_remove_tree(folder, NULL), 0);
}

static void a_signal_ends_us_too(void **state)
{
    (void)state;
    static const int numbers[] = {SIGSEGV, SIGKILL, SIGTERM, SIGPIPE, SIGINT};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct launch_signals s = {.fd = -1};
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) {
            launch_signals_hold(&s, NULL); // blocked, and must end us all the same
            signal(numbers[i], SIG_IGN);
            launch_die_like(numbers[i]);
            _exit(77);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), numbers[i]);
        assert_false(WCOREDUMP(status));
    }
}

static void an_ignored_sigchld_loses_no_status(void **state)
{
    (void)state;
    char script[] = "exit 9";
    signal(SIGCHLD, SIG_IGN);
    int status = run_shell(script);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 9);
    signal(SIGCHLD, SIG_DFL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_comes_first_but_for_asan),
        cmocka_unit_test(signals_are_as_the_callers),
        cmocka_unit_test(descriptors_and_environment_are_the_callers),
        cmocka_unit_test(statuses_come_back),
        cmocka_unit_test(failures_are_told_apart),
        cmocka_unit_test(a_signal_ends_us_too),
        cmocka_unit_test(an_ignored_sigchld_loses_no_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
