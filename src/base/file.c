// SPDX-License-Identifier: Apache-2.0
// Reading files in whole: into a buffer or as a mapping. Called by every command that takes a file.
// Does not follow formats and does not wait: a mapping of anything but a regular file is refused.
// Threads: no shared state.
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES (64u << 10)

static int open_to_read(const char *path, int flags, struct stat *st, struct err *e)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    if (fd < 0 && errno == ENOENT)
        return err_set(e, "%s: there is no such file. Check the name.", path);
    if (fd < 0)
        return err_set_errno(e, errno, "%s: cannot be opened for reading", path);
    if (fstat(fd, st) != 0) {
        err_set_errno(e, errno, "%s: cannot be examined", path);
        close(fd);
        return -1;
    }
    if (S_ISDIR(st->st_mode)) {
        err_set(e, "%s: is a directory, not a file. Name a file in it.", path);
        close(fd);
        return -1;
    }
    return fd;
}

// Appends what `fd` gives up to its end. The content is read rather than sized: /proc says 0.
static int read_all(int fd, const char *path, size_t limit_bytes, struct buf *out, struct err *e)
{
    char *chunk = malloc(READ_BYTES);
    size_t total = 0;
    int result = chunk ? 0 : err_set(e, "%s: out of memory while reading it", path);
    while (result == 0) {
        ssize_t got = read(fd, chunk, READ_BYTES);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            result = err_set_errno(e, errno, "%s: reading failed after %zu bytes", path, total);
        if (got <= 0)
            break;
        total += (size_t)got;
        if (total > limit_bytes)
            result = err_set(
                e, "%s: is larger than the %zu bytes that are accepted here", path, limit_bytes);
        else
            buf_add(out, chunk, (size_t)got);
    }
    free(chunk);
    return result;
}

int file_read(const char *path, size_t limit_bytes, struct buf *out, struct err *e)
{
    struct stat st;
    int fd = open_to_read(path, 0, &st, e);
    if (fd < 0)
        return -1;
    int result = read_all(fd, path, limit_bytes, out, e);
    close(fd);
    return result;
}

int file_map_open(const char *path, struct file_map *map, struct err *e)
{
    *map = (struct file_map){0};
    struct stat st;
    int result = -1;
    int fd = open_to_read(path, O_NONBLOCK | O_NOCTTY, &st, e);
    if (fd < 0)
        return -1;
    if (!S_ISREG(st.st_mode)) {
        err_set(e, "%s: is not a regular file. Copy its content into one and name that.", path);
        goto done;
    }
    if (st.st_size > 0) {
        void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at == MAP_FAILED) {
            err_set_errno(
                e, errno, "%s: its %lld bytes cannot be mapped", path, (long long)st.st_size);
            goto done;
        }
        *map = (struct file_map){.at = at, .length_bytes = (size_t)st.st_size};
    }
    result = 0;
done:
    close(fd);
    return result;
}

void file_map_close(struct file_map *map)
{
    if (map->at)
        munmap((void *)(uintptr_t)map->at, map->length_bytes);
    *map = (struct file_map){0};
}
