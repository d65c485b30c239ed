// SPDX-License-Identifier: Apache-2.0
// What programs do around the loader and its locks, which a preloaded library that calls the loader
// at the wrong time turns into a deadlock or a lost error. One behaviour per name, as in harm.c.
//   harm_loader MODULE [NAME]
#include "behaviour.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static const char *module;
static void (*on_load)(void), (*on_unload)(void);
EXPORTED void harm_on_load(void);
EXPORTED void harm_on_unload(void);

void harm_on_load(void)
{
    if (on_load)
        on_load();
}

void harm_on_unload(void)
{
    if (on_unload)
        on_unload();
}

// Runs `during` while the loader holds its lock; whatever waits for that lock waits for ever.
static int load_module(void (*during)(void))
{
    on_load = during;
    void *handle = dlopen(module, RTLD_NOW | RTLD_LOCAL);
    printf("loaded %d\n", handle != NULL);
    int failed = handle ? dlclose(handle) : 1;
    on_load = NULL;
    return failed;
}

// Calls that this program makes nowhere else, so that each is the first.
static int first_calls(void)
{
    char bytes[4] = "abc";
    int ends[2];
    struct iovec part = {bytes, 2};
    if (pipe(ends) != 0 || writev(ends[1], &part, 1) != 2 || readv(ends[0], &part, 1) != 2)
        return 1;
    struct pollfd ready = {ends[1], POLLOUT, 0};
    int found = ppoll(&ready, 1, &(struct timespec){1, 0}, NULL);
    close(ends[0]);
    close(ends[1]);
    return found != 1;
}

