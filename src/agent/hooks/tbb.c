// SPDX-License-Identifier: Apache-2.0
// Hook set tbb: oneTBB (libtbb.so.12; earlier ones have other names for all of this and are not
// followed). A thread that waits for its tasks works on them meanwhile, so these calls are not
// recorded as waits: the size of the arena goes to the call around them. Recorded are the waits of
// tbb::mutex, tbb::rw_mutex and the bounded queue, once they have stopped spinning, which is done
// in the caller and not seen. Threads: any.
#include "agent/hook.h"
#include "agent/library.h"
#include "agent/team.h"

#define DETAIL "_ZN3tbb6detail2r1"

enum { ARENA_SIZE, LIMIT };
static struct library_table library = {
    .names = {DETAIL "15max_concurrencyEPKNS0_2d115task_arena_baseE",
        DETAIL "27global_control_active_valueEi"}};
typedef int arena_size_fn(const void *arena);
typedef size_t limit_fn(int parameter); // 0 is max_allowed_parallelism

// The slots of `arena` (NULL: the one the thread is in), and no more than tbb::global_control lets.
static void note_team(void *real, const void *arena)
{
    const uint32_t token = team_wanted();
    void *const *at = token ? library_functions(&library, (uintptr_t)real) : NULL;
    if (!at)
        return;
    const int threads = ((arena_size_fn *)at[ARENA_SIZE])(arena);
    const size_t allowed = at[LIMIT] ? ((limit_fn *)at[LIMIT])(0) : 0;
    team_note(token, allowed && allowed < (size_t)threads ? (int)allowed : threads);
}

#define TEAM_CALL(id, arena, params, args)                                                         \
    HOOK_TYPE(uintptr_t, id, PARAMS(params))                                                       \
    static inline uintptr_t id##_body(id##_fn *real, params)                                       \
    {                                                                                              \
        note_team((void *)real, arena);                                                            \
        return real(args);                                                                         \
    }                                                                                              \
    HOOK_THUNKS(uintptr_t, id, PARAMS(params), ARGS(args))

TEAM_CALL(execute_and_wait, NULL,
    PARAMS(void *task, void *task_group, void *until, void *until_group),
    ARGS(task, task_group, until, until_group))
TEAM_CALL(wait_for_tasks, NULL, PARAMS(void *until, void *group), ARGS(until, group))
TEAM_CALL(parallel_pipeline, NULL, PARAMS(void *group, size_t tokens, const void *filters),
    ARGS(group, tokens, filters))
TEAM_CALL(execute, arena, PARAMS(void *arena, void *body), ARGS(arena, body))

#define WAIT_CALL(ret, id, text, params, args)                                                     \
    HOOK_TYPE(ret, id, PARAMS(params))                                                             \
    HOOK_NAME(id, text, "wait", TRACE_CAUSE_LOCK, AGENT_FOLD_SHORT);                               \
    static inline ret id##_body(id##_fn *real, params)                                             \
    {                                                                                              \
        HOOK_WAIT_UNLESS(0, span, &id##_name);                                                     \
        return real(args);                                                                         \
    }                                                                                              \
    HOOK_THUNKS(ret, id, PARAMS(params), ARGS(args))

WAIT_CALL(void, wait_on_address, "tbb::mutex wait",
    PARAMS(void *address, void *condition, uintptr_t context), ARGS(address, condition, context))
WAIT_CALL(void, wait_bounded_queue_monitor, "tbb::concurrent_bounded_queue wait",
    PARAMS(void *monitors, size_t tag, ptrdiff_t target, void *condition),
    ARGS(monitors, tag, target, condition))
WAIT_CALL(_Bool, finalize, "tbb::finalize", PARAMS(void *handle, intptr_t mode), ARGS(handle, mode))

static const char *const libraries[] = {"libtbb.so.12", NULL};

static const struct hook_function functions[] = {
    HOOK_LINE_UNTIMED(execute_and_wait, DETAIL "16execute_and_waitERNS0_2d14taskERNS2_18task_group_"
                                               "contextERNS2_12wait_contextES6_"),
    HOOK_LINE_UNTIMED(
        wait_for_tasks, DETAIL "4waitERNS0_2d112wait_contextERNS2_18task_group_contextE"),
    HOOK_LINE_UNTIMED(parallel_pipeline,
        DETAIL "17parallel_pipelineERNS0_2d118task_group_contextEmRKNS2_11filter_nodeE"),
    HOOK_LINE_UNTIMED(execute, DETAIL "7executeERNS0_2d115task_arena_baseERNS2_13delegate_baseE"),
    HOOK_LINE(wait_on_address, DETAIL "15wait_on_addressEPvRNS0_2d113delegate_baseEm", 0),
    HOOK_LINE(wait_bounded_queue_monitor,
        DETAIL "26wait_bounded_queue_monitorEPNS1_18concurrent_monitorEmlRNS0_2d113delegate_baseE",
        0),
    HOOK_LINE(finalize, DETAIL "8finalizeERNS0_2d121task_scheduler_handleEl", 0),
    HOOK_END,
};

const struct hook_set hook_tbb = {
    .name = "tbb",
    .help = "oneTBB: arena sizes, and the waits of its mutexes and queues",
    .libraries = libraries,
    .functions = functions,
};
