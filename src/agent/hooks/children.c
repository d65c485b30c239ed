// SPDX-License-Identifier: Apache-2.0
// Hook set children: waiting for child processes, and starting one through the shell. The wait is
// charged to the stage around it, under no cause of those that are told apart; outside of any stage
// it is the stage `wait`. A child that has ended already, or one that is only asked about
// (WNOHANG), takes a short call, which is folded. posix_spawn is left alone: it has two versions,
// of which an interposed one could keep only one. Threads: any.
#include "agent/descriptor.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

static int is_off;

#define CHILD_CALL(ret, call, before, params, args)                                                \
    HOOK_NEXT(ret, call, NULL, PARAMS(params))                                                     \
    static struct hook_name call##_names[1] = {                                                    \
        {#call, "wait", TRACE_CAUSE_OTHER, AGENT_FOLD_SHORT, 0}};                                  \
    HOOK_EXPORT ret call(params)                                                                   \
    {                                                                                              \
        before;                                                                                    \
        HOOK_WAIT_UNLESS(is_off, span, &call##_names[0]);                                          \
        return call##_next()(args);                                                                \
    }
#define NOTHING ((void)0)

CHILD_CALL(pid_t, wait, NOTHING, PARAMS(int *status), ARGS(status))
CHILD_CALL(pid_t, waitpid, NOTHING, PARAMS(pid_t child, int *status, int options),
    ARGS(child, status, options))
CHILD_CALL(pid_t, wait3, NOTHING, PARAMS(int *status, int options, struct rusage *usage),
    ARGS(status, options, usage))
CHILD_CALL(pid_t, wait4, NOTHING,
    PARAMS(pid_t child, int *status, int options, struct rusage *usage),
    ARGS(child, status, options, usage))
CHILD_CALL(int, waitid, NOTHING, PARAMS(idtype_t kind, id_t child, siginfo_t *info, int options),
    ARGS(kind, child, info, options))
CHILD_CALL(int, system, NOTHING, PARAMS(const char *command), ARGS(command))
CHILD_CALL(
    FILE *, popen, NOTHING, PARAMS(const char *command, const char *mode), ARGS(command, mode))
// It closes the stream's descriptor too.
CHILD_CALL(
    int, pclose, descriptor_forget(fileno_unlocked(stream)), PARAMS(FILE *stream), ARGS(stream))

#define LINE(call) HOOK_LINE_LIBC(#call, call##_names, 1, 0)
static const struct hook_function functions[] = {
    LINE(wait),
    LINE(waitpid),
    LINE(wait3),
    LINE(wait4),
    LINE(waitid),
    LINE(system),
    LINE(popen),
    LINE(pclose),
    HOOK_END,
};

const struct hook_set hook_children = {
    .name = "children",
    .help = "waiting for child processes",
    .functions = functions,
    .is_off = &is_off,
};
