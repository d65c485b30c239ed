// SPDX-License-Identifier: Apache-2.0
// More behaviours that a preloaded library can spoil, as in harm.c: what programs do with their
// threads and children, their limits and their place in the system.
//   harm_process [NAME]
#include "behaviour.h"

#include <lightmeter/mark.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int read_zero(void)
{
    char byte = 1;
    int fd = open("/dev/zero", O_RDONLY);
    ssize_t n = read(fd, &byte, 1);
    close(fd);
    return n == 1 && byte == 0 ? 0 : 1;
}

static int print_end(pid_t child)
{
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return printf("no child, errno %d\n", errno) < 0;
    printf("child: exited %d status %d signal %d\n", WIFEXITED(status), WEXITSTATUS(status),
        WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    return 0;
}

// ---- Threads by the thousand.

static int do_ten_thousand_threads(void)
{
    int count = 0;
    for (int i = 0; i < 10000; i++) {
        pthread_t t;
        if (pthread_create(&t, NULL, behaviour_short_life, &count) != 0 ||
            pthread_join(t, NULL) != 0)
            return 1;
    }
    printf("%d threads\n", count);
    return 0;
}

static void count_tick(int number)
{
    (void)number;
}

// A fast timer of the process interrupts whichever thread runs, also where it asks the kernel for
// memory.
static int do_threads_under_signals(void)
{
    struct sigaction action = {.sa_handler = count_tick, .sa_flags = SA_RESTART};
    struct itimerval every = {{0, 50}, {0, 50}}, none = {{0, 0}, {0, 0}};
    int count = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    for (int i = 0; i < 2000; i++) {
        pthread_t t;
        if (pthread_create(&t, NULL, behaviour_short_life, &count) != 0 ||
            pthread_join(t, NULL) != 0)
            return 1;
    }
    setitimer(ITIMER_REAL, &none, NULL);
    printf("%d threads\n", count);
    return 0;
}

static pthread_barrier_t all_live;
static void *live(void *count)
{
    LM_STAGE("live");
    read_zero();
    pthread_barrier_wait(&all_live);
    __atomic_fetch_add((int *)count, 1, __ATOMIC_RELAXED);
    return NULL;
}

static int do_thousand_live_threads(void)
{
    static pthread_t threads[1000];
    pthread_attr_t small;
    int count = 0, made = 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    pthread_barrier_init(&all_live, NULL, 1001);
    while (made < 1000 && pthread_create(&threads[made], &small, live, &count) == 0)
        made++;
    if (made < 1000)
        return 77;
    pthread_barrier_wait(&all_live);
    for (int i = 0; i < made; i++)
        pthread_join(threads[i], NULL);
    printf("%d threads\n", count);
    return 0;
}

// ---- Children in every way.

static int do_fork_storm(void)
{
    int good = 0;
    for (int round = 0; round < 10; round++) {
        pid_t children[20];
        for (int i = 0; i < 20; i++) {
            children[i] = fork();
            if (children[i] == 0) {
                LM_STAGE("storm");
                pid_t own = fork();
                int status = 0;
                if (own == 0)
                    _exit(read_zero());
                if (waitpid(own, &status, 0) != own)
                    exit(2);
                exit(status ? 3 : 0);
            }
        }
        for (int i = 0; i < 20; i++) {
            int status = 1;
            good += waitpid(children[i], &status, 0) == children[i] && status == 0;
        }
    }
    printf("%d good\n", good);
    return 0;
}

static int do_spawn(void)
{
    char *words[] = {"sh", "-c", "read x; echo \"read $x\"; exit 4", NULL};
    char *missing[] = {"none", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child;
    int ends[2];
    if (pipe(ends) != 0 || write(ends[1], "word\n", 5) != 5)
        return 1;
    fflush(stdout);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], 0);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    posix_spawnattr_init(&attributes);
    int failed = posix_spawnp(&child, "sh", &actions, &attributes, words, environ);
    printf("spawned %d\n", failed);
    if (!failed)
        print_end(child);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(ends[0]);
    close(ends[1]);
    printf("missing %d\n", posix_spawn(&child, "/nonexistent", NULL, NULL, missing, environ));
    return 0;
}

