// SPDX-License-Identifier: Apache-2.0
// Host of the hook set io_uring: reads a file through a ring, and waits for a pipe that another
// thread fills. Prints what it was told; status 77 where the kernel has no rings for it.
#include "waiter.h"

#include <liburing.h>

static int ends[2];
static char room[8192];

static void put(void *unused)
{
    (void)unused;
    syscall(SYS_write, ends[1], "something", 9);
}

static void ask(struct io_uring *ring, int fd, unsigned n)
{
    struct io_uring_sqe *entry = io_uring_get_sqe(ring);
    io_uring_prep_read(entry, fd, room, n, 0);
}

static int take(struct io_uring *ring, struct io_uring_cqe *done)
{
    const int result = done->res;
    io_uring_cqe_seen(ring, done);
    return result;
}

static int use(struct io_uring *ring, int file)
{
    struct io_uring_cqe *done = NULL;
    ask(ring, file, sizeof room);
    TELL("submit_and_wait", io_uring_submit_and_wait(ring, 1));
    TELL("wait_cqe ready", io_uring_wait_cqe(ring, &done));
    printf("%d\n", take(ring, done));
    ask(ring, ends[0], 9);
    TELL("submit", io_uring_submit(ring));
    TELL_WAIT("wait_cqe", io_uring_wait_cqe(ring, &done), put, NULL);
    printf("%d\n", take(ring, done));
    struct __kernel_timespec soon = {.tv_sec = 0, .tv_nsec = 3000000};
    TELL("wait_cqe_timeout", io_uring_wait_cqe_timeout(ring, &done, &soon));
    ask(ring, -1, 9);
    TELL("submit bad", io_uring_submit(ring));
    TELL("wait_cqe bad", io_uring_wait_cqe(ring, &done));
    printf("%d\n", take(ring, done));
    TELL("submit nothing", io_uring_submit(ring));
    return 0;
}

int main(int count, char **arguments)
{
    struct io_uring ring;
    const int file = open(arguments[count - 1], O_RDONLY);
    if (io_uring_queue_init(8, &ring, 0) < 0)
        return 77;
    if (file < 0 || pipe(ends))
        return 1;
    use(&ring, file);
    io_uring_queue_exit(&ring);
    return 0;
}
