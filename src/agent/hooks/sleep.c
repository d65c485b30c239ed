// SPDX-License-Identifier: Apache-2.0
// Hook set sleep: calls that wait for time to pass or for something to happen: a descriptor that
// becomes ready, a signal, a lock on a file. They are not work: within a stage the wait is charged
// to that stage under its cause; outside it is the stage `wait`. Threads: any.
#include "agent/hook.h"

#include <aio.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int is_off;

#define WAIT_CALL(ret, call, cause, params, args)                                                  \
    HOOK_NEXT(ret, call, NULL, PARAMS(params))                                                     \
    static struct hook_name call##_names[1] = {{#call, "wait", cause, AGENT_FOLD_SHORT, 0}};       \
    HOOK_EXPORT ret call(params)                                                                   \
    {                                                                                              \
        HOOK_WAIT_UNLESS(is_off, span, &call##_names[0]);                                          \
        return call##_next()(args);                                                                \
    }

WAIT_CALL(int, nanosleep, TRACE_CAUSE_SLEEP,
    PARAMS(const struct timespec *wanted, struct timespec *rest), ARGS(wanted, rest))
WAIT_CALL(int, clock_nanosleep, TRACE_CAUSE_SLEEP,
    PARAMS(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *rest),
    ARGS(clock, flags, wanted, rest))
WAIT_CALL(int, usleep, TRACE_CAUSE_SLEEP, PARAMS(useconds_t wanted_us), ARGS(wanted_us))
WAIT_CALL(unsigned, sleep, TRACE_CAUSE_SLEEP, PARAMS(unsigned wanted_s), ARGS(wanted_s))
WAIT_CALL(int, epoll_wait, TRACE_CAUSE_NET,
    PARAMS(int poller, struct epoll_event *events, int n, int timeout_ms),
    ARGS(poller, events, n, timeout_ms))
WAIT_CALL(int, epoll_pwait, TRACE_CAUSE_NET,
    PARAMS(int poller, struct epoll_event *events, int n, int timeout_ms, const sigset_t *mask),
    ARGS(poller, events, n, timeout_ms, mask))

// Since glibc 2.35. A program that looks for it finds ours, and hears from it where libc has none
// what it hears from a kernel without it.
int epoll_pwait2(int poller, struct epoll_event *events, int n, const struct timespec *timeout,
    const sigset_t *mask);
HOOK_NEXT(int, epoll_pwait2, NULL,
    PARAMS(int poller, struct epoll_event *events, int n, const struct timespec *timeout,
        const sigset_t *mask))
static struct hook_name epoll_pwait2_names[1] = {
    {"epoll_pwait2", "wait", TRACE_CAUSE_NET, AGENT_FOLD_SHORT, 0}};
HOOK_EXPORT int epoll_pwait2(int poller, struct epoll_event *events, int n,
    const struct timespec *timeout, const sigset_t *mask)
{
    epoll_pwait2_next_fn *next = epoll_pwait2_next();
    if (!next) {
        errno = ENOSYS;
        return -1;
    }
    HOOK_WAIT_UNLESS(is_off, span, &epoll_pwait2_names[0]);
    return next(poller, events, n, timeout, mask);
}

// Waiting for a signal, for a lock on a file, for reads handed in (POSIX's), for a message.
WAIT_CALL(int, pause, TRACE_CAUSE_OTHER, PARAMS(void), ARGS())
WAIT_CALL(int, sigsuspend, TRACE_CAUSE_OTHER, PARAMS(const sigset_t *mask), ARGS(mask))
WAIT_CALL(int, sigwait, TRACE_CAUSE_OTHER, PARAMS(const sigset_t *restrict set, int *restrict got),
    ARGS(set, got))
WAIT_CALL(int, sigwaitinfo, TRACE_CAUSE_OTHER,
    PARAMS(const sigset_t *restrict set, siginfo_t *restrict got), ARGS(set, got))
WAIT_CALL(int, sigtimedwait, TRACE_CAUSE_OTHER,
    PARAMS(const sigset_t *restrict set, siginfo_t *restrict got,
        const struct timespec *restrict timeout),
    ARGS(set, got, timeout))
WAIT_CALL(int, flock, TRACE_CAUSE_LOCK, PARAMS(int fd, int operation), ARGS(fd, operation))
WAIT_CALL(
    int, lockf, TRACE_CAUSE_LOCK, PARAMS(int fd, int operation, off_t n), ARGS(fd, operation, n))
WAIT_CALL(int, lockf64, TRACE_CAUSE_LOCK, PARAMS(int fd, int operation, off64_t n),
    ARGS(fd, operation, n))
WAIT_CALL(int, aio_suspend, TRACE_CAUSE_IO,
    PARAMS(const struct aiocb *const list[], int n, const struct timespec *restrict timeout),
    ARGS(list, n, timeout))
WAIT_CALL(ssize_t, msgrcv, TRACE_CAUSE_OTHER,
    PARAMS(int queue, void *to, size_t n, long type, int flags), ARGS(queue, to, n, type, flags))

// Polling nothing is sleeping; polling a socket is waiting for the network.
enum { POLL_NOTHING, POLL_SOCKET, POLL_OTHER, POLL_COUNT };

static int poll_kind(int fd)
{
    struct stat status;
    int saved_errno = errno;
    int is_socket =
        fd >= 0 && !agent_is_quiet() && fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
    errno = saved_errno;
    return fd < 0 ? POLL_NOTHING : is_socket ? POLL_SOCKET : POLL_OTHER;
}

// libc declares that poll only writes what `fds` points at; it reads the descriptors.
__attribute__((noinline)) static int first_polled(struct pollfd *fds, nfds_t n)
{
    return n ? fds->fd : -1;
}

#define POLL_NAMES(call)                                                                           \
    {                                                                                              \
        {call "(nothing)", "wait", TRACE_CAUSE_SLEEP, AGENT_FOLD_SHORT, 0},                        \
            {call "(socket)", "wait", TRACE_CAUSE_NET, AGENT_FOLD_SHORT, 0},                       \
        {                                                                                          \
            call, "wait", TRACE_CAUSE_OTHER, AGENT_FOLD_SHORT, 0                                   \
        }                                                                                          \
    }

#define POLL_CALL(call, first_fd, params, args)                                                    \
    HOOK_NEXT(int, call, NULL, PARAMS(params))                                                     \
    static struct hook_name call##_names[POLL_COUNT] = POLL_NAMES(#call);                          \
    HOOK_EXPORT int call(params)                                                                   \
    {                                                                                              \
        HOOK_WAIT_UNLESS(is_off, span, &call##_names[is_off ? POLL_OTHER : poll_kind(first_fd)]);  \
        return call##_next()(args);                                                                \
    }

POLL_CALL(poll, first_polled(fds, n), PARAMS(struct pollfd *fds, nfds_t n, int timeout_ms),
    ARGS(fds, n, timeout_ms))
POLL_CALL(ppoll, first_polled(fds, n),
    PARAMS(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask),
    ARGS(fds, n, timeout, mask))

// Fortified programs call these; the checks stay with libc.
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t room_bytes);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
    size_t room_bytes);
