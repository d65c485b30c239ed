// SPDX-License-Identifier: Apache-2.0
// Starts the target as a shell would: PATH search, its own environment, descriptors, process group,
// signal mask and dispositions untouched, but for LD_PRELOAD, LIGHTMETER_RUN_DIR and variables that
// were not set. Also holds the launcher's own signals while the target runs. Called by
// collect/follow.c. Threads: one owner; the process must be single-threaded when it forks.
#ifndef LIGHTMETER_COLLECT_LAUNCH_H
#define LIGHTMETER_COLLECT_LAUNCH_H

#include "base/err.h"

#include <signal.h>
#include <sys/types.h>

#define LAUNCH_NOT_FOUND 127 // exit status, as a shell gives it
#define LAUNCH_NOT_EXECUTABLE 126

// The signals of this process as they were before launch_signals_hold, for the child to have.
struct launch_signals {
    sigset_t mask;
    struct sigaction child; // SIGCHLD's
    int fd;                 // signalfd of what the launcher watches; -1 before hold and after fini
};

// Blocks what must not end the launcher while the target runs (SIGINT, SIGQUIT, SIGTERM, SIGHUP,
// SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ) and SIGCHLD, and opens the signalfd. 0, or -1 with a message.
int launch_signals_hold(struct launch_signals *s, struct err *e);

// Closes the descriptor. The mask stays: the report is still to be written.
void launch_signals_fini(struct launch_signals *s);

// A variable that the target gets where its environment has none of that name.
struct launch_variable {
    const char *name, *value;
};

struct launch_options {
    char *const *argv;       // ended by NULL
    const char *agent_path;  // library to preload, as LD_PRELOAD names it; NULL: none
    const char *asan;        // runtime that must come before it, "" none
    const char *run_dir;     // value of LIGHTMETER_RUN_DIR
    const char *python_path; // value of PYTHONPATH; NULL: as it is
    const struct launch_variable *variables; // ended by a name of NULL; NULL: none
    // Called in the launcher with the target's pid before its image runs; NULL: nothing to do.
    void (*ready_fn)(void *context, pid_t pid);
    void *ready_context;
    const char *found_path; // what argv[0] means on PATH, "" when there is none; for messages
};

// Starts the target. 0 with *pid when its image runs; else LAUNCH_NOT_FOUND or
// LAUNCH_NOT_EXECUTABLE with a message (nothing is left behind), or -1 with a message when no
// process could be made.
int launch_start(
    const struct launch_options *o, const struct launch_signals *s, pid_t *pid, struct err *e);

// The value of LD_PRELOAD for the target: `agent` first, after a sanitizer runtime `asan` ("" none)
// or one that `old` (NULL: unset) holds already. Allocated.
char *launch_preload_value(const char *agent, const char *asan, const char *old);

// Ends this process by `signal_number`, as the target ended, without a core file of our own.
// Returns only when the signal cannot end a process.
void launch_die_like(int signal_number);

#endif
