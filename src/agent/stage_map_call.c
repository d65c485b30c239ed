// SPDX-License-Identifier: Apache-2.0
// A trampoline is entered with its number in a scratch register, opens the span, calls the original
// with the caller's registers and a copy of its stack arguments, and closes the span; results are
// passed on. The return address is not exchanged for one of ours: that would need no copy, but
// unwinders, shadow stacks, and programs that copy or switch stacks (coroutines, greenlets) would
// meet an address that leads nowhere they know. So exceptions unwind through the trampoline by its
// table, and a span they skip is closed at the next boundary. Called by the host. Threads: any.
#include "agent/stage_map_call.h"

#include "agent/span.h"
#include "agent/stage_map_frame.h"
#include "agent/stage_map_room.h"

// Read by the trampolines.
__attribute__((visibility("hidden"))) struct stage_map_thunk stage_map_thunks[STAGE_MAP_THUNKS];

#if defined(__x86_64__)
#include <cpuid.h>

#define STUB_BYTES 16
#define FRAME_LIMIT_BYTES ((size_t)STAGE_MAP_FRAME_LIMIT_KIB << 10)
#define PASS_ON SIZE_MAX
// Copies larger than this are made only where the stack is seen to have room for them.
#define UNPROVED_BYTES 1024u

__attribute__((visibility("hidden"))) extern const char stage_map_stubs[];

// What a trampoline keeps in its frame, from 672 bytes below its %rbp; the assembly knows it.
struct call {
    uint8_t vectors[8][64];
    uint64_t arguments[8]; // rdi rsi rdx rcx r8 r9 rax r10
    uintptr_t registers[FRAME_REGISTERS];
    uint64_t vector_use; // XINUSE: which parts of the vector registers hold anything
    void *original;
    uint64_t copy_bytes; // PASS_ON: jump to the original
    uint64_t token, unused;
};
_Static_assert(sizeof(struct call) == 672 && offsetof(struct call, arguments) == 512 &&
                   offsetof(struct call, registers) == 576 &&
                   offsetof(struct call, vector_use) == 632,
    "as the assembly below has it");

// XINUSE as far as it is about AVX (4) and AVX-512 (64); -1: ask the processor at each call.
__attribute__((visibility("hidden"))) int32_t stage_map_vectors;
__attribute__((visibility("hidden"))) void stage_map_open(uint32_t index, struct call *c);
__attribute__((visibility("hidden"))) void stage_map_close(struct call *c);

int stage_map_call_open(void)
{
    unsigned eax, ebx, ecx, edx, enabled, high;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_OSXSAVE))
        return 0;
    __asm__("xgetbv" : "=a"(enabled), "=d"(high) : "c"(0));
    int can_ask = __get_cpuid_count(13, 1, &eax, &ebx, &ecx, &edx) && eax & 4;
    stage_map_vectors = can_ask ? -1 : (int32_t)(enabled & 0x44);
    return 0;
}

static uint64_t bytes_to_copy(const struct call *c)
{
    size_t length = stage_map_frame_bytes(c->registers) & ~(size_t)7;
    if (length > FRAME_LIMIT_BYTES)
        return PASS_ON;
    return length <= UNPROVED_BYTES || stage_map_room_is_enough((uintptr_t)c, length) ? length
                                                                                      : PASS_ON;
}

void stage_map_open(uint32_t index, struct call *c)
{
    struct stage_map_thunk *t = &stage_map_thunks[index];
    c->original = t->original;
    c->copy_bytes = bytes_to_copy(c);
    if (c->copy_bytes == PASS_ON)
        atomic_fetch_add_explicit(&t->passed_on, 1, memory_order_relaxed);
    else
        c->token = span_begin(t->name, TRACE_CAUSE_OTHER, 0, c->registers[FRAME_RSP]);
}

void stage_map_close(struct call *c)
{
    span_end((uint32_t)c->token, c->registers[FRAME_RSP]);
}

// The vector registers that carry arguments or results, in the width that is in use.
#define MOVE_VECTOR(load, instruction, width, n, at) load(instruction, "%" width #n, at "(%rbp)")
#define STORE(instruction, vector, memory) instruction " " vector ", " memory "\n"
#define LOAD(instruction, vector, memory) instruction " " memory ", " vector "\n"
#define MOVE_2(load, i, w) MOVE_VECTOR(load, i, w, 0, "-672") MOVE_VECTOR(load, i, w, 1, "-608")
#define MOVE_8(load, i, w)                                                                         \
    MOVE_2(load, i, w)                                                                             \
    MOVE_VECTOR(load, i, w, 2, "-544")                                                             \
    MOVE_VECTOR(load, i, w, 3, "-480")                                                             \
    MOVE_VECTOR(load, i, w, 4, "-416")                                                             \
    MOVE_VECTOR(load, i, w, 5, "-352")                                                             \
    MOVE_VECTOR(load, i, w, 6, "-288")                                                             \
    MOVE_VECTOR(load, i, w, 7, "-224")
