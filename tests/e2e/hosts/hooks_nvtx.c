// SPDX-License-Identifier: Apache-2.0
// Host of the bridge nvtx: ranges of every kind, by name of a scenario. Prints the results of the
// calls, which are the same with and without a tool. `hooks_nvtx SCENARIO [MODULE]`.
#include "nvtx_client.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>

static int sum; // of levels: -2 each

static void ranges(void)
{
    char name[32];
    for (int i = 1; i <= 12; i++) {
        snprintf(name, sizeof name, "decode image %d", i);
        sum += nvtx_push(name) + nvtx_pop();
    }
    sum += nvtx_push_wide(L"Preprocess \u00e9\u4e2d\U0001f600") + nvtx_pop();
    sum += nvtx_push("Preprocessor") + nvtx_pop(); // a name of its own, not that word
    sum += nvtx_push("conv1") + nvtx_pop();
    sum += nvtx_push("aten::conv2d, seq = 12") + nvtx_pop();
    sum += nvtx_push(NULL) + nvtx_pop();
    const struct nvtx_event old = {1, 8, 0, 0, 0, 0, 0, 0, 1, "never read"};
    sum += nvtx_push_event(&old) + nvtx_pop();
    sum += nvtx_pop(); // none is open
    nvtx_mark("a mark");
    nvtx_name_thread((uint32_t)getpid(), "main of nvtx");
}

static void domains(void)
{
    void *ocr = nvtx_domain("ocr"), *nccl = nvtx_domain("NCCL"),
         *wide = nvtx_domain_wide(L"w\u00e9");
    const void *detect = nvtx_string(ocr, "detect");
    for (int i = 0; i < 3; i++)
        sum += nvtx_domain_push_known(ocr, detect) + nvtx_domain_pop(ocr);
    sum += nvtx_domain_push_known(ocr, &sum) + nvtx_domain_pop(ocr); // no handle of the tool
    sum += nvtx_domain_push(nccl, "send") + nvtx_domain_pop(nccl);
    sum += nvtx_domain_push(wide, "load") + nvtx_domain_pop(wide);
    // Each domain nests by itself.
    sum += nvtx_push("infer a") + nvtx_domain_push(ocr, "encode b");
    sum += nvtx_pop() + nvtx_domain_pop(ocr);
    for (int i = 0; i < 70; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%c%c", 'a' + i / 26, 'a' + i % 26);
        void *many = nvtx_domain(name);
        sum += nvtx_domain_push(many, "save") + nvtx_domain_pop(many);
    }
}

static void *end_there(void *id)
{
    nvtx_end(*(uint64_t *)id);
    return NULL;
}

static void free_ranges(void)
{
    uint64_t outer = nvtx_start("save outer"), inner = nvtx_start("track inner");
    nvtx_end(outer);
    nvtx_end(inner);
    nvtx_end(inner);
    nvtx_end(0);
    nvtx_end(123456789);
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        uint64_t id = nvtx_start("transfer there");
        if (pthread_create(&thread, NULL, end_there, &id) == 0)
            pthread_join(thread, NULL);
        sum += nvtx_push("draw") + nvtx_pop();
    }
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        uint64_t id = nvtx_start("frame 1");
        if (pthread_create(&thread, NULL, end_there, &id) == 0)
            pthread_join(thread, NULL);
    }
    for (int i = 0; i < 5000; i++)
        nvtx_end(nvtx_start("track many"));
    for (int i = 0; i < 3000; i++)
        nvtx_start("convert leaked");
}

static void endless(void)
{
    char name[32];
    for (int i = 0; i < 3000; i++) {
        snprintf(name, sizeof name, "%s %c%c%c", i % 2 ? "decode" : "own", 'a' + i / 676,
            'a' + i / 26 % 26, 'a' + i % 26);
        sum += nvtx_push(name) + nvtx_pop();
    }
    for (int i = 0; i < 100; i++)
        sum += nvtx_push("infer deep");
    for (int i = 0; i < 100; i++)
        sum += nvtx_pop();
    sum += nvtx_push("load after") + nvtx_pop();
}

static jmp_buf place;

static void odd(void)
{
    sum += nvtx_push("load parent");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        sum += nvtx_push("decode child") + nvtx_pop() + nvtx_pop();
        _exit(sum == -8 ? 0 : 1);
    }
    int status = -1;
    if (waitpid(child, &status, 0) == child)
        printf("child %d\n", status);
    sum += nvtx_pop();
    sum += nvtx_push("encode jumped");
    if (setjmp(place) == 0)
        longjmp(place, 1);
    sum += nvtx_push("save within") + nvtx_pop() + nvtx_pop();
    errno = 77;
    sum += nvtx_push("wait once") + nvtx_pop();
    printf("errno %d\n", errno);
}

// A library that comes later and has NVTX inside itself.
static void module(const char *path)
{
    union {
        void *object;
        int (*function)(void);
    } run = {NULL};
    sum += nvtx_push("infer here");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library)
        run.object = dlsym(library, "run_module");
    printf("module %d\n", run.object ? run.function() : -1);
    sum += nvtx_pop();
}

int main(int argc, char **argv)
{
    const char *scenario = argc > 1 ? argv[1] : "ranges";
    if (strcmp(scenario, "smaller") == 0) {
        nvtx.core_count = 11; // no pop, no domains
        nvtx.core2_count = 0;
    } else if (strcmp(scenario, "newer") == 0) {
        nvtx.core_count = nvtx.core2_count = MANY;
        nvtx.callbacks_size = 64;
    } else if (strcmp(scenario, "short") == 0) {
        nvtx.callbacks_size = 8;
    } else if (strcmp(scenario, "refusing") == 0) {
        nvtx.is_refusing = 1;
    }
    if (strcmp(scenario, "domains") == 0)
        domains();
    else if (strcmp(scenario, "free") == 0)
        free_ranges();
    else if (strcmp(scenario, "endless") == 0)
        endless();
    else if (strcmp(scenario, "odd") == 0)
        odd();
    else if (strcmp(scenario, "module") == 0)
        module(argv[2]);
    else
        ranges();
    printf("%s %d\n", scenario, sum);
    return 0;
}
