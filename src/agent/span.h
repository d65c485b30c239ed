// SPDX-License-Identifier: Apache-2.0
// The span stack: begin and end of a stage on the calling thread, with the cost split. This is the
// hot path: two clock reads, two stores to the trace, no system call while the thread stays on its
// CPU. Called by the hooks and the marks. Threads: each works on its own block. Signal handlers may
// interrupt anything here: what they call is let through unrecorded while `busy` is set.
#ifndef LIGHTMETER_AGENT_SPAN_H
#define LIGHTMETER_AGENT_SPAN_H

#include "agent/thread.h"

// The launcher has read the lines of a segment on another core: they are asked for before the
// stores.
#define PREFETCH_BYTES 1024

static inline void prefetch_to_write(const void *at)
{
#if defined(__x86_64__)
    __asm__ volatile("prefetchw (%0)" : : "r"(at)); // does nothing where it is not known
#else
    __builtin_prefetch(at, 1);
#endif
}

// What a span is when it begins: the lower half of union agent_what.
#define SPAN_WHAT(name, cause, flags)                                                              \
    ((uint32_t)(name) | (uint32_t)(cause) << 16 | (uint32_t)(flags) << 24)

// The slow paths: they do all that the fast path of the same name does, and what it leaves out. A
// mark that cannot be recorded is counted, so that its end closes nothing.
uint32_t span_begin_slow(uint32_t what, uintptr_t stack);
void span_end_slow(struct agent_thread *t, uint32_t token, uintptr_t stack);

// Close the span of `token`, the innermost of `t`: one that may be folded, fast where its parent
// has a sum to add it to; and one that is more than a record, fast where that is its attributes.
void span_end_folded(uint32_t token, uintptr_t stack, struct agent_thread *t, uint64_t now);
void span_end_noted(uint32_t token, uintptr_t stack, struct agent_thread *t, uint64_t now);

// Now, after charging the time off the CPU since the last boundary to the innermost open span.
uint64_t span_now(struct agent_thread *t);

// Its page faults from here on go with the innermost open span, given its token. Keeps errno.
void span_faults(uint32_t token);

// Closes all open spans of a thread that ends, and writes what was held back.
void span_close_all(struct agent_thread *t);

static inline void span_guard(struct agent_thread *t, uint32_t busy)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *(volatile uint32_t *)&t->busy = busy;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// The same where nothing hinders: in one store of the width that the next boundary loads, which a
// processor hands over without waiting.
static inline void span_guard_fast(struct agent_thread *t, uint64_t busy)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *(volatile uint64_t *)&t->hindered = busy;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// The stack pointer of the caller of the function that this is used in.
#define SPAN_STACK ((uintptr_t)__builtin_dwarf_cfa())

// Opens a span where all there is to do is to put it on the stack; `what` is SPAN_WHAT. 0: nothing
// was done, and the slow path is to be taken.
static inline uint32_t span_begin_fast(uint32_t what, uintptr_t stack)
{
    struct agent_thread *t = agent_self;
    uint32_t token = t->depth + 1;
    struct agent_frame *f = &t->frames[token];
    if (__builtin_expect(token >= t->depth_limit || t->busy || *t->fast_word != t->switch_value, 0))
        return 0;
    // A hook below which the stack is gone was left without its end. (Marks may share a stack
    // frame.)
    if (__builtin_expect(!(what & AGENT_WHAT(AGENT_MARK)) && stack >= f[-1].stack &&
                             !(f[-1].what.flags & AGENT_MARK) && t->depth,
            0))
        return 0;
    if (__builtin_expect(!(what & AGENT_WHAT(AGENT_FOLDED)) && f[-1].what.fold_count != 0, 0))
        return 0;
    // Guarded: a signal handler's spans lie above a whole frame, or before its start. The clock
    // behind the checks: the strict mode of seccomp forbids the instruction.
    span_guard_fast(t, AGENT_INSIDE);
    f->start_ticks = clock_tsc();
    f->child_ticks = 0;
    f->what.word = what;
    f->stack = stack;
    t->depth = token;
    span_guard_fast(t, AGENT_FREE);
    return token;
}

// Opens a span. The token, never 0, goes to span_end; 0: not recorded, span_end does nothing.
// `stack` (SPAN_STACK) is the stack pointer of whoever called the hook or mark.
static inline uint32_t span_begin(uint16_t name, uint8_t cause, uint8_t flags, uintptr_t stack)
{
    const uint32_t what = SPAN_WHAT(name, cause, flags), token = span_begin_fast(what, stack);
    return __builtin_expect(token != 0, 1) ? token : span_begin_slow(what, stack);
}

