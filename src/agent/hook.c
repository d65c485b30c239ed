// SPDX-License-Identifier: Apache-2.0
// The registry of hook sets, and how an interposed function finds the one it stands before.
// Threads: the table of originals is filled once, by the one that starts the process.
#include "agent/hook.h"

#include "agent/library.h"

#include <dlfcn.h>
#include <string.h>

_Static_assert(LIBRARY_COPIES == HOOK_VARIANTS, "as many copies as can be told apart");

#define ROW(name) extern const struct hook_set hook_##name;
#include "agent/hooks/registry.def"
#undef ROW

const struct hook_set *const hook_sets[] = {
#define ROW(name) &hook_##name,
#include "agent/hooks/registry.def"
#undef ROW
    NULL};

uint32_t hook_what_first(struct hook_name *name)
{
    // The name goes into the process file.
    if (!agent_thread_open())
        return 0;
    const uint16_t id = names_intern(name->text, name->stage, name->cause);
    __atomic_store_n(&name->id, id, __ATOMIC_RELAXED);
    return id ? SPAN_WHAT(id, name->cause, name->flags) : 0;
}

struct hook_span hook_begin_slow(struct hook_name *name, uintptr_t stack)
{
    uint32_t what = hook_what(name);
    if (!(uint16_t)what)
        what = hook_what_first(name);
    const uint32_t token = what ? span_begin_slow(what, stack) : 0;
    if (token && agent.long_names[what % AGENT_NAMES])
        return hook_begin_long(token, stack);
    return (struct hook_span){token, stack};
}

struct hook_span hook_begin_long(uint32_t token, uintptr_t stack)
{
    span_faults(token);
    return (struct hook_span){token, stack};
}

// The originals of libc's functions, by name. Looked up before the host has threads: dlsym waits
// for whoever is in a dlopen, which may wait for the very thread that calls a function for the
// first time; and it would take away what dlerror has to say.
#define NEXTS 1024u // more than twice the functions
static struct {
    const char *symbol;
    void *found; // NULL: libc has none
} nexts[NEXTS];
static _Atomic int nexts_known;

static size_t next_place(const char *symbol)
{
    uint32_t hash = 2166136261u;
    for (const char *c = symbol; *c; c++)
        hash = (hash ^ (uint8_t)*c) * 16777619u;
    size_t at = hash % NEXTS;
    while (nexts[at].symbol && strcmp(nexts[at].symbol, symbol) != 0)
        at = (at + 1) % NEXTS;
    return at;
}

static void *look_up(const char *symbol, const char *version)
{
    void *found = version ? dlvsym(RTLD_NEXT, symbol, version) : NULL;
    return found ? found : hook_real_dlsym(RTLD_NEXT, symbol);
}

void hook_find_nexts(void)
{
    for (const struct hook_set *const *set = hook_sets; *set; set++) {
        for (const struct hook_function *f = (*set)->functions; f && f->symbol; f++) {
            if (f->thunks)
                continue;
            const size_t at = next_place(f->symbol);
            nexts[at].found = look_up(f->symbol, (*set)->version);
            nexts[at].symbol = f->symbol;
        }
    }
    dlerror(); // what was not found is no concern of the host's
    atomic_store_explicit(&nexts_known, 1, memory_order_release);
}

void *hook_next(const char *symbol, const char *version)
{
    if (atomic_load_explicit(&nexts_known, memory_order_acquire)) {
        const size_t at = next_place(symbol);
        if (nexts[at].symbol)
            return nexts[at].found;
    }
    return look_up(symbol, version);
}
