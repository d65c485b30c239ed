// SPDX-License-Identifier: Apache-2.0
// Makes, describes, locks and removes a run directory. Called by the launcher at both ends of a run
// and by `recover`. Never follows a link that someone put into it. Threads: one owner.
#include "trace/rundir.h"

#include "trace/names.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define META_LIMIT_BYTES (16u << 20)
#define META_SCHEMA "lightmeter-run/1"
#define DIR_PREFIX "lightmeter-"

static int create_in(const char *parent, struct buf *path)
{
    struct buf name = {0};
    buf_printf(&name, "%s/" DIR_PREFIX "%d-XXXXXX", parent, (int)getpid());
    const int made = mkdtemp(name.at) != NULL;
    if (made)
        buf_puts(path, name.at);
    buf_fini(&name);
    return made ? 0 : -1;
}

int rundir_create(const char *parent, struct buf *path, struct err *e)
{
    const char *places[] = {"/dev/shm", getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/tmp"};
    if (parent) {
        if (create_in(parent, path) == 0)
            return 0;
        return err_set_errno(e, errno,
            "cannot make a directory for the run in %s; name one that can be written", parent);
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (places[i] && places[i][0] == '/' && create_in(places[i], path) == 0)
            return 0;
    return err_set_errno(e, errno,
        "cannot make a directory for the run in /dev/shm, XDG_RUNTIME_DIR, TMPDIR or /tmp; make "
        "one of them writable");
}

int rundir_open(const char *path, struct err *e)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return err_set_errno(e, errno,
            "cannot open the run directory %s; give the one that `lightmeter run` named", path);
    if (fstat(fd, &st) < 0 || st.st_uid != geteuid()) {
        close(fd);
        return err_set(
            e, "the run directory %s belongs to another user: use it as that user", path);
    }
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        const int busy = errno == EWOULDBLOCK;
        if (busy)
            err_set(e,
                "the run directory %s is being packed by another Lightmeter; wait until "
                "it ended",
                path);
        else
            err_set_errno(e, errno,
                "cannot lock the run directory %s; put it on a file system "
                "that has locks",
                path);
        close(fd);
        return -1;
    }
    return fd;
}

int rundir_is_fresh(int dir_fd, const char *path)
{
    const char *slash = strrchr(path, '/');
    const int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    int is_fresh = dir && strncmp(slash ? slash + 1 : path, DIR_PREFIX, strlen(DIR_PREFIX)) == 0;
    const struct dirent *entry;
    while (is_fresh && (entry = readdir(dir)))
        is_fresh = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                   trace_name_parse(entry->d_name).kind == TRACE_NAME_NEW;
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    return is_fresh;
}

void rundir_boot_id(struct buf *out)
{
    struct buf text = {0};
    if (file_read("/proc/sys/kernel/random/boot_id", 4096, &text, NULL) == 0)
        buf_add(out, buf_text(&text), strcspn(buf_text(&text), "\n"));
    buf_fini(&text);
}

void rundir_absolute(const char *path, struct buf *out)
{
    char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);
    if (here)
        buf_printf(out, "%s/", here);
    buf_puts(out, path);
    free(here);
}

// Writes all bytes; 0, or -1 with errno.
static int write_all(int fd, const char *bytes, size_t length_bytes)
{
    while (length_bytes) {
        const ssize_t n = write(fd, bytes, length_bytes);
        if (n < 0 && errno != EINTR)
            return -1;
        if (n > 0) {
            bytes += n;
            length_bytes -= (size_t)n;
        }
    }
    return 0;
}