#define BY_USE(move, load)                                                                         \
    "mov -40(%rbp), %eax\n"                                                                        \
    "test $64, %al\njnz 7f\ntest $4, %al\njnz 8f\n" move(                                          \
        load, "movups", "xmm") "jmp 9f\n7:\n" move(load, "vmovups",                                \
        "zmm") "jmp 9f\n8:\n" move(load, "vmovups", "ymm") "9:\n"
#define ASK_USE                                                                                    \
    "mov stage_map_vectors(%rip), %eax\n"                                                          \
    "cmp $-1, %eax\njne 6f\nmov $1, %ecx\nxgetbv\n6:\n"                                            \
    "mov %rax, -40(%rbp)\n"
#define LOAD_ARGUMENTS                                                                             \
    "mov -160(%rbp), %rdi\nmov -152(%rbp), %rsi\nmov -144(%rbp), %rdx\n"                           \
    "mov -136(%rbp), %rcx\nmov -128(%rbp), %r8\nmov -120(%rbp), %r9\n"                             \
    "mov -112(%rbp), %rax\nmov -104(%rbp), %r10\n"

__asm__(
    ".pushsection .text\n"
    ".hidden stage_map_stubs\n.globl stage_map_stubs\n"
    ".balign 16\n"
    "stage_map_stubs:\n"
    ".set stage_map_index, 0\n"
    ".rept 1024\n"
    ".balign 16\n"
    "endbr64\n"
    "movl $stage_map_index, %r11d\n"
    "jmp stage_map_call\n"
    ".set stage_map_index, stage_map_index + 1\n"
    ".endr\n"
    ".balign 16\n"
    ".type stage_map_call, @function\n"
    "stage_map_call:\n"
    ".cfi_startproc\n"
    "push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"
    "mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
    "sub $672, %rsp\n"
    "mov %rdi, -160(%rbp)\nmov %rsi, -152(%rbp)\nmov %rdx, -144(%rbp)\n"
    "mov %rcx, -136(%rbp)\nmov %r8, -128(%rbp)\nmov %r9, -120(%rbp)\n"
    "mov %rax, -112(%rbp)\nmov %r10, -104(%rbp)\n"
    "mov %rbx, -96(%rbp)\nmov (%rbp), %rax\nmov %rax, -88(%rbp)\n"
    "lea 16(%rbp), %rax\nmov %rax, -80(%rbp)\n"
    "mov %r12, -72(%rbp)\nmov %r13, -64(%rbp)\nmov %r14, -56(%rbp)\nmov %r15, -48(%rbp)\n" ASK_USE
        BY_USE(MOVE_8,
            STORE) "mov %r11d, %edi\n"
                   "lea -672(%rbp), %rsi\n"
                   "call stage_map_open\n" BY_USE(MOVE_8,
                       LOAD) "mov -24(%rbp), %rcx\n"
                             "cmp $-1, %rcx\n"
                             "je 2f\n"
                             // The caller's arguments on the stack, again below us, and as far from
                             // a multiple of 64.
                             "lea 16(%rbp), %rsi\n"
                             "mov %rsp, %rdi\nsub %rcx, %rdi\n"
                             "mov %edi, %eax\nsub %esi, %eax\nand $63, %eax\nsub %rax, %rdi\n"
                             "mov %rdi, %rsp\n"
                             "shr $3, %rcx\ncld\nrep movsq\n" LOAD_ARGUMENTS "call *-32(%rbp)\n"
                             "mov %rax, -112(%rbp)\nmov %rdx, -144(%rbp)\n" ASK_USE BY_USE(MOVE_2,
                                 STORE) "lea -672(%rbp), %rdi\n"
                                        "call stage_map_close\n" BY_USE(MOVE_2,
                                            LOAD) "mov -112(%rbp), %rax\nmov -144(%rbp), %rdx\n"
                                                  ".cfi_remember_state\n"
                                                  "leave\n.cfi_def_cfa %rsp, 8\n"
                                                  "ret\n"
                                                  ".cfi_restore_state\n"
                                                  "2:\n" LOAD_ARGUMENTS "mov -32(%rbp), %r11\n"
                                                  "leave\n.cfi_def_cfa %rsp, 8\n"
                                                  "jmp *%r11\n"
                                                  ".cfi_endproc\n"
                                                  ".size stage_map_call, . - stage_map_call\n"
                                                  ".popsection\n");

void *stage_map_call_stub(uint32_t index)
{
    return (void *)(uintptr_t)(stage_map_stubs + (size_t)index * STUB_BYTES);
}

int stage_map_call_is_stub(const void *address)
{
    const char *at = address;
    return at >= stage_map_stubs && at < stage_map_stubs + STAGE_MAP_THUNKS * STUB_BYTES;
}
#else
int stage_map_call_open(void)
{
    return -1;
}

void *stage_map_call_stub(uint32_t index)
{
    (void)index;
    return NULL;
}

int stage_map_call_is_stub(const void *address)
{
    (void)address;
    return 0;
}
#endif
