// SPDX-License-Identifier: Apache-2.0
// What a hook file is made of. A hook set (one file, one const struct hook_set) lists the functions
// of one library that are followed. Functions of libc are interposed by name (HOOK_EXPORT and
// HOOK_NEXT); functions of other libraries through their callers' GOT slots (HOOK_CALL and
// friends), where each set of thunks keeps the exact original that its slot had. A hook never
// changes arguments, results or errno, and lets exceptions through. Threads: hooks run on the
// host's threads.
#ifndef LIGHTMETER_AGENT_HOOK_H
#define LIGHTMETER_AGENT_HOOK_H

#include "agent/names.h"
#include "agent/span.h"

#include <stddef.h>

// Copies of one function that can be told apart (two libjpegs in one process, say).
#define HOOK_VARIANTS 4

// What is recorded for a call: its name and stage, and how blocked time in it is understood.
struct hook_name {
    const char *text, *stage;
    uint8_t cause, flags; // enum trace_cause, enum agent_name_flag
    uint16_t id;          // 0 until first used
};

struct hook_function {
    const char *symbol;
    void *const *thunks; // HOOK_VARIANTS of them; NULL for a function of libc: it is interposed
    void **originals;    // the original behind each thunk; NULL: free
    // What a call is recorded as: one of these names. None: it is not timed.
    const struct hook_name *names;
    unsigned name_count;
    uint32_t attrs; // 1 << enum trace_attr_key that it may carry, HOOK_VIRTUAL
};

struct hook_set {
    const char *name; // as in the registry, and after --no-hook
    const char *help;
    const char *const *libraries; // sonames begin with one of these; ends with NULL; NULL for libc
    const struct hook_function *functions; // ends with symbol NULL
    int *is_off; // set when switched off; NULL when there is nothing to set
    // Told the file name of each of `libraries` that is loaded, also when the set is off; or NULL.
    void (*see)(const char *file_name);
    // Its names are such as other libraries and programs have for functions of their own: only
    // functions that lie in one of `libraries` are hooked.
    int is_named_broadly;
    // The symbol version of those of its functions that libc has in several; NULL: the newest.
    const char *version;
};

// All sets in the registry's order, ended by NULL.
extern const struct hook_set *const hook_sets[];

// Gives the name its id, and returns what a span of it is (SPAN_WHAT). 0: nothing is named before
// recording is on.
__attribute__((cold)) uint32_t hook_what_first(struct hook_name *name);

static inline uint16_t hook_id(struct hook_name *name)
{
    uint16_t id = __atomic_load_n(&name->id, __ATOMIC_RELAXED);
    return __builtin_expect(!id, 0) ? (uint16_t)hook_what_first(name) : id;
}

// What a span of the name is, in one load; the id in it is 0 until it has one.
static inline uint32_t hook_what(const struct hook_name *name)
{
    typedef uint32_t __attribute__((may_alias)) word;
    _Static_assert(offsetof(struct hook_name, flags) == offsetof(struct hook_name, cause) + 1 &&
                       offsetof(struct hook_name, id) == offsetof(struct hook_name, cause) + 2 &&
                       __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
        "cause, flags and id are one word");
    const char *at = (const char *)name + offsetof(struct hook_name, cause);
    const uint32_t w = __atomic_load_n((const word *)(const void *)at, __ATOMIC_RELAXED);
    return w >> 16 | w << 16;
}

// An open span of a hook; closed by its cleanup, so also when an exception passes.
struct hook_span {
    uint32_t token;
    uintptr_t stack;
};

// Where the name has no id yet, or the fast path may not be taken.
__attribute__((cold)) struct hook_span hook_begin_slow(struct hook_name *name, uintptr_t stack);

// Adds to a span that is likely to be long what is worth knowing then.
struct hook_span hook_begin_long(uint32_t token, uintptr_t stack);

static inline struct hook_span hook_begin_as(struct hook_name *name, uint32_t what, uintptr_t stack)
{
    const uint32_t token = __builtin_expect(!!(uint16_t)what, 1) ? span_begin_fast(what, stack) : 0;
    // Tail calls: nothing is kept across one.
    if (__builtin_expect(!token, 0))
        return hook_begin_slow(name, stack);
    if (__builtin_expect(agent.long_names[what % AGENT_NAMES], 0))
        return hook_begin_long(token, stack);
    return (struct hook_span){token, stack};
}

static inline struct hook_span hook_begin(struct hook_name *name, uintptr_t stack)
{
    return hook_begin_as(name, hook_what(name), stack);
}

// The same for a name of a group: not recorded when the innermost open span is of the same group,
// since then the library called itself (jpeg_read_header calls jpeg_consume_input).
static inline struct hook_span hook_begin_outer(struct hook_name *name, uintptr_t stack)
{
    const struct agent_thread *t = agent_self;
    const struct agent_frame *top = &t->frames[t->depth];
    const uint32_t what = hook_what(name);
    if ((what & AGENT_WHAT(AGENT_GROUP)) &&
        ((top->what.word ^ what) & AGENT_WHAT(AGENT_GROUP)) == 0 && stack < top->stack)
        return (struct hook_span){0, stack};
    return hook_begin_as(name, what, stack);
}

