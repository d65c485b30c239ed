// SPDX-License-Identifier: Apache-2.0
// Hook set children: waiting for child processes. The wait is charged to the stage around it, under
// no cause of those that are told apart; outside of any stage it is the stage `wait`. A child that
// has ended already, or one that is only asked about (WNOHANG), takes a short call, which is
// folded. Threads: any.
#include "agent/hook.h"

#include <sys/resource.h>
#include <sys/wait.h>

static int is_off;

#define CHILD_CALL(ret, call, params, args)                                                        \
    HOOK_NEXT(ret, call, NULL, PARAMS(params))                                                     \
    HOOK_EXPORT ret call(params)                                                                   \
    {                                                                                              \
        static struct hook_name name = {#call, "wait", TRACE_CAUSE_OTHER, AGENT_FOLD_SHORT, 0};    \
        HOOK_SPAN_UNLESS(is_off, span, &name);                                                     \
        return call##_next()(args);                                                                \
    }

CHILD_CALL(pid_t, wait, PARAMS(int *status), ARGS(status))
CHILD_CALL(
    pid_t, waitpid, PARAMS(pid_t child, int *status, int options), ARGS(child, status, options))
CHILD_CALL(pid_t, wait3, PARAMS(int *status, int options, struct rusage *usage),
    ARGS(status, options, usage))
CHILD_CALL(pid_t, wait4, PARAMS(pid_t child, int *status, int options, struct rusage *usage),
    ARGS(child, status, options, usage))
CHILD_CALL(int, waitid, PARAMS(idtype_t kind, id_t child, siginfo_t *info, int options),
    ARGS(kind, child, info, options))

const struct hook_set hook_children = {
    .name = "children",
    .help = "waiting for child processes",
    .is_off = &is_off,
};
