// SPDX-License-Identifier: Apache-2.0
// Host of the hook sets file_io, stdio and paths: each call on a file, and some on pipes, sockets,
// events and timers; odd arguments too. Prints what each was told. usage: hooks_file_io FOLDER
#include "waiter.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/uio.h>

#define WHOLE_BYTES 200000
static char room[WHOLE_BYTES], data[WHOLE_BYTES];
static const char *path, *other;
static int file, out, ends[2], pair[2];

ssize_t __read_chk(int fd, void *to, size_t n, size_t bytes);
ssize_t __pread_chk(int fd, void *to, size_t n, off_t at, size_t bytes);
ssize_t __pread64_chk(int fd, void *to, size_t n, off64_t at, size_t bytes);

// The compiler knows of some that they take no such argument.
static void *volatile nothing;
static const volatile size_t huge = SIZE_MAX;
static const volatile int minus = -1;

#define SAY(call)                                                                                  \
    do {                                                                                           \
        errno = 0;                                                                                 \
        const long long told = (long long)(call);                                                  \
        printf("%s: %lld, %s\n", #call, told, strerror(errno));                                    \
    } while (0)

static void read_file(void)
{
    struct iovec parts[2] = {{room, 10}, {room + 10, 20}};
    SAY(read(file, room, 1000));
    SAY(read(file, room, 0));
    SAY(__read_chk(file, room, 500, sizeof room));
    SAY(pread(file, room, sizeof room, 70000)); // the rest: 130000
    SAY(pread64(file, room, 100, 5));
    SAY(__pread_chk(file, room, 90, 5, sizeof room));
    SAY(__pread64_chk(file, room, 80, 5, sizeof room));
    SAY(readv(file, parts, 2));
    SAY(preadv(file, parts, 2, 7));
    SAY(preadv64(file, parts, 2, 7));
    SAY(preadv2(file, parts, 2, 7, 0));
    SAY(preadv2(file, parts, 2, minus, 0));
    SAY(preadv64v2(file, parts, 1, 7, 0));
    SAY(lseek(file, 3000, SEEK_SET));
    SAY(read(file, room, 150000));
    SAY(read(file, room, sizeof room)); // what is left: 47000
    SAY(read(file, room, sizeof room)); // the end
    SAY(memcmp(room, data + 153000, 47000));

    SAY(read(minus, room, 10));
    SAY(read(100000, room, 10));
    SAY(pread(file, nothing, 10, 0));
    SAY(pread(file, room, 10, 5L * minus));
    SAY(pread(file, room, huge, 199990));
    SAY(readv(file, nothing, 2));
    SAY(readv(file, parts, minus));
    SAY(preadv2(file, parts, 2, 7, minus));
}

static void write_file(void)
{
    struct iovec parts[2] = {{data, 10}, {data + 10, 20}};
    off_t at = 50;
    SAY(write(out, data, 100000));
    SAY(pwrite(out, data, 40, 5));
    SAY(pwrite64(out, data, 50, 5));
    SAY(writev(out, parts, 2));
    SAY(pwritev(out, parts, 2, 9));
    SAY(pwritev64(out, parts, 2, 9));
    SAY(pwritev2(out, parts, 2, 9, 0));
    SAY(pwritev64v2(out, parts, 1, 9, 0));
    SAY(sendfile(out, file, &at, 300));
    SAY(sendfile64(out, file, &at, 400));
    SAY(at);
    SAY(lseek(file, 0, SEEK_SET));
    SAY(copy_file_range(file, NULL, out, NULL, 600, 0));
    SAY(fsync(out));
    SAY(fdatasync(out));
    SAY(sync_file_range(out, 0, 0, SYNC_FILE_RANGE_WRITE));
    SAY(ftruncate(out, 1000));
    SAY(ftruncate64(out, 2000));
    SAY(posix_fallocate(out, 0, 3000));
    SAY(posix_fallocate64(out, 0, 3500));
    SAY(fallocate(out, 0, 0, 4000) == 0 || errno == EOPNOTSUPP);
    SAY(fallocate64(out, 0, 0, 5000) == 0 || errno == EOPNOTSUPP);
    SAY(posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL));
    SAY(posix_fadvise(file, 0, 0, POSIX_FADV_WILLNEED));
    SAY(posix_fadvise64(file, 0, 0, POSIX_FADV_WILLNEED));
    SAY(posix_fadvise(-1, 0, 0, POSIX_FADV_WILLNEED));
    SAY(readahead(file, 0, 4096));
    SAY(write(file, data, 10)); // opened for reading
    SAY(write(out, nothing, 10));
    SAY(fsync(-1));
    SAY(posix_fallocate(-1, 0, 1));
}

