// SPDX-License-Identifier: Apache-2.0
// Test library: an ONNX Runtime of version 1.10, whose table ends before RunAsync; and Run is
// somebody else's function (the program's), which must stay.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct base {
    void **(*get_api)(uint32_t version);
    const char *(*version_text)(void);
};

int stands_outside(void *session);
const struct base *OrtGetApiBase(void);

static void *create_session(void *env, const char *path, void *options, void **session)
{
    printf("create %d %s %d\n", env != NULL, path, options != NULL);
    *session = env;
    return NULL;
}

static void *run_with_binding(void *session, const void *options, const void *binding)
{
    printf("run %d %d %d\n", session != NULL, options != NULL, binding != NULL);
    return NULL;
}

static void *something_else(void)
{
    return NULL;
}

// Behind the table something else, where later versions have RunAsync.
static void *table[400] = {
    [7] = (void *)create_session,
    [9] = (void *)stands_outside,
    [133] = (void *)run_with_binding,
    [260] = (void *)something_else,
};

int is_whole(void);
__attribute__((visibility("default"))) int is_whole(void)
{
    return table[260] == (void *)something_else;
}

static void **get_api(uint32_t version)
{
    if (version > 10)
        printf("version %u was asked for\n", version);
    return version > 10 ? NULL : table;
}

static const char *version_text(void)
{
    return "1.10.0";
}

__attribute__((visibility("default"))) const struct base *OrtGetApiBase(void)
{
    static const struct base base = {get_api, version_text};
    return &base;
}