static inline void hook_end(struct hook_span *s)
{
    span_end(s->token, s->stack);
}

// The same for an interposed function, which stays in place when its set is switched off.
static inline struct hook_span hook_begin_unless(
    int is_off, struct hook_name *name, uintptr_t stack)
{
    return is_off ? (struct hook_span){0, stack} : hook_begin(name, stack);
}

// The start of the waiting call that the thread is in goes into its segment's header, for when the
// process is killed in it. `start_ticks` 0: it is in none any more. Under the guard, since a signal
// handler's records could put another segment in place.
static inline void hook_wait_note(struct agent_thread *t, const struct agent_frame *f)
{
    const uint32_t busy = t->busy;
    if (busy == AGENT_INSIDE)
        return;
    span_guard(t, AGENT_INSIDE);
    struct trace_segment *s = t->writer.segment;
    if (s) {
        __atomic_store_n(&s->wait_start_ticks, 0, __ATOMIC_RELEASE);
        if (f) {
            s->wait_name = f->what.name;
            s->wait_depth = (uint8_t)(f - t->frames - 1);
            __atomic_store_n(&s->wait_start_ticks, f->start_ticks, __ATOMIC_RELEASE);
        }
    }
    span_guard(t, busy);
}

// Whether the innermost open span is a call that waits for an accelerator: what its library waits
// on meanwhile (a lock, a descriptor) is how that is done, not what is waited for.
static inline int hook_is_in_accel(uintptr_t stack)
{
    const struct agent_thread *t = agent_self;
    const struct agent_frame *top = &t->frames[t->depth];
    return t->depth && top->what.cause == TRACE_CAUSE_ACCEL && stack < top->stack;
}

static inline void hook_wait_note_begun(const struct hook_span *s)
{
    struct agent_thread *t = agent_self;
    if (s->token && t->depth == s->token)
        hook_wait_note(t, &t->frames[s->token]);
}

static inline struct hook_span hook_wait_begin(int is_off, struct hook_name *name, uintptr_t stack)
{
    struct hook_span s = hook_begin_unless(is_off || hook_is_in_accel(stack), name, stack);
    hook_wait_note_begun(&s);
    return s;
}

static inline struct hook_span hook_wait_begin_outer(struct hook_name *name, uintptr_t stack)
{
    struct hook_span s = hook_begin_outer(name, stack);
    hook_wait_note_begun(&s);
    return s;
}

static inline void hook_wait_end(struct hook_span *s)
{
    if (s->token)
        hook_wait_note(agent_self, NULL);
    hook_end(s);
}

#define HOOK_SPAN(variable, name)                                                                  \
    __attribute__((cleanup(hook_end), unused)) struct hook_span variable =                         \
        hook_begin(name, SPAN_STACK)

#define HOOK_SPAN_UNLESS(is_off, variable, name)                                                   \
    __attribute__((cleanup(hook_end), unused)) struct hook_span variable =                         \
        hook_begin_unless(is_off, name, SPAN_STACK)

// For calls that do nothing but wait, for long perhaps.
#define HOOK_WAIT_UNLESS(is_off, variable, name)                                                   \
    __attribute__((cleanup(hook_wait_end), unused)) struct hook_span variable =                    \
        hook_wait_begin(is_off, name, SPAN_STACK)

// The name that the calls of the hook `id` are recorded with, and a span of that name around what
// is left of the block.
#define HOOK_NAME(id, text, stage, cause, flags)                                                   \
    static struct hook_name id##_name = {text, stage, cause, flags, 0}

