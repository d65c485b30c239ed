// SPDX-License-Identifier: Apache-2.0
// Removes a directory with what is in it. Called on run directories that have been packed. Opens
// each folder by handle from the one above, so that a symbolic link put there meanwhile is removed,
// never followed. Threads: no shared state.
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// One handle is open per level; our own directories are two levels deep.
#define DEPTH_MOST 64

static int remove_entry(int parent, const char *name, int depth, struct err *e);

static int remove_content(int fd, const char *name, int depth, struct err *e)
{
    DIR *dir = fdopendir(fd);
    if (!dir) {
        err_set_errno(e, errno, "%s: cannot be listed", name);
        close(fd);
        return -1;
    }
    int result = 0;
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(dir);
        if (!entry && errno != 0 && result == 0)
            result = err_set_errno(e, errno, "%s: listing it failed", name);
        if (!entry)
            break;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (remove_entry(dirfd(dir), entry->d_name, depth + 1, result == 0 ? e : NULL) != 0)
            result = -1;
    }
    closedir(dir);
    return result;
}

static int remove_entry(int parent, const char *name, int depth, struct err *e)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return 0;
    int unlink_error = errno;
    if (depth > DEPTH_MOST)
        return err_set(e, "%s: lies deeper than %d folders; remove it by hand", name, DEPTH_MOST);
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(e, errno == ENOTDIR || errno == ELOOP ? unlink_error : errno,
            "%s: cannot be removed", name);
    int result = remove_content(fd, name, depth, e);
    if (result == 0 && unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT)
        result = err_set_errno(e, errno, "%s: the emptied folder cannot be removed", name);
    return result;
}

int file_remove_tree(const char *path, struct err *e)
{
    return remove_entry(AT_FDCWD, path, 0, e);
}