// A file of the directory, whole or not at all.
static int write_whole(int dir_fd, const char *name, const struct buf *text, struct err *e)
{
    char made[TRACE_NAME_BYTES];
    const struct trace_name part = {.kind = TRACE_NAME_NEW, .number = UINT32_MAX};
    trace_name_format(made, &part);
    const int fd =
        openat(dir_fd, made, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return err_set_errno(e, errno, "cannot make %s in the run directory", name);
    int failed = write_all(fd, buf_text(text), text->length_bytes) < 0 ? errno : 0;
    close(fd);
    if (!failed && renameat(dir_fd, made, dir_fd, name) < 0)
        failed = errno;
    if (!failed)
        return 0;
    unlinkat(dir_fd, made, 0);
    return err_set_errno(
        e, failed, "cannot write %s in the run directory; free some memory or space there", name);
}

int rundir_meta_write(int dir_fd, const struct rundir_meta *m, struct err *e)
{
    struct buf text = {0}, boot_id = {0}, meta_text = {0};
    struct json *all = json_object();
    if (m->boot_id)
        buf_puts(&boot_id, m->boot_id);
    else
        rundir_boot_id(&boot_id);
    json_put_string(all, "schema", META_SCHEMA);
    json_put_string(all, "output", m->output);
    json_put_string(all, "part", m->part);
    json_put_string(all, "boot_id", buf_text(&boot_id));
    json_put_int(all, "launcher_pid", m->launcher_pid);
    json_print(m->meta, 0, &meta_text);
    struct json *copy = json_parse(buf_text(&meta_text), meta_text.length_bytes, "META", NULL);
    json_put(all, "meta", copy ? copy : json_null());
    json_print(all, 2, &text);
    const int result = write_whole(dir_fd, "meta.json", &text, e);
    json_free(&all);
    buf_fini(&text);
    buf_fini(&boot_id);
    buf_fini(&meta_text);
    return result;
}

static int read_whole(int dir_fd, const char *name, struct buf *out)
{
    char piece[65536];
    const int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n;
    while ((n = read(fd, piece, sizeof piece)) > 0 && out->length_bytes < META_LIMIT_BYTES)
        buf_add(out, piece, (size_t)n);
    const int failed = n < 0 ? errno : n > 0 ? EFBIG : 0;
    close(fd);
    errno = failed;
    return failed ? -1 : 0;
}

int rundir_meta_read(int dir_fd, const char *path, struct rundir_meta *m, struct err *e)
{
    struct buf text = {0};
    struct json *all = NULL;
    int result = -1;
    *m = (struct rundir_meta){0};
    if (read_whole(dir_fd, "meta.json", &text) < 0) {
        err_set_errno(e, errno, "cannot read %s/meta.json; give the directory of a run", path);
        goto done;
    }
    all = json_parse(buf_text(&text), text.length_bytes, "meta.json of the run directory", e);
    if (!all)
        goto done;
    const char *schema = json_get_string(all, "schema", "");
    const char *output = json_get_string(all, "output", NULL);
    const char *part = json_get_string(all, "part", NULL);
    if (strcmp(schema, META_SCHEMA) != 0 || !output || !part ||
        !json_is_object(json_get(all, "meta"))) {
        err_set(e,
            "%s/meta.json is not what this Lightmeter writes (schema \"%s\", expected \"%s\" "
            "with \"output\", \"part\" and \"meta\"); use the Lightmeter that recorded the run",
            path, schema, META_SCHEMA);
        goto done;
    }
    struct buf meta_text = {0};
    json_print(json_get(all, "meta"), 0, &meta_text);
    m->meta = json_parse(buf_text(&meta_text), meta_text.length_bytes, "META", NULL);
    buf_fini(&meta_text);
    m->output = strdup(output);
    m->part = strdup(part);
    m->boot_id = strdup(json_get_string(all, "boot_id", ""));
    m->launcher_pid = (uint32_t)json_get_int(all, "launcher_pid", 0);
    result =
        m->output && m->part && m->boot_id
            ? 0
            : err_set(e, "out of memory while reading %s/meta.json; close other programs", path);
done:
    if (result < 0)
        rundir_meta_fini(m);
    json_free(&all);
    buf_fini(&text);
    return result;
}

void rundir_meta_fini(struct rundir_meta *m)
{
    free(m->output);
    free(m->part);
    free(m->boot_id);
    json_free(&m->meta);
    *m = (struct rundir_meta){0};
}

int rundir_done_mark(int dir_fd, struct err *e)
{
    const struct buf nothing = {0};
    return write_whole(dir_fd, "done", &nothing, e);
}

int rundir_done_is_marked(int dir_fd)
{
    struct stat st;
    return fstatat(dir_fd, "done", &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

int rundir_is_being_removed(int dir_fd)
{
    struct stat st;
    return rundir_done_is_marked(dir_fd) && fstatat(dir_fd, "meta.json", &st, 0) < 0 &&
           errno == ENOENT;
}

// Removes our entries but `meta.json` and `done`, which go last, in this order: a removal that is
// cut short can then be finished.
static unsigned entries_remove(int dir_fd, int *failed)
{
    unsigned left = 0;
    const int again = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = again < 0 ? NULL : fdopendir(again);
    if (!dir) {
        *failed = errno;
        if (again >= 0)
            close(again);
        return 0;
    }
    const struct dirent *entry;
    while ((entry = readdir(dir))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        const enum trace_name_kind kind = trace_name_parse(entry->d_name).kind;
        if (kind == TRACE_NAME_FOREIGN)
            left++;
        else if (kind != TRACE_NAME_DONE && kind != TRACE_NAME_META &&
                 unlinkat(dir_fd, entry->d_name, 0) < 0 && errno != ENOENT)
            left++;
    }
    closedir(dir);
    return left;
}

int rundir_remove(int dir_fd, const char *path, unsigned *left, struct err *e)
{
    int failed = 0;
    const unsigned kept = entries_remove(dir_fd, &failed);
    if (left)
        *left = kept;
    if (!failed && kept)
        return 0;
    static const char *const last[] = {"meta.json", "done"};
    for (int i = 0; !failed && i < 2; i++)
        if (unlinkat(dir_fd, last[i], 0) < 0 && errno != ENOENT)
            failed = errno;
    if (!failed && rmdir(path) < 0 && errno != ENOENT && errno != ENOTEMPTY)
        failed = errno;
    if (!failed)
        return 0;
    return err_set_errno(e, failed, "cannot remove the run directory %s; remove it yourself", path);
}
