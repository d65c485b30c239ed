// SPDX-License-Identifier: Apache-2.0
// The registry of hook sets, and how an interposed function finds the one it stands before.
// Threads: no shared state.
#include "agent/hook.h"

#include <dlfcn.h>

#define ROW(name) extern const struct hook_set hook_##name;
#include "agent/hooks/registry.def"
#undef ROW

const struct hook_set *const hook_sets[] = {
#define ROW(name) &hook_##name,
#include "agent/hooks/registry.def"
#undef ROW
    NULL};

void *hook_next(const char *symbol, const char *version)
{
    void *found = version ? dlvsym(RTLD_NEXT, symbol, version) : NULL;
    return found ? found : hook_real_dlsym(RTLD_NEXT, symbol);
}
