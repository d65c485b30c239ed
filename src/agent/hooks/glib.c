// SPDX-License-Identifier: Apache-2.0
// Hook set glib: waits of GLib's own locks, which are futexes that no libc call shows. A lock that
// is free costs a trylock and a look-up. GLib 2.32 and later, where the functions have been the
// same ever since. Waits that GLib makes for itself (but for those of its queues, which are hooked
// as such) are bound inside it and not seen. Threads: any.
#include "agent/hook.h"
#include "agent/library.h"

#define WAIT_NAME(id) HOOK_NAME(id, #id, "wait", TRACE_CAUSE_LOCK, AGENT_FOLD_SHORT)

// The trylock of the same GLib says whether the lock is ours now.
static struct library_table library = {.names = {"g_mutex_trylock"}};
typedef int try_lock_fn(void *lock);

HOOK_TYPE(void, g_mutex_lock, PARAMS(void *lock))
WAIT_NAME(g_mutex_lock);
static inline void g_mutex_lock_body(g_mutex_lock_fn *real, void *lock)
{
    void *const *at = library_functions(&library, (uintptr_t)real);
    if (__builtin_expect(at && ((try_lock_fn *)at[0])(lock), 1))
        return;
    HOOK_WAIT_UNLESS(0, span, &g_mutex_lock_name);
    real(lock);
}
HOOK_THUNKS(void, g_mutex_lock, PARAMS(void *lock), ARGS(lock))

#define WAIT_CALL(ret, id, params, args)                                                           \
    HOOK_TYPE(ret, id, PARAMS(params))                                                             \
    WAIT_NAME(id);                                                                                 \
    static inline ret id##_body(id##_fn *real, params)                                             \
    {                                                                                              \
        HOOK_WAIT_UNLESS(0, span, &id##_name);                                                     \
        return real(args);                                                                         \
    }                                                                                              \
    HOOK_THUNKS(ret, id, PARAMS(params), ARGS(args))

WAIT_CALL(void, g_cond_wait, PARAMS(void *c, void *m), ARGS(c, m))
WAIT_CALL(int, g_cond_wait_until, PARAMS(void *c, void *m, int64_t end_us), ARGS(c, m, end_us))
WAIT_CALL(int, g_cond_timed_wait, PARAMS(void *c, void *m, void *end), ARGS(c, m, end))
WAIT_CALL(void *, g_async_queue_pop, PARAMS(void *q), ARGS(q))
WAIT_CALL(void *, g_async_queue_pop_unlocked, PARAMS(void *q), ARGS(q))
WAIT_CALL(
    void *, g_async_queue_timeout_pop, PARAMS(void *q, uint64_t length_us), ARGS(q, length_us))
WAIT_CALL(void *, g_async_queue_timeout_pop_unlocked, PARAMS(void *q, uint64_t length_us),
    ARGS(q, length_us))
WAIT_CALL(
    void, g_thread_pool_free, PARAMS(void *pool, int at_once, int wait), ARGS(pool, at_once, wait))

static const char *const libraries[] = {"libglib-2.0.so", NULL};

#define LINE(id) HOOK_LINE(id, #id, 0)
static const struct hook_function functions[] = {
    LINE(g_mutex_lock),
    LINE(g_cond_wait),
    LINE(g_cond_wait_until),
    LINE(g_cond_timed_wait),
    LINE(g_async_queue_pop),
    LINE(g_async_queue_pop_unlocked),
    LINE(g_async_queue_timeout_pop),
    LINE(g_async_queue_timeout_pop_unlocked),
    LINE(g_thread_pool_free),
    HOOK_END,
};

const struct hook_set hook_glib = {
    .name = "glib",
    .help = "GLib's mutexes, condition variables, queues and pools",
    .libraries = libraries,
    .functions = functions,
};
