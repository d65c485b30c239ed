// SPDX-License-Identifier: Apache-2.0
// Hook set syscalls: calls after which the agent's own system calls, or its memory, could harm the
// program. Nothing is recorded. A filter of system calls (seccomp) ends a program for a call that
// it does not expect: from then on the agent makes none. A raw thread that shares its creator's
// thread area (CLONE_VM without CLONE_SETTLS) would share the creator's span stack: neither is
// followed any more. A fork waits until no scan of the loaded objects is going on, since that holds
// a lock of the loader's which a child would never get. Not seen: a program's own instruction for
// system calls. Threads: any.
#include "agent/hook.h"
#include "agent/patch.h"
#include "agent/process.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_off;

static void note_filter(void)
{
    if (!is_off)
        process_quiet("recording ended where the program restricted its own system calls "
                      "(seccomp), so that none of the recorder's could end it");
}

// The look whether the kernel knows filters passes none.
static void see_prctl(unsigned long option, unsigned long mode, unsigned long filter)
{
    if (option == PR_SET_SECCOMP &&
        (mode == SECCOMP_MODE_STRICT || (mode == SECCOMP_MODE_FILTER && filter)))
        note_filter();
    // The processor's clock, which the recorder reads, raises a signal from then on.
    if (!is_off && option == PR_SET_TSC && mode == PR_TSC_SIGSEGV)
        process_quiet("recording ended where the program forbade itself the processor's clock");
}

static void see_clone(uint64_t flags)
{
    if (!is_off && (flags & CLONE_VM) && !(flags & (CLONE_SETTLS | CLONE_VFORK)))
        agent_thread_end();
}

HOOK_NEXT(int, prctl, NULL, PARAMS(int option, ...))
HOOK_EXPORT int prctl(int option, ...)
{
    unsigned long a[4];
    va_list list;
    va_start(list, option);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(list, unsigned long);
    va_end(list);
    see_prctl((unsigned long)option, a[0], a[1]);
    return prctl_next()(option, a[0], a[1], a[2], a[3]);
}

HOOK_NEXT(int, clone, NULL, PARAMS(int (*run)(void *), void *stack, int flags, void *argument, ...))
HOOK_EXPORT int clone(int (*run)(void *), void *stack, int flags, void *argument, ...)
{
    void *more[3];
    va_list list;
    va_start(list, argument);
    for (int i = 0; i < 3; i++)
        more[i] = va_arg(list, void *);
    va_end(list);
    see_clone((uint64_t)(unsigned)flags);
    return clone_next()(run, stack, flags, argument, more[0], more[1], more[2]);
}

#define FORK_CALL(call)                                                                            \
    HOOK_NEXT(pid_t, call, NULL, PARAMS(void))                                                     \
    pid_t call(void);                                                                              \
    HOOK_EXPORT pid_t call(void)                                                                   \
    {                                                                                              \
        call##_next_fn *next = call##_next();                                                      \
        if (!next) {                                                                               \
            errno = ENOSYS;                                                                        \
            return -1;                                                                             \
        }                                                                                          \
        const int is_held = !is_off && patch_hold();                                               \
        const pid_t child = next();                                                                \
        if (is_held)                                                                               \
            patch_release();                                                                       \
        return child;                                                                              \
    }
FORK_CALL(fork)
FORK_CALL(_Fork)

// ---- syscall(2): a tail jump, so that a child of clone or vfork finds the stack as the real one
// leaves it. Only the numbers below are looked at.

// Read by the assembly; NULL until the first call.
__attribute__((visibility("hidden"))) void *syscalls_real;
__attribute__((visibility("hidden"))) void syscalls_see(
    long number, unsigned long a, unsigned long b, unsigned long c);