static void print_child(pid_t child)
{
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        printf("no child, errno %d\n", errno);
    else
        printf("child: exited %d status %d signal %d\n", WIFEXITED(status), WEXITSTATUS(status),
            WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

// ---- A constructor that waits for threads that make threads.

static void *count_up(void *count)
{
    __atomic_fetch_add((int *)count, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void *make_threads(void *count)
{
    pthread_t own[3];
    for (int i = 0; i < 3; i++)
        if (pthread_create(&own[i], NULL, count_up, count) != 0)
            return NULL;
    for (int i = 0; i < 3; i++)
        pthread_join(own[i], NULL);
    return NULL;
}

static void threads_in_constructor(void)
{
    int count = 0;
    pthread_t maker;
    pthread_create(&maker, NULL, make_threads, &count);
    pthread_join(maker, NULL);
    printf("in the constructor %d threads\n", count);
}

static int do_constructor_waits(void)
{
    return load_module(threads_in_constructor);
}

// ---- A raw child of a thread that runs while another thread is inside the loader.

static void *make_raw_child(void *unused)
{
    (void)unused;
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (child == 0) {
        alarm(30);
        _exit(first_calls() ? 4 : 3);
    }
    print_child(child);
    return NULL;
}

static void child_in_constructor(void)
{
    pthread_t maker;
    pthread_create(&maker, NULL, make_raw_child, NULL);
    pthread_join(maker, NULL);
}

static int do_raw_child_while_loading(void)
{
    return load_module(child_in_constructor);
}

// The thread waits inside the loader for one that makes its first calls.
static void *call_first(void *failed)
{
    *(int *)failed = first_calls();
    return NULL;
}

static void calls_in_constructor(void)
{
    int failed = -1;
    pthread_t caller;
    pthread_create(&caller, NULL, call_first, &failed);
    pthread_join(caller, NULL);
    printf("first calls failed: %d\n", failed);
}

static int do_first_calls_while_loading(void)
{
    return load_module(calls_in_constructor);
}

// ---- Errors of the loader last until they are asked for.

static int do_error_lasts(void)
{
    void *handle = dlopen("libno-such-library.so", RTLD_NOW);
    const int failed = first_calls();
    const char *message = dlerror();
    printf("opened %d, calls failed %d, message %s\n", handle != NULL, failed,
        message ? message : "none");
    return 0;
}

static void error_in_signal(int number)
{
    (void)number;
    if (first_calls() != 0)
        _exit(9);
}

static int do_first_calls_in_handler(void)
{
    signal(SIGUSR1, error_in_signal);
    dlsym(RTLD_DEFAULT, "no_such_function");
    raise(SIGUSR1);
    const char *message = dlerror();
    printf("message %d\n", message && strstr(message, "no_such_function"));
    return 0;
}

// ---- Libraries come and go while others fork.

static volatile int is_over;
static const char *const codecs[] = {"libjpeg.so.62", "libpng16.so.16", "libwebp.so.7", NULL};

static void *load_and_unload(void *unused)
{
    (void)unused;
    while (!is_over)
        for (int i = 0; codecs[i] && !is_over; i++) {
            void *handle = dlopen(codecs[i], RTLD_NOW | RTLD_LOCAL);
            dlsym(handle ? handle : RTLD_DEFAULT, "none");
            if (handle)
                dlclose(handle);
        }
    return NULL;
}

// The child looks a function up, which needs none of the locks that dlopen holds.
static int do_fork_while_loading(void)
{
    pthread_t loader;
    int hung = 0, failed = 0;
    pthread_create(&loader, NULL, load_and_unload, NULL);
    for (int i = 0; i < 300 && !hung; i++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            alarm(10);
            _exit(dlsym(RTLD_DEFAULT, "getpid") ? 0 : 1);
        }
        if (child < 0 || waitpid(child, &status, 0) != child)
            failed++;
        hung += WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
        failed += WIFEXITED(status) && WEXITSTATUS(status) != 0;
    }
    is_over = 1;
    pthread_join(loader, NULL);
    printf("hung %d failed %d\n", hung, failed);
    return 0;
}

// ---- A hooked library goes while its calls are made through another handle.

typedef void *std_error_fn(void *);

static void *keep_calling(void *handle)
{
    static char errors[1024];
    void *found = dlsym(handle, "jpeg_std_error");
    std_error_fn *call;
    long calls = 0;
    memcpy(&call, &found, sizeof call);
    while (found && (!is_over || !calls))
        calls += call(errors) == errors;
    return (void *)calls;
}

static int do_close_in_flight(void)
{
    pthread_t caller;
    void *calls = NULL, *kept = dlopen("libjpeg.so.62", RTLD_NOW | RTLD_LOCAL);
    if (!kept)
        return printf("no libjpeg\n") < 0;
    pthread_create(&caller, NULL, keep_calling, kept);
    for (int i = 0; i < 200; i++) {
        void *again = dlopen("libjpeg.so.62", RTLD_NOW | RTLD_LOCAL);
        void *other = dlopen("libpng16.so.16", RTLD_NOW | RTLD_LOCAL);
        if (!dlsym(again, "jpeg_std_error") || dlclose(again) != 0)
            return 1;
        if (other && (!dlsym(other, "png_access_version_number") || dlclose(other) != 0))
            return 1;
    }
    is_over = 1;
    pthread_join(caller, &calls);
    printf("called %d closed %d\n", calls != NULL, dlclose(kept));
    return 0;
}

// ---- Hooked calls in static constructors and destructors, of a library and of the program.

static void read_zero(void)
{
    char byte = 1;
    int fd = open("/dev/zero", O_RDONLY);
    struct timespec pause = {0, 1000};
    ssize_t n = read(fd, &byte, 1);
    nanosleep(&pause, NULL);
    close(fd);
    printf("read %zd byte %d\n", n, byte);
    fflush(stdout);
}

static int do_constructors_call(void)
{
    on_unload = read_zero;
    int failed = load_module(read_zero);
    void *left = dlopen(module, RTLD_NOW);
    printf("left open %d\n", left != NULL);
    return failed; // its destructor runs at the end
}

// ---- Other name spaces of the loader have a libc of their own.

static int do_namespace(void)
{
    void *handle = dlmopen(LM_ID_NEWLM, "libpng16.so.16", RTLD_NOW);
    printf("opened %d found %d\n", handle != NULL,
        handle && dlsym(handle, "png_access_version_number") != NULL);
    if (handle)
        printf("closed %d\n", dlclose(handle));
    return 0;
}

static const struct behaviour behaviours[] = {
    {"constructor-waits", do_constructor_waits},
    {"raw-child-while-loading", do_raw_child_while_loading},
    {"first-calls-while-loading", do_first_calls_while_loading},
    {"error-lasts", do_error_lasts},
    {"first-calls-in-handler", do_first_calls_in_handler},
    {"fork-while-loading", do_fork_while_loading},
    {"close-in-flight", do_close_in_flight},
    {"constructors-call", do_constructors_call},
    {"namespace", do_namespace},
};

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    module = argv[1];
    return behaviour_run(behaviours, sizeof behaviours / sizeof *behaviours, argv[2]);
}
