// SPDX-License-Identifier: Apache-2.0
// Places for the threads that are about to begin; see the header. Threads: any.
#include "agent/birth.h"

#include "agent/elf_object.h"
#include "agent/thread.h"

#include <errno.h>
#include <string.h>

struct birth {
    _Atomic int is_taken;
    void *run, *argument;
    uint64_t ticks; // when it was asked for
    char creator[48];
};
static struct birth births[256];

static struct birth *take_place(void)
{
    for (size_t i = 0; i < sizeof births / sizeof *births; i++) {
        int expected = 0;
        if (atomic_compare_exchange_strong(&births[i].is_taken, &expected, 1))
            return &births[i];
    }
    return NULL;
}

// Not by dladdr: that waits for a dlopen of another thread, which may wait for the new one.
static void name_creator(struct birth *b, void *return_address)
{
    struct elf_object ignored;
    const char *name = elf_object_owner((uintptr_t)return_address, &ignored);
    if (name && !*name)
        name = program_invocation_short_name;
    memset(b->creator, 0, sizeof b->creator);
    if (name)
        memcpy(b->creator, name, strnlen(name, sizeof b->creator - 1));
}

struct birth *birth_new(void *run, void *argument, void *return_address)
{
    struct birth *b = atomic_load(&agent.state) == AGENT_ON ? take_place() : NULL;
    if (!b)
        return NULL;
    b->run = run;
    b->argument = argument;
    name_creator(b, return_address);
    b->ticks = agent_ticks();
    return b;
}

void birth_free(struct birth *b)
{
    if (b)
        atomic_store(&b->is_taken, 0);
}

void *birth_begin(struct birth *b, void **argument)
{
    char creator[sizeof b->creator];
    void *run = b->run;
    const uint64_t asked_ticks = b->ticks;
    *argument = b->argument;
    memcpy(creator, b->creator, sizeof creator);
    birth_free(b);
    agent_thread_begin(creator, asked_ticks);
    return run;
}
