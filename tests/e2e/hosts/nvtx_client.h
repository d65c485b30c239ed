// SPDX-License-Identifier: Apache-2.0
// A program's side of NVTX 3, as its header has it inside every module: a table of function
// pointers, filled by the library that NVTX_INJECTION64_PATH names at the first call. Our own
// declarations of that interface, for the hosts of the test of the bridge. Each file that includes
// this is a module of its own.
#ifndef NVTX_CLIENT_H
#define NVTX_CLIENT_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

typedef void (*nvtx_fn)(void);

enum { CORE = 1, CORE2 = 5, MANY = 40 };
enum {
    START_A = 5,
    END = 7,
    PUSH_EX = 8,
    PUSH_A = 9,
    PUSH_W = 10,
    POP = 11,
    MARK_A = 2,
    NAME_THREAD = 14
};
enum {
    D_START = 2,
    D_END = 3,
    D_PUSH = 4,
    D_POP = 5,
    D_STRING = 10,
    D_CREATE = 12,
    D_CREATE_W = 13
};

struct nvtx_event {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
};

// What differs between releases: how much of the interface a module has.
static struct {
    unsigned core_count, core2_count;
    size_t callbacks_size;
    int is_refusing, is_up, status;
    nvtx_fn core[MANY], core2[MANY];
    nvtx_fn *core_table[MANY], *core2_table[MANY];
} nvtx = {16, 16, 16, 0, 0, 0, {NULL}, {NULL}, {NULL}, {NULL}};

static int nvtx_get_module(int module, nvtx_fn ***table, unsigned *count)
{
    if (nvtx.is_refusing || (module != CORE && module != CORE2))
        return 0;
    *table = module == CORE ? nvtx.core_table : nvtx.core2_table;
    *count = module == CORE ? nvtx.core_count : nvtx.core2_count;
    return 1;
}

struct nvtx_callbacks {
    size_t size;
    int (*get)(int module, nvtx_fn ***table, unsigned *count);
};
static struct nvtx_callbacks nvtx_callbacks_of = {16, nvtx_get_module};

static const void *nvtx_get_table(uint32_t id)
{
    nvtx_callbacks_of.size = nvtx.callbacks_size;
    return id == 1 ? &nvtx_callbacks_of : NULL;
}

static void nvtx_come_up(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    union {
        void *object;
        int (*function)(const void *(*)(uint32_t));
    } init = {NULL};
    void *library = NULL;
    for (unsigned i = 0; i < MANY; i++) {
        nvtx.core_table[i] = i && i < nvtx.core_count ? &nvtx.core[i] : NULL;
        nvtx.core2_table[i] = i && i < nvtx.core2_count ? &nvtx.core2[i] : NULL;
    }
    nvtx.is_up = 1;
    if (path)
        library = dlopen(path, RTLD_LAZY);
    if (library)
        init.object = dlsym(library, "InitializeInjectionNvtx2");
    if (init.object)
        nvtx.status = init.function(nvtx_get_table);
    if (nvtx.status)
        return;
    memset(nvtx.core, 0, sizeof nvtx.core);
    memset(nvtx.core2, 0, sizeof nvtx.core2);
    if (library)
        dlclose(library);
}

static nvtx_fn nvtx_core(unsigned i)
{
    if (!nvtx.is_up)
        nvtx_come_up();
    return nvtx.core[i];
}

static nvtx_fn nvtx_core2(unsigned i)
{
    if (!nvtx.is_up)
        nvtx_come_up();
    return nvtx.core2[i];
}

static inline int nvtx_push(const char *text)
{
    nvtx_fn f = nvtx_core(PUSH_A);
    return f ? ((int (*)(const char *))f)(text) : -2;
}

static inline int nvtx_push_wide(const wchar_t *text)
{
    nvtx_fn f = nvtx_core(PUSH_W);
    return f ? ((int (*)(const wchar_t *))f)(text) : -2;
}

static inline int nvtx_push_event(const struct nvtx_event *e)
{
    nvtx_fn f = nvtx_core(PUSH_EX);
    return f ? ((int (*)(const struct nvtx_event *))f)(e) : -2;
}

static inline int nvtx_pop(void)
{
    nvtx_fn f = nvtx_core(POP);
    return f ? ((int (*)(void))f)() : -2;
}

static inline void nvtx_mark(const char *text)
{
    nvtx_fn f = nvtx_core(MARK_A);
    if (f)
        ((void (*)(const char *))f)(text);
}

static inline uint64_t nvtx_start(const char *text)
{
    nvtx_fn f = nvtx_core(START_A);
    return f ? ((uint64_t(*)(const char *))f)(text) : 0;
}

static inline void nvtx_end(uint64_t id)
{
    nvtx_fn f = nvtx_core(END);
    if (f)
        ((void (*)(uint64_t))f)(id);
}

static inline void nvtx_name_thread(uint32_t tid, const char *text)
{
    nvtx_fn f = nvtx_core(NAME_THREAD);
    if (f)
        ((void (*)(uint32_t, const char *))f)(tid, text);
}

static inline void *nvtx_domain(const char *name)
{
    nvtx_fn f = nvtx_core2(D_CREATE);
    return f ? ((void *(*)(const char *))f)(name) : NULL;
}

static inline void *nvtx_domain_wide(const wchar_t *name)
{
    nvtx_fn f = nvtx_core2(D_CREATE_W);
    return f ? ((void *(*)(const wchar_t *))f)(name) : NULL;
}

static inline const void *nvtx_string(void *domain, const char *text)
{
    nvtx_fn f = nvtx_core2(D_STRING);
    return f ? ((const void *(*)(void *, const char *))f)(domain, text) : NULL;
}

static inline int nvtx_domain_push_event(void *domain, const struct nvtx_event *e)
{
    nvtx_fn f = nvtx_core2(D_PUSH);
    return f ? ((int (*)(void *, const struct nvtx_event *))f)(domain, e) : -2;
}

static inline int nvtx_domain_push(void *domain, const char *text)
{
    const struct nvtx_event e = {3, sizeof(struct nvtx_event), 0, 0, 0, 0, 0, 0, 1, text};
    return nvtx_domain_push_event(domain, &e);
}

static inline int nvtx_domain_push_known(void *domain, const void *string)
{
    const struct nvtx_event e = {3, sizeof(struct nvtx_event), 0, 0, 0, 0, 0, 0, 3, string};
    return nvtx_domain_push_event(domain, &e);
}

static inline int nvtx_domain_pop(void *domain)
{
    nvtx_fn f = nvtx_core2(D_POP);
    return f ? ((int (*)(void *))f)(domain) : -2;
}

#endif
