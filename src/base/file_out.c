// SPDX-License-Identifier: Apache-2.0
// Output files that appear whole or not at all: written beside, synced, renamed. Called by every
// command that leaves a file. What is no regular file (a terminal, /dev/null, a pipe) is written in
// place. Once a write has failed, the file is never committed. Threads: one owner per file.
#include "base/file.h"
#include "base/heap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GATHER_BYTES (64u << 10)

struct file_out {
    char *path;      // where it appears, symbolic links resolved
    char *temporary; // where it is written; NULL when it is written in place
    int fd, owns_fd, failed;
    size_t gathered_bytes;
    char gathered[GATHER_BYTES];
};

static void destroy(struct file_out **f)
{
    if ((*f)->owns_fd && (*f)->fd >= 0)
        close((*f)->fd);
    free((*f)->path);
    free((*f)->temporary);
    free(*f);
    *f = NULL;
}

// A file of this name can only be left from a dead process of our number: it makes room.
static int open_temporary(struct file_out *f, mode_t mode)
{
    size_t room = strlen(f->path) + 32;
    f->temporary = heap_alloc(room, 1);
    snprintf(f->temporary, room, "%s.tmp-%ld", f->path, (long)getpid());
    int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
    f->fd = open(f->temporary, flags, mode);
    if (f->fd < 0 && errno == EEXIST && unlink(f->temporary) == 0)
        f->fd = open(f->temporary, flags, mode);
    return f->fd < 0 ? -1 : 0;
}

static int open_place(struct file_out *f, const char *path)
{
    struct stat st;
    int is_there = stat(path, &st) == 0;
    if (is_there && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return -1;
    }
    if (is_there && !S_ISREG(st.st_mode)) {
        f->path = heap_alloc(strlen(path) + 1, 1);
        strcpy(f->path, path);
        f->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return f->fd < 0 ? -1 : 0;
    }
    if (is_there && access(path, W_OK) != 0)
        return -1;
    f->path = is_there ? realpath(path, NULL) : NULL;
    if (!f->path) {
        f->path = heap_alloc(strlen(path) + 1, 1);
        strcpy(f->path, path);
    }
    if (open_temporary(f, 0666) != 0) {
        free(f->temporary);
        f->temporary = NULL;
        return -1;
    }
    if (is_there && fchmod(f->fd, st.st_mode & 07777) != 0)
        f->failed = 0; // the content matters more than the mode; a file system may refuse it
    return 0;
}

struct file_out *file_out_open(const char *path, struct err *e)
{
    struct file_out *f = heap_alloc(1, sizeof *f);
    f->owns_fd = 1;
    if (strcmp(path, "-") == 0) {
        f->fd = STDOUT_FILENO;
        f->owns_fd = 0;
        f->path = heap_alloc(sizeof "standard output", 1);
        strcpy(f->path, "standard output");
        return f;
    }
    f->fd = -1;
    if (path[0] == 0) {
        err_set(e, "the name of the output file is empty. Name one.");
    } else if (open_place(f, path) == 0) {
        return f;
    } else {
        err_set_errno(e, errno, "%s: cannot be created (name another place for it)", path);
    }
    destroy(&f);
    return NULL;
}

static int write_all(struct file_out *f, const char *bytes, size_t length_bytes, struct err *e)
{
    while (length_bytes) {
        ssize_t wrote = write(f->fd, bytes, length_bytes);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            f->failed = 1;
            return err_set_errno(e, wrote < 0 ? errno : EIO,
                "%s: writing failed (free some room, or name another place for it)", f->path);
        }
        bytes += wrote;
        length_bytes -= (size_t)wrote;
    }
    return 0;
}

static int flush(struct file_out *f, struct err *e)
{
    size_t length_bytes = f->gathered_bytes;
    f->gathered_bytes = 0;
    return write_all(f, f->gathered, length_bytes, e);
}

int file_out_write(struct file_out *f, const void *bytes, size_t length_bytes, struct err *e)
{
    if (f->failed)
        return err_set(e, "%s: an earlier write failed, so it is not written further", f->path);
    if (length_bytes > GATHER_BYTES - f->gathered_bytes && flush(f, e) != 0)
        return -1;
    if (length_bytes >= GATHER_BYTES)
        return write_all(f, bytes, length_bytes, e);
    if (length_bytes)
        memcpy(f->gathered + f->gathered_bytes, bytes, length_bytes);
    f->gathered_bytes += length_bytes;
    return 0;
}

static int sync_content(struct file_out *f, struct err *e)
{
    if (fsync(f->fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP)
        return 0; // a pipe or terminal has nothing to sync
    return err_set_errno(e, errno, "%s: cannot be brought to the disk", f->path);
}

// So that the new name survives a crash too. Some file systems cannot; then there is no more to do.
static void sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(folder);
}

int file_out_commit(struct file_out **file, struct err *e)
{
    struct file_out *f = *file;
    int result = f->failed ? err_set(e, "%s: not written, as an earlier write failed", f->path)
                           : flush(f, e);
    if (result == 0)
        result = sync_content(f, e);
    if (f->owns_fd && close(f->fd) != 0 && result == 0)
        result = err_set_errno(e, errno, "%s: closing it failed", f->path);
    f->fd = -1;
    if (f->temporary && result == 0) {
        if (rename(f->temporary, f->path) == 0)
            sync_folder(f->path);
        else
            result = err_set_errno(e, errno, "%s: cannot be given its name", f->path);
    }
    if (f->temporary && result != 0)
        unlink(f->temporary);
    destroy(file);
    return result;
}

void file_out_abort(struct file_out **f)
{
    if (!f || !*f)
        return;
    if ((*f)->temporary)
        unlink((*f)->temporary);
    destroy(f);
}

int file_write(const char *path, const void *bytes, size_t length_bytes, struct err *e)
{
    struct file_out *f = file_out_open(path, e);
    if (!f)
        return -1;
    if (file_out_write(f, bytes, length_bytes, e) != 0) {
        file_out_abort(&f);
        return -1;
    }
    return file_out_commit(&f, e);
}
