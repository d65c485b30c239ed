// SPDX-License-Identifier: Apache-2.0
// See procs_image.h. The kernel grants a lease for reading only on a file that nobody can write to,
// by a descriptor or a mapping, in any pid namespace: it is asked for one, and given it back at
// once. Threads: no state.
#include "collect/procs_image.h"

#include "trace/format.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#define EXIT_SEEN_EXIT 1u // values of trace_process.exit_seen
#define EXIT_SEEN_UNDERSCORE 2u

static int says_exit(int fd)
{
    struct trace_process head;
    return pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head &&
           head.magic == TRACE_PROCESS_MAGIC && head.end_ticks != 0 &&
           (head.exit_seen == EXIT_SEEN_EXIT || head.exit_seen == EXIT_SEEN_UNDERSCORE);
}

static enum procs_image lease_try(int fd)
{
    // Who opened the file for writing meanwhile would make the kernel send a signal: one that the
    // launcher does not pass on.
    if (fcntl(fd, F_SETSIG, SIGCHLD) < 0)
        return PROCS_IMAGE_UNKNOWN;
    if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
        return errno == EAGAIN || errno == EBUSY ? PROCS_IMAGE_LIVES : PROCS_IMAGE_UNKNOWN;
    (void)fcntl(fd, F_SETLEASE, F_UNLCK);
    return PROCS_IMAGE_OVER;
}

enum procs_image procs_image_look(int run_dir_fd, const char *file_name)
{
    const int fd =
        openat(run_dir_fd, file_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return PROCS_IMAGE_UNKNOWN; // it was removed
    const enum procs_image image = says_exit(fd) ? PROCS_IMAGE_OVER : lease_try(fd);
    close(fd);
    return image;
}
