/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "platform/process/protocol.h"
#include "test.h"
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[2];

static void connect_ends(void)
{
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
}

static void close_ends(void)
{
    close(ends[0]);
    close(ends[1]);
}

TEST(a_message_arrives_as_it_was_sent)
{
    static struct tg_process_message in, out;
    connect_ends();
    in = (struct tg_process_message){.type = TG_PROCESS_LOAD,
                                     .protocol = 1,
                                     .status = -7,
                                     .cores = 3,
                                     .schedulers = 4,
                                     .first = 5,
                                     .count = 6,
                                     .host_pid = 7,
                                     .address = UINT64_MAX,
                                     .size = 1,
                                     .text = "/a/path.so"};
    memset(&out, 0xff, sizeof out);
    CHECK_EQ_I(tg_process_send(ends[0], &in), 0);
    CHECK_EQ_I(tg_process_receive(ends[1], &out, 0), 1);
    CHECK_EQ_MEM(&out, &in, TG_PROCESS_MESSAGE_HEAD);
    CHECK_EQ_S(out.text, in.text);
    close_ends();
}

TEST(texts_of_every_length_arrive)
{
    static struct tg_process_message in, out;
    const size_t lengths[] = {0, 1, 2, 100, 4093, 4094, 4095};
    connect_ends();
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        memset(&in, 0, sizeof in);
        memset(&out, 0xff, sizeof out);
        memset(in.text, 'x', lengths[i]);
        CHECK_EQ_I(tg_process_send(ends[0], &in), 0);
        CHECK_EQ_I(tg_process_receive(ends[1], &out, 0), 1);
        CHECK_EQ_U(strlen(out.text), lengths[i]);
    }
    close_ends();
}

TEST(a_text_without_an_end_is_given_one)
{
    static struct tg_process_message in, out;
    connect_ends();
    memset(in.text, 'x', sizeof in.text);
    CHECK_EQ_I(tg_process_send(ends[0], &in), 0);
    memset(&out, 0xff, sizeof out);
    CHECK_EQ_I(tg_process_receive(ends[1], &out, 0), 1);
    CHECK_EQ_U(strnlen(out.text, sizeof out.text), sizeof out.text - 1);
    CHECK_EQ_I(send(ends[0], &in, sizeof in, 0), (ssize_t)sizeof in); /* as no honest peer would */
    CHECK_EQ_I(tg_process_receive(ends[1], &out, 0), 1);
    CHECK_EQ_U(strnlen(out.text, sizeof out.text), sizeof out.text - 1);
    close_ends();
}

TEST(a_packet_too_short_to_be_a_message_is_an_error)
{
    static struct tg_process_message out;
    char bytes[TG_PROCESS_MESSAGE_HEAD] = "";
    connect_ends();
    for (size_t size = 1; size < TG_PROCESS_MESSAGE_HEAD; size++) {
        CHECK_EQ_I(send(ends[0], bytes, size, 0), (ssize_t)size);
        errno = 0;
        CHECK_EQ_I(tg_process_receive(ends[1], &out, 0), -1);
        CHECK_EQ_I(errno, EPROTO);
    }
    CHECK_EQ_I(send(ends[0], bytes, sizeof bytes, 0), (ssize_t)sizeof bytes);
    CHECK_EQ_I(tg_process_receive(ends[1], &out, 0),
               1); /* the head alone is a message without text */
    CHECK_EQ_S(out.text, "");
    close_ends();
}

TEST(a_packet_longer_than_a_message_is_cut)
{
    static struct tg_process_message out;
    static char bytes[20000];
    connect_ends();
    memset(bytes, 'x', sizeof bytes);
    CHECK_EQ_I(send(ends[0], bytes, sizeof bytes, 0), (ssize_t)sizeof bytes);
    CHECK_EQ_I(tg_process_receive(ends[1], &out, 0), 1);
    CHECK_EQ_U(strnlen(out.text, sizeof out.text), sizeof out.text - 1);
    errno = 0;
    CHECK_EQ_I(tg_process_receive(ends[1], &out, MSG_DONTWAIT), -1); /* all of it is discarded */
    CHECK_EQ_I(errno, EAGAIN);
    close_ends();
}

TEST(the_end_of_the_socket_is_no_message)
{
    static struct tg_process_message out;
    connect_ends();
    close(ends[0]);
    CHECK_EQ_I(tg_process_receive(ends[1], &out, 0), 0);
    close(ends[1]);
}

TEST(what_was_sent_before_the_end_arrives_before_it)
{
    static struct tg_process_message message = {.type = TG_PROCESS_DONE}, out;
    connect_ends();
    CHECK_EQ_I(tg_process_send(ends[0], &message), 0);
    close(ends[0]);
    CHECK_EQ_I(tg_process_receive(ends[1], &out, 0), 1);
    CHECK_EQ_U(out.type, TG_PROCESS_DONE);
    CHECK_EQ_I(tg_process_receive(ends[1], &out, 0), 0);
    close(ends[1]);
}

TEST(sending_to_a_closed_end_is_an_error_and_no_signal)
{
    static struct tg_process_message message = {.type = TG_PROCESS_STOP};
    connect_ends();
    close(ends[1]);
    errno = 0;
    CHECK_EQ_I(tg_process_send(ends[0], &message), -1); /* SIGPIPE would kill the test here */
    CHECK_EQ_I(errno, EPIPE);
    close(ends[0]);
}

TEST_MAIN()
