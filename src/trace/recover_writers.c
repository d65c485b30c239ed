// SPDX-License-Identifier: Apache-2.0
// Looks for the processes of a run in /proc: by what they have mapped, and by their environment,
// for a program that was just started has nothing mapped yet. Called by `recover` before it takes
// anything. What this user cannot read is not a process of the run. Threads: no shared state.
#include "trace/recover_writers.h"

#include "trace/names.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAPS_LIMIT_BYTES (256u << 20)
#define ENVIRON_LIMIT_BYTES (16u << 20)
#define VARIABLE "LIGHTMETER_RUN_DIR="

// Whether `pid` runs and has a file of the directory mapped.
static int is_writing(const char *dir, uint32_t pid)
{
    struct buf path = {0}, maps = {0};
    const char *name = strrchr(dir, '/');
    int found = 0;
    if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
        return 0;
    buf_printf(&path, "/proc/%" PRIu32 "/maps", pid);
    if (file_read(buf_text(&path), MAPS_LIMIT_BYTES, &maps, NULL) == 0) {
        path.length_bytes = 0;
        buf_printf(&path, "%s/", name && name[1] ? name : dir);
        found = strstr(buf_text(&maps), buf_text(&path)) != NULL;
    }
    buf_fini(&path);
    buf_fini(&maps);
    return found;
}

// Whether the process was given the directory to write to.
static int is_given(const char *dir, uint32_t pid)
{
    struct buf path = {0}, environment = {0};
    const char *name = strrchr(dir, '/');
    const size_t name_bytes = name ? strlen(name) : 0;
    int found = 0;
    buf_printf(&path, "/proc/%" PRIu32 "/environ", pid);
    if (name_bytes > 1 &&
        file_read(buf_text(&path), ENVIRON_LIMIT_BYTES, &environment, NULL) == 0 &&
        environment.length_bytes) {
        const char *at = buf_text(&environment), *end = at + environment.length_bytes;
        for (; at < end && !found; at += strlen(at) + 1) {
            const size_t length_bytes = strlen(at);
            found = strncmp(at, VARIABLE, strlen(VARIABLE)) == 0 && length_bytes >= name_bytes &&
                    strcmp(at + length_bytes - name_bytes, name) == 0;
        }
    }
    buf_fini(&path);
    buf_fini(&environment);
    return found;
}

static DIR *dir_read(int dir_fd, const char *path)
{
    const int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir && fd >= 0)
        close(fd);
    return dir;
}

static unsigned writing_note(int dir_fd, const char *path, struct buf *notes)
{
    DIR *dir = dir_read(dir_fd, ".");
    const struct dirent *entry;
    unsigned count = 0;
    while (dir && (entry = readdir(dir))) {
        const struct trace_name name = trace_name_parse(entry->d_name);
        if (name.kind != TRACE_NAME_PROCESS || !is_writing(path, name.pid))
            continue;
        count++;
        buf_printf(notes,
            "Process %" PRIu32 " still writes to %s, so the directory was kept: recover it again "
            "when the process has ended.\n",
            name.pid, path);
    }
    if (dir)
        closedir(dir);
    return count;
}

static unsigned given_note(const char *path, struct buf *notes)
{
    DIR *dir = dir_read(AT_FDCWD, "/proc");
    const struct dirent *entry;
    unsigned count = 0;
    while (dir && (entry = readdir(dir))) {
        const unsigned long pid = strtoul(entry->d_name, NULL, 10);
        if (!pid || (pid_t)pid == getpid() || !is_given(path, (uint32_t)pid))
            continue;
        count++;
        buf_printf(notes,
            "Process %lu was started to write to %s, so the directory was kept: recover it again "
            "when the process has ended.\n",
            pid, path);
    }
    if (dir)
        closedir(dir);
    return count;
}

unsigned recover_writers_note(int dir_fd, const char *dir, struct buf *notes)
{
    const unsigned writing = writing_note(dir_fd, dir, notes);
    return writing ? writing : given_note(dir, notes);
}
