// SPDX-License-Identifier: Apache-2.0
// Hook set openmp_gomp: programs compiled by GCC with -fopenmp (libgomp 4.0 and later ABI, the one
// in torch's wheels too). The team's size goes to the call that uses it. Where the thread that
// opened a region has done its part, the wait for the others is recorded: the region's function is
// called through one of ours, as a thread's is. What the others do is recorded as pieces of the
// call that the opener has open. Threads that wait in libgomp spin first
// (OMP_WAIT_POLICY, GOMP_SPINCOUNT): that is CPU time. Threads: any.
#include "agent/hook.h"
#include "agent/library.h"
#include "agent/team.h"

#include <pthread.h>

// ---- Parallel regions. ----

typedef void region_fn(void *data);
typedef int size_fn(void);

struct region {
    const void *head; // the first word of the data where libgomp itself reads it; else NULL
    region_fn *run;
    void *data;
    pthread_t opener;
    size_fn *size; // of the team that asks; NULL: not known
    uintptr_t stack;
    struct hook_span wait;
    struct team team;
};

HOOK_NAME(region_end, "OpenMP region end", "wait", TRACE_CAUSE_LOCK, AGENT_FOLD_SHORT);

static struct library_table library = {.names = {"omp_get_num_threads"}};

// NULL: not known.
static inline size_fn *team_size_of(void *real)
{
    void *const *at = library_functions(&library, (uintptr_t)real);
    return at ? (size_fn *)at[0] : NULL;
}

// In the thread that opened the region, whose spans end where they began: in enter().
static void work_as_opener(struct region *r)
{
    const int threads = r->size ? r->size() : 0;
    team_note(team_wanted(), threads);
    r->run(r->data);
    r->wait = hook_wait_begin(0, &region_end_name, r->stack);
    if (r->wait.token && threads > 0)
        span_value(r->wait.token, TRACE_ATTR_THREADS, (uint64_t)threads);
}

static void work(void *argument)
{
    struct region *r = argument;
    if (pthread_equal(pthread_self(), r->opener)) {
        work_as_opener(r);
        return;
    }
    TEAM_PIECE(piece, &r->team);
    r->run(r->data);
}

static inline struct region region_of(
    void *real, region_fn *run, void *data, const void *head, uintptr_t stack)
{
    return (struct region){
        head, run, data, pthread_self(), team_size_of(real), stack, {0, stack}, team_open()};
}

static inline void end_wait(struct region *r)
{
    if (r->wait.token)
        hook_wait_end(&r->wait);
}

#define FUNCTION region_fn *run, void *data, unsigned threads
#define REGION_CALL(ret, id, head, params, args)                                                   \
    HOOK_TYPE(ret, id, PARAMS(FUNCTION, params))                                                   \
    static inline ret id##_body(id##_fn *real, FUNCTION, params)                                   \
    {                                                                                              \
        __attribute__((cleanup(end_wait))) struct region region =                                  \
            region_of((void *)real, run, data, head, SPAN_STACK);                                  \
        return real(work, &region, threads, args);                                                 \
    }                                                                                              \
    HOOK_THUNKS(ret, id, PARAMS(FUNCTION, params), ARGS(run, data, threads, args))

#define LOOP_CALL(id)                                                                              \
    REGION_CALL(void, id, NULL,                                                                    \
        PARAMS(long first, long end, long step, long chunk, unsigned region_flags),                \
        ARGS(first, end, step, chunk, region_flags))
#define RUNTIME_LOOP_CALL(id)                                                                      \
    REGION_CALL(void, id, NULL, PARAMS(long first, long end, long step, unsigned region_flags),    \
        ARGS(first, end, step, region_flags))

REGION_CALL(void, GOMP_parallel, NULL, PARAMS(unsigned region_flags), ARGS(region_flags))
// The data begins with a pointer to what the tasks of the region reduce into.
REGION_CALL(unsigned, GOMP_parallel_reductions, *(const void *const *)data,
    PARAMS(unsigned region_flags), ARGS(region_flags))
REGION_CALL(void, GOMP_parallel_sections, NULL, PARAMS(unsigned count, unsigned region_flags),
    ARGS(count, region_flags))
