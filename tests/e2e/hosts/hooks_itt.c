// SPDX-License-Identifier: Apache-2.0
// Host of the bridge itt: a program's side of ITT, which the static part has in every module: a
// list of functions by name, filled by the library that INTEL_LIBITTNOTIFY64 names at the first
// call. Our own declarations of that interface. Prints what is the same with and without a tool.
// `hooks_itt SCENARIO`.
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct domain {
    volatile int flags;
    const char *name;
    void *wide;
    int extra1;
    void *extra2;
    struct domain *next;
};

struct handle {
    const char *text;
    void *wide;
    int extra1;
    void *extra2;
    struct handle *next;
};

struct id {
    unsigned long long d1, d2, d3;
};

struct api {
    const char *name;
    void **place;
    void *first, *nothing;
    int group;
};

struct global {
    unsigned char magic[8];
    unsigned long major, minor, build;
    volatile long api_initialized, mutex_initialized, atomic_counter;
    pthread_mutex_t mutex;
    void *lib, *error_handler;
    const char **dll_path;
    struct api *api_list;
    struct global *next;
    void *threads;
    struct domain *domains;
    struct handle *handles;
    int state;
    void *counters;
    unsigned collect_events;
};

static struct {
    struct domain *(*domain_create)(const char *);
    struct handle *(*string_create)(const char *);
    void (*task_begin)(const struct domain *, struct id, struct id, struct handle *);
    void (*task_end)(const struct domain *);
    void (*overlapped_begin)(const struct domain *, struct id, struct id, struct handle *);
    void (*overlapped_end)(const struct domain *, struct id);
    void (*frame_begin)(const struct domain *, struct id *);
    void (*frame_end)(const struct domain *, struct id *);
    void (*frame_submit)(
        const struct domain *, struct id *, unsigned long long, unsigned long long);
    void *(*counter_create)(const char *, const char *, int);
    void (*counter_inc)(void *);
    void (*counter_inc_delta)(void *, unsigned long long);
    void (*counter_set)(void *, void *);
    void (*metadata_add)(const struct domain *, struct id, struct handle *, int, size_t, void *);
    void (*pause)(void);
    void (*resume)(void);
    void (*thread_set_name)(const char *);
    int (*unknown)(int);
    const char *(*api_version)(void);
} itt;

static int unknown_nothing(int value)
{
    return value + 1;
}

#define PLACE(member) ((void **)(void *)&itt.member)
static struct api list[] = {
    {"__itt_domain_create", PLACE(domain_create), NULL, NULL, 1 << 12},
    {"__itt_string_handle_create", PLACE(string_create), NULL, NULL, 1 << 12},
    {"__itt_task_begin", PLACE(task_begin), NULL, NULL, 1 << 12},
    {"__itt_task_end", PLACE(task_end), NULL, NULL, 1 << 12},
    {"__itt_task_begin_overlapped", PLACE(overlapped_begin), NULL, NULL, 1 << 12},
    {"__itt_task_end_overlapped", PLACE(overlapped_end), NULL, NULL, 1 << 12},
    {"__itt_frame_begin_v3", PLACE(frame_begin), NULL, NULL, 1 << 12},
    {"__itt_frame_end_v3", PLACE(frame_end), NULL, NULL, 1 << 12},
    {"__itt_frame_submit_v3", PLACE(frame_submit), NULL, NULL, 1 << 12},
    {"__itt_counter_create_typed", PLACE(counter_create), NULL, NULL, 1 << 8},
    {"__itt_counter_inc", PLACE(counter_inc), NULL, NULL, 1 << 8},
    {"__itt_counter_inc_delta", PLACE(counter_inc_delta), NULL, NULL, 1 << 8},
    {"__itt_counter_set_value", PLACE(counter_set), NULL, NULL, 1 << 8},
    {"__itt_metadata_add", PLACE(metadata_add), NULL, NULL, 1 << 12},
    {"__itt_pause", PLACE(pause), NULL, NULL, 1 << 1},
    {"__itt_resume", PLACE(resume), NULL, NULL, 1 << 1},
    {"__itt_thread_set_name", PLACE(thread_set_name), NULL, NULL, 1 << 2},
    {"__itt_of_a_later_release", PLACE(unknown), NULL, (void *)unknown_nothing, 1 << 12},
    {"__itt_api_version", PLACE(api_version), NULL, NULL, 0},
    {NULL, NULL, NULL, NULL, 0},
};

static struct global global = {.magic = {0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30},
    .major = 3,
    .minor = 25,
    .build = 20101001,
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .api_list = list};

// Made before the tool came, as the static part does.
static struct handle early_handle = {.text = "decode early"};
static struct domain early_domain = {.flags = 1, .name = "early"};

static void come_up(void)
{
    const char *path = getenv("INTEL_LIBITTNOTIFY64");
    union {
        void *object;
        void (*function)(struct global *, int);
    } init = {NULL};
    global.domains = &early_domain;
    global.handles = &early_handle;
    pthread_mutex_lock(&global.mutex);
    global.lib = path ? dlopen(path, RTLD_LAZY) : NULL;
    if (global.lib)
        init.object = dlsym(global.lib, "__itt_api_init");
    if (init.object)
        init.function(&global, -1);
    else
        for (int i = 0; list[i].name; i++)
            *list[i].place = list[i].nothing;
    global.api_initialized = 1;
    pthread_mutex_unlock(&global.mutex);
}

