// SPDX-License-Identifier: Apache-2.0
// Tries to make a file beside the place and removes it again, as the later write would make it. See
// output.h. Threads: none.
#include "cli/output.h"

#include "base/buf.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// It is there, and not a file that could be replaced.
static int is_special(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

int output_try(const char *option, const char *path, struct err *e)
{
    struct err why = {0};
    if (!*path)
        return err_set(e, "%s needs the name of a file", option);
    if (strcmp(path, "-") == 0)
        return 0;
    if (is_special(path)) { // opening it could wait for a reader, or end what a reader waits for
        if (access(path, W_OK) == 0)
            return 0;
        return err_set_errno(
            e, errno, "%s %s: cannot be written (name another place for it)", option, path);
    }
    struct file_out *trial = file_out_open(path, &why);
    if (!trial)
        return err_set(e, "%s %s", option, err_text(&why));
    file_out_abort(&trial);
    return 0;
}

// Whether a file can be made in the folder of `path`: one without a name, which nobody who kills us
// can leave behind; where the file system has none of that kind, one that is removed again. An
// errno.
static int file_try(const char *path)
{
    struct buf trial = {0};
    const char *slash = strrchr(path, '/');
    if (slash)
        buf_add(&trial, path, (size_t)(slash + 1 - path));
    else
        buf_puts(&trial, ".");
    int fd = open(buf_text(&trial), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    int errnum = fd < 0 ? errno : 0;
    if (errnum == EOPNOTSUPP || errnum == EISDIR || errnum == EINVAL) {
        trial.length_bytes = 0;
        buf_printf(&trial, "%s.part-%d", path, (int)getpid());
        fd = open(buf_text(&trial), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        errnum = fd < 0 && errno != EEXIST ? errno : 0;
        if (fd >= 0)
            unlink(buf_text(&trial));
    }
    if (fd >= 0)
        close(fd);
    buf_fini(&trial);
    return errnum;
}

int output_try_trace(const char *path, struct err *e)
{
    if (!*path)
        return err_set(e, "-o needs the name of a file");
    if (strcmp(path, "-") == 0)
        return err_set(e,
            "a trace cannot go to standard output; name a file with -o (./- for one of that name)");
    if (is_special(path))
        return err_set(
            e, "cannot write the trace to %s: it is there and no file; name another with -o", path);
    const int errnum = file_try(path);
    return errnum ? err_set_errno(e, errnum,
                        "cannot make the trace %s; name a folder that exists and can be written "
                        "with -o",
                        path)
                  : 0;
}

// The folder that `path` lies in, links resolved: 0, or -1 when there is none.
static int find_folder(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    struct buf folder = {0};
    if (slash)
        buf_add(&folder, path, (size_t)(slash + 1 - path));
    const char *found = realpath(slash ? buf_text(&folder) : ".", out);
    buf_fini(&folder);
    return found ? 0 : -1;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int output_is_same(const char *a, const char *b)
{
    struct stat at_a, at_b;
    char folder_a[PATH_MAX], folder_b[PATH_MAX];
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return 0;
    int has_a = stat(a, &at_a) == 0, has_b = stat(b, &at_b) == 0;
    if (has_a && has_b)
        return S_ISREG(at_a.st_mode) && at_a.st_dev == at_b.st_dev && at_a.st_ino == at_b.st_ino;
    return !has_a && !has_b && strcmp(name_of(a), name_of(b)) == 0 &&
           find_folder(a, folder_a) == 0 && find_folder(b, folder_b) == 0 &&
           strcmp(folder_a, folder_b) == 0;
}