LOOP_CALL(GOMP_parallel_loop_static)
LOOP_CALL(GOMP_parallel_loop_dynamic)
LOOP_CALL(GOMP_parallel_loop_guided)
LOOP_CALL(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP_CALL(GOMP_parallel_loop_nonmonotonic_guided)
RUNTIME_LOOP_CALL(GOMP_parallel_loop_runtime)
RUNTIME_LOOP_CALL(GOMP_parallel_loop_nonmonotonic_runtime)
RUNTIME_LOOP_CALL(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

// ---- Waits. Barriers and ends of loops may also run tasks that are left over. ----

#define WAIT_CALL(ret, id, params, args)                                                           \
    HOOK_TYPE(ret, id, PARAMS(params))                                                             \
    HOOK_NAME(id, #id, "wait", TRACE_CAUSE_LOCK, AGENT_FOLD_SHORT);                                \
    static inline ret id##_body(id##_fn *real, params)                                             \
    {                                                                                              \
        HOOK_WAIT_UNLESS(0, span, &id##_name);                                                     \
        return real(args);                                                                         \
    }                                                                                              \
    HOOK_THUNKS(ret, id, PARAMS(params), ARGS(args))

// Calls without parameters: they take, and libgomp ignores, one.
#define NO_PARAMS PARAMS(uintptr_t unused)
WAIT_CALL(void, GOMP_barrier, NO_PARAMS, ARGS(unused))
WAIT_CALL(_Bool, GOMP_barrier_cancel, NO_PARAMS, ARGS(unused))
WAIT_CALL(void, GOMP_loop_end, NO_PARAMS, ARGS(unused))
WAIT_CALL(_Bool, GOMP_loop_end_cancel, NO_PARAMS, ARGS(unused))
WAIT_CALL(void, GOMP_sections_end, NO_PARAMS, ARGS(unused))
WAIT_CALL(_Bool, GOMP_sections_end_cancel, NO_PARAMS, ARGS(unused))
WAIT_CALL(void *, GOMP_single_copy_start, NO_PARAMS, ARGS(unused))
WAIT_CALL(void, GOMP_ordered_start, NO_PARAMS, ARGS(unused))
WAIT_CALL(void, GOMP_critical_start, NO_PARAMS, ARGS(unused))
WAIT_CALL(void, GOMP_critical_name_start, PARAMS(void **lock), ARGS(lock))
WAIT_CALL(void, omp_set_lock, PARAMS(void *lock), ARGS(lock))
WAIT_CALL(void, omp_set_nest_lock, PARAMS(void *lock), ARGS(lock))

// ---- Calls that run tasks until all are done: work as well as waiting. ----

static void note_team(void *real)
{
    const uint32_t token = team_wanted();
    size_fn *size = token ? team_size_of(real) : NULL;
    if (size)
        team_note(token, size());
}

#define TASK_CALL(id, params, args)                                                                \
    HOOK_TYPE(void, id, PARAMS(params))                                                            \
    static inline void id##_body(id##_fn *real, params)                                            \
    {                                                                                              \
        note_team((void *)real);                                                                   \
        real(args);                                                                                \
    }                                                                                              \
    HOOK_THUNKS(void, id, PARAMS(params), ARGS(args))
TASK_CALL(GOMP_taskwait, NO_PARAMS, ARGS(unused))
TASK_CALL(GOMP_taskwait_depend, PARAMS(void **depend), ARGS(depend))
TASK_CALL(GOMP_taskgroup_end, NO_PARAMS, ARGS(unused))

static const char *const libraries[] = {"libgomp", NULL};

#define REGION_LINE(id)                                                                            \
    {                                                                                              \
#id, id##_thunks, (void **)id##_real, &region_end_name, 1, HOOK_ATTR(THREADS)              \
    }
static const struct hook_function functions[] = {
    REGION_LINE(GOMP_parallel),
    REGION_LINE(GOMP_parallel_reductions),
    REGION_LINE(GOMP_parallel_sections),
    REGION_LINE(GOMP_parallel_loop_static),
    REGION_LINE(GOMP_parallel_loop_dynamic),
    REGION_LINE(GOMP_parallel_loop_guided),
    REGION_LINE(GOMP_parallel_loop_nonmonotonic_dynamic),
    REGION_LINE(GOMP_parallel_loop_nonmonotonic_guided),
    REGION_LINE(GOMP_parallel_loop_runtime),
    REGION_LINE(GOMP_parallel_loop_nonmonotonic_runtime),
    REGION_LINE(GOMP_parallel_loop_maybe_nonmonotonic_runtime),
    HOOK_LINE(GOMP_barrier, "GOMP_barrier", 0),
    HOOK_LINE(GOMP_barrier_cancel, "GOMP_barrier_cancel", 0),
    HOOK_LINE(GOMP_loop_end, "GOMP_loop_end", 0),
    HOOK_LINE(GOMP_loop_end_cancel, "GOMP_loop_end_cancel", 0),
    HOOK_LINE(GOMP_sections_end, "GOMP_sections_end", 0),
    HOOK_LINE(GOMP_sections_end_cancel, "GOMP_sections_end_cancel", 0),
    HOOK_LINE(GOMP_single_copy_start, "GOMP_single_copy_start", 0),
    HOOK_LINE(GOMP_ordered_start, "GOMP_ordered_start", 0),
    HOOK_LINE(GOMP_critical_start, "GOMP_critical_start", 0),
    HOOK_LINE(GOMP_critical_name_start, "GOMP_critical_name_start", 0),
    HOOK_LINE(omp_set_lock, "omp_set_lock", 0),
    HOOK_LINE(omp_set_nest_lock, "omp_set_nest_lock", 0),
    HOOK_LINE_UNTIMED(GOMP_taskwait, "GOMP_taskwait"),
    HOOK_LINE_UNTIMED(GOMP_taskwait_depend, "GOMP_taskwait_depend"),
    HOOK_LINE_UNTIMED(GOMP_taskgroup_end, "GOMP_taskgroup_end"),
    HOOK_END,
};

const struct hook_set hook_openmp_gomp = {
    .name = "openmp_gomp",
    .help = "GCC's OpenMP: teams, barriers and locks",
    .libraries = libraries,
    .functions = functions,
};
