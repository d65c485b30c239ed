// SPDX-License-Identifier: Apache-2.0
// The open ranges of each thread, beside its span stack, see ranges.h. A thread's list lies in its
// block, so a forked child begins with none. Ranges that may end elsewhere also have a place in a
// table of the process. Called by the bridges. Threads: a list belongs to its thread.
#include "agent/ranges.h"

#include "agent/mark.h"

#include <string.h>

// Ranges outlive the functions that open them: no longjmp goes past them.
#define NO_STACK UINTPTR_MAX
#define ITEM_BIT (1ull << 63) // apart from ids that the program gives to its marks

#define FREE_RANGES 1024u // begun by id and not ended, in the process
#define FREE_PROBES 64u

static struct free_range {
    _Atomic uint64_t id; // 0: free; 1: being filled
    const struct range_name *name;
    struct agent_thread *thread; // that has it as a span; NULL: none
    uint64_t item;
} free_ranges[FREE_RANGES];

static _Atomic uint64_t last_item, last_free;

static struct agent_thread *self(void)
{
    struct agent_thread *t = agent_self;
    return __builtin_expect(t->depth_limit != 0, 1) ? t : agent_thread_open();
}

static uint64_t begin_item(void)
{
    const uint64_t id = ITEM_BIT | (atomic_fetch_add(&last_item, 1) + 1);
    mark_item_begin(id);
    return id;
}

// ---- A range as a span. ----

static void open_span(struct agent_thread *t, struct agent_range *r)
{
    const uint32_t overflow = t->overflow;
    r->token = span_begin(r->name->id, TRACE_CAUSE_OTHER, AGENT_MARK, NO_STACK);
    t->overflow = overflow; // a mark's end would make up for it, ours knows by its token
    if (r->token)
        r->start_ticks = t->frames[r->token].start_ticks;
}

// Whether its span is still open: something outside may have ended, and it with it.
static int is_open(const struct agent_thread *t, const struct agent_range *r)
{
    return r->token && r->token <= t->depth && t->frames[r->token].start_ticks == r->start_ticks &&
           t->frames[r->token].what.name == r->name->id;
}

static void close_span(struct agent_thread *t, const struct agent_range *r, uintptr_t stack)
{
    if (t->busy == AGENT_JUMPED)
        span_end_slow(t, 0, stack); // only puts the stack right
    if (!is_open(t, r))
        return;
    if (t->hindered || t->depth != r->token) {
        span_end(r->token, NO_STACK);
        return;
    }
    span_guard_fast(t, AGENT_INSIDE);
    if (!span_close_fast(
            t, r->token, clock_tsc(), AGENT_FOLD | AGENT_FOLD_SHORT | AGENT_MARK, AGENT_MARK))
        span_end(r->token, NO_STACK);
}

// ---- The list of a thread. ----

static struct agent_range *add(
    struct agent_thread *t, uint16_t domain, const struct range_name *name)
{
    if (t->range_count == AGENT_RANGES)
        return NULL;
    // The count first: a signal handler's ranges then lie above this one.
    struct agent_range *r = &t->ranges[t->range_count++];
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *r = (struct agent_range){.name = name, .domain = domain};
    return r;
}

// Takes one off the list. Those above it whose spans end with it, being deeper on the stack, are
// opened again.
static void take_off(struct agent_thread *t, uint32_t index, uintptr_t stack)
{
    struct agent_range r = t->ranges[index];
    uint64_t reopen = 0;
    if (t->busy == AGENT_JUMPED)
        span_end_slow(t, 0, stack);
    for (uint32_t i = index + 1; i < t->range_count && is_open(t, &r); i++)
        reopen |= (uint64_t)is_open(t, &t->ranges[i]) << i;
    if (r.token)
        close_span(t, &r, stack);
    else if (r.id && !r.is_free)
        mark_item_end(r.id);
    t->range_count--;
    for (uint32_t i = index; i < t->range_count; i++) {
        t->ranges[i] = t->ranges[i + 1];
        if (reopen >> (i + 1) & 1)
            open_span(t, &t->ranges[i]);
    }
}

// Takes off what other threads have ended.
__attribute__((noinline)) static void settle(struct agent_thread *t, uintptr_t stack)
{
    atomic_store_explicit(&t->range_ended, 0, memory_order_relaxed);
    for (uint32_t i = t->range_count; i-- > 0;) {
        const struct agent_range *r = &t->ranges[i];
        if (r->is_free && atomic_load(&free_ranges[r->id % FREE_RANGES].id) != r->id)
            take_off(t, i, stack);
    }
}

