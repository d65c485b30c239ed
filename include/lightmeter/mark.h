// SPDX-License-Identifier: Apache-2.0
// Lightmeter's marks: name the stages, items and queues of your own program.
//
// Header-only, C11 and C++11, GNU-compatible compilers. Nothing to link: the marks look for the
// agent once (with dlsym) and do nothing when the program does not run under `lightmeter run`.
// Cost without an agent: a load and a compare. Threads: every function may be called from any
// thread; a span, and the item in use, belong to the thread that opened them. Signal handlers must
// not call marks. No function fails, allocates, locks, or changes errno.
//
//     void work(struct job *job)
//     {
//         LM_STAGE("preprocess");            // closed at the end of the scope
//         lm_item_use(job->id);              // what this thread works on from here
//         lm_shape(640, 480, 3, 1);          // attributes of the open span
//         ...
//     }
#ifndef LIGHTMETER_MARK_H
#define LIGHTMETER_MARK_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What the agent offers. Filled by the agent; fields are only ever appended.
struct lm_agent {
    uint32_t version;                      // 1
    uint32_t length_bytes;                 // of this struct as the agent knows it
    uint32_t (*name_id)(const char *name); // for stages, counters and queues; never 0
    void (*stage_begin)(uint32_t name);
    void (*stage_end)(void);
    void (*item_begin)(uint64_t id);
    void (*item_use)(uint64_t id);
    void (*item_end)(uint64_t id);
    void (*item_join)(uint64_t batch, const uint64_t *ids, size_t n);
    void (*bytes)(uint64_t n);
    void (*shape)(uint32_t width_px, uint32_t height_px, uint32_t channels, uint32_t batch);
    void (*count)(uint32_t name, int64_t delta);
    void (*queue_put)(uint32_t queue, uint32_t depth);
    void (*queue_get)(uint32_t queue, uint32_t depth);
};

// Looked up at run time only; weak, so that old C libraries need no -ldl and static programs link.
#pragma weak dlsym

// NULL: not looked up yet. LM_NO_AGENT: looked up, none there.
#define LM_NO_AGENT ((const struct lm_agent *)1)

__attribute__((weak, visibility("hidden"))) const struct lm_agent *lm_agent_found;

__attribute__((unused, noinline, cold)) static const struct lm_agent *lm_agent_find(void)
{
    const struct lm_agent *agent = NULL;
    if (dlsym)
        agent = (const struct lm_agent *)dlsym((void *)0 /* RTLD_DEFAULT */, "lightmeter_agent_v1");
    if (!agent || agent->version != 1 || agent->length_bytes < sizeof *agent)
        agent = LM_NO_AGENT;
    __atomic_store_n(&lm_agent_found, agent, __ATOMIC_RELEASE);
    return agent;
}

// The agent, or NULL when the program runs without one.
__attribute__((unused)) static inline const struct lm_agent *lm_agent_get(void)
{
    const struct lm_agent *agent = __atomic_load_n(&lm_agent_found, __ATOMIC_ACQUIRE);
    if ((uintptr_t)agent > (uintptr_t)LM_NO_AGENT)
        return agent;
    if (__builtin_expect(!agent, 0))
        agent = lm_agent_find();
    return agent == LM_NO_AGENT ? NULL : agent;
}

// The agent's number of a name, kept per call site when the name is a string literal.
#define LM_NAME_ID(agent, name)                                                                    \
    __extension__({                                                                                \
        static uint32_t lm_site_id;                                                                \
        uint32_t lm_id = 0;                                                                        \
        if (__builtin_constant_p((name)[0]))                                                       \
            lm_id = __atomic_load_n(&lm_site_id, __ATOMIC_RELAXED);                                \
        if (__builtin_expect(!lm_id, 0)) {                                                         \
            lm_id = (agent)->name_id(name);                                                        \
            if (__builtin_constant_p((name)[0]))                                                   \
                __atomic_store_n(&lm_site_id, lm_id, __ATOMIC_RELAXED);                            \
        }                                                                                          \
        lm_id;                                                                                     \
    })

// Call an agent function that starts with a name; arguments are evaluated only with an agent.
#define LM_NAMED_CALL(function, name)                                                              \
    __extension__({                                                                                \
        const struct lm_agent *lm_a = lm_agent_get();                                              \
        if (lm_a)                                                                                  \
            lm_a->function(LM_NAME_ID(lm_a, name));                                                \
        (void)0;                                                                                   \
    })