static const struct id none = {0, 0, 0};

static struct domain *domain(const char *name)
{
    return itt.domain_create ? itt.domain_create(name) : NULL;
}

static struct handle *handle(const char *text)
{
    return itt.string_create ? itt.string_create(text) : NULL;
}

static void begin(struct domain *d, struct handle *name)
{
    if (d && d->flags && itt.task_begin)
        itt.task_begin(d, none, none, name);
}

static void end(struct domain *d)
{
    if (d && d->flags && itt.task_end)
        itt.task_end(d);
}

static void tasks(void)
{
    struct domain *app = domain("app"), *cv = domain("OpenCVTrace"), *tbb = domain("tbb");
    struct handle *infer = handle("infer batch 3"), *bytes = handle("bytes");
    unsigned count = 4711;
    for (int i = 0; i < 5; i++) {
        begin(app, infer);
        end(app);
    }
    begin(app, handle("load"));
    if (itt.metadata_add)
        itt.metadata_add(app, none, bytes, 3, 1, &count);
    end(app);
    begin(&early_domain, &early_handle);
    begin(app, &early_handle); // a handle is of no domain
    end(app);
    end(&early_domain);
    begin(cv, handle("void cv::resize(InputArray, OutputArray, Size, double, double, int)"));
    begin(cv, handle("void cv::hal::resize(int, const uchar*)"));
    end(cv);
    end(cv);
    begin(tbb, handle("wait"));
    end(tbb);
    end(app);
    begin(app, NULL);
    end(app);
    if (itt.api_version && itt.api_version()) { // as OpenCV takes it
        begin(app, handle("draw asked"));
        end(app);
    }
    printf("same %d %d %d\n", domain("app") == app, handle("infer batch 3") == infer,
        domain(NULL) == NULL && handle(NULL) == NULL);
    for (int i = 0; i < 5000; i++) {
        char text[32];
        snprintf(text, sizeof text, "own %c%c%c", 'a' + i / 676, 'a' + i / 26 % 26, 'a' + i % 26);
        handle(text);
    }
    if (itt.thread_set_name)
        itt.thread_set_name("main of itt");
}

static void *end_there(void *d)
{
    if (itt.overlapped_end)
        itt.overlapped_end(d, (struct id){7, 8, 9});
    return NULL;
}

static void by_id(void)
{
    struct domain *app = domain("app");
    struct id a = {1, 2, 3}, b = {4, 5, 6}, c = {7, 8, 9};
    struct handle *x = handle("save x"), *y = handle("send y"), *z = handle("draw z");
    for (int i = 0; i < 300 && itt.overlapped_begin; i++) {
        itt.overlapped_begin(app, a, none, x);
        itt.overlapped_begin(app, b, none, y);
        itt.overlapped_end(app, a);
        itt.overlapped_end(app, b);
        itt.overlapped_end(app, b);
    }
    for (int i = 0; i < 3 && itt.overlapped_begin; i++) {
        pthread_t thread;
        itt.overlapped_begin(app, c, none, z);
        if (pthread_create(&thread, NULL, end_there, app) == 0)
            pthread_join(thread, NULL);
    }
    for (int i = 0; i < 4 && itt.frame_begin; i++) {
        itt.frame_begin(app, NULL);
        itt.frame_end(app, NULL);
        itt.frame_begin(app, &a);
        itt.frame_end(app, &a);
        itt.frame_submit(app, &a, 1, 2);
    }
}

static void counters(void)
{
    void *queue = itt.counter_create ? itt.counter_create("queue", "app", 2) : NULL;
    int64_t value = -5;
    if (queue) {
        itt.counter_inc(queue);
        itt.counter_inc_delta(queue, 41);
        itt.counter_set(queue, &value);
    }
    if (itt.counter_inc)
        itt.counter_inc(NULL);
    for (int i = 0; i < 100 && itt.counter_create; i++)
        itt.counter_create("more", NULL, 1);
}

static void paused(void)
{
    struct domain *app = domain("app");
    if (itt.pause)
        itt.pause();
    begin(app, handle("decode unseen"));
    if (itt.resume)
        itt.resume();
    begin(app, handle("decode seen"));
    end(app);
    end(app);
    pid_t child = fork();
    if (child == 0) {
        begin(app, handle("decode child"));
        end(app);
        end(app);
        _exit(0);
    }
    int status = -1;
    if (waitpid(child, &status, 0) == child)
        printf("child %d\n", status);
}

int main(int argc, char **argv)
{
    const char *scenario = argc > 1 ? argv[1] : "tasks";
    if (strcmp(scenario, "newer") == 0)
        global.major = 4;
    if (strcmp(scenario, "foreign") == 0)
        global.magic[0] = 0;
    errno = 77;
    come_up();
    // Another kind of interface is left as it is; the list's functions are not there then.
    printf("unknown %d\n", itt.unknown ? itt.unknown(1) : 2);
    printf("errno %d\n", errno == 77 || !getenv("INTEL_LIBITTNOTIFY64"));
    if (strcmp(scenario, "id") == 0)
        by_id();
    else if (strcmp(scenario, "counters") == 0)
        counters();
    else if (strcmp(scenario, "paused") == 0)
        paused();
    else
        tasks();
    return 0;
}