static void settle_if_ended(struct agent_thread *t, uintptr_t stack)
{
    if (__builtin_expect(atomic_load_explicit(&t->range_ended, memory_order_relaxed) != 0, 0))
        settle(t, stack);
}

void range_push(uint16_t domain, const struct range_name *name)
{
    struct agent_thread *t = self();
    if (!t)
        return;
    settle_if_ended(t, SPAN_STACK);
    struct agent_range *r = t->range_overflow ? NULL : add(t, domain, name);
    if (!r) {
        t->range_overflow++;
        t->writer.dropped_records++;
    } else if (name->use == RANGE_STAGE) {
        open_span(t, r);
    } else if (name->use == RANGE_ITEM) {
        r->id = begin_item();
    }
}

void range_pop(uint16_t domain, uintptr_t stack)
{
    struct agent_thread *t = self();
    if (!t)
        return;
    if (t->range_overflow) {
        t->range_overflow--;
        return;
    }
    for (uint32_t i = t->range_count; i-- > 0;) {
        if (t->ranges[i].domain == domain && !t->ranges[i].is_free) {
            take_off(t, i, stack);
            break;
        }
    }
    settle_if_ended(t, stack);
}

// ---- Ranges by id. ----

// A place of the table, held; its id, which is not there yet, in *id. NULL: none is free.
static struct free_range *take_place(uint64_t *id)
{
    for (uint32_t i = 0; i < FREE_PROBES; i++) {
        // From 2 * FREE_RANGES on: the small ones have a meaning of their own.
        *id = atomic_fetch_add(&last_free, 1) + 2u * FREE_RANGES;
        struct free_range *f = &free_ranges[*id % FREE_RANGES];
        uint64_t expected = 0;
        if (atomic_compare_exchange_strong(&f->id, &expected, 1))
            return f;
    }
    return NULL;
}

uint64_t range_start(uint16_t domain, const struct range_name *name)
{
    struct agent_thread *t = self();
    uint64_t id;
    if (!t || name->use == RANGE_IGNORE)
        return 0;
    settle_if_ended(t, SPAN_STACK);
    struct free_range *f = take_place(&id);
    if (!f) {
        t->writer.dropped_records++;
        return 0;
    }
    f->name = name;
    f->item = name->use == RANGE_ITEM ? begin_item() : 0;
    f->thread = NULL;
    struct agent_range *r = NULL;
    if (!f->item && !atomic_load_explicit(&name->is_async, memory_order_relaxed))
        r = add(t, domain, name);
    if (r) {
        r->id = id;
        r->is_free = 1;
        f->thread = t;
    } else if (!f->item) {
        mark_delta(name->id, 1);
    }
    atomic_store(&f->id, id);
    if (r)
        open_span(t, r);
    return id;
}

static void end_span(
    struct agent_thread *t, const struct free_range *f, uint64_t id, uintptr_t stack)
{
    if (f->thread != t) {
        range_name_set_async(f->name);
        atomic_store(&f->thread->range_ended, 1);
        return;
    }
    for (uint32_t i = t->range_count; i-- > 0;) {
        if (t->ranges[i].is_free && t->ranges[i].id == id) {
            take_off(t, i, stack);
            return;
        }
    }
}

void range_end(uint64_t id, uintptr_t stack)
{
    struct agent_thread *t = self();
    if (!t || id < 2u * FREE_RANGES)
        return;
    struct free_range *f = &free_ranges[id % FREE_RANGES];
    const struct free_range found = {.name = f->name, .thread = f->thread, .item = f->item};
    uint64_t expected = id;
    if (!atomic_compare_exchange_strong(&f->id, &expected, 0))
        return; // ended already, or none of ours
    if (found.item)
        mark_item_end(found.item);
    else if (found.thread)
        end_span(t, &found, id, stack);
    else
        mark_delta(found.name->id, -1);
}

void range_mark(const struct range_name *name)
{
    if (name->use == RANGE_ITEM && self())
        mark_item_end(begin_item());
}

void range_bytes(uint16_t domain, uint64_t n)
{
    struct agent_thread *t = agent_self;
    for (uint32_t i = t->range_count; i-- > 0;) {
        if (t->ranges[i].domain == domain && !t->ranges[i].is_free) {
            span_bytes(t->ranges[i].token, n);
            return;
        }
    }
}
