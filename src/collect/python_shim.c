// SPDX-License-Identifier: Apache-2.0
// See python_shim.h. Threads: no shared state.
#include "collect/python_shim.h"

#include <string.h>
#include <unistd.h>

static int has_file(const char *folder, const char *name)
{
    struct buf file = {0};
    buf_printf(&file, "%s/%s", folder, name);
    const int is_there = access(buf_text(&file), R_OK) == 0;
    buf_fini(&file);
    return is_there;
}

int python_shim_path(const char *agent, const char *old, struct buf *out)
{
    struct buf folder = {0};
    const char *slash = strrchr(agent, '/');
    buf_add(&folder, agent, slash ? (size_t)(slash - agent) : 0);
    buf_puts(&folder, "/python");
    const char *path = buf_text(&folder);
    // A colon in the path would end it early.
    const int is_there = slash && !strchr(path, ':') && has_file(path, "sitecustomize.py") &&
                         has_file(path, "_lightmeter.abi3.so");
    if (is_there)
        buf_printf(out, "%s%s%s", path, old && *old ? ":" : "", old ? old : "");
    buf_fini(&folder);
    return is_there;
}