static int in_shared_memory(void *done)
{
    for (int i = 0; i < 2000; i++)
        *(int *)done += read_zero() == 0;
    return 3;
}

// A child that shares this thread's memory and thread area, while this thread works on.
static int clone_shared(int is_raw, int flags)
{
    static char stack[256 << 10] __attribute__((aligned(64)));
    volatile int done = 0;
    int own = 0;
    fflush(stdout);
    pid_t child;
    if (is_raw)
        child = (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
    else
        child = clone(in_shared_memory, stack + sizeof stack, flags | SIGCHLD, (void *)&done);
    if (child == 0)
        _exit(read_zero() ? 9 : 6);
    for (int i = 0; i < 2000; i++) {
        LM_STAGE("beside it");
        own += read_zero() == 0;
    }
    print_end(child);
    printf("child's calls %d, own %d\n", done, own);
    return 0;
}

static int do_clone_memory(void)
{
    return clone_shared(0, CLONE_VM);
}

static int do_clone_plain(void)
{
    return clone_shared(0, 0);
}

static int do_clone_raw(void)
{
    return clone_shared(1, 0);
}

static int do_clone_as_vfork(void)
{
    return clone_shared(0, CLONE_VM | CLONE_VFORK);
}

static int do_clone3_raw(void)
{
    struct {
        uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
    } arguments = {.exit_signal = SIGCHLD};
    fflush(stdout);
    pid_t child = (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
    if (child == 0) {
        LM_STAGE("cloned");
        exit(read_zero() ? 9 : 6);
    }
    return print_end(child);
}

// ---- Limits, descriptors, arguments, environment.

static int limited(__rlimit_resource_t resource, rlim_t limit)
{
    struct rlimit both = {limit, limit};
    if (setrlimit(resource, &both) != 0)
        return 77;
    int made = 0;
    for (int i = 0; i < 20; i++) {
        pthread_t t;
        int count = 0;
        if (pthread_create(&t, NULL, behaviour_short_life, &count) == 0)
            made += pthread_join(t, NULL) == 0 && count;
    }
    for (int i = 0; i < 100000; i++) {
        LM_STAGE("limited");
    }
    printf("threads %d, read %d\n", made, read_zero());
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        exit(read_zero() ? 9 : 5);
    return print_end(child);
}

static int do_limit_memory(void)
{
    return limited(RLIMIT_AS, 1 << 30);
}

static int do_limit_files(void)
{
    return limited(RLIMIT_NOFILE, 8);
}

static int do_limit_file_size(void)
{
    return limited(RLIMIT_FSIZE, 4096);
}

static int do_limit_locked(void)
{
    return limited(RLIMIT_MEMLOCK, 0);
}

static int do_replaces_descriptors(void)
{
    int null_fd = open("/dev/null", O_RDWR), ends[2], same = 0;
    struct stat null_status, status;
    if (pipe(ends) != 0)
        return 1;
    fstat(null_fd, &null_status);
    for (int fd = 3; fd < 256; fd++)
        dup2(null_fd, fd);
    for (int fd = 3; fd < 256; fd++)
        same += fstat(fd, &status) == 0 && status.st_rdev == null_status.st_rdev;
    for (int i = 0; i < 100; i++) {
        LM_STAGE("replaced");
        same -= read_zero();
    }
    printf("%d are /dev/null\n", same);
    return 0;
}

static int do_huge_arguments(void)
{
    enum { WORDS = 2000, WORD_BYTES = 400 };
    static char words[WORDS][WORD_BYTES];
    static char *list[WORDS + 4];
    list[0] = "sh";
    list[1] = "-c";
    list[2] = "echo \"$# words, the last of ${#0}\"; exit 8";
    for (int i = 0; i < WORDS; i++)
        list[3 + i] = memset(words[i], 'a', WORD_BYTES - 1);
    fflush(stdout);
    execv("/bin/sh", list);
    return 1;
}

static int do_edits_environment(void)
{
    char name[32];
    for (char **variable = environ; variable && *variable; variable++)
        if (strncmp(*variable, "LIGHTMETER", 10) == 0)
            memset(*variable, 'x', strlen(*variable)); // as programs that set their title do
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "NAME_%d", i);
        setenv(name, "value", 1);
    }
    environ = NULL;
    setenv("PATH", "/usr/bin:/bin", 1);
    fflush(stdout);
    LM_STAGE("edited");
    return system("echo ended with $PATH; exit 3") == 3 << 8 ? read_zero() : 1;
}

