// SPDX-License-Identifier: Apache-2.0
// Hook set sockets: libc's calls that only sockets have. Receiving is the stage `receive`, sending
// `send`, with the bytes that passed; waiting for a peer (accept, connect) counts with them. Time
// off the CPU is network time, on a local socket too. read and write on a socket are file_io's.
// Arguments, results and errno stay the host's. Threads: any.
#include "agent/hook.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/uio.h>

static int is_off;

// What a call took out of the socket: nothing when it only looked, and not the part of a message
// that found no room, which MSG_TRUNC counts too.
static void note_received(const struct hook_span *s, ssize_t done, size_t room_bytes, int flags)
{
    if (done <= 0 || (flags & (MSG_PEEK | MSG_ERRQUEUE)))
        return;
    const size_t bytes = (size_t)done;
    span_bytes(s->token, bytes < room_bytes ? bytes : room_bytes);
}

static void note_sent(const struct hook_span *s, ssize_t done)
{
    if (done > 0)
        span_bytes(s->token, (uint64_t)done);
}

// Only after a call that succeeded: the pointers of others may lead nowhere.
static size_t room_of(const struct msghdr *message, ssize_t done)
{
    size_t bytes = 0;
    for (size_t i = 0; done > 0 && i < message->msg_iovlen; i++)
        bytes += message->msg_iov[i].iov_len;
    return bytes;
}

static void note_many_received(
    const struct hook_span *s, const struct mmsghdr *messages, int done, int flags)
{
    for (int i = 0; i < done; i++) {
        const ssize_t bytes = (ssize_t)messages[i].msg_len;
        note_received(s, bytes, room_of(&messages[i].msg_hdr, bytes), flags);
    }
}

static void note_many_sent(const struct hook_span *s, const struct mmsghdr *messages, int done)
{
    for (int i = 0; i < done; i++)
        note_sent(s, (ssize_t)messages[i].msg_len);
}

// A call that may wait for the other side for long; `note` sees `span` and `done`.
#define SOCKET_CALL(ret, call, stage, note, params, args)                                          \
    HOOK_NEXT(ret, call, NULL, PARAMS(params))                                                     \
    static struct hook_name call##_names[1] = {                                                    \
        {#call, stage, TRACE_CAUSE_NET, AGENT_FOLD_SHORT, 0}};                                     \
    HOOK_EXPORT ret call(params)                                                                   \
    {                                                                                              \
        HOOK_WAIT_UNLESS(is_off, span, &call##_names[0]);                                          \
        ret done = call##_next()(args);                                                            \
        note;                                                                                      \
        return done;                                                                               \
    }

SOCKET_CALL(ssize_t, recv, "receive", note_received(&span, done, n, flags),
    PARAMS(int fd, void *to, size_t n, int flags), ARGS(fd, to, n, flags))
SOCKET_CALL(ssize_t, recvfrom, "receive", note_received(&span, done, n, flags),
    PARAMS(int fd, void *to, size_t n, int flags, __SOCKADDR_ARG peer, socklen_t *peer_bytes),
    ARGS(fd, to, n, flags, peer, peer_bytes))
SOCKET_CALL(ssize_t, recvmsg, "receive", note_received(&span, done, room_of(m, done), flags),
    PARAMS(int fd, struct msghdr *m, int flags), ARGS(fd, m, flags))
SOCKET_CALL(int, recvmmsg, "receive", note_many_received(&span, m, done, flags),
    PARAMS(int fd, struct mmsghdr *m, unsigned n, int flags, struct timespec *timeout),
    ARGS(fd, m, n, flags, timeout))

SOCKET_CALL(ssize_t, send, "send", note_sent(&span, done),
    PARAMS(int fd, const void *from, size_t n, int flags), ARGS(fd, from, n, flags))
SOCKET_CALL(ssize_t, sendto, "send", note_sent(&span, done),
    PARAMS(int fd, const void *from, size_t n, int flags, __CONST_SOCKADDR_ARG peer,
        socklen_t peer_bytes),
    ARGS(fd, from, n, flags, peer, peer_bytes))
SOCKET_CALL(ssize_t, sendmsg, "send", note_sent(&span, done),
    PARAMS(int fd, const struct msghdr *m, int flags), ARGS(fd, m, flags))
SOCKET_CALL(int, sendmmsg, "send", note_many_sent(&span, m, done),
    PARAMS(int fd, struct mmsghdr *m, unsigned n, int flags), ARGS(fd, m, n, flags))

SOCKET_CALL(int, accept, "receive", (void)0,
    PARAMS(int fd, __SOCKADDR_ARG peer, socklen_t *peer_bytes), ARGS(fd, peer, peer_bytes))
SOCKET_CALL(int, accept4, "receive", (void)0,
    PARAMS(int fd, __SOCKADDR_ARG peer, socklen_t *peer_bytes, int flags),
    ARGS(fd, peer, peer_bytes, flags))
SOCKET_CALL(int, connect, "send", (void)0,
    PARAMS(int fd, __CONST_SOCKADDR_ARG peer, socklen_t peer_bytes), ARGS(fd, peer, peer_bytes))

// Fortified programs call these; the checks stay with libc.
ssize_t __recv_chk(int fd, void *to, size_t n, size_t room, int flags);
ssize_t __recvfrom_chk(
    int fd, void *to, size_t n, size_t room, int flags, __SOCKADDR_ARG peer, socklen_t *peer_bytes);
SOCKET_CALL(ssize_t, __recv_chk, "receive", note_received(&span, done, n, flags),
    PARAMS(int fd, void *to, size_t n, size_t room, int flags), ARGS(fd, to, n, room, flags))
SOCKET_CALL(ssize_t, __recvfrom_chk, "receive", note_received(&span, done, n, flags),
    PARAMS(int fd, void *to, size_t n, size_t room, int flags, __SOCKADDR_ARG peer,
        socklen_t *peer_bytes),
    ARGS(fd, to, n, room, flags, peer, peer_bytes))

// Looking a name up: asks a server, or reads files.
SOCKET_CALL(int, getaddrinfo, "receive", (void)0,
    PARAMS(const char *restrict host, const char *restrict service,
        const struct addrinfo *restrict wanted, struct addrinfo **restrict found),
    ARGS(host, service, wanted, found))

#define LINE(call, attrs) HOOK_LINE_LIBC(#call, call##_names, 1, attrs)
static const struct hook_function functions[] = {
    LINE(recv, HOOK_BYTES),
    LINE(recvfrom, HOOK_BYTES),
    LINE(recvmsg, HOOK_BYTES),
    LINE(recvmmsg, HOOK_BYTES),
    LINE(__recv_chk, HOOK_BYTES),
    LINE(__recvfrom_chk, HOOK_BYTES),
    LINE(send, HOOK_BYTES),
    LINE(sendto, HOOK_BYTES),
    LINE(sendmsg, HOOK_BYTES),
    LINE(sendmmsg, HOOK_BYTES),
    LINE(accept, 0),
    LINE(accept4, 0),
    LINE(connect, 0),
    LINE(getaddrinfo, 0),
    HOOK_END,
};

const struct hook_set hook_sockets = {
    .name = "sockets",
    .help = "libc's recv, send, accept and connect calls",
    .functions = functions,
    .is_off = &is_off,
};
