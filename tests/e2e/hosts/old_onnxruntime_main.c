// SPDX-License-Identifier: Apache-2.0
// Test host: calls the library of old_onnxruntime.c, linked.
#include <stdint.h>
#include <stdio.h>

struct base {
    void **(*get_api)(uint32_t version);
    const char *(*version_text)(void);
};

const struct base *OrtGetApiBase(void);
int is_whole(void);
int stands_outside(void *session);

__attribute__((visibility("default"))) int stands_outside(void *session)
{
    return session != NULL;
}

int main(void)
{
    void **api = OrtGetApiBase()->get_api(10);
    void *session = NULL;
    ((void *(*)(void *, const char *, void *, void **))api[7])(api, "model", NULL, &session);
    ((void *(*)(void *, const void *, const void *))api[133])(session, NULL, api);
    printf("Run is %s\n", api[9] == (void *)stands_outside ? "as it was" : "changed");
    printf("behind the table: %s\n", is_whole() ? "as it was" : "changed");
    return 0;
}
