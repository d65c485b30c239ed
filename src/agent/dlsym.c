// SPDX-License-Identifier: Apache-2.0
// dlsym is interposed for two things: it tells when a library may have been loaded since the last
// scan, and programs that load ONNX Runtime or libjpeg themselves get the hooked pointers. dlopen
// and dlmopen only tell that there may be something to scan in a forked child. The entries are tail
// jumps, so that the real ones see the caller's own return address (RTLD_NEXT, RTLD_DEFAULT and
// the caller's search path depend on it). Threads: any.
#include "agent/hook.h"
#include "agent/patch.h"

#include <dlfcn.h>

typedef void *dlsym_fn(void *handle, const char *name);

// Read by the assembly below; filled before the first call gets through.
__attribute__((visibility("hidden"))) dlsym_fn *dlsym_real;
__attribute__((visibility("hidden"))) void *dlsym_answer(void *handle, const char *name);

static dlsym_fn *find_real(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        void *found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
        if (found)
            return (dlsym_fn *)found;
    }
    return NULL;
}

void *hook_real_dlsym(void *handle, const char *name)
{
    if (!dlsym_real)
        dlsym_real = find_real();
    return dlsym_real ? dlsym_real(handle, name) : NULL;
}

// Read by the assembly below; filled by the function, which it calls first.
__attribute__((visibility("hidden"))) void *dlsym_dlopen_real, *dlsym_dlmopen_real;
__attribute__((visibility("hidden"))) void dlsym_see_open(void);

void dlsym_see_open(void)
{
    if (!dlsym_dlopen_real)
        dlsym_dlopen_real = hook_real_dlsym(RTLD_NEXT, "dlopen");
    if (!dlsym_dlmopen_real)
        dlsym_dlmopen_real = hook_real_dlsym(RTLD_NEXT, "dlmopen");
    patch_opening();
}

// The answer for a name that is hooked in a library that the caller named; NULL: let the real one
// answer. Never for the pseudo handles, whose meaning depends on the caller.
void *dlsym_answer(void *handle, const char *name)
{
    if (!dlsym_real)
        dlsym_real = find_real();
    patch_rescan();
    if (handle == RTLD_DEFAULT || handle == RTLD_NEXT || !name || !patch_is_hooked(name))
        return NULL;
    void *original = dlsym_real(handle, name);
    return patch_pointer(name, original);
}

#if defined(__x86_64__)
__asm__(".pushsection .text\n"
        ".globl dlsym\n"
        ".type dlsym, @function\n"
        ".balign 16\n"
        "dlsym:\n"
        ".cfi_startproc\n"
        "push %rdi\n.cfi_adjust_cfa_offset 8\n"
        "push %rsi\n.cfi_adjust_cfa_offset 8\n"
        "sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
        "call dlsym_answer\n"
        "add $8, %rsp\n.cfi_adjust_cfa_offset -8\n"
        "pop %rsi\n.cfi_adjust_cfa_offset -8\n"
        "pop %rdi\n.cfi_adjust_cfa_offset -8\n"
        "test %rax, %rax\n"
        "jz 1f\n"
        "ret\n"
        "1: jmp *dlsym_real(%rip)\n"
        ".cfi_endproc\n"
        ".size dlsym, . - dlsym\n"
        ".popsection\n");
#define OPEN_ENTRY(name)                                                                           \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl " #name "\n"                                                                   \
            ".type " #name ", @function\n"                                                         \
            ".balign 16\n" #name ":\n"                                                             \
            ".cfi_startproc\n"                                                                     \
            "push %rdi\n.cfi_adjust_cfa_offset 8\n"                                                \
            "push %rsi\n.cfi_adjust_cfa_offset 8\n"                                                \
            "push %rdx\n.cfi_adjust_cfa_offset 8\n"                                                \
            "call dlsym_see_open\n"                                                                \
            "pop %rdx\n.cfi_adjust_cfa_offset -8\n"                                                \
            "pop %rsi\n.cfi_adjust_cfa_offset -8\n"                                                \
            "pop %rdi\n.cfi_adjust_cfa_offset -8\n"                                                \
            "jmp *dlsym_" #name "_real(%rip)\n"                                                    \
            ".cfi_endproc\n"                                                                       \
            ".size " #name ", . - " #name "\n"                                                     \
            ".popsection\n")
OPEN_ENTRY(dlopen);
OPEN_ENTRY(dlmopen);
#elif defined(__aarch64__)
__asm__(".pushsection .text\n"
        ".globl dlsym\n"
        ".type dlsym, %function\n"
        ".balign 16\n"
        "dlsym:\n"
        ".cfi_startproc\n"
        "stp x29, x30, [sp, #-32]!\n.cfi_adjust_cfa_offset 32\n"
        ".cfi_rel_offset x29, 0\n.cfi_rel_offset x30, 8\n"
        "stp x0, x1, [sp, #16]\n"
        "bl dlsym_answer\n"
        "mov x16, x0\n"
        "ldp x0, x1, [sp, #16]\n"
        "ldp x29, x30, [sp], #32\n.cfi_adjust_cfa_offset -32\n"
        ".cfi_restore x29\n.cfi_restore x30\n"
        "cbz x16, 1f\n"
        "mov x0, x16\n"
        "ret\n"
        "1: adrp x16, dlsym_real\n"
        "ldr x16, [x16, :lo12:dlsym_real]\n"
        "br x16\n"
        ".cfi_endproc\n"
        ".size dlsym, . - dlsym\n"
        ".popsection\n");
#define OPEN_ENTRY(name)                                                                           \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl " #name "\n"                                                                   \
            ".type " #name ", %function\n"                                                         \
            ".balign 16\n" #name ":\n"                                                             \
            ".cfi_startproc\n"                                                                     \
            "stp x29, x30, [sp, #-48]!\n.cfi_adjust_cfa_offset 48\n"                               \
            ".cfi_rel_offset x29, 0\n.cfi_rel_offset x30, 8\n"                                     \
            "stp x0, x1, [sp, #16]\n"                                                              \
            "str x2, [sp, #32]\n"                                                                  \
            "bl dlsym_see_open\n"                                                                  \
            "ldp x0, x1, [sp, #16]\n"                                                              \
            "ldr x2, [sp, #32]\n"                                                                  \
            "ldp x29, x30, [sp], #48\n.cfi_adjust_cfa_offset -48\n"                                \
            ".cfi_restore x29\n.cfi_restore x30\n"                                                 \
            "adrp x16, dlsym_" #name "_real\n"                                                     \
            "ldr x16, [x16, :lo12:dlsym_" #name "_real]\n"                                         \
            "br x16\n"                                                                             \
            ".cfi_endproc\n"                                                                       \
            ".size " #name ", . - " #name "\n"                                                     \
            ".popsection\n")
OPEN_ENTRY(dlopen);
OPEN_ENTRY(dlmopen);
#else
#error "dlsym's tail jump is not written for this processor"
#endif
