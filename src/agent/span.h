// SPDX-License-Identifier: Apache-2.0
// The span stack: begin and end of a stage on the calling thread, with the cost split. This is the
// hot path: two clock reads, two stores to the trace, no system call while the thread stays on its
// CPU. Called by the hooks and the marks. Threads: each works on its own block. Signal handlers may
// interrupt anything here: what they call is let through unrecorded while `busy` is set.
#ifndef LIGHTMETER_AGENT_SPAN_H
#define LIGHTMETER_AGENT_SPAN_H

#include "agent/thread.h"

// The slow paths. span_begin_slow returns a token as span_begin does.
uint32_t span_begin_slow(uint16_t name, uint8_t cause, uint8_t flags, uintptr_t stack);
void span_end_slow(struct agent_thread *t, uint32_t token, uint64_t now);
uint64_t span_sync(struct agent_thread *t, uint64_t now); // charges off-CPU time; the new now
void span_flush_folds(struct agent_thread *t, uint32_t depth);
void span_flush_root(struct agent_thread *t, uint64_t now);

static inline void span_guard(struct agent_thread *t, uint32_t busy)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    *(volatile uint32_t *)&t->busy = busy;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// Now, after charging the time off the CPU since the last boundary to the innermost open span.
static inline uint64_t span_now(struct agent_thread *t)
{
    uint64_t now = agent_ticks();
    if (__builtin_expect(
            *t->switch_word != t->switch_value || now - t->sync_ticks > agent.resync_ticks, 0))
        now = span_sync(t, now);
    return now;
}

// Opens a span. The token, never 0, goes to span_end; 0: not recorded, span_end does nothing.
// `stack` is an address in the frame of the function that will call span_end (0 for marks).
static inline uint32_t span_begin(uint16_t name, uint8_t cause, uint8_t flags, uintptr_t stack)
{
    struct agent_thread *t = agent_self;
    if (__builtin_expect(t->depth + 1 >= t->depth_limit || t->busy, 0))
        return span_begin_slow(name, cause, flags, stack);
    struct agent_frame *top = &t->frames[t->depth];
    if (__builtin_expect(stack && top->stack && stack >= top->stack, 0))
        return span_begin_slow(name, cause, flags, stack);
    if (__builtin_expect((top->fold_count && !(flags & (AGENT_FOLD | AGENT_FOLD_SHORT))) ||
                             (t->depth == 0 && top->switches),
            0))
        return span_begin_slow(name, cause, flags, stack);
    span_guard(t, 1);
    struct agent_frame *f = top + 1;
    f->start_ticks = span_now(t);
    f->child_ticks = 0;
    f->name = name;
    f->cause = cause;
    f->flags = flags;
    f->switches = 0;
    f->fold_count = 0;
    f->attr_bits = 0;
    f->stack = stack;
    uint32_t token = ++t->depth;
    span_guard(t, 0);
    return token;
}

// Closes the span of `token` opened with `stack`, and any left open above it (by longjmp, say).
static inline void span_end(uint32_t token, uintptr_t stack)
{
    struct agent_thread *t = agent_self;
    if (__builtin_expect(!token || t->busy || t->depth < token, 0))
        return;
    if (__builtin_expect(t->frames[token].stack != stack, 0))
        return; // taken for abandoned since, and another span is in its place
    span_guard(t, 1);
    uint64_t now = span_now(t);
    struct agent_frame *f = &t->frames[token];
    uint64_t dur = now - f->start_ticks;
    struct trace_span *room = NULL;
    int is_plain = t->depth == token && !f->switches && !f->fold_count && !f->attr_bits &&
                   !(f->flags & (AGENT_FOLD | AGENT_FOLD_SHORT)) && !*agent.control && !(dur >> 32);
    if (__builtin_expect(is_plain, 1))
        room = trace_writer_room(&t->writer, sizeof *room);
    if (__builtin_expect(room != NULL, 1)) {
        *room = (struct trace_span){TRACE_SPAN, (uint8_t)(token - 1), f->name, (uint32_t)dur, now};
        trace_writer_commit(&t->writer, sizeof *room);
        t->depth = token - 1;
        f[-1].child_ticks += dur;
    } else {
        span_end_slow(t, token, now);
    }
    span_guard(t, 0);
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
    f->bytes = (f->attr_bits & 1u << TRACE_ATTR_BYTES ? f->bytes : 0) + n;
    f->attr_bits |= 1u << TRACE_ATTR_BYTES;
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
    f->attr_bits |= 1u << TRACE_ATTR_SHAPE;
}

static inline void span_source(uint32_t token, uint32_t width_px, uint32_t height_px)
{
    struct agent_frame *f = span_frame(token);
    if (!f)
        return;
    agent_self->shapes[token].source = (uint64_t)width_px | (uint64_t)height_px << 32;
    f->attr_bits |= 1u << TRACE_ATTR_SOURCE;
}

static inline void span_scale(uint32_t token, uint32_t numerator, uint32_t denominator)
{
    struct agent_frame *f = span_frame(token);
    if (!f)
        return;
    agent_self->shapes[token].scale = (uint64_t)numerator | (uint64_t)denominator << 32;
    f->attr_bits |= 1u << TRACE_ATTR_SCALE;
}

#endif
