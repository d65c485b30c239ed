// SPDX-License-Identifier: Apache-2.0
// Host of the hook set sleep: each way to wait for a descriptor, on a socket, on a pipe and on
// nothing, where there is something already and where the call fails; each way to sleep. Prints
// what it was told.
#include "waiter.h"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>

// Declared here for older headers; looked up, since an older libc has none.
typedef int epoll_pwait2_fn(int poller, struct epoll_event *events, int n,
    const struct timespec *timeout, const sigset_t *mask);
extern epoll_pwait2_fn epoll_pwait2 __attribute__((weak));
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
    size_t room);

static int ends[2], ways[2]; // a pair of sockets, a pipe
static const struct timespec brief = {0, 2000000}, odd = {0, -1};

static void fill(void *fd)
{
    syscall(SYS_write, *(int *)fd, "x", 1);
}

static void empty(int fd)
{
    char away[16];
    syscall(SYS_read, fd, away, sizeof away);
}

static void interrupt(void *thread)
{
    pthread_kill(*(pthread_t *)thread, SIGUSR1);
}

static void ignore(int number)
{
    (void)number;
}

static void poll_each(void)
{
    struct pollfd socket = {ends[0], POLLIN, 0}, pipe = {ways[0], POLLIN, 0};
    TELL_WAIT("poll socket", poll(&socket, 1, -1), fill, &ends[1]);
    TELL_WAIT("poll pipe", poll(&pipe, 1, -1), fill, &ways[1]);
    TELL("poll nothing", poll(NULL, 0, 2));
    empty(ends[0]);
    empty(ways[0]);
    TELL_WAIT("ppoll socket", ppoll(&socket, 1, NULL, NULL), fill, &ends[1]);
    TELL_WAIT("ppoll pipe", ppoll(&pipe, 1, NULL, NULL), fill, &ways[1]);
    TELL("ppoll nothing", ppoll(NULL, 0, &brief, NULL));
    TELL("ppoll odd", ppoll(NULL, 0, &odd, NULL));
    empty(ends[0]);
    empty(ways[0]);
    TELL_WAIT("__poll_chk", __poll_chk(&socket, 1, -1, sizeof socket), fill, &ends[1]);
    empty(ends[0]);
    TELL_WAIT("__ppoll_chk", __ppoll_chk(&socket, 1, NULL, NULL, sizeof socket), fill, &ends[1]);
    empty(ends[0]);
}

static fd_set *only(int fd)
{
    static fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    return &set;
}

static void select_each(void)
{
    pthread_t self = pthread_self();
    struct timeval short_time = {0, 2000};
    TELL_WAIT(
        "select socket", select(ends[0] + 1, only(ends[0]), NULL, NULL, NULL), fill, &ends[1]);
    TELL_WAIT("select pipe", select(ways[0] + 1, only(ways[0]), NULL, NULL, NULL), fill, &ways[1]);
    TELL("select nothing", select(0, NULL, NULL, NULL, &short_time));
    empty(ends[0]);
    empty(ways[0]);
    TELL_WAIT("select interrupted", select(ends[0] + 1, only(ends[0]), NULL, NULL, NULL), interrupt,
        &self);
    TELL_WAIT("pselect socket", pselect(ends[0] + 1, only(ends[0]), NULL, NULL, NULL, NULL), fill,
        &ends[1]);
    TELL_WAIT("pselect pipe", pselect(ways[0] + 1, only(ways[0]), NULL, NULL, NULL, NULL), fill,
        &ways[1]);
    TELL("pselect nothing", pselect(0, NULL, NULL, NULL, &brief, NULL));
    TELL("pselect odd", pselect(0, NULL, NULL, NULL, &odd, NULL));
    empty(ends[0]);
    empty(ways[0]);
}

static void epoll_each(void)
{
    int poller = epoll_create1(0);
    struct epoll_event wanted = {.events = EPOLLIN}, got;
    pthread_t self = pthread_self();
    epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], &wanted);
    TELL_WAIT("epoll_wait", epoll_wait(poller, &got, 1, -1), fill, &ends[1]);
    TELL("epoll_wait ready", epoll_wait(poller, &got, 1, -1));
    TELL("epoll_wait no room", epoll_wait(poller, &got, 0, -1));
    empty(ends[0]);
    TELL_WAIT("epoll_pwait", epoll_pwait(poller, &got, 1, -1, NULL), fill, &ends[1]);
    empty(ends[0]);
    TELL_WAIT("epoll_pwait interrupted", epoll_pwait(poller, &got, 1, -1, NULL), interrupt, &self);
    TELL("epoll_pwait no poller", epoll_pwait(ways[0], &got, 1, -1, NULL));
    errno = 0;
    if (!epoll_pwait2 || (epoll_pwait2(poller, &got, 1, &brief, NULL) < 0 && errno == ENOSYS)) {
        puts("no epoll_pwait2");
        return;
    }
    TELL_WAIT("epoll_pwait2", epoll_pwait2(poller, &got, 1, NULL, NULL), fill, &ends[1]);
    TELL("epoll_pwait2 odd", epoll_pwait2(poller, &got, 1, &odd, NULL));
}

static void sleep_each(void)
{
    TELL("nanosleep", nanosleep(&brief, NULL));
    TELL("nanosleep odd", nanosleep(&odd, NULL));
    TELL("clock_nanosleep", clock_nanosleep(CLOCK_MONOTONIC, 0, &brief, NULL));
    TELL("clock_nanosleep odd", clock_nanosleep(CLOCK_MONOTONIC, 0, &odd, NULL));
    TELL("usleep", usleep(2000));
}

int main(void)
{
    struct sigaction quiet = {.sa_handler = ignore};
    sigaction(SIGUSR1, &quiet, NULL);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || pipe(ways))
        return 1;
    poll_each();
    select_each();
    epoll_each();
    sleep_each();
    return 0;
}
