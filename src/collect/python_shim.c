// SPDX-License-Identifier: Apache-2.0
// See python_shim.h. Threads: no shared state.
#include "collect/python_shim.h"

#include <string.h>
#include <unistd.h>

int python_shim_path(const char *agent, const char *old, struct buf *out)
{
    struct buf file = {0};
    const char *slash = strrchr(agent, '/');
    buf_add(&file, agent, slash ? (size_t)(slash - agent) : 0);
    buf_puts(&file, "/python");
    const size_t folder_bytes = file.length_bytes;
    buf_puts(&file, "/sitecustomize.py");
    // A colon in the path would end it early.
    const int is_there =
        slash && access(buf_text(&file), R_OK) == 0 && !strchr(buf_text(&file), ':');
    if (is_there) {
        buf_add(out, buf_text(&file), folder_bytes);
        buf_printf(out, "%s%s", old && *old ? ":" : "", old ? old : "");
    }
    buf_fini(&file);
    return is_there;
}
