// SPDX-License-Identifier: Apache-2.0
// Host of the hook set sockets: each call once where it has to wait for its peer, once where it
// need not, and where it fails; prints what it was told. Sockets of this machine only.
#include "waiter.h"

#include <signal.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

ssize_t __recv_chk(int fd, void *to, size_t n, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *to, size_t n, size_t room, int flags, struct sockaddr *peer,
    socklen_t *peer_bytes);

static int stream[2], packets[2], listener;
static struct sockaddr_un place, nowhere;
static socklen_t place_bytes;
static char room[4096];
static const char data[4096];

static void put(int fd, size_t n)
{
    syscall(SYS_sendto, fd, data, n, 0, NULL, 0);
}

static void put_stream(void *n)
{
    put(stream[1], *(size_t *)n);
}

static void put_packet(void *n)
{
    put(packets[1], *(size_t *)n);
}

static void drain(void *fd)
{
    static char away[65536];
    while (syscall(SYS_recvfrom, *(int *)fd, away, sizeof away, MSG_DONTWAIT, NULL, NULL) > 0)
        continue;
}

static void fill(int fd)
{
    while (syscall(SYS_sendto, fd, data, sizeof data, MSG_DONTWAIT, NULL, 0) > 0)
        continue;
}

static void interrupt(void *thread)
{
    pthread_kill(*(pthread_t *)thread, SIGUSR1);
}

static void ignore(int number)
{
    (void)number;
}

static void call_in(void *unused)
{
    (void)unused;
    long fd = syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
    syscall(SYS_connect, fd, &place, place_bytes);
    syscall(SYS_close, fd);
}

static void let_in(void *unused)
{
    (void)unused;
    syscall(SYS_close, syscall(SYS_accept, listener, NULL, NULL));
}

static socklen_t name_place(struct sockaddr_un *at, const char *kind)
{
    at->sun_family = AF_UNIX; // in the abstract name space: nothing is left behind
    int n = snprintf(at->sun_path + 1, sizeof at->sun_path - 1, "lightmeter-%d-%s", getpid(), kind);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

static void receive(void)
{
    size_t five = 5, large = 3000, some = 15;
    struct iovec parts[2] = {{room, 10}, {room + 10, 10}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    pthread_t self = pthread_self();

    TELL_WAIT("recv", recv(stream[0], room, 64, 0), put_stream, &five);
    put(stream[1], 7);
    TELL("recv peek", recv(stream[0], room, 64, MSG_PEEK));
    TELL("recv ready", recv(stream[0], room, 64, 0));
    TELL("recv nothing", recv(stream[0], room, 64, MSG_DONTWAIT));
    TELL("recv no descriptor", recv(-1, room, 64, 0));
    TELL_WAIT("recv interrupted", recv(stream[0], room, 64, 0), interrupt, &self);

    TELL_WAIT(
        "recvfrom", recvfrom(packets[0], room, sizeof room, 0, NULL, NULL), put_packet, &large);
    put(packets[1], 100);
    TELL("recvfrom cut", recvfrom(packets[0], room, 40, MSG_TRUNC, NULL, NULL));
    TELL_WAIT("recvmsg", recvmsg(packets[0], &message, 0), put_packet, &some);
    put(packets[1], 100);
    TELL("recvmsg cut", recvmsg(packets[0], &message, MSG_TRUNC));
    printf("cut %d\n", message.msg_flags);
    TELL("recvmsg no memory", recvmsg(packets[0], NULL, 0));

    TELL_WAIT("__recv_chk", __recv_chk(stream[0], room, 64, sizeof room, 0), put_stream, &five);
    TELL_WAIT("__recvfrom_chk", __recvfrom_chk(packets[0], room, 64, sizeof room, 0, NULL, NULL),
        put_packet, &some);
}

static void receive_many(void)
{
    size_t eleven = 11;
    struct iovec parts[3] = {{room, 64}, {room + 64, 64}, {room + 128, 64}};
    struct mmsghdr many[3] = {0};
    for (int i = 0; i < 3; i++)
        many[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
    TELL_WAIT("recvmmsg", recvmmsg(packets[0], many, 3, MSG_WAITFORONE, NULL), put_packet, &eleven);
    put(packets[1], 3);
    put(packets[1], 4);
    TELL("recvmmsg two", recvmmsg(packets[0], many, 3, MSG_DONTWAIT, NULL));
    printf("lengths %u %u\n", many[0].msg_len, many[1].msg_len);
    TELL("recvmmsg nothing", recvmmsg(packets[0], many, 3, MSG_DONTWAIT, NULL));
}

static void send_all(void)
{
    struct iovec parts[2] = {{room, 6}, {room, 7}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    struct mmsghdr many[2] = {{.msg_hdr = message}, {.msg_hdr = message}};
    many[1].msg_hdr.msg_iovlen = 1;

    TELL("send", send(stream[0], data, 21, 0));
    fill(stream[0]);
    TELL("send full", send(stream[0], data, 2, MSG_DONTWAIT));
    TELL_WAIT("send waits", send(stream[0], data, 2, 0), drain, &stream[1]);
    fill(packets[0]);
    TELL_WAIT("sendto", sendto(packets[0], data, 9, 0, NULL, 0), drain, &packets[1]);
    fill(packets[0]);
    TELL_WAIT("sendmsg", sendmsg(packets[0], &message, 0), drain, &packets[1]);
    fill(packets[0]);
    TELL_WAIT("sendmmsg", sendmmsg(packets[0], many, 1, 0), drain, &packets[1]);
    drain(&packets[1]);
    TELL("sendmmsg two", sendmmsg(packets[0], many, 2, 0));
    printf("lengths %u %u\n", many[0].msg_len, many[1].msg_len);
    TELL("sendmsg no memory", sendmsg(packets[0], NULL, 0));
    int alone = socket(AF_UNIX, SOCK_DGRAM, 0);
    TELL("sendto nowhere",
        sendto(alone, data, 9, 0, (struct sockaddr *)&nowhere, sizeof(sa_family_t) + 4));
}

static void meet(void)
{
    struct sockaddr *at = (struct sockaddr *)&place;
    TELL_WAIT("accept", accept(listener, NULL, NULL) < 0, call_in, NULL);
    TELL_WAIT("accept4", accept4(listener, NULL, NULL, SOCK_CLOEXEC) < 0, call_in, NULL);
    TELL("accept no listener", accept(stream[0], NULL, NULL));
    TELL("accept4 no such flag", accept4(listener, NULL, NULL, -1));

    // A queue of length 0 holds one that waits to be let in.
    int first = socket(AF_UNIX, SOCK_STREAM, 0), second = socket(AF_UNIX, SOCK_STREAM, 0);
    TELL("connect", connect(first, at, place_bytes));
    TELL_WAIT("connect waits", connect(second, at, place_bytes), let_in, NULL);
    let_in(NULL);
    TELL("connect again", connect(first, at, place_bytes));
    TELL("connect nowhere", connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&nowhere,
                                sizeof(sa_family_t) + 4));
    TELL("connect nothing", connect(first, at, 1));
}

int main(void)
{
    struct sigaction quiet = {.sa_handler = ignore};
    sigaction(SIGUSR1, &quiet, NULL);
    place_bytes = name_place(&place, "here");
    name_place(&nowhere, "nowhere");
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, stream) ||
        socketpair(AF_UNIX, SOCK_DGRAM, 0, packets) ||
        bind(listener, (struct sockaddr *)&place, place_bytes) || listen(listener, 0))
        return 1;
    receive();
    receive_many();
    send_all();
    meet();
    return 0;
}
