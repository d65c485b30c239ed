// SPDX-License-Identifier: Apache-2.0
// The second program of the stage-map test: does the one thing that is named and prints what came
// of it, which a stage map must not change. Without a name, lists them. Run by test_stage_map.py.
#include "mapped_odd.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS 20

static void table(void)
{
    for (int i = 0; i < CALLS; i++)
        printf("%ld\n", odd_table_sum());
}

static void wide(void)
{
    struct wide w;
    for (int i = 0; i < 40; i++)
        w.a[i] = i;
    for (int i = 0; i < CALLS; i++)
        printf("%ld\n", odd_wide(w, i));
}

static void aligned(void)
{
    struct aligned by_value = {{1, 2, 3, 4, 5, 6, 7, 8}};
    for (int i = 0; i < CALLS; i++)
        printf("%ld\n", odd_aligned(i, by_value));
}

// libc's, but for what it does to the vector registers, as it may: whoever calls it between a call
// and the function that was called (the library for a look at the stack) must have kept them.
__attribute__((visibility("default"))) long syscall(long number, ...)
{
    va_list arguments;
    va_start(arguments, number);
    long first = va_arg(arguments, long), second = va_arg(arguments, long), result;
    register long third = va_arg(arguments, long);
    register long r10 __asm__("r10") = va_arg(arguments, long);
    register long r8 __asm__("r8") = va_arg(arguments, long);
    register long r9 __asm__("r9") = va_arg(arguments, long);
    va_end(arguments);
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(first), "S"(second), "d"(third), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2"))
        __asm__ volatile("vzeroall" ::
                             : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
    if ((unsigned long)result < -4095ul)
        return result;
    errno = (int)-result;
    return -1;
}

__attribute__((target("avx2"))) static void vectors(void)
{
    volatile char large[4 << 10]; // a frame of a size that the stack is looked at for
    for (int i = 0; __builtin_cpu_supports("avx2") && i < CALLS; i++) {
        __m256i twice;
        large[i] = (char)(i + 1);
        long last = odd_vector(_mm256_set1_epi64x(large[i]), &twice);
        __m256i four = odd_vector_of(large[i]);
        printf("%ld %lld %lld\n", last, (long long)_mm256_extract_epi64(twice, 2),
            (long long)_mm256_extract_epi64(four, 3));
    }
}

// A frame that is too large to be copied.
static void large_frame(void)
{
    volatile char large[200 << 10];
    for (int i = 0; i < CALLS; i++) {
        large[i * 1000] = (char)i;
        printf("%ld\n", odd_many(1, 2, 3, 4, 5, 6, 7, large[i * 1000]));
    }
}

// One that could be, if the stack were not at its end.
static void *fill_stack(void *unused)
{
    volatile char most[40 << 10];
    (void)unused;
    for (int i = 0; i < CALLS; i++) {
        most[i * 1000] = (char)i;
        printf("%ld\n", odd_many(1, 2, 3, 4, 5, 6, 7, most[i * 1000]));
    }
    return NULL;
}

static void small_stack(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 80 << 10);
    if (pthread_create(&thread, &attributes, fill_stack, NULL) != 0 ||
        pthread_join(thread, NULL) != 0)
        puts("no such thread");
}

// Calls odd_many(1, 2, 3, 4, 5, 6, x, 8) without telling unwinders of its frame.
long call_untold(long x);
__asm__(".pushsection .text\n"
        ".type call_untold, @function\n"
        "call_untold:\n"
        "sub $8, %rsp\npush $8\npush %rdi\n"
        "mov $1, %edi\nmov $2, %esi\nmov $3, %edx\nmov $4, %ecx\nmov $5, %r8d\nmov $6, %r9d\n"
        "call odd_many@PLT\n"
        "add $24, %rsp\nret\n"
        ".size call_untold, . - call_untold\n"
        ".popsection\n");

static void untold(void)
{
    for (int i = 0; i < CALLS; i++)
        printf("%ld\n", call_untold(i));
}

static void compared(void)
{
    odd_fn *own = odd_double;
    printf("%s, %ld, %ld\n", own == odd_functions[0] ? "same" : "other", odd_double(21), own(4));
}

static jmp_buf place;
static sigjmp_buf place_with_mask;

__attribute__((noinline)) static void jump(int i)
{
    char over[512];
    memset(over, i, sizeof over);
    if (over[i] & 1)
        longjmp(place, i + 1);
    siglongjmp(place_with_mask, i + 1);
}

static void jumps(void)
{
    for (volatile int i = 0; i < CALLS; i++) {
        volatile int plain = setjmp(place);
        volatile int masked = plain ? 0 : sigsetjmp(place_with_mask, 1);
        if (!plain && !masked)
            jump(i);
        printf("%d %d\n", plain, masked);
    }
}

static void vforks(void)
{
    for (volatile int i = 0; i < CALLS; i++) {
        int status = 0;
        pid_t child = vfork();
        if (child == 0)
            _exit(i);
        waitpid(child, &status, 0);
        printf("%d\n", WEXITSTATUS(status));
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"table", table}, {"wide", wide}, {"aligned", aligned}, {"vectors", vectors},
    {"large-frame", large_frame}, {"small-stack", small_stack}, {"untold", untold},
    {"compared", compared}, {"jumps", jumps}, {"vforks", vforks}};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (argc < 2)
            puts(cases[i].name);
        else if (strcmp(argv[1], cases[i].name) == 0)
            cases[i].run();
    }
    return 0;
}