#define LM_NAMED_CALL_WITH(function, name, value)                                                  \
    __extension__({                                                                                \
        const struct lm_agent *lm_a = lm_agent_get();                                              \
        if (lm_a)                                                                                  \
            lm_a->function(LM_NAME_ID(lm_a, name), (value));                                       \
        (void)0;                                                                                   \
    })

// Opens a span of the stage `name` on this thread, and closes the innermost one opened so.
#define lm_stage_begin(name) LM_NAMED_CALL(stage_begin, name)
__attribute__((unused)) static inline void lm_stage_end(void)
{
    const struct lm_agent *agent = lm_agent_get();
    if (agent)
        agent->stage_end();
}

// A span that closes itself at the end of the enclosing scope: at its closing brace, at return, and
// when a C++ exception leaves it (in C, an exception needs -fexceptions).
#ifdef __cplusplus
}
namespace lightmeter_detail
{
struct stage_scope {
    stage_scope()
    {
    }
    ~stage_scope()
    {
        lm_stage_end();
    }
    stage_scope(const stage_scope &) = delete;
    stage_scope &operator=(const stage_scope &) = delete;
};
} // namespace lightmeter_detail
#define LM_STAGE_AT(name, line) LM_STAGE_AT2(name, line)
#define LM_STAGE_AT2(name, line)                                                                   \
    lm_stage_begin(name);                                                                          \
    ::lightmeter_detail::stage_scope lm_scope_##line;                                              \
    (void)lm_scope_##line
extern "C" {
#else
__attribute__((unused)) static inline void lm_stage_scope_end(const char *scope)
{
    (void)scope;
    lm_stage_end();
}
#define LM_STAGE_AT(name, line) LM_STAGE_AT2(name, line)
#define LM_STAGE_AT2(name, line)                                                                   \
    __attribute__((cleanup(lm_stage_scope_end), unused)) const char lm_scope_##line = 0;           \
    lm_stage_begin(name)
#endif
#define LM_STAGE(name) LM_STAGE_AT(name, __LINE__)

// Items: `id` is yours (a frame number, a row id), unique among the items of the process.
// begin: it enters the pipeline. use: this thread works on it from now on. end: it is done, and
// counts for throughput and, from its begin, for latency.
__attribute__((unused)) static inline void lm_item_begin(uint64_t id)
{
    const struct lm_agent *agent = lm_agent_get();
    if (agent)
        agent->item_begin(id);
}

__attribute__((unused)) static inline void lm_item_use(uint64_t id)
{
    const struct lm_agent *agent = lm_agent_get();
    if (agent)
        agent->item_use(id);
}

__attribute__((unused)) static inline void lm_item_end(uint64_t id)
{
    const struct lm_agent *agent = lm_agent_get();
    if (agent)
        agent->item_end(id);
}

// `batch` is made of the `n` items `ids`; spans under `batch` are shared out among them.
__attribute__((unused)) static inline void lm_item_join(
    uint64_t batch, const uint64_t *ids, size_t n)
{
    const struct lm_agent *agent = lm_agent_get();
    if (agent)
        agent->item_join(batch, ids, n);
}

// Attributes of the innermost open span: bytes moved (added up), and the shape of what it handled.
__attribute__((unused)) static inline void lm_bytes(uint64_t n)
{
    const struct lm_agent *agent = lm_agent_get();
    if (agent)
        agent->bytes(n);
}

__attribute__((unused)) static inline void lm_shape(
    uint32_t width_px, uint32_t height_px, uint32_t channels, uint32_t batch)
{
    const struct lm_agent *agent = lm_agent_get();
    if (agent)
        agent->shape(width_px, height_px, channels, batch);
}

// Adds `delta` to the counter `name`.
#define lm_count(name, delta) LM_NAMED_CALL_WITH(count, name, (int64_t)(delta))

// After a put to or a get from the queue `name`: how many elements it holds now.
#define lm_queue_put(name, depth) LM_NAMED_CALL_WITH(queue_put, name, (uint32_t)(depth))
#define lm_queue_get(name, depth) LM_NAMED_CALL_WITH(queue_get, name, (uint32_t)(depth))

#ifdef __cplusplus
}
#endif

#endif
