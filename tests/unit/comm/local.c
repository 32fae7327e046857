/* SPDX-License-Identifier: Apache-2.0 */
/* The transport over shared memory by itself: sockets that do not take a packet. */
#define _GNU_SOURCE 1
#include "comm/local.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

/* The next packets that go out fail with these causes; 0 ends the list. */
static int causes[4];

static bool fails(void)
{
    const int cause = causes[0];
    if (cause == 0)
        return false;
    memmove(causes, causes + 1, sizeof causes - sizeof causes[0]);
    errno = cause;
    return true;
}

/* Instead of the system's. */
ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    return fails() ? -1 : syscall(SYS_sendmsg, fd, message, flags);
}

ssize_t send(int fd, const void *bytes, size_t size, int flags)
{
    return fails() ? -1 : syscall(SYS_sendto, fd, bytes, size, flags, NULL, 0);
}

struct pair {
    void *state[2];
};

static const struct tg_comm_ops *const ops = &tg_comm_local;

static struct pair open_pair(void)
{
    struct tg_local_end ends[2];
    struct pair pair;
    struct tg_error error;
    REQUIRE(tg_local_make(2, ends, &error) == TG_OK);
    for (int r = 0; r < 2; r++)
        REQUIRE(tg_local_open(&ends[r], &pair.state[r], &error) == TG_OK);
    return pair;
}

static void close_pair(struct pair *pair)
{
    for (int r = 0; r < 2; r++)
        if (pair->state[r])
            ops->close(pair->state[r], true);
}

/* Rank 0 sends a small payload, and its socket refuses it with the causes. */
static void send_with(struct pair *pair, int first, int second, int third)
{
    struct tg_error error;
    const int wanted[4] = {first, second, third, 0};
    memcpy(causes, wanted, sizeof causes);
    CHECK_EQ_I(ops->send(pair->state[0], 1, "head", 4, "payload", 7, 5, &error), TG_OK);
}

static struct tg_comm_event next(struct pair *pair, int rank)
{
    struct tg_comm_event event = {.kind = TG_COMM_NOTHING};
    for (int i = 0; i < 4 && event.kind == TG_COMM_NOTHING; i++)
        ops->poll(pair->state[rank], &event);
    return event;
}

TEST(a_packet_that_the_system_has_no_memory_for_goes_out_later)
{
    static const int full[] = {ENOMEM, ENOBUFS, EAGAIN, EINTR};
    for (size_t i = 0; i < sizeof full / sizeof *full; i++) {
        struct pair pair = open_pair();
        send_with(&pair, full[i], full[i], full[i]);
        CHECK_EQ_I(next(&pair, 1).kind, TG_COMM_NOTHING);
        CHECK_EQ_I(next(&pair, 0).kind, TG_COMM_SENT);
        CHECK_EQ_I(next(&pair, 1).kind, TG_COMM_ARRIVAL);
        close_pair(&pair);
    }
}

TEST(a_packet_that_the_system_refuses_loses_the_peer)
{
    for (int waits = 0; waits < 2; waits++) {
        struct pair pair = open_pair();
        send_with(&pair, waits ? EAGAIN : EMSGSIZE, waits ? EMSGSIZE : 0, 0);
        const struct tg_comm_event event = next(&pair, 0);
        CHECK_EQ_I(event.kind, TG_COMM_LOST);
        CHECK_EQ_S(event.text, "the system does not take a message to it");
        CHECK_EQ_I(next(&pair, 1).kind, TG_COMM_LOST);
        close_pair(&pair);
    }
}

/* Why it went away, perhaps. */
TEST(what_a_peer_sent_before_it_closed_is_read)
{
    for (int waits = 0; waits < 2; waits++) {
        struct pair pair = open_pair();
        struct tg_error error;
        if (waits)
            send_with(&pair, EAGAIN, 0, 0);
        CHECK_EQ_I(ops->send(pair.state[1], 0, "bye", 3, NULL, 0, 0, &error), TG_OK);
        ops->close(pair.state[1], true);
        pair.state[1] = NULL;
        if (!waits)
            send_with(&pair, 0, 0, 0);
        CHECK_EQ_I(next(&pair, 0).kind, TG_COMM_SENT);
        CHECK_EQ_I(next(&pair, 0).kind, TG_COMM_ARRIVAL);
        CHECK_EQ_I(next(&pair, 0).kind, TG_COMM_LOST);
        close_pair(&pair);
    }
}

TEST_MAIN()
