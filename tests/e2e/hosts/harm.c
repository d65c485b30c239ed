// SPDX-License-Identifier: Apache-2.0
// Behaviours that a preloaded library can spoil, one per name: the test runs each with and without
// Lightmeter and wants the same output and the same end. Run by test_harm.py.
//   harm NAME
#include "behaviour.h"

#include <lightmeter/mark.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void nap(long us)
{
    nanosleep(&(struct timespec){0, us * 1000}, NULL);
}

static int print_end(pid_t child)
{
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    printf("child: exited %d status %d signal %d\n", WIFEXITED(status), WEXITSTATUS(status),
        WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    return 0;
}

static int do_fork(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        LM_STAGE("in the child");
        nap(2000);
        printf("in the child\n");
        exit(7);
    }
    return print_end(child);
}

static void *churn(void *stop)
{
    char byte;
    int fd = open("/dev/zero", O_RDONLY);
    while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED)) {
        LM_STAGE("churn");
        if (read(fd, &byte, 1) != 1)
            break;
    }
    close(fd);
    return NULL;
}

static int do_fork_threaded(void)
{
    int stop = 0, failed = 0;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, churn, &stop);
    for (int i = 0; i < 20; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            char byte;
            pthread_t own;
            int quit = 1, fd = open("/dev/zero", O_RDONLY);
            pthread_create(&own, NULL, churn, &quit);
            pthread_join(own, NULL);
            _exit(read(fd, &byte, 1) == 1 ? 3 : 4);
        }
        failed |= print_end(child);
    }
    stop = 1;
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return failed;
}

static int do_vfork(void)
{
    fflush(stdout);
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "echo from sh; exit 5", (char *)NULL);
        _exit(99);
    }
    int failed = print_end(child);
    child = vfork();
    if (child == 0)
        _exit(6);
    return failed | print_end(child);
}

static int do_exec(void)
{
    fflush(stdout);
    execl("/bin/sh", "sh", "-c", "read x; echo \"sh read $x\"; exit 9", (char *)NULL);
    return 1;
}

static int do_exec_failing(void)
{
    execl("/nonexistent", "none", (char *)NULL);
    printf("errno %d, still here\n", errno);
    LM_STAGE("after");
    nap(1000);
    return 0;
}

static void *leave(void *how)
{
    LM_STAGE("leaving");
    nap(500);
    if (how)
        pthread_exit((void *)5);
    return (void *)4;
}

static void *block(void *unused)
{
    (void)unused;
    LM_STAGE("blocked");
    while (pause() != 0)
        ;
    return NULL;
}

static int do_thread_ends(void)
{
    pthread_t a, b, c;
    void *ra, *rb, *rc;
    pthread_create(&a, NULL, leave, NULL);
    pthread_create(&b, NULL, leave, &a);
    pthread_create(&c, NULL, block, NULL);
    nap(2000);
    pthread_cancel(c);
    pthread_join(a, &ra);
    pthread_join(b, &rb);
    pthread_join(c, &rc);
    printf("returned %ld, exited %ld, cancelled %d\n", (long)ra, (long)rb, rc == PTHREAD_CANCELED);
    return 0;
}

static int do_many_threads(void)
{
    int count = 0;
    for (int i = 0; i < 2000; i++) {
        pthread_t t;
        if (pthread_create(&t, NULL, behaviour_short_life, &count) != 0)
            return 1;
        pthread_join(t, NULL);
    }
    printf("%d threads\n", count);
    return 0;
}

static volatile sig_atomic_t ticks;
static int handler_fd;
static void on_tick(int signal_number)
{
    char byte;
    int saved_errno = errno;
    (void)signal_number;
    if (read(handler_fd, &byte, 1) == 1)
        ticks++;
    errno = saved_errno;
}

static int do_signals(void)
{
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    handler_fd = open("/dev/zero", O_RDONLY);
    sigaction(SIGPROF, &action, NULL);
    struct itimerspec every = {{0, 200000}, {0, 200000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    timer_t timer;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &every, NULL);
    char byte;
    long done = 0;
    while (ticks < 200) {
        LM_STAGE("busy");
        done += read(handler_fd, &byte, 1);
    }
    timer_delete(timer);
    printf("ticks %d, reads went on: %d\n", ticks >= 200, done > 0);
    return 0;
}

static void on_alarm(int signal_number)
{
    (void)signal_number;
}

static int do_interrupted(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    int ends[2];
    char byte;
    sigaction(SIGALRM, &action, NULL);
    if (pipe(ends) != 0)
        return 1;
    ualarm(20000, 0);
    ssize_t n = read(ends[0], &byte, 1);
    printf("read %zd errno %d\n", n, errno);
    ualarm(20000, 0);
    int r = nanosleep(&(struct timespec){5, 0}, NULL);
    printf("nanosleep %d errno %d\n", r, errno);
    ualarm(20000, 0);
    r = poll(NULL, 0, 5000);
    printf("poll %d errno %d\n", r, errno);
    return 0;
}

static jmp_buf back;
__attribute__((noinline, noreturn)) static void jump_from_below(int depth)
{
    lm_stage_begin("below");
    if (depth)
        jump_from_below(depth - 1);
    longjmp(back, 1);
}

static int do_longjmp(void)
{
    static volatile int jumps, i;
    for (i = 0; i < 1000; i++) {
        LM_STAGE("around");
        if (setjmp(back) == 0)
            jump_from_below(3);
        else
            jumps++;
    }
    printf("%d jumps\n", jumps);
    return 0;
}

static int do_errno(void)
{
    errno = 0;
    char byte;
    ssize_t n = read(-1, &byte, 1);
    printf("read %zd errno %d\n", n, errno);
    int fd = open("/nonexistent/file", O_RDONLY);
    printf("open %d errno %d\n", fd, errno);
    FILE *stream = fopen("/nonexistent/file", "r");
    printf("fopen %d errno %d\n", stream != NULL, errno);
    pthread_mutex_t strict;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&strict, &attributes);
    int first = pthread_mutex_lock(&strict), again = pthread_mutex_lock(&strict);
    printf("lock %d, again %d\n", first, again);
    errno = 1234;
    LM_STAGE("kept");
    lm_item_begin(1);
    lm_item_end(1);
    printf("errno after marks %d\n", errno);
    return 0;
}