static void put_pipe(void *unused)
{
    (void)unused;
    syscall(SYS_write, ends[1], data, 11);
}

static void put_event(void *fd)
{
    const uint64_t one = 1;
    syscall(SYS_write, *(int *)fd, &one, sizeof one);
}

static void interrupt(void *thread)
{
    pthread_kill(*(pthread_t *)thread, SIGUSR1);
}

static void ignore(int number)
{
    (void)number;
}

static void other_kinds(void)
{
    pthread_t self = pthread_self();
    uint64_t count = 3;
    int event = eventfd(0, 0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
    const struct itimerspec soon = {.it_value = {0, 2000000}};
    TELL_WAIT("pipe", read(ends[0], room, 100), put_pipe, NULL);
    TELL_WAIT("pipe interrupted", read(ends[0], room, 100), interrupt, &self);
    SAY(write(ends[1], data, 13));
    SAY(tee(ends[0], ends[1], 13, SPLICE_F_NONBLOCK) < 0);
    SAY(read(ends[0], room, 13));
    SAY(write(pair[0], data, 17));
    SAY(read(pair[1], room, 100));
    SAY(write(event, &count, sizeof count));
    SAY(read(event, &count, sizeof count));
    SAY(count);
    TELL_WAIT("event", read(event, &count, sizeof count), put_event, &event);
    SAY(timerfd_settime(timer, 0, &soon, NULL));
    SAY(read(timer, &count, sizeof count));
    SAY(lseek(file, 0, SEEK_SET));
    SAY(splice(file, NULL, ends[1], NULL, 4000, 0));
    SAY(splice(ends[0], NULL, pair[0], NULL, 4000, 0));
    SAY(splice(file, NULL, out, NULL, 4000, 0)); // neither is a pipe

    // The number of a pipe becomes that of a file, and of a file that of a pipe.
    SAY(close(ends[1]));
    SAY(read(ends[0], room, 10));
    SAY(dup2(file, ends[0]) == ends[0]);
    SAY(read(ends[0], room, 10));
    SAY(close(ends[0]));
    SAY(read(ends[0], room, 10));
    SAY(close_range(900, 1000, 0));
    close(event);
    close(timer);
}

static void paths(void)
{
    char name[4096];
    struct stat status;
    snprintf(name, sizeof name, "%s.new", other);
    SAY(open("/nowhere", O_RDONLY));
    SAY(open(nothing, O_RDONLY));
    SAY(openat(AT_FDCWD, "/nowhere/x", O_WRONLY | O_CREAT, 0600));
    SAY(close(creat(name, 0640)));
    SAY(stat(name, &status));
    SAY(status.st_mode & 0777);
    SAY(lstat("/nowhere", &status));
    SAY(fstatat(AT_FDCWD, name, &status, 0));
    SAY(stat(name, nothing));
    SAY(access(name, R_OK));
    SAY(truncate(name, 10));
    SAY(unlink(name));
    SAY(unlink(name));
    SAY(mkdir(name, 0700));
    SAY(rename(name, other) < 0);
    DIR *dir = opendir(name);
    int found = 0;
    for (errno = 0; readdir(dir);)
        found++;
    SAY(found);
    closedir(dir);
    struct dirent **list = NULL;
    SAY(scandir(name, &list, NULL, alphasort));
    while (found-- > 0)
        free(list[found]);
    free(list);
    SAY(rmdir(name));
    SAY(opendir(name) == NULL);
}

// So much that it takes its time even where it is in memory.
static void read_much(void)
{
    static char large[4 << 20];
    SAY(truncate(path, 8 << 20));
    SAY(pread64(file, large, sizeof large, 3 << 20));
    SAY(lseek(file, 1 << 20, SEEK_SET));
    SAY(read(file, large, sizeof large));
}

int main(int count, char **arguments)
{
    char names[2][4096];
    struct sigaction quiet = {.sa_handler = ignore};
    sigaction(SIGUSR1, &quiet, NULL);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7);
    for (int i = 0; count > 1 && i < 2; i++)
        snprintf(names[i], sizeof names[i], "%s/%d", arguments[1], i);
    path = names[0];
    other = names[1];
    long made = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (syscall(SYS_write, made, data, sizeof data) != sizeof data || pipe(ends) ||
        socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        return 1;
    file = open(path, O_RDONLY);
    out = open(other, O_RDWR | O_CREAT | O_TRUNC, 0600);
    read_file();
    write_file();
    other_kinds();
    paths();
    read_much();
    return 0;
}
