/* SPDX-License-Identifier: Apache-2.0 */
/* Rank 1 is played by hand, over the socket and the memory of a job: what it sends after rank 0 has given it up
 * changes no memory of rank 0, and gets none. */
#include "unit/comm/job.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include "comm/local_state.h"
#include "comm/message.h"
#include "comm/plan.h"

enum { PIECE = TG_SEGMENT, PIECES = 4, ELEMENTS = PIECES * PIECE / 4 };

struct hostile {
    struct job *job;
    int fd;
    unsigned char *memory;
};

static float values[ELEMENTS];

static void put(const struct hostile *h, struct local_packet packet, const void *head, size_t size)
{
    packet.head_size = (uint32_t)size;
    struct iovec part[2] = {{&packet, sizeof packet}, {(void *)(uintptr_t)head, size}};
    struct msghdr message = {.msg_iov = part, .msg_iovlen = 2};
    ssize_t sent = sendmsg(h->fd, &message, MSG_NOSIGNAL); /* it may have been closed there */
    (void)sent;
}

static void say(const struct hostile *h, const struct tg_message *head, uint32_t index,
                uint64_t total)
{
    put(h, (struct local_packet){.kind = PACKET_MESSAGE, .index = index, .total = total}, head,
        tg_message_size(head));
}

/* The next packet of that kind; of messages, the next one with a payload. False: the socket has ended. */
static bool hear(const struct hostile *h, uint32_t kind, struct local_packet *packet)
{
    unsigned char bytes[sizeof *packet + TG_COMM_HEAD + LOCAL_EAGER];
    ssize_t size;
    while ((size = recv(h->fd, bytes, sizeof bytes, 0)) > 0) {
        memcpy(packet, bytes, sizeof *packet);
        if (packet->kind == kind && (kind != PACKET_MESSAGE || packet->total > 0))
            return true;
    }
    CHECK(size == 0 || errno == ECONNRESET); /* and not a minute of silence */
    return false;
}