static int do_dlsym(void)
{
    printf("default %d\n", dlsym(RTLD_DEFAULT, "jpeg_std_error") != NULL);
    void *next = dlsym(RTLD_NEXT, "malloc");
    printf("next %d\n", next != NULL);
    dlerror();
    printf("missing %d\n", dlsym(RTLD_DEFAULT, "no_such_function_here") != NULL);
    printf("dlerror %d, then %d\n", dlerror() != NULL, dlerror() != NULL);
    void *jpeg = dlopen("libjpeg.so.62", RTLD_NOW | RTLD_LOCAL);
    printf("local: opened %d found %d default %d\n", jpeg != NULL,
        jpeg && dlsym(jpeg, "jpeg_std_error") != NULL,
        dlsym(RTLD_DEFAULT, "jpeg_std_error") != NULL);
    if (jpeg)
        printf("closed %d\n", dlclose(jpeg));
    return 0;
}

static int do_closes_all(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    int fd = open("/dev/null", O_WRONLY);
    printf("first free descriptor %d\n", fd);
    LM_STAGE("after closing");
    nap(1000);
    return 0;
}

static int do_deep(void)
{
    for (int i = 0; i < 100; i++)
        lm_stage_begin("deep");
    nap(1000);
    for (int i = 0; i < 100; i++)
        lm_stage_end();
    for (int i = 0; i < 10; i++)
        lm_stage_end(); // more than were begun
    printf("deep\n");
    return 0;
}

static int do_small_stack_limit(void)
{
    struct rlimit limit = {64 << 20, 64 << 20};
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){16, 16});
    setrlimit(RLIMIT_MEMLOCK, &limit);
    int fd = -1, last = -1;
    while ((fd = open("/dev/null", O_RDONLY)) >= 0)
        last = fd;
    printf("last descriptor %d errno %d\n", last, errno);
    return 0;
}

static int do_abort(void)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    printf("before abort\n");
    fflush(stdout);
    LM_STAGE("aborting");
    abort();
}

static int do_segv(void)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    printf("before fault\n");
    fflush(stdout);
    LM_STAGE("faulting");
    raise(SIGSEGV);
    return 0;
}

static int do_kill(void)
{
    printf("before kill\n");
    fflush(stdout);
    for (int i = 0; i < 1000; i++) {
        LM_STAGE("short");
    }
    raise(SIGKILL);
    return 0;
}

static int do_underscore_exit(void)
{
    LM_STAGE("leaving");
    printf("not flushed\n");
    _exit(42);
}

static void say_goodbye(void)
{
    LM_STAGE("atexit");
    nap(500);
    printf("goodbye\n");
}

static int do_atexit(void)
{
    atexit(say_goodbye);
    return 11;
}

static __attribute__((constructor)) void early(void)
{
    char byte;
    int fd = open("/dev/zero", O_RDONLY);
    if (read(fd, &byte, 1) == 1)
        close(fd);
}

static __attribute__((destructor)) void late(void)
{
    char byte;
    int fd = open("/dev/zero", O_RDONLY);
    if (read(fd, &byte, 1) == 1)
        close(fd);
}

static int do_environment(void)
{
    clearenv();
    setenv("ONLY", "this", 1);
    fflush(stdout);
    return system("echo \"only $ONLY\"") != 0;
}

static const struct behaviour behaviours[] = {
    {"fork", do_fork},
    {"fork-threaded", do_fork_threaded},
    {"vfork", do_vfork},
    {"exec", do_exec},
    {"exec-failing", do_exec_failing},
    {"thread-ends", do_thread_ends},
    {"many-threads", do_many_threads},
    {"signals", do_signals},
    {"interrupted", do_interrupted},
    {"longjmp", do_longjmp},
    {"errno", do_errno},
    {"dlsym", do_dlsym},
    {"closes-all", do_closes_all},
    {"deep", do_deep},
    {"few-descriptors", do_small_stack_limit},
    {"abort", do_abort},
    {"segv", do_segv},
    {"kill", do_kill},
    {"underscore-exit", do_underscore_exit},
    {"atexit", do_atexit},
    {"environment", do_environment},
};

int main(int argc, char **argv)
{
    (void)argc;
    return behaviour_run(behaviours, sizeof behaviours / sizeof *behaviours, argv[1]);
}