POLL_CALL(__poll_chk, first_polled(fds, n),
    PARAMS(struct pollfd *fds, nfds_t n, int timeout_ms, size_t room),
    ARGS(fds, n, timeout_ms, room))
POLL_CALL(__ppoll_chk, first_polled(fds, n),
    PARAMS(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
        size_t room),
    ARGS(fds, n, timeout, mask, room))

POLL_CALL(select, n - 1,
    PARAMS(int n, fd_set *in, fd_set *out, fd_set *other, struct timeval *timeout),
    ARGS(n, in, out, other, timeout))
POLL_CALL(pselect, n - 1,
    PARAMS(int n, fd_set *in, fd_set *out, fd_set *other, const struct timespec *timeout,
        const sigset_t *mask),
    ARGS(n, in, out, other, timeout, mask))

#define LINE(call) HOOK_LINE_LIBC(#call, call##_names, 1, 0)
#define LINE_POLL(call) HOOK_LINE_LIBC(#call, call##_names, POLL_COUNT, 0)
static const struct hook_function functions[] = {
    LINE(nanosleep),
    LINE(clock_nanosleep),
    LINE(usleep),
    LINE(sleep),
    LINE(epoll_wait),
    LINE(epoll_pwait),
    LINE(epoll_pwait2),
    LINE(pause),
    LINE(sigsuspend),
    LINE(sigwait),
    LINE(sigwaitinfo),
    LINE(sigtimedwait),
    LINE(flock),
    LINE(lockf),
    LINE(lockf64),
    LINE(aio_suspend),
    LINE(msgrcv),
    LINE_POLL(poll),
    LINE_POLL(ppoll),
    LINE_POLL(__poll_chk),
    LINE_POLL(__ppoll_chk),
    LINE_POLL(select),
    LINE_POLL(pselect),
    HOOK_END,
};

const struct hook_set hook_sleep = {
    .name = "sleep",
    .help = "sleeping, poll, select and epoll",
    .functions = functions,
    .is_off = &is_off,
};
