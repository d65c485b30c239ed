// SPDX-License-Identifier: Apache-2.0
// More behaviours that a preloaded library can spoil, as in harm.c: stacks of the program's own,
// stacks that run out, jumps out of calls, and ends in odd places.
//   harm_stacks [NAME]
#include "behaviour.h"

#include <lightmeter/mark.h>

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static int read_zero(void)
{
    char byte = 1;
    int fd = open("/dev/zero", O_RDONLY);
    ssize_t n = read(fd, &byte, 1);
    close(fd);
    return n == 1 && byte == 0 ? 0 : 1;
}

// ---- Stacks.

static int handled;
static jmp_buf back;
static char *new_stack(size_t length_bytes)
{
    char *at = mmap(NULL, length_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static void use_other_stack(char *at, size_t length_bytes)
{
    sigaltstack(&(stack_t){.ss_sp = at, .ss_size = length_bytes}, NULL);
}

static void on_other_stack(int number)
{
    int saved_errno = errno;
    (void)number;
    LM_STAGE("on the other stack");
    handled += read_zero() == 0;
    errno = saved_errno;
}

static int do_signal_stack(void)
{
    char within[64 << 10]; // a part of this very stack, above the calls that are interrupted
    struct sigaction action = {.sa_handler = on_other_stack, .sa_flags = SA_ONSTACK | SA_RESTART};
    struct itimerval every = {{0, 300}, {0, 300}}, none = {{0, 0}, {0, 0}};
    int good = 0, rounds = 0;
    sigaction(SIGALRM, &action, NULL);
    use_other_stack(within, sizeof within);
    setitimer(ITIMER_REAL, &every, NULL);
    for (; handled < 100 && rounds < 4000000; rounds++) {
        LM_STAGE("interrupted");
        good += read_zero() == 0;
    }
    setitimer(ITIMER_REAL, &none, NULL);
    printf("handled %d, went on %d\n", handled >= 100, good == rounds);
    return 0;
}

static ucontext_t contexts[3];
static long turns[2];
static void take_turns(int own)
{
    for (int i = 0; i < 2000; i++) {
        LM_STAGE(own ? "second" : "first");
        turns[own] += read_zero() == 0;
        swapcontext(&contexts[own], &contexts[!own]); // with the stage open
        turns[own] += read_zero() == 0;
    }
}

static int make_coroutine(int own)
{
    char *at = new_stack(256 << 10);
    if (!at || getcontext(&contexts[own]) != 0)
        return -1;
    contexts[own].uc_stack = (stack_t){.ss_sp = at, .ss_size = 256 << 10};
    contexts[own].uc_link = &contexts[2];
    makecontext(&contexts[own], (void (*)(void))take_turns, 1, own);
    return 0;
}

static int do_coroutines(void)
{
    if (make_coroutine(0) < 0 || make_coroutine(1) < 0)
        return 1;
    swapcontext(&contexts[2], &contexts[0]);
    printf("turns %ld %ld\n", turns[0], turns[1]);
    return 0;
}

__attribute__((noinline)) static long go_deep(long depth, volatile char *above)
{
    volatile char here[4096];
    here[0] = above ? above[0] : 0;
    LM_STAGE("deep");
    read_zero();
    return depth > 0 ? go_deep(depth - 1, here) + here[0] : here[0];
}

static int do_deep_recursion(void)
{
    printf("deep %ld\n", go_deep(1000, NULL));
    return 0;
}

static void on_overflow(int number)
{
    (void)number;
    if (read_zero() != 0)
        _exit(9);
    siglongjmp(back, 1);
}

static int do_stack_overflow(void)
{
    char *at = new_stack(64 << 10);
    struct sigaction action = {.sa_handler = on_overflow, .sa_flags = SA_ONSTACK | SA_NODEFER};
    use_other_stack(at, 64 << 10);
    sigaction(SIGSEGV, &action, NULL);
    int jumped = sigsetjmp(back, 1);
    if (!jumped)
        go_deep(1 << 30, NULL);
    LM_STAGE("after the overflow");
    printf("jumped %d, read %d\n", jumped, read_zero());
    return 0;
}

static int do_stack_overflow_ends(void)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    printf("before\n");
    fflush(stdout);
    return (int)go_deep(1 << 30, NULL);
}

static sigjmp_buf out_of_wait;
static void jump_out(int number)
{
    siglongjmp(out_of_wait, number);
}

static int do_jump_out_of_waits(void)
{
    static volatile int jumps, rounds;
    int ends[2];
    char byte;
    if (pipe(ends) != 0)
        return 1;
    signal(SIGALRM, jump_out);
    for (rounds = 0; rounds < 50; rounds++) {
        LM_STAGE("waits");
        if (sigsetjmp(out_of_wait, 1)) {
            jumps++;
            continue;
        }
        ualarm(2000, 0);
        if (read(ends[0], &byte, 1) == 1)
            return 2;
    }
    printf("jumps %d, read %d\n", jumps, read_zero());
    return 0;
}

// ---- Ends.

static void end_now(int number)
{
    (void)number;
    _exit(13);
}

static int do_exit_in_handler(void)
{
    int ended = 0;
    fflush(stdout);
    for (int i = 0; i < 60; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            signal(SIGALRM, end_now);
            ualarm((useconds_t)(500 + 37 * i), 0);
            for (;;) {
                LM_STAGE("busy");
                read_zero();
            }
        }
        waitpid(child, &status, 0);
        ended += WIFEXITED(status) && WEXITSTATUS(status) == 13;
    }
    printf("ended %d\n", ended);
    return 0;
}

static int do_quick_exit(void)
{
    LM_STAGE("leaving");
    printf("not flushed");
    quick_exit(3);
}

// The status says whether a core was made; the file may go to a handler of the system's.
static int do_core_dump(void)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        read_zero();
        abort();
    }
    waitpid(child, &status, 0);
    printf("signal %d core %d\n", WTERMSIG(status), WCOREDUMP(status) != 0);
    return 0;
}

static const struct behaviour behaviours[] = {
    {"signal-stack", do_signal_stack},
    {"coroutines", do_coroutines},
    {"deep-recursion", do_deep_recursion},
    {"stack-overflow", do_stack_overflow},
    {"stack-overflow-ends", do_stack_overflow_ends},
    {"jump-out-of-waits", do_jump_out_of_waits},
    {"exit-in-handler", do_exit_in_handler},
    {"quick-exit", do_quick_exit},
    {"core-dump", do_core_dump},
};

int main(int argc, char **argv)
{
    (void)argc;
    return behaviour_run(behaviours, sizeof behaviours / sizeof *behaviours, argv[1]);
}