static struct hostile open_hostile(bool maps)
{
    struct hostile h = {.job = calloc(1, sizeof *h.job)};
    struct tg_local_end ends[2];
    struct tg_error error = {TG_OK, ""};
    char text[4096];
    REQUIRE(h.job && tg_local_make(2, ends, &error) == TG_OK);
    h.fd = ends[1].socket[0];
    h.memory =
        mmap(NULL, tg_local_memory(2), PROT_READ | PROT_WRITE, MAP_SHARED, ends[1].memory, 0);
    REQUIRE(h.memory != MAP_FAILED);
    close(ends[1].memory);
    const struct timeval limit = {.tv_sec = JOB_SECONDS};
    REQUIRE(fcntl(h.fd, F_SETFL, 0) == 0 &&
            setsockopt(h.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    struct tg_message hello = tg_message_make(TG_MESSAGE_HELLO, 0);
    hello.value[0] = 77;
    hello.value[1] = 2;
    say(&h, &hello, 0, 0);
    tg_local_write_end(&ends[0], text);
    setenv(TG_LOCAL_VARIABLE, text, 1);
    h.job->ranks = 2;
    const tg_status status = tg_comm_open(NULL, &h.job->comm[0], &error);
    unsetenv(TG_LOCAL_VARIABLE);
    CHECK_EQ_S(error.text, "");
    REQUIRE(status == TG_OK);
    job_device_make(h.job, 0, maps);
    return h;
}

static void close_hostile(struct hostile *h)
{
    close(h->fd);
    munmap(h->memory, tg_local_memory(2));
    job_close(h->job);
}

static void begin_and_post(const struct hostile *h, uint32_t kind)
{
    struct tg_comm_call call = job_call(kind, 1, 0, -1, 0, "a.c:30");
    job_begin_rank(h->job, 0, NULL);
    job_add_tensor(&call, kind == TG_COMM_SEND ? TG_IN : TG_OUT,
                   job_vector(values, TG_FLOAT32, ELEMENTS));
    job_post(h->job, 0, call);
}

/* A piece of the send that rank 0's receive waits for. */
static struct tg_message make_part(uint32_t epoch, uint32_t piece)
{
    struct tg_message part = tg_message_make(TG_MESSAGE_PART, epoch);
    part.call_kind = TG_COMM_SEND;
    part.peer = part.tag = 0;
    part.dtype = TG_FLOAT32;
    part.elements = ELEMENTS;
    part.piece = piece;
    return part;
}

/* Rank 0's run fails and ends; the next one fails at once, and is not refused. */
static void check_given_up(const struct hostile *h, const char *why)
{
    struct job_device *d = &h->job->device[0];
    for (int run = 0; run < 2; run++) {
        if (run > 0)
            job_begin_rank(h->job, 0, NULL);
        CHECK(job_wait_failed(h->job, 0));
        CHECK_EQ_I(d->error.status, TG_RANK_LOST);
        CHECK_HAS(d->error.text, "rank 1 (pid 77 on ");
        CHECK_HAS(d->error.text, why);
        job_end_some(h->job, 1);
    }
}

/* Bytes that rank 0 has asked for; it does not say that it took them. */
static void send_chunk(const struct hostile *h, uint32_t to, uint32_t size)
{
    struct local_packet packet;
    memset(h->memory + tg_local_ring_at(2, 1, 0), 0xaa, size);
    put(h, (struct local_packet){.kind = PACKET_CHUNK, .to = to, .bytes = size}, NULL, 0);
    CHECK(!hear(h, PACKET_FREE, &packet));
}

static void receive_from_one_that_is_given_up(bool maps)
{
    struct hostile h = open_hostile(maps);
    struct local_packet ask = {0};
    begin_and_post(&h, TG_COMM_RECV);
    for (uint32_t i = 0; i < PIECES; i++) {
        const struct tg_message part = make_part(1, i);
        say(&h, &part, i, PIECE);
        CHECK(hear(&h, PACKET_ASK, &ask));
    }
    const struct tg_message unknown = make_part(1, 99), later = make_part(2, 0);
    const struct tg_message progress = tg_message_make(TG_MESSAGE_PROGRESS, 1);
    say(&h, &unknown, 99, PIECE);
    for (uint32_t i = 0; i < 8; i++) { /* with luck they have been read before it is looked at */
        say(&h, &progress, 0, 0);
        say(&h, &later, 100 + i, PIECE);
    }
    check_given_up(&h, "it sent a piece of a call that the call does not have");
    memset(values, 0, sizeof values);
    send_chunk(&h, ask.to, tg_local_ring_of(2).chunk);
    for (size_t i = 0; i < ELEMENTS; i++)
        REQUIRE(values[i] == 0);
    close_hostile(&h);
}

TEST(a_rank_that_was_given_up_does_not_write_into_device_memory)
{
    receive_from_one_that_is_given_up(true);
}

TEST(a_rank_that_was_given_up_does_not_write_into_memory_that_was_freed)
{
    receive_from_one_that_is_given_up(false);
}

TEST(a_rank_that_was_given_up_does_not_get_what_was_sent_to_it)
{
    for (int maps = 0; maps < 2; maps++) {
        struct hostile h = open_hostile(maps);
        struct local_packet packet = {0};
        begin_and_post(&h, TG_COMM_SEND);
        for (uint32_t i = 0; i < PIECES; i++)
            CHECK(hear(&h, PACKET_MESSAGE, &packet));
        CHECK_EQ_U(packet.total, PIECE);
        put(&h, (struct local_packet){.kind = PACKET_MESSAGE}, "nonsense", 8);
        check_given_up(&h, "its message cannot be read");
        put(&h, (struct local_packet){.kind = PACKET_ASK, .index = packet.index}, NULL, 0);
        CHECK(!hear(&h, PACKET_CHUNK, &packet));
        close_hostile(&h);
    }
}

TEST(a_rank_that_was_given_up_does_not_write_into_an_exchange)
{
    struct hostile h = open_hostile(true);
    struct tg_message exchange = tg_message_make(TG_MESSAGE_EXCHANGE, 0);
    struct local_packet ask = {0};
    exchange.elements = 60000;
    say(&h, &exchange, 0, exchange.elements);
    CHECK(hear(&h, PACKET_ASK, &ask));
    say(&h, &exchange, 1, exchange.elements); /* a second time */
    job_begin_rank(h.job, 0, NULL);
    check_given_up(&h, "it sent what makes no sense");
    send_chunk(&h, ask.to, (uint32_t)exchange.elements);
    close_hostile(&h);
}

/* --- not hostile, but early ----------------------------------------------------------------- */

/* Rank 1's sum has come, but rank 0 has not yet sent its own, whose place it takes, when rank 1 fails. A rank that
 * has sent in place could not begin another run as long as its bytes wait for somebody to ask for them. */
TEST(what_came_too_early_is_dropped_if_the_run_fails)
{
    enum { GATHER = 1 << 16, INDEX = 50 };
    struct hostile h = open_hostile(true);
    struct local_packet sent[PIECES / 2] = {{0}}, dropped = {0};
    struct tg_comm_call call = job_call(TG_COMM_ALL_REDUCE, -1, -1, TG_SUM, 0, "a.c:30");
    struct tg_message part = make_part(1, 0), failed = tg_message_make(TG_MESSAGE_FAILED, 1);
    job_begin_rank(h.job, 0, NULL);
    job_add_tensor(&call, TG_INOUT, job_vector(values, TG_FLOAT32, ELEMENTS));
    job_post(h.job, 0, call);
    part.call_kind = TG_COMM_ALL_REDUCE;
    part.peer = part.tag = TG_COMM_NONE;
    part.operation = TG_SUM;
    part.step = GATHER;
    say(&h, &part, INDEX, PIECE);
    for (int i = 0; i < PIECES / 2; i++) /* its half */
        CHECK(hear(&h, PACKET_MESSAGE, &sent[i]));
    failed.status = TG_KERNEL_FAULT;
    say(&h, &failed, 0, 0);
    CHECK(job_wait_failed(h.job, 0));
    for (int i = 0; i < PIECES / 2; i++)
        put(&h, (struct local_packet){.kind = PACKET_DROP, .index = sent[i].index}, NULL, 0);
    job_end_some(h.job, 1);
    job_close_rank(h.job, 0);
    CHECK(hear(&h, PACKET_DROP, &dropped));
    CHECK_EQ_U(dropped.index, INDEX);
    close_hostile(&h);
}

/* A few reductions receive at a time. Those whose turn has not come when the run fails get nothing, and rank 1 may
 * forget their bytes. */
TEST(what_waits_for_its_turn_is_dropped_if_the_run_fails)
{
    enum { HALF = TG_MOST_RECEIVING + 2, ALL = 2 * HALF * (PIECE / 4), INDEX = 50 };
    struct hostile h = open_hostile(true);
    struct local_packet sent[HALF] = {{0}}, packet = {0};
    struct tg_comm_call call = job_call(TG_COMM_ALL_REDUCE, -1, -1, TG_SUM, 0, "a.c:30");
    struct tg_message part = make_part(1, 0), failed = tg_message_make(TG_MESSAGE_FAILED, 1);
    float *many = calloc(ALL, sizeof *many);
    REQUIRE(many != NULL);
    job_begin_rank(h.job, 0, NULL);
    job_add_tensor(&call, TG_INOUT, job_vector(many, TG_FLOAT32, ALL));
    job_post(h.job, 0, call);
    for (int i = 0; i < HALF; i++)
        CHECK(hear(&h, PACKET_MESSAGE, &sent[i]));
    part.call_kind = TG_COMM_ALL_REDUCE;
    part.peer = part.tag = TG_COMM_NONE;
    part.operation = TG_SUM;
    part.elements = ALL;
    for (uint32_t i = 0; i < HALF; i++) {
        part.piece = i;
        say(&h, &part, INDEX + i, PIECE);
    }
    for (uint32_t i = 0; i < TG_MOST_RECEIVING; i++) {
        CHECK(hear(&h, PACKET_ASK, &packet));
        CHECK_EQ_U(packet.index, INDEX + i);
    }
    failed.status = TG_KERNEL_FAULT;
    say(&h, &failed, 0, 0);
    CHECK(job_wait_failed(h.job, 0));
    for (int i = 0; i < HALF; i++)
        put(&h, (struct local_packet){.kind = PACKET_DROP, .index = sent[i].index}, NULL, 0);
    job_end_some(h.job, 1);
    for (uint32_t i = TG_MOST_RECEIVING; i < HALF; i++) {
        CHECK(hear(&h, PACKET_DROP, &packet));
        CHECK_EQ_U(packet.index, INDEX + i);
    }
    job_close_rank(h.job, 0);
    close_hostile(&h);
    free(many);
}

/* --- a rank that dies after its word -------------------------------------------------------- */

/* Whoever goes on takes over what the dead one would have done with the word, such as the report. */
TEST(an_exchange_tells_of_a_rank_that_died_after_it_had_sent_its_bytes)
{
    struct hostile h = open_hostile(true);
    struct tg_message exchange = tg_message_make(TG_MESSAGE_EXCHANGE, 0);
    struct tg_error error = {TG_OK, ""};
    struct {
        struct tg_message head;
        char word[8];
    } both;
    char all[2][8];
    bool lost[2];
    exchange.elements = 8;
    memcpy(&both, &exchange, tg_message_size(&exchange));
    memcpy((char *)&both + tg_message_size(&exchange), "its word", 8);
    struct local_packet packet = {
        .kind = PACKET_MESSAGE, .head_size = tg_message_size(&exchange), .total = 8, .bytes = 8};
    struct iovec part[2] = {{&packet, sizeof packet}, {&both, tg_message_size(&exchange) + 8}};
    CHECK(writev(h.fd, part, 2) > 0 && hear(&h, PACKET_TAKEN, &packet));
    shutdown(h.fd, SHUT_RDWR);
    job_begin_rank(h.job, 0, NULL);
    CHECK(job_wait_failed(h.job, 0));
    job_end_some(h.job, 1);
    CHECK_EQ_I(tg_comm_exchange(h.job->comm[0], "my  word", 8, all, lost, JOB_SECONDS, &error),
               TG_RANK_LOST);
    CHECK(!lost[0] && lost[1]);
    CHECK_EQ_MEM(all, "my  wordits word", 16);
    close_hostile(&h);
}

TEST_MAIN()