// Closes the innermost open span, which is that of `token`, where all there is to do is to write
// one short record: `kind` are the flags that it must have of `kinds`. 0: nothing was done, and the
// slow path is to be taken. Called guarded, so that no signal handler's span ends between `now` and
// the record; the guard is taken off.
static inline int span_close_fast(
    struct agent_thread *t, uint32_t token, uint64_t now, uint32_t kinds, uint32_t kind)
{
    struct agent_frame *f = &t->frames[token];
    // From here on, so that nothing that is looked at changes under a signal handler's calls.
    span_guard_fast(t, AGENT_INSIDE);
    uint64_t dur = now - f->start_ticks, what = f->what.word;
    uint64_t odd = (what & (AGENT_WHAT_MORE | AGENT_WHAT(kinds))) ^ AGENT_WHAT(kind);
    uint8_t *room = t->writer.cursor;
    if (__builtin_expect((odd | dur >> 32) != 0, 0) ||
        __builtin_expect((uintptr_t)room + sizeof(struct trace_span) > (uintptr_t)t->writer.limit ||
                             *t->fast_word != t->switch_value || now > t->sync_due_ticks,
            0)) {
        span_guard_fast(t, AGENT_FREE);
        return 0;
    }
    // struct trace_span in two stores.
    uint64_t record[2] = {
        TRACE_SPAN | (uint64_t)(token - 1) << 8 | (what & 0xffff) << 16 | dur << 32, now};
    prefetch_to_write(room + PREFETCH_BYTES);
    __builtin_memcpy(room, record, sizeof record);
    trace_writer_commit_at(&t->writer, room, sizeof(struct trace_span));
    t->depth = token - 1;
    f[-1].child_ticks += dur;
    span_guard_fast(t, AGENT_FREE);
    return 1;
}

// Closes the span of `token` opened with `stack`, and any left open above it (by longjmp, say).
static inline void span_end(uint32_t token, uintptr_t stack)
{
    struct agent_thread *t = agent_self;
    if (!token) {
        if (__builtin_expect(t->busy == AGENT_JUMPED, 0))
            span_end_slow(t, token, stack);
        return;
    }
    const struct agent_frame *f = &t->frames[token];
    // Tail calls all of them: nothing is kept across one.
    if (__builtin_expect(t->depth != token || f->stack != stack || t->hindered, 0)) {
        span_end_slow(t, token, stack);
        return;
    }
    // From here on, and behind the checks, as in span_begin_fast.
    span_guard_fast(t, AGENT_INSIDE);
    const uint64_t now = clock_tsc();
    if (f->what.word & AGENT_WHAT(AGENT_FOLDED))
        span_end_folded(token, stack, t, now);
    else if (f->what.word & AGENT_WHAT_MORE)
        span_end_noted(token, stack, t, now);
    else if (!span_close_fast(t, token, now, AGENT_FOLDED, 0))
        span_end_slow(t, token, stack);
}

// Attributes of the innermost open span of the calling thread, given its token.
static inline struct agent_frame *span_frame(uint32_t token)
{
    struct agent_thread *t = agent_self;
    return token && t->depth == token && !t->busy ? &t->frames[token] : NULL;
}

static inline void span_bytes(uint32_t token, uint64_t n)
{
    struct agent_frame *f = span_frame(token);
    if (!f)
        return;
    f->bytes = (f->what.attr_bits & 1u << TRACE_ATTR_BYTES ? f->bytes : 0) + n;
    f->what.attr_bits |= 1u << TRACE_ATTR_BYTES;
}

// Sizes in pixels; channels and batch 0 when not known.
static inline void span_shape(
    uint32_t token, uint32_t width_px, uint32_t height_px, uint32_t channels, uint32_t batch)
{
    struct agent_frame *f = span_frame(token);
    if (!f)
        return;
    f->extent = (uint64_t)width_px | (uint64_t)height_px << 32;
    agent_self->shapes[token].channels_batch = (channels & 0xffff) | batch << 16;
    f->what.attr_bits |= 1u << TRACE_ATTR_SHAPE;
}

static inline void span_source(uint32_t token, uint32_t width_px, uint32_t height_px)
{
    struct agent_frame *f = span_frame(token);
    if (!f)
        return;
    agent_self->shapes[token].source = (uint64_t)width_px | (uint64_t)height_px << 32;
    f->what.attr_bits |= 1u << TRACE_ATTR_SOURCE;
}

// Any attribute from TRACE_ATTR_FILE on.
static inline void span_value_aux(
    uint32_t token, enum trace_attr_key key, uint64_t value, uint32_t aux)
{
    struct agent_frame *f = span_frame(token);
    if (!f)
        return;
    struct agent_values *v = &agent_self->values[token];
    const unsigned at = (unsigned)key - TRACE_ATTR_FILE;
    v->bits = (f->what.attr_bits & AGENT_HAS_VALUES ? v->bits : 0) | 1u << at;
    v->value[at] = value;
    v->aux[at] = aux;
    f->what.attr_bits |= AGENT_HAS_VALUES;
}

static inline void span_value(uint32_t token, enum trace_attr_key key, uint64_t value)
{
    span_value_aux(token, key, value, 0);
}

static inline void span_scale(uint32_t token, uint32_t numerator, uint32_t denominator)
{
    struct agent_frame *f = span_frame(token);
    if (!f)
        return;
    agent_self->shapes[token].scale = (uint64_t)numerator | (uint64_t)denominator << 32;
    f->what.attr_bits |= 1u << TRACE_ATTR_SCALE;
}

#endif
