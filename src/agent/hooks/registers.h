// SPDX-License-Identifier: Apache-2.0
// Hooks of functions whose parameters differ between releases of a library under one name, or are
// many and of no interest: whatever the registers hold is passed on, eight integers or pointers and
// four floating-point numbers (on x86-64 the last two integers lie on the caller's stack, which is
// there to read in any call). Right for every function with that much or less that returns an
// integer, a pointer or nothing; wrong for structs by value, long double and variable arguments.
// Used by hook sets of C and C++ libraries. Threads: none.
#ifndef LIGHTMETER_AGENT_HOOKS_REGISTERS_H
#define LIGHTMETER_AGENT_HOOKS_REGISTERS_H

#include "agent/hook.h"

#define REGISTERS                                                                                  \
    uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f, uintptr_t g,     \
        uintptr_t h, double s, double t, double u, double v
#define REGISTERS_IN_ORDER a, b, c, d, e, f, g, h, s, t, u, v

// A hook with a span of the HOOK_NAME of `id`, which is called `span`: opened by `open`,
// HOOK_SPAN_OF for instance. `before` and `after` see the parameters a to v, `function` (the
// address of the real one) and, in `after`, what it returned as `done`.
#define REGISTERS_CALL(id, open, before, after)                                                    \
    HOOK_TYPE(uintptr_t, id, PARAMS(REGISTERS))                                                    \
    static inline uintptr_t id##_body(id##_fn *real, REGISTERS)                                    \
    {                                                                                              \
        const uintptr_t function = (uintptr_t)real;                                                \
        open(id, span);                                                                            \
        (void)function;                                                                            \
        before;                                                                                    \
        const uintptr_t done = real(REGISTERS_IN_ORDER);                                           \
        after;                                                                                     \
        return done;                                                                               \
    }                                                                                              \
    HOOK_THUNKS(uintptr_t, id, PARAMS(REGISTERS), ARGS(REGISTERS_IN_ORDER))

#endif