#define HOOK_SPAN_OF(id, variable)                                                                 \
    __attribute__((cleanup(hook_end), unused)) struct hook_span variable =                         \
        hook_begin_outer(&id##_name, SPAN_STACK)

// The same for a call that does nothing but wait, for long perhaps.
#define HOOK_WAIT_OF(id, variable)                                                                 \
    __attribute__((cleanup(hook_wait_end), unused)) struct hook_span variable =                    \
        hook_wait_begin_outer(&id##_name, SPAN_STACK)

// ---- Functions of other libraries, by GOT slot. -------------------------------------------------
//
// HOOK_THUNKS(ret, id, PARAMS(...), ARGS(...)) declares the thunks of a hook whose body the file
// defines as `static inline ret id_body(id_fn *real, PARAMS)`. HOOK_CALL makes the usual body too:
// a span around the call, named by its HOOK_NAME. HOOK_LINE is its line in the set's table.

#define PARAMS(...) __VA_ARGS__
#define ARGS(...) __VA_ARGS__

#define HOOK_TYPE(ret, id, params)                                                                 \
    typedef ret id##_fn(params);                                                                   \
    static id##_fn *id##_real[HOOK_VARIANTS];

#define HOOK_THUNK(ret, id, params, args, variant)                                                 \
    static ret id##_thunk_##variant(params)                                                        \
    {                                                                                              \
        return id##_body(id##_real[variant], args);                                                \
    }

#define HOOK_THUNKS(ret, id, params, args)                                                         \
    HOOK_THUNK(ret, id, PARAMS(params), ARGS(args), 0)                                             \
    HOOK_THUNK(ret, id, PARAMS(params), ARGS(args), 1)                                             \
    HOOK_THUNK(ret, id, PARAMS(params), ARGS(args), 2)                                             \
    HOOK_THUNK(ret, id, PARAMS(params), ARGS(args), 3)                                             \
    static void *const id##_thunks[HOOK_VARIANTS] = {                                              \
        (void *)id##_thunk_0, (void *)id##_thunk_1, (void *)id##_thunk_2, (void *)id##_thunk_3};

#define HOOK_CALL(ret, id, text, stage, cause, flags, params, args)                                \
    HOOK_TYPE(ret, id, PARAMS(params))                                                             \
    HOOK_NAME(id, text, stage, cause, flags);                                                      \
    static inline ret id##_body(id##_fn *real, params)                                             \
    {                                                                                              \
        HOOK_SPAN_OF(id, span);                                                                    \
        return real(args);                                                                         \
    }                                                                                              \
    HOOK_THUNKS(ret, id, PARAMS(params), ARGS(args))

// The same with statements around the call that note its attributes: they see `span`, the original
// as `real` and, behind the call, its result as `done`. It is shown by the function's own name.
#define HOOK_NOTED(ret, id, stage, flags, before, after, params, args)                             \
    HOOK_TYPE(ret, id, PARAMS(params))                                                             \
    HOOK_NAME(id, #id, stage, TRACE_CAUSE_OTHER, flags);                                           \
    static inline ret id##_body(id##_fn *real, params)                                             \
    {                                                                                              \
        HOOK_SPAN_OF(id, span);                                                                    \
        before;                                                                                    \
        ret done = real(args);                                                                     \
        after;                                                                                     \
        return done;                                                                               \
    }                                                                                              \
    HOOK_THUNKS(ret, id, PARAMS(params), ARGS(args))
#define HOOK_NOTHING ((void)0)

// A line of a set's table: a hook with its HOOK_NAME, one with no name because it is not timed, and
// a function of libc with the names it may have. `attrs`: HOOK_BYTES | ...
#define HOOK_LINE(id, symbol, attrs)                                                               \
    {                                                                                              \
        symbol, id##_thunks, (void **)id##_real, &id##_name, 1, attrs                              \
    }
#define HOOK_LINE_UNTIMED(id, symbol)                                                              \
    {                                                                                              \
        symbol, id##_thunks, (void **)id##_real, NULL, 0, 0                                        \
    }
#define HOOK_LINE_LIBC(symbol, names, count, attrs)                                                \
    {                                                                                              \
        symbol, NULL, NULL, names, count, attrs                                                    \
    }
#define HOOK_END                                                                                   \
    {                                                                                              \
        .symbol = NULL                                                                             \
    }
#define HOOK_ATTR(key) (1u << TRACE_ATTR_##key)
#define HOOK_BYTES HOOK_ATTR(BYTES)
#define HOOK_SHAPE HOOK_ATTR(SHAPE)
#define HOOK_SOURCE HOOK_ATTR(SOURCE)
#define HOOK_SCALE HOOK_ATTR(SCALE)
// Not an attribute: it is a virtual function, which callers reach through constant tables of the
// library that defines it, too.
#define HOOK_VIRTUAL (1u << 31)

// ---- Functions of libc, by interposition.
// ---------------------------------------------------------

#define HOOK_EXPORT __attribute__((visibility("default")))

// Looks up the next definition of every interposed function, once, before the host has threads.
void hook_find_nexts(void);

// The next definition of `symbol` after ours; `version` names one of several, or NULL.
void *hook_next(const char *symbol, const char *version);

// The real dlsym, with the meaning that it has when called from this library.
void *hook_real_dlsym(void *handle, const char *name);

#define HOOK_NEXT(ret, symbol, version, params)                                                    \
    typedef ret symbol##_next_fn(params);                                                          \
    static symbol##_next_fn *symbol##_next(void)                                                   \
    {                                                                                              \
        static symbol##_next_fn *found;                                                            \
        symbol##_next_fn *next = __atomic_load_n(&found, __ATOMIC_RELAXED);                        \
        if (__builtin_expect(!next, 0)) {                                                          \
            *(void **)&next = hook_next(#symbol, version);                                         \
            __atomic_store_n(&found, next, __ATOMIC_RELAXED);                                      \
        }                                                                                          \
        return next;                                                                               \
    }

#endif
