// SPDX-License-Identifier: Apache-2.0
// Hook set openmp_llvm: programs compiled by Clang with -fopenmp (LLVM's libomp, and Intel's
// libiomp5, which has the same calls). Barriers and locks are recorded as waits; the team's size
// goes to the call that opens a region. That call takes any number of arguments, so it is entered
// by a tail jump and its end is not seen: the wait there is blocked time of the call around it.
// omp_set_lock is in the set openmp_gomp, for both. As of LLVM 3.4 (2014), checked with 14.
// Threads: any.
#include "agent/hook.h"
#include "agent/library.h"
#include "agent/team.h"

#define SOURCE const void *source, int32_t thread

#define WAIT_CALL(ret, id, params, args)                                                           \
    HOOK_TYPE(ret, id, PARAMS(params))                                                             \
    HOOK_NAME(id, #id, "wait", TRACE_CAUSE_LOCK, AGENT_FOLD_SHORT);                                \
    static inline ret id##_body(id##_fn *real, params)                                             \
    {                                                                                              \
        HOOK_WAIT_UNLESS(0, span, &id##_name);                                                     \
        return real(args);                                                                         \
    }                                                                                              \
    HOOK_THUNKS(ret, id, PARAMS(params), ARGS(args))

WAIT_CALL(void, __kmpc_barrier, PARAMS(SOURCE), ARGS(source, thread))
WAIT_CALL(int32_t, __kmpc_cancel_barrier, PARAMS(SOURCE), ARGS(source, thread))
WAIT_CALL(void, __kmpc_ordered, PARAMS(SOURCE), ARGS(source, thread))
WAIT_CALL(void, __kmpc_critical, PARAMS(SOURCE, void *lock), ARGS(source, thread, lock))
WAIT_CALL(void, __kmpc_critical_with_hint, PARAMS(SOURCE, void *lock, uint32_t hint),
    ARGS(source, thread, lock, hint))
WAIT_CALL(int32_t, __kmpc_reduce,
    PARAMS(SOURCE, int32_t count, size_t bytes, void *data, void *combine, void *lock),
    ARGS(source, thread, count, bytes, data, combine, lock))
WAIT_CALL(void, __kmpc_end_reduce, PARAMS(SOURCE, void *lock), ARGS(source, thread, lock))
WAIT_CALL(void, __kmpc_copyprivate,
    PARAMS(SOURCE, size_t bytes, void *data, void *copy, int32_t has_run),
    ARGS(source, thread, bytes, data, copy, has_run))

// ---- Teams. What is asked tells of the region that the thread is in, or of the one to come. ----

enum { SIZE_INSIDE, SIZE_NEXT, IS_INSIDE };
static struct library_table library = {
    .names = {"omp_get_num_threads", "omp_get_max_threads", "omp_in_parallel"}};
typedef int ask_fn(void);

// 0 where the library cannot be asked.
static int ask(int what, void *real)
{
    void *const *at = library_functions(&library, (uintptr_t)real);
    return at && at[what] ? ((ask_fn *)at[what])() : 0;
}

static void note_team_inside(void *real)
{
    const uint32_t token = team_wanted();
    if (token)
        team_note(token, ask(SIZE_INSIDE, real));
}

// A clause num_threads for the thread's next region.
static __thread int32_t pushed __attribute__((tls_model("initial-exec")));

HOOK_TYPE(void, __kmpc_push_num_threads, PARAMS(SOURCE, int32_t threads))
static inline void __kmpc_push_num_threads_body(
    __kmpc_push_num_threads_fn *real, SOURCE, int32_t threads)
{
    pushed = threads;
    real(source, thread, threads);
}
HOOK_THUNKS(
    void, __kmpc_push_num_threads, PARAMS(SOURCE, int32_t threads), ARGS(source, thread, threads))

HOOK_TYPE(int32_t, __kmpc_omp_taskwait, PARAMS(SOURCE))
static inline int32_t __kmpc_omp_taskwait_body(__kmpc_omp_taskwait_fn *real, SOURCE)
{
    note_team_inside((void *)real);
    return real(source, thread);
}
HOOK_THUNKS(int32_t, __kmpc_omp_taskwait, PARAMS(SOURCE), ARGS(source, thread))

HOOK_TYPE(void, __kmpc_end_taskgroup, PARAMS(SOURCE))
static inline void __kmpc_end_taskgroup_body(__kmpc_end_taskgroup_fn *real, SOURCE)
{
    note_team_inside((void *)real);
    real(source, thread);
}
HOOK_THUNKS(void, __kmpc_end_taskgroup, PARAMS(SOURCE), ARGS(source, thread))

// ---- __kmpc_fork_call(source, count, microtask, ...). ----

// Read and called by the assembly below.
__attribute__((visibility("hidden"))) void *openmp_llvm_fork_real[HOOK_VARIANTS];
__attribute__((visibility("hidden"))) void openmp_llvm_note_fork(void *real);

// A region within a region usually has one thread; that is not said.
void openmp_llvm_note_fork(void *real)
{
    const int32_t asked = pushed;
    const uint32_t token = team_wanted();
    pushed = 0;
    if (token && !ask(IS_INSIDE, real))
        team_note(token, asked ? asked : ask(SIZE_NEXT, real));
}

#define VARIANTS(MACRO) MACRO(0) MACRO(1) MACRO(2) MACRO(3)
_Static_assert(HOOK_VARIANTS == 4, "as many as VARIANTS");

#if defined(__x86_64__)
// rax: how many vector registers have arguments; none has, but it is the callee's to know.
#define FORK_THUNK(variant)                                                                        \
    __asm__(".pushsection .text\n"                                                                 \
            ".type openmp_llvm_fork_" #variant ", @function\n"                                     \
            ".hidden openmp_llvm_fork_" #variant "\n"                                              \
            ".globl openmp_llvm_fork_" #variant "\n"                                               \
            ".balign 16\n"                                                                         \
            "openmp_llvm_fork_" #variant ":\n"                                                     \
            ".cfi_startproc\n"                                                                     \
            "push %rdi\n.cfi_adjust_cfa_offset 8\n"                                                \
            "push %rsi\n.cfi_adjust_cfa_offset 8\n"                                                \
            "push %rdx\n.cfi_adjust_cfa_offset 8\n"                                                \
            "push %rcx\n.cfi_adjust_cfa_offset 8\n"                                                \
            "push %r8\n.cfi_adjust_cfa_offset 8\n"                                                 \
            "push %r9\n.cfi_adjust_cfa_offset 8\n"                                                 \
            "push %rax\n.cfi_adjust_cfa_offset 8\n"                                                \
            "mov openmp_llvm_fork_real+8*" #variant "(%rip), %rdi\n"                               \
            "call openmp_llvm_note_fork\n"                                                         \
            "pop %rax\n.cfi_adjust_cfa_offset -8\n"                                                \
            "pop %r9\n.cfi_adjust_cfa_offset -8\n"                                                 \
            "pop %r8\n.cfi_adjust_cfa_offset -8\n"                                                 \
            "pop %rcx\n.cfi_adjust_cfa_offset -8\n"                                                \
            "pop %rdx\n.cfi_adjust_cfa_offset -8\n"                                                \
            "pop %rsi\n.cfi_adjust_cfa_offset -8\n"                                                \
            "pop %rdi\n.cfi_adjust_cfa_offset -8\n"                                                \
            "jmp *openmp_llvm_fork_real+8*" #variant "(%rip)\n"                                    \
            ".cfi_endproc\n"                                                                       \
            ".size openmp_llvm_fork_" #variant ", . - openmp_llvm_fork_" #variant "\n"             \
            ".popsection\n");
#elif defined(__aarch64__)
#define FORK_THUNK(variant)                                                                        \
    __asm__(".pushsection .text\n"                                                                 \
            ".type openmp_llvm_fork_" #variant ", %function\n"                                     \
            ".hidden openmp_llvm_fork_" #variant "\n"                                              \
            ".globl openmp_llvm_fork_" #variant "\n"                                               \
            ".balign 16\n"                                                                         \
            "openmp_llvm_fork_" #variant ":\n"                                                     \
            ".cfi_startproc\n"                                                                     \
            "stp x29, x30, [sp, #-80]!\n.cfi_adjust_cfa_offset 80\n"                               \
            ".cfi_rel_offset x29, 0\n.cfi_rel_offset x30, 8\n"                                     \
            "stp x0, x1, [sp, #16]\n"                                                              \
            "stp x2, x3, [sp, #32]\n"                                                              \
            "stp x4, x5, [sp, #48]\n"                                                              \
            "stp x6, x7, [sp, #64]\n"                                                              \
            "adrp x0, openmp_llvm_fork_real+8*" #variant "\n"                                      \
            "ldr x0, [x0, :lo12:openmp_llvm_fork_real+8*" #variant "]\n"                           \
            "bl openmp_llvm_note_fork\n"                                                           \
            "ldp x0, x1, [sp, #16]\n"                                                              \
            "ldp x2, x3, [sp, #32]\n"                                                              \
            "ldp x4, x5, [sp, #48]\n"                                                              \
            "ldp x6, x7, [sp, #64]\n"                                                              \
            "ldp x29, x30, [sp], #80\n.cfi_adjust_cfa_offset -80\n"                                \
            ".cfi_restore x29\n.cfi_restore x30\n"                                                 \
            "adrp x16, openmp_llvm_fork_real+8*" #variant "\n"                                     \
            "ldr x16, [x16, :lo12:openmp_llvm_fork_real+8*" #variant "]\n"                         \
            "br x16\n"                                                                             \
            ".cfi_endproc\n"                                                                       \
            ".size openmp_llvm_fork_" #variant ", . - openmp_llvm_fork_" #variant "\n"             \
            ".popsection\n");
#else
#error "the tail jump of __kmpc_fork_call is not written for this processor"
#endif
VARIANTS(FORK_THUNK)

extern const char openmp_llvm_fork_0[], openmp_llvm_fork_1[], openmp_llvm_fork_2[],
    openmp_llvm_fork_3[];
#define FORK_POINTER(variant) (void *)openmp_llvm_fork_##variant,
static void *const fork_thunks[HOOK_VARIANTS] = {VARIANTS(FORK_POINTER)};

static const char *const libraries[] = {"libomp.so", "libomp5", "libomp-", "libiomp5", NULL};

static const struct hook_function functions[] = {
    HOOK_LINE(__kmpc_barrier, "__kmpc_barrier", 0),
    HOOK_LINE(__kmpc_cancel_barrier, "__kmpc_cancel_barrier", 0),
    HOOK_LINE(__kmpc_ordered, "__kmpc_ordered", 0),
    HOOK_LINE(__kmpc_critical, "__kmpc_critical", 0),
    HOOK_LINE(__kmpc_critical_with_hint, "__kmpc_critical_with_hint", 0),
    HOOK_LINE(__kmpc_reduce, "__kmpc_reduce", 0),
    HOOK_LINE(__kmpc_end_reduce, "__kmpc_end_reduce", 0),
    HOOK_LINE(__kmpc_copyprivate, "__kmpc_copyprivate", 0),
    HOOK_LINE_UNTIMED(__kmpc_push_num_threads, "__kmpc_push_num_threads"),
    HOOK_LINE_UNTIMED(__kmpc_omp_taskwait, "__kmpc_omp_taskwait"),
    HOOK_LINE_UNTIMED(__kmpc_end_taskgroup, "__kmpc_end_taskgroup"),
    {"__kmpc_fork_call", fork_thunks, openmp_llvm_fork_real, NULL, 0, 0},
    HOOK_END,
};

const struct hook_set hook_openmp_llvm = {
    .name = "openmp_llvm",
    .help = "LLVM's and Intel's OpenMP: teams, barriers and locks",
    .libraries = libraries,
    .functions = functions,
};
