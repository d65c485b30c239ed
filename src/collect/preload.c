// SPDX-License-Identifier: Apache-2.0
// Finds the folder of links that the build makes (see the top meson.build) and asks the loader of
// this process whether it would find the library through it, see preload.h. Loads nothing and runs
// none of the library's code. Called once per launch. Threads: no shared state.
#include "collect/preload.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// `agent`'s folder with its last slash, and the folder of links in it.
static void add_folder(const char *agent, struct buf *out)
{
    const char *slash = strrchr(agent, '/');
    if (slash)
        buf_add(out, agent, (size_t)(slash + 1 - agent));
    buf_puts(out, "preload");
}

static int is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
}

// Whether our own loader, which is that of most targets, expands `name` to a file it could load.
// It opens the file and checks its header; not loaded before, it is told by NULL without an error.
static int can_load(const char *name)
{
    dlerror();
    void *handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    int is_fine = handle || !dlerror();
    if (handle)
        dlclose(handle);
    return is_fine;
}

int preload_name(const char *agent, struct buf *out)
{
    struct buf link = {0}, name = {0};
    add_folder(agent, &link);
    buf_printf(&name, "%s/$LIB/" PRELOAD_FILE, buf_text(&link));
    // The link at the top stands for all of them: they are made together.
    buf_puts(&link, "/" PRELOAD_FILE);
    int is_token = is_same_file(agent, buf_text(&link)) && can_load(buf_text(&name));
    buf_puts(out, is_token ? buf_text(&name) : agent);
    buf_fini(&link);
    buf_fini(&name);
    return is_token;
}

int preload_blank_find(const char *agent, struct buf *out)
{
    struct buf path = {0};
    add_folder(agent, &path);
    buf_puts(&path, "/lib32/" PRELOAD_FILE);
    int is_there = access(buf_text(&path), R_OK) == 0;
    if (is_there)
        buf_puts(out, buf_text(&path));
    buf_fini(&path);
    return is_there;
}