// ---- Another place and another user. Without the right to it: status 77, with Lightmeter too.

static int live_in(const char *folder)
{
    if (read_zero() != 0 || chroot(folder) != 0 || chdir("/") != 0)
        return 77;
    int fd = open("/file", O_RDWR | O_CREAT | O_EXCL, 0600);
    printf("file %d, none %d\n", fd >= 0, open("/dev/zero", O_RDONLY));
    for (int i = 0; i < 100000; i++) {
        LM_STAGE("elsewhere");
    }
    pthread_t t;
    int count = 0;
    pthread_create(&t, NULL, behaviour_short_life, &count);
    pthread_join(t, NULL);
    printf("thread %d\n", count);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        exit(4);
    print_end(child);
    return unlink("/file");
}

static int do_chroot(void)
{
    char folder[] = "/tmp/harm-XXXXXX";
    int status = 0;
    if (!mkdtemp(folder))
        return 77;
    pid_t child = fork();
    if (child == 0)
        exit(live_in(folder));
    if (waitpid(child, &status, 0) != child || rmdir(folder) != 0)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int do_other_user(void)
{
    if (setgid(65534) != 0 || setuid(65534) != 0)
        return 77;
    for (int i = 0; i < 100000; i++) {
        LM_STAGE("as nobody");
    }
    pthread_t t;
    int count = 0;
    pthread_create(&t, NULL, behaviour_short_life, &count);
    pthread_join(t, NULL);
    printf("thread %d, user %d\n", count, getuid() == 65534);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        exit(read_zero() ? 9 : 4);
    return print_end(child);
}

static int do_namespaces(void)
{
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET) != 0)
        return 77;
    LM_STAGE("unshared");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        printf("pid %d, read %d\n", (int)getpid(), read_zero());
        exit(4);
    }
    return print_end(child);
}

static const struct behaviour behaviours[] = {
    {"ten-thousand-threads", do_ten_thousand_threads},
    {"threads-under-signals", do_threads_under_signals},
    {"thousand-live-threads", do_thousand_live_threads},
    {"fork-storm", do_fork_storm},
    {"spawn", do_spawn},
    {"clone-memory", do_clone_memory},
    {"clone-plain", do_clone_plain},
    {"clone-raw", do_clone_raw},
    {"clone-as-vfork", do_clone_as_vfork},
    {"clone3-raw", do_clone3_raw},
    {"limit-memory", do_limit_memory},
    {"limit-files", do_limit_files},
    {"limit-file-size", do_limit_file_size},
    {"limit-locked", do_limit_locked},
    {"replaces-descriptors", do_replaces_descriptors},
    {"huge-arguments", do_huge_arguments},
    {"edits-environment", do_edits_environment},
    {"chroot", do_chroot},
    {"other-user", do_other_user},
    {"namespaces", do_namespaces},
};

int main(int argc, char **argv)
{
    (void)argc;
    return behaviour_run(behaviours, sizeof behaviours / sizeof *behaviours, argv[1]);
}
