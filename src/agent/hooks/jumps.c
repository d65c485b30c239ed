// SPDX-License-Identifier: Apache-2.0
// Hook set jumps: longjmp and its siblings. Nothing is recorded; the thread is told that some of
// its open spans may be gone, and at its next span it looks at the stack to see which. Threads:
// any.
#include "agent/hook.h"

#include <setjmp.h>

static int is_off;

static void note_jump(void)
{
    struct agent_thread *t = agent_self;
    hook_wait_note(t, NULL); // a signal handler may leave a call that waits
    if (!is_off && t->depth_limit && t->depth)
        t->busy = AGENT_JUMPED;
}

#define JUMP_CALL(call)                                                                            \
    HOOK_NEXT(void, call, NULL, PARAMS(void *place, int value))                                    \
    HOOK_EXPORT __attribute__((noreturn)) void lm_##call(void *place, int value) __asm__(#call);   \
    void lm_##call(void *place, int value)                                                         \
    {                                                                                              \
        note_jump();                                                                               \
        call##_next()(place, value);                                                               \
        __builtin_unreachable();                                                                   \
    }

// Under other names in C: libc declares them with its own types.
JUMP_CALL(longjmp)
JUMP_CALL(_longjmp)
JUMP_CALL(siglongjmp)
JUMP_CALL(__longjmp_chk)

static const struct hook_function functions[] = {
    HOOK_LINE_LIBC("longjmp", NULL, 0, 0),
    HOOK_LINE_LIBC("_longjmp", NULL, 0, 0),
    HOOK_LINE_LIBC("siglongjmp", NULL, 0, 0),
    HOOK_LINE_LIBC("__longjmp_chk", NULL, 0, 0),
    HOOK_END,
};

const struct hook_set hook_jumps = {
    .name = "jumps",
    .help = "longjmp, which leaves open spans behind",
    .functions = functions,
    .is_off = &is_off,
};
