// SPDX-License-Identifier: Apache-2.0
// fork and exec with the errno of a failed exec handed back through a close-on-exec pipe, so that
// "not found" and "not executable" are told apart from a target that ends with 127 by itself.
// See launch.h. Does not wait: collect/follow.c does. Threads: none.
#include "collect/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int launch_signals_hold(struct launch_signals *s, struct err *e)
{
    // SIGPIPE and SIGXFSZ are blocked only: the failed write says enough.
    static const int held[] = {
        SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ, SIGCHLD};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof held / sizeof *held; i++)
        sigaddset(&set, held[i]);
    s->fd = -1;
    if (sigprocmask(SIG_BLOCK, &set, &s->mask) != 0)
        return err_set_errno(e, errno, "the launcher's signals cannot be held");
    // With SIGCHLD ignored the kernel would throw the exit status away.
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &plain, &s->child);
    sigdelset(&set, SIGPIPE);
    sigdelset(&set, SIGXFSZ);
    s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->fd < 0)
        return err_set_errno(e, errno, "no descriptor for the launcher's signals");
    return 0;
}

void launch_signals_fini(struct launch_signals *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

static int names_asan(const char *entry, size_t length)
{
    static const char *const runtimes[] = {"libasan.so", "libclang_rt.asan"};
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
        if (memmem(entry, length, runtimes[i], strlen(runtimes[i])))
            return 1;
    return 0;
}

char *launch_preload_value(const char *agent, const char *asan, const char *old)
{
    const char *first = asan ? asan : "";
    size_t first_length = strlen(first), agent_length = strlen(agent);
    const char *rest = old ? old : "";
    // A runtime that is preloaded already keeps its place at the front.
    for (const char *at = rest; *at; at += strspn(at, " :")) {
        size_t length = strcspn(at, " :");
        if (names_asan(at, length)) {
            first = at;
            first_length = length;
            break;
        }
        at += length;
    }
    size_t room = first_length + agent_length + strlen(rest) + 3;
    char *value = malloc(room);
    if (!value)
        return NULL;
    snprintf(value, room, "%.*s%s%s%s%s", (int)first_length, first, first_length ? ":" : "", agent,
        *rest ? ":" : "", rest);
    return value;
}

static char *make_entry(const char *name, const char *value)
{
    size_t room = strlen(name) + strlen(value) + 2;
    char *entry = malloc(room);
    if (entry)
        snprintf(entry, room, "%s=%s", name, value);
    return entry;
}

static int is_variable(const char *entry, const char *name)
{
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

// The target's environment: ours with some variables set.
struct environment {
    char **at; // ours are the last `made` of them; NULL when memory is out
    size_t n, made;
};

static void environment_fini(struct environment *env)
{
    for (size_t i = 0; i < env->made; i++)
        free(env->at[env->n - 1 - i]);
    free(env->at);
}

static int environment_add(struct environment *env, const char *name, const char *value)
{
    char *entry = value ? make_entry(name, value) : NULL;
    if (!entry)
        return -1;
    env->at[env->n++] = entry;
    env->made++;
    return 0;
}

static int environment_init(struct environment *env, const struct launch_options *o)
{
    size_t count = 0, more = 0;
    *env = (struct environment){0};
    while (environ[count])
        count++;
    while (o->variables && o->variables[more].name)
        more++;
    env->at = calloc(count + more + 4, sizeof *env->at);
    if (!env->at)
        return -1;
    for (size_t i = 0; i < count; i++) {
        int is_replaced = (o->agent_path && is_variable(environ[i], "LD_PRELOAD")) ||
                          (o->python_path && is_variable(environ[i], "PYTHONPATH")) ||
                          is_variable(environ[i], "LIGHTMETER_RUN_DIR");
        if (!is_replaced)
            env->at[env->n++] = environ[i];
    }
    if (o->agent_path) {
        char *value = launch_preload_value(o->agent_path, o->asan, getenv("LD_PRELOAD"));
        int failed = environment_add(env, "LD_PRELOAD", value);
        free(value);
        if (failed)
            return -1;
    }
    if (o->python_path && environment_add(env, "PYTHONPATH", o->python_path) < 0)
        return -1;
    for (size_t i = 0; i < more; i++)
        if (!getenv(o->variables[i].name) &&
            environment_add(env, o->variables[i].name, o->variables[i].value) < 0)
            return -1;
    return environment_add(env, "LIGHTMETER_RUN_DIR", o->run_dir);
}

// In the child: only calls that are safe after fork, then exec, then errno through the pipe.
__attribute__((noreturn)) static void become_target(const struct launch_options *o,
    const struct launch_signals *s, char **env, int pipe_fd, int go_fd)
{
    char go;
    while (read(go_fd, &go, 1) < 0 && errno == EINTR)
        continue;
    sigaction(SIGCHLD, &s->child, NULL);
    sigprocmask(SIG_SETMASK, &s->mask, NULL);
    execvpe(o->argv[0], o->argv, env);
    int errnum = errno;
    ssize_t n = write(pipe_fd, &errnum, sizeof errnum);
    _exit(n == (ssize_t)sizeof errnum ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE);
}

// Why exec failed, in words; the exit status that a shell would give.
static int explain(const struct launch_options *o, int errnum, struct err *e)
{
    const char *name = o->argv[0];
    struct stat st;
    int is_there = strchr(name, '/') ? stat(name, &st) == 0 : o->found_path[0] != 0;
    if (strchr(name, '/') && is_there && S_ISDIR(st.st_mode)) {
        err_set(e, "%s is a directory, not a program; name the program in it", name);
        return LAUNCH_NOT_EXECUTABLE;
    }
    if (errnum == ENOENT && is_there) {
        err_set(e,
            "%s cannot run: the interpreter or loader that it names is missing; see its first "
            "line, or `file %s`",
            name, name);
        return LAUNCH_NOT_EXECUTABLE;
    }
    if (errnum == ENOENT || errnum == ENOTDIR) {
        if (strchr(name, '/'))
            err_set(e, "%s: no such file; check the path", name);
        else
            err_set(e, "%s: command not found on PATH; give its path, or install it", name);
        return LAUNCH_NOT_FOUND;
    }
    if (errnum == EACCES)
        err_set(e,
            "%s is not executable for this user; `chmod +x` it, or run it by its interpreter",
            name);
    else if (errnum == ENOEXEC)
        err_set(e, "%s has a format that this machine cannot run; see `file %s`", name, name);
    else
        err_set_errno(e, errnum, "%s cannot be run", name);
    return LAUNCH_NOT_EXECUTABLE;
}

// The errno that a failed exec handed back, or 0 when the image runs.
static int read_errno(int pipe_fd)
{
    int errnum = 0;
    ssize_t n;
    do
        n = read(pipe_fd, &errnum, sizeof errnum);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof errnum ? errnum : 0;
}

int launch_start(
    const struct launch_options *o, const struct launch_signals *s, pid_t *pid, struct err *e)
{
    int ends[2] = {-1, -1}, go[2] = {-1, -1}, result = -1, errnum;
    struct environment env;
    pid_t child;
    if (environment_init(&env, o) < 0) {
        err_set(e, "no memory for the environment of the target");
        goto done;
    }
    if (pipe2(ends, O_CLOEXEC) != 0 || pipe2(go, O_CLOEXEC) != 0) {
        err_set_errno(e, errno, "no pipe for the launch");
        goto done;
    }
    child = fork();
    if (child == 0) {
        close(go[1]);
        become_target(o, s, env.at, ends[1], go[0]);
    }
    if (child < 0) {
        err_set_errno(e, errno, "no new process could be made for %s", o->argv[0]);
        goto done;
    }
    if (o->ready_fn)
        o->ready_fn(o->ready_context, child);
    close(go[1]);
    close(ends[1]);
    go[1] = ends[1] = -1;
    errnum = read_errno(ends[0]);
    if (errnum) {
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
        result = explain(o, errnum, e);
    } else {
        *pid = child;
        result = 0;
    }
done:
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            close(ends[i]);
        if (go[i] >= 0)
            close(go[i]);
    }
    environment_fini(&env);
    return result;
}

void launch_die_like(int signal_number)
{
    sigset_t set;
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); // a core handler behind a pipe ignores the limit
    signal(signal_number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, signal_number);
    raise(signal_number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}