void syscalls_see(long number, unsigned long a, unsigned long b, unsigned long c)
{
    const uint64_t *clone3 = (const uint64_t *)a;
    if (number == SYS_seccomp &&
        (a == SECCOMP_SET_MODE_STRICT || (a == SECCOMP_SET_MODE_FILTER && c)))
        note_filter();
    else if (number == SYS_prctl)
        see_prctl(a, b, c);
    else if (number == SYS_clone)
        see_clone(a);
    else if (number == SYS_clone3 && clone3 && b >= sizeof *clone3)
        see_clone(*clone3);
    if (!syscalls_real)
        syscalls_real = hook_next("syscall", NULL);
}

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#if defined(__x86_64__)
#define LOOK_AT(number) "cmp $" TEXT(number) ", %rdi\nje 1f\n"
__asm__(".pushsection .text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        ".balign 16\n"
        "syscall:\n"
        ".cfi_startproc\n"
        "mov syscalls_real(%rip), %rax\n"
        "test %rax, %rax\n"
        "jz 1f\n" LOOK_AT(SYS_seccomp) LOOK_AT(SYS_prctl) LOOK_AT(SYS_clone)
            LOOK_AT(SYS_clone3) "jmp *%rax\n"
                                "1:\n"
                                "push %rdi\n.cfi_adjust_cfa_offset 8\n"
                                "push %rsi\n.cfi_adjust_cfa_offset 8\n"
                                "push %rdx\n.cfi_adjust_cfa_offset 8\n"
                                "push %rcx\n.cfi_adjust_cfa_offset 8\n"
                                "push %r8\n.cfi_adjust_cfa_offset 8\n"
                                "push %r9\n.cfi_adjust_cfa_offset 8\n"
                                "sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
                                "call syscalls_see\n"
                                "add $8, %rsp\n.cfi_adjust_cfa_offset -8\n"
                                "pop %r9\n.cfi_adjust_cfa_offset -8\n"
                                "pop %r8\n.cfi_adjust_cfa_offset -8\n"
                                "pop %rcx\n.cfi_adjust_cfa_offset -8\n"
                                "pop %rdx\n.cfi_adjust_cfa_offset -8\n"
                                "pop %rsi\n.cfi_adjust_cfa_offset -8\n"
                                "pop %rdi\n.cfi_adjust_cfa_offset -8\n"
                                "jmp *syscalls_real(%rip)\n"
                                ".cfi_endproc\n"
                                ".size syscall, . - syscall\n"
                                ".popsection\n");
#elif defined(__aarch64__)
#define LOOK_AT(number) "cmp x0, #" TEXT(number) "\nb.eq 1f\n"
__asm__(".pushsection .text\n"
        ".globl syscall\n"
        ".type syscall, %function\n"
        ".balign 16\n"
        "syscall:\n"
        ".cfi_startproc\n"
        "adrp x16, syscalls_real\n"
        "ldr x16, [x16, :lo12:syscalls_real]\n"
        "cbz x16, 1f\n" LOOK_AT(SYS_seccomp) LOOK_AT(SYS_prctl) LOOK_AT(SYS_clone)
            LOOK_AT(SYS_clone3) "br x16\n"
                                "1:\n"
                                "stp x29, x30, [sp, #-80]!\n.cfi_adjust_cfa_offset 80\n"
                                ".cfi_rel_offset x29, 0\n.cfi_rel_offset x30, 8\n"
                                "stp x0, x1, [sp, #16]\n"
                                "stp x2, x3, [sp, #32]\n"
                                "stp x4, x5, [sp, #48]\n"
                                "str x6, [sp, #64]\n"
                                "bl syscalls_see\n"
                                "ldp x0, x1, [sp, #16]\n"
                                "ldp x2, x3, [sp, #32]\n"
                                "ldp x4, x5, [sp, #48]\n"
                                "ldr x6, [sp, #64]\n"
                                "ldp x29, x30, [sp], #80\n.cfi_adjust_cfa_offset -80\n"
                                ".cfi_restore x29\n.cfi_restore x30\n"
                                "adrp x16, syscalls_real\n"
                                "ldr x16, [x16, :lo12:syscalls_real]\n"
                                "br x16\n"
                                ".cfi_endproc\n"
                                ".size syscall, . - syscall\n"
                                ".popsection\n");
#else
#error "syscall's tail jump is not written for this processor"
#endif

static const struct hook_function functions[] = {
    HOOK_LINE_LIBC("prctl", NULL, 0, 0),
    HOOK_LINE_LIBC("clone", NULL, 0, 0),
    HOOK_LINE_LIBC("fork", NULL, 0, 0),
    HOOK_LINE_LIBC("_Fork", NULL, 0, 0),
    HOOK_LINE_LIBC("syscall", NULL, 0, 0),
    HOOK_END,
};

const struct hook_set hook_syscalls = {
    .name = "syscalls",
    .help = "calls that restrict system calls, or make processes and raw threads",
    .functions = functions,
    .is_off = &is_off,
};
