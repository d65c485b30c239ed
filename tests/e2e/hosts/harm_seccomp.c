// SPDX-License-Identifier: Apache-2.0
// Programs that restrict their own system calls, as sandboxes do: whatever is not on the list ends
// the process (SIGSYS; SIGKILL in strict mode). The lists hold what the program itself needs, and
// nothing for a recorder. One behaviour per name, as in harm.c.
//   harm_seccomp [NAME]
#include "behaviour.h"

#include <lightmeter/mark.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALLS_MOST 48
#define COUNT_OF(list) (sizeof(list) / sizeof *(list))
#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS 0x80000000u
#endif

// What the behaviours below need, and libc for them.
static const int own_calls[] = {
    SYS_read,
    SYS_write,
    SYS_exit,
    SYS_exit_group,
    SYS_rt_sigreturn,
    SYS_clock_nanosleep,
    SYS_nanosleep,
    SYS_ppoll,
    SYS_futex,
    SYS_brk,
    SYS_rt_sigprocmask,
#ifdef SYS_poll
    SYS_poll,
#endif
};
static const int thread_calls[] = {SYS_mmap, SYS_munmap, SYS_mprotect, SYS_madvise, SYS_clone,
    SYS_clone3, SYS_set_robust_list, SYS_rseq, SYS_sched_yield};
static const int child_calls[] = {SYS_clone, SYS_wait4, SYS_set_robust_list, SYS_clone3, SYS_rseq};
// What a program needs to come up: the loader and the start of libc. The loader asks for the path
// of the program where a preloaded library is named by a token.
static const int start_calls[] = {
    SYS_execve,
    SYS_openat,
    SYS_close,
    SYS_fstat,
    SYS_newfstatat,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_pread64,
    SYS_faccessat,
    SYS_set_tid_address,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_prlimit64,
    SYS_getrandom,
    SYS_readlinkat,
#ifdef SYS_access
    SYS_access,
    SYS_arch_prctl,
    SYS_readlink,
#endif
};

struct list {
    struct sock_filter code[2 * CALLS_MOST + 4];
    unsigned short count;
};

static void list_add(struct list *l, const int *calls, size_t count)
{
    if (!l->count)
        l->code[l->count++] = (struct sock_filter)BPF_STMT(
            BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < count && l->count < 2 * CALLS_MOST; i++) {
        l->code[l->count++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
        l->code[l->count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
}

static struct sock_fprog list_end(struct list *l)
{
    l->code[l->count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    return (struct sock_fprog){l->count, l->code};
}

enum way { BY_PRCTL, BY_CALL, BY_CALL_FOR_ALL };

static int restrict_to(struct list *l, enum way way)
{
    struct sock_fprog program = list_end(l);
    const unsigned for_all = way == BY_CALL_FOR_ALL ? SECCOMP_FILTER_FLAG_TSYNC : 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return way == BY_PRCTL ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0)
                           : (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, for_all, &program);
}

// Calls that are hooked, long enough and with enough waiting that a recorder has much to ask.
static int work(int zero_fd)
{
    char bytes[4096];
    long total = 0;
    for (int i = 0; i < 60; i++) {
        LM_STAGE("restricted");
        for (int k = 0; k < 1000; k++)
            total += read(zero_fd, bytes, sizeof bytes);
        nanosleep(&(struct timespec){0, 300000}, NULL);
        poll(NULL, 0, 1);
    }
    return total == 60 * 1000 * (long)sizeof bytes ? 0 : 1;
}

static void say(const char *text)
{
    size_t length = strlen(text);
    if (write(1, text, length) != (ssize_t)length)
        _exit(8);
}

static int filtered(enum way way)
{
    struct list l = {.count = 0};
    int zero_fd = open("/dev/zero", O_RDONLY), end[2], status;
    char byte;
    if (pipe(end) != 0 || work(zero_fd) != 0)
        return 1;
    {
        LM_STAGE("around");
        list_add(&l, own_calls, COUNT_OF(own_calls));
        if (restrict_to(&l, way) != 0)
            return 2;
        status = work(zero_fd);
    }
    if (write(end[1], "x", 1) != 1 || read(end[0], &byte, 1) != 1)
        return 3;
    say(status ? "wrong\n" : "worked\n");
    return 7; // and through exit, with its destructors
}

static int do_by_prctl(void)
{
    return filtered(BY_PRCTL);
}

static int do_by_call(void)
{
    return filtered(BY_CALL);
}

static int do_strict(void)
{
    int zero_fd = open("/dev/zero", O_RDONLY);
    char bytes[64];
    if (work(zero_fd) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) != 0)
        return 1;
    for (int i = 0; i < 200000; i++) {
        LM_STAGE("strict");
        if (read(zero_fd, bytes, sizeof bytes) != sizeof bytes)
            break;
    }
    say("strict\n");
    syscall(SYS_exit, 5);
    return 1;
}

// What is not allowed still ends the program, and in the same way.
static int do_killed(void)
{
    struct list l = {.count = 0};
    list_add(&l, own_calls, COUNT_OF(own_calls));
    if (restrict_to(&l, BY_CALL) != 0)
        return 2;
    say("before\n");
    return open("/dev/null", O_RDONLY) + 20;
}

// Asking whether the kernel knows filters changes nothing.
static int do_asked(void)
{
    int known = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0);
    printf("prctl %d errno %d\n", known, errno);
    long call = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL);
    printf("seccomp %ld errno %d\n", call, errno);
    printf("now %d\n", prctl(PR_GET_SECCOMP, 0, 0, 0, 0));
    LM_STAGE("after asking");
    nanosleep(&(struct timespec){0, 1000000}, NULL);
    return 0;
}

