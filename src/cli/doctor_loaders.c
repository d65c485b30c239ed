// SPDX-License-Identifier: Apache-2.0
// What comes of programs below the target that the preloaded library alone does not see into, or is
// not built for: their loaders read the same LD_PRELOAD. Asks the 32-bit loader of this machine
// itself, which runs no program. Called by `doctor`. Changes nothing. Threads: one owner.
#include "cli/doctor.h"

#include "collect/preload.h"
#include "collect/python_shim.h"
#include "collect/run.h"

#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Only x86-64 kernels are known to come with a second word size that anybody still uses.
#define LOADER_32 "/lib/ld-linux.so.2"
#define ADVICE_WHOLE                                                                               \
    "install Lightmeter as a whole: the folder `preload` belongs beside " PRELOAD_FILE

enum loader_words {
    LOADER_MISSING, // none here, or this kernel runs no such program
    LOADER_SILENT,
    LOADER_COMPLAINS,
};

static pid_t start_listing(char *blank, char *preload, int error_fd)
{
    static char loader[] = LOADER_32, list[] = "--list";
    char *argv[] = {loader, list, blank, NULL}, *envp[] = {preload, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, error_fd, STDERR_FILENO);
    if (posix_spawn(&pid, loader, &actions, NULL, argv, envp) != 0)
        pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

// What the loader says when it lists the libraries of the blank one with `preload` in effect.
static enum loader_words ask_loader(char *blank, char *preload)
{
    int ends[2], status;
    char text[256];
    if (access(LOADER_32, X_OK) != 0 || pipe2(ends, O_CLOEXEC) != 0)
        return LOADER_MISSING;
    pid_t pid = start_listing(blank, preload, ends[1]);
    close(ends[1]);
    ssize_t said = pid < 0 ? 0 : read(ends[0], text, sizeof text);
    close(ends[0]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return LOADER_MISSING;
    return said ? LOADER_COMPLAINS : LOADER_SILENT;
}

static void check_32(struct doctor *d, const char *agent, const char *name, int is_token)
{
    struct buf blank = {0}, preload = {0};
    struct doctor_row *row = doctor_add(d, "32-bit programs", DOCTOR_WORKS);
    enum loader_words words = LOADER_COMPLAINS;
    int has_blank = preload_blank_find(agent, &blank);
    buf_printf(&preload, "LD_PRELOAD=%s", name);
    if (access(LOADER_32, X_OK) != 0)
        words = LOADER_MISSING;
    else if (has_blank)
        words = ask_loader(blank.at, preload.at);
    if (words == LOADER_MISSING) {
        buf_puts(&row->what, "this machine has no " LOADER_32 " that runs them");
    } else if (words == LOADER_SILENT) {
        buf_puts(&row->what,
            "run unchanged below a command, with a blank library in place of ours; "
            "nothing is seen inside them");
    } else {
        row->state = DOCTOR_LIMITED;
        buf_puts(&row->what, "below a command, their loader says on their standard error that it "
                             "ignores the library; they run all the same, not seen inside");
        buf_puts(&row->advice, !has_blank && is_token
                                   ? "build Lightmeter with a compiler that takes "
                                     "-m32 (gcc, or clang with lld)"
                                   : ADVICE_WHOLE);
    }
    buf_fini(&blank);
    buf_fini(&preload);
}

static void check_musl(struct doctor *d, int is_token)
{
    struct doctor_row *row =
        doctor_add(d, "musl programs", is_token ? DOCTOR_WORKS : DOCTOR_LIMITED);
    if (is_token) {
        buf_puts(&row->what, "run unchanged below a command: their loader passes the library over; "
                             "nothing is seen inside them");
        return;
    }
    buf_puts(&row->what,
        "below a command they may not start: their loader takes the library, which "
        "is built for glibc");
    buf_puts(&row->advice, ADVICE_WHOLE);
}

static void check_python(struct doctor *d, const char *agent)
{
    struct buf path = {0};
    const int is_there = python_shim_path(agent, NULL, &path);
    struct doctor_row *row = doctor_add(d, "Python code", is_there ? DOCTOR_WORKS : DOCTOR_LIMITED);
    buf_puts(&row->what,
        is_there ? "its calls into libraries are followed in CPython 3.8 and later"
                 : "only what native libraries do is seen: there is no shim beside " PRELOAD_FILE);
    if (!is_there)
        buf_puts(&row->advice, "build with Python's headers (Debian: libpython3-dev), in a folder "
                               "without a colon in its path");
    buf_fini(&path);
}

void doctor_check_loaders(struct doctor *d)
{
    struct buf agent = {0}, name = {0};
    struct err e = {0};
    if (collect_agent_find(&agent, &e) == 0 && !strpbrk(buf_text(&agent), " :")) {
        int is_token = preload_name(buf_text(&agent), &name);
#if defined(__x86_64__)
        check_32(d, buf_text(&agent), buf_text(&name), is_token);
#endif
        check_musl(d, is_token);
        check_python(d, buf_text(&agent));
    }
    buf_fini(&agent);
    buf_fini(&name);
}