static volatile int is_over;

static void *keep_working(void *failed)
{
    int zero_fd = *(int *)failed, wrong = 0;
    while (!is_over)
        wrong |= work(zero_fd);
    return wrong ? failed : NULL;
}

static int do_for_all_threads(void)
{
    struct list l = {.count = 0};
    pthread_t threads[4], later;
    int zero_fd = open("/dev/zero", O_RDONLY), wrong = 0;
    void *result;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, keep_working, &zero_fd);
    nanosleep(&(struct timespec){0, 20000000}, NULL);
    list_add(&l, own_calls, COUNT_OF(own_calls));
    list_add(&l, thread_calls, COUNT_OF(thread_calls));
    if (restrict_to(&l, BY_CALL_FOR_ALL) != 0)
        return 2;
    wrong |= work(zero_fd);
    is_over = 1;
    for (int i = 0; i < 4; i++)
        wrong |= pthread_join(threads[i], &result) || result;
    if (pthread_create(&later, NULL, keep_working, &zero_fd) != 0)
        return 3;
    wrong |= pthread_join(later, &result) || result;
    say(wrong ? "wrong\n" : "all worked\n");
    return 6;
}

static int do_child(void)
{
    struct list l = {.count = 0};
    int zero_fd = open("/dev/zero", O_RDONLY), status = 0;
    list_add(&l, own_calls, COUNT_OF(own_calls));
    list_add(&l, child_calls, COUNT_OF(child_calls));
    if (work(zero_fd) != 0 || restrict_to(&l, BY_PRCTL) != 0)
        return 2;
    pid_t child = fork();
    if (child == 0)
        exit(work(zero_fd) ? 9 : 4);
    if (waitpid(child, &status, 0) != child)
        return 3;
    say(WIFEXITED(status) && WEXITSTATUS(status) == 4 ? "child worked\n" : "child was ended\n");
    return 5;
}

// The filter stays across exec: the recorder comes up in a program that is restricted already.
static int do_exec(void)
{
    struct list l = {.count = 0};
    list_add(&l, own_calls, COUNT_OF(own_calls));
    list_add(&l, start_calls, COUNT_OF(start_calls));
    if (restrict_to(&l, BY_CALL) != 0)
        return 2;
    execl("/proc/self/exe", "harm_seccomp", "executed", (char *)NULL);
    return 3;
}

static int do_executed(void)
{
    int zero_fd = open("/dev/zero", O_RDONLY);
    say(work(zero_fd) ? "wrong\n" : "executed and worked\n");
    return 9;
}

static const struct behaviour behaviours[] = {
    {"by-prctl", do_by_prctl},
    {"by-call", do_by_call},
    {"strict", do_strict},
    {"killed", do_killed},
    {"asked", do_asked},
    {"for-all-threads", do_for_all_threads},
    {"child", do_child},
    {"exec", do_exec},
    {"executed", do_executed},
};

int main(int argc, char **argv)
{
    (void)argc;
    return behaviour_run(behaviours, COUNT_OF(behaviours), argv[1]);
}
