/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of communication between a simulated device and the host: both ends in one process. */
#include "platform/sim/device/ears.c" /* for the device's end, whose functions are its own */
#include "platform/process/state.h"
#include "base/files.h"
#include "../device/stress.h"
#include <poll.h>
#include <sys/mman.h>

static struct tg_process process;

static void begin(void)
{
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    process = (struct tg_process){.calls = tg_file_above(ends[0], 20), .launches = 1};
    REQUIRE(dup2(ends[1], TG_PROCESS_CALLS_FD) == TG_PROCESS_CALLS_FD);
    if (ends[1] != TG_PROCESS_CALLS_FD)
        close(ends[1]);
    process.rings = mmap(NULL, sizeof *process.rings, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(process.rings != MAP_FAILED);
    tg_ears_set_up(process.rings);
}

static void end(void)
{
    close(process.calls);
    close(TG_PROCESS_CALLS_FD);
    munmap(process.rings, sizeof *process.rings);
    free(process.calls_late);
}

static void post(uint32_t slot)
{
    const struct tg_comm_post one = {.slot = slot, .number = slot + 7};
    tg_target_post(NULL, &one);
}

static bool is_readable(int fd)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return poll(&one, 1, 0) == 1;
}

/* Takes all that is there, and counts each slot. Returns how many there were. */
static uint32_t take_all(uint32_t *taken)
{
    struct tg_comm_post one;
    uint32_t count = 0;
    for (; tg_process_take_call(&process, &one) == TG_CALL_TAKEN; count++) {
        CHECK_EQ_U(one.number, one.slot + 7);
        taken[one.slot]++;
    }
    return count;
}

TEST(between_ends_that_are_awake_nothing_goes_over_the_socket)
{
    struct tg_comm_post one;
    begin();
    for (uint32_t i = 0; i < 1000; i++) {
        post(i);
        CHECK_EQ_I(tg_process_take_call(&process, &one), TG_CALL_TAKEN);
        CHECK_EQ_U(one.slot, i);
        CHECK_EQ_I(tg_process_take_call(&process, &one), TG_CALL_NONE);
        CHECK_EQ_I(tg_process_call_done(&process, i, NULL), TG_OK);
        CHECK(tg_process_calls_unheard(&process));
        CHECK_EQ_U(hear(true).slot, i);
        CHECK(!tg_process_calls_unheard(&process));
    }
    CHECK(!is_readable(process.calls) && !is_readable(TG_PROCESS_CALLS_FD));
    end();
}

TEST(posts_that_find_no_room_are_taken_too)
{
    enum { POSTS = TG_RING_POSTS + 20 };
    uint32_t taken[2 * POSTS] = {0};
    begin();
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < POSTS; i++)
            post(round * POSTS + i);
        CHECK(is_readable(process.calls));
        CHECK_EQ_U(take_all(taken), POSTS);
        CHECK(!is_readable(process.calls));
    }
    stress_check_once(taken, 2 * POSTS);
    end();
}

TEST(the_host_waits_for_no_ear)
{
    enum { DONES = 5 * TG_RING_DONES };
    uint32_t heard[DONES] = {0};
    struct tg_comm_post one;
    begin();
    for (uint32_t i = 0; i < DONES; i++)
        CHECK_EQ_I(tg_process_call_done(&process, i, NULL), TG_OK);
    for (uint32_t i = 0; i < DONES; i++) {
        struct tg_process_call call = hear(true);
        CHECK_EQ_U(call.run, 1);
        heard[call.slot]++;
        CHECK_EQ_I(tg_process_take_call(&process, &one), TG_CALL_NONE); /* makes use of the room */
    }
    stress_check_once(heard, DONES);
    CHECK(tg_process_calls_sleep(&process, true));
    end();
}

TEST(an_answer_that_has_found_no_room_is_unheard)
{
    struct tg_comm_post one;
    begin();
    for (uint32_t i = 0; i <= TG_RING_DONES; i++)
        CHECK_EQ_I(tg_process_call_done(&process, i, NULL), TG_OK);
    for (uint32_t i = 0; i < TG_RING_DONES; i++)
        (void)hear(true);
    CHECK(tg_process_calls_unheard(&process));
    CHECK_EQ_I(tg_process_take_call(&process, &one), TG_CALL_NONE);
    CHECK_EQ_U(hear(true).slot, TG_RING_DONES);
    CHECK(!tg_process_calls_unheard(&process));
    end();
}

TEST(a_host_that_sleeps_is_told_once)
{
    uint32_t taken[3] = {0};
    begin();
    post(0);
    CHECK(!tg_process_calls_sleep(&process, true)); /* it need not */
    CHECK(tg_process_calls_sleep(&process, false));
    CHECK_EQ_U(take_all(taken), 1);
    CHECK(tg_process_calls_sleep(&process, true));
    CHECK(!is_readable(process.calls));
    post(1);
    CHECK(is_readable(process.calls));
    post(2);
    CHECK(tg_process_calls_sleep(&process, false));
    CHECK_EQ_U(take_all(taken), 2);
    CHECK(!is_readable(process.calls));
    CHECK_EQ_U(process.calls_received, 1);
    stress_check_once(taken, 3);
    end();
}

TEST(a_host_whose_answers_find_no_room_sleeps_until_half_of_the_ring_is_read)
{
    enum { DONES = 5 * TG_RING_DONES };
    uint32_t heard[DONES] = {0};
    struct tg_comm_post one;
    begin();
    for (uint32_t i = 0; i < DONES; i++)
        CHECK_EQ_I(tg_process_call_done(&process, i, NULL), TG_OK);
    for (uint32_t i = 0; i < DONES; i++) {
        const bool is_half = i % (TG_RING_DONES / 2) == TG_RING_DONES / 2 - 1;
        if (i % (TG_RING_DONES / 2) == 0 && process.n_calls_late > 0) {
            CHECK(tg_process_calls_sleep(&process, true));
            CHECK(!is_readable(process.calls));
        }
        heard[hear(true).slot]++;
        if (!is_half || process.n_calls_late == 0)
            continue;
        CHECK(is_readable(process.calls));
        CHECK(tg_process_calls_sleep(&process, false));
        CHECK_EQ_I(tg_process_take_call(&process, &one), TG_CALL_NONE); /* makes use of the room */
        CHECK(!is_readable(process.calls));
    }
    CHECK_EQ_U(process.n_calls_late, 0);
    stress_check_once(heard, DONES);
    end();
}

TEST(a_host_that_has_room_for_its_answers_does_not_sleep)
{
    enum { DONES = TG_RING_DONES + 1 };
    begin();
    for (uint32_t i = 0; i < DONES; i++)
        CHECK_EQ_I(tg_process_call_done(&process, i, NULL), TG_OK);
    for (uint32_t i = 0; i < TG_RING_DONES / 2; i++)
        (void)hear(true);
    CHECK(!tg_process_calls_sleep(&process, true));
    CHECK(tg_process_calls_sleep(&process, false));
    end();
}

static void *say_done_later(void *slot)
{
    while (tg_load_seq(&process.rings->device.sleeps) == 0)
        stress_sleep(100);
    CHECK_EQ_I(tg_process_call_done(&process, *(uint32_t *)slot, NULL), TG_OK);
    return NULL;
}

TEST(an_ear_that_sleeps_is_woken)
{
    pthread_t thread;
    begin();
    for (uint32_t slot = 0; slot < 20; slot++) {
        stress_watch("an ear sleeps");
        REQUIRE(pthread_create(&thread, NULL, say_done_later, &slot) == 0);
        CHECK_EQ_U(hear(slot % 2 == 0).slot, slot);
        pthread_join(thread, NULL);
    }
    stress_calm();
    CHECK(!is_readable(TG_PROCESS_CALLS_FD)); /* no message was left over */
    end();
}

TEST(an_ear_that_cannot_be_woken_is_an_error_and_woken_later)
{
    struct tg_error error = {TG_OK, ""};
    struct tg_comm_post one;
    begin();
    const int calls = process.calls;
    process.rings->device.sleeps = 1;
    process.calls = -1; /* any error that is not the end of the device */
    CHECK_EQ_I(tg_process_call_done(&process, 0, &error), TG_DEVICE_LOST);
    CHECK_HAS(error.text, "cannot be told that a call is done: ");
    process.calls = calls;
    CHECK(!is_readable(TG_PROCESS_CALLS_FD));
    CHECK_EQ_I(tg_process_take_call(&process, &one), TG_CALL_NONE);
    CHECK(is_readable(TG_PROCESS_CALLS_FD));
    end();
}

TEST(a_device_that_is_gone_is_told_nothing)
{
    begin();
    process.rings->device.sleeps = 1;
    shutdown(TG_PROCESS_CALLS_FD, SHUT_RDWR);
    CHECK_EQ_I(tg_process_call_done(&process, 0, NULL), TG_OK);
    CHECK(!process.calls_untold);
    end();
}

/* ── all at once ───────────────────────────────────────────────────────────────────────── */

enum { POSTERS = 3, CALLS = 30000 };

struct traffic {
    uint32_t taken[CALLS], heard[CALLS];
    uint32_t n_posted, n_done; /* atomic */
};
static struct traffic traffic;

static void be_a_core(uint32_t seed)
{
    for (;;) {
        uint32_t slot = tg_add_relaxed(&traffic.n_posted, 1u);
        if (slot >= CALLS)
            return;
        post(slot);
        stress_dawdle(stress_random(&seed, 64));
    }
}

static void be_an_ear(uint32_t seed)
{
    for (uint32_t i = 0; i < CALLS; i++) {
        struct tg_process_call call = hear(stress_random(&seed, 2));
        CHECK_EQ_U(call.run, 1);
        traffic.heard[call.slot]++;
        stress_dawdle(stress_random(&seed, 64));
    }
}

static void be_the_host(uint32_t seed)
{
    struct tg_comm_post one;
    struct pollfd wait = {.fd = process.calls, .events = POLLIN};
    for (uint32_t done = 0; done < CALLS || tg_process_calls_unheard(&process);) {
        enum tg_call_taken taken = tg_process_take_call(&process, &one);
        if (taken == TG_CALL_TAKEN) {
            traffic.taken[one.slot]++;
            done++;
            CHECK_EQ_I(tg_process_call_done(&process, one.slot, NULL), TG_OK);
        } else if (done < CALLS && stress_random(&seed, 4) == 0) {
            (void)poll(&wait, 1, tg_process_calls_sleep(&process, true) ? -1 : 0);
            CHECK(tg_process_calls_sleep(&process, false));
        } else {
            tg_target_yield();
        }
    }
}

static void work(void *shared, uint32_t number)
{
    (void)shared;
    if (number < POSTERS)
        be_a_core(number + 1);
    else if (number == POSTERS)
        be_an_ear(number + 1);
    else
        be_the_host(number + 1);
}

TEST(each_call_is_taken_and_heard_of_once)
{
    begin();
    stress_watch("calls go both ways");
    stress_threads(POSTERS + 2, work, NULL);
    stress_calm();
    stress_check_once(traffic.taken, CALLS);
    stress_check_once(traffic.heard, CALLS);
    end();
}

/* Answers that find no room, and a host that sleeps until there is some. */
static void work_with_little_room(void *shared, uint32_t number)
{
    struct tg_comm_post one;
    struct pollfd wait = {.fd = process.calls, .events = POLLIN};
    (void)shared;
    if (number == 0) {
        be_an_ear(1);
        return;
    }
    for (uint32_t i = 0; i < CALLS; i++)
        CHECK_EQ_I(tg_process_call_done(&process, i, NULL), TG_OK);
    for (;;) {
        CHECK_EQ_I(tg_process_take_call(&process, &one), TG_CALL_NONE);
        if (process.n_calls_late == 0)
            break;
        (void)poll(&wait, 1, tg_process_calls_sleep(&process, true) ? -1 : 0);
        CHECK(tg_process_calls_sleep(&process, false));
    }
}

TEST(each_answer_that_finds_no_room_is_heard_of_once)
{
    memset(&traffic, 0, sizeof traffic);
    begin();
    stress_watch("answers wait for room");
    stress_threads(2, work_with_little_room, NULL);
    stress_calm();
    stress_check_once(traffic.heard, CALLS);
    end();
}

/* ── a kernel that has overwritten the rings ───────────────────────────────────────────── */

TEST(a_device_that_says_it_sleeps_and_reads_no_message_does_not_hold_the_host_up)
{
    enum { DONES = 20000 }; /* more than a socket has room for */
    begin();
    stress_watch("nobody reads messages");
    for (uint32_t i = 0; i < DONES; i++) {
        process.rings->device.sleeps = 1;
        process.rings->device.emptied = process.calls_done;
        CHECK_EQ_I(tg_process_call_done(&process, i, NULL), TG_OK);
    }
    stress_calm();
    CHECK_EQ_U(process.calls_done, DONES);
    CHECK(is_readable(TG_PROCESS_CALLS_FD));
    end();
}

TEST(nonsense_in_the_rings_is_a_call_that_cannot_be_or_none)
{
    struct tg_comm_post one;
    uint32_t seed = 9;
    begin();
    for (uint32_t round = 0; round < 2000; round++) {
        uint32_t *words = (uint32_t *)process.rings;
        for (uint32_t i = 0; i < 200; i++)
            words[stress_random(&seed, sizeof *process.rings / sizeof *words)] =
                stress_random(&seed, UINT32_MAX);
        for (uint32_t i = 0; i < 3; i++) {
            (void)tg_process_take_call(&process, &one);
            CHECK_EQ_I(tg_process_call_done(&process, i, NULL), TG_OK);
        }
        (void)tg_process_calls_sleep(&process, true);
        CHECK(tg_process_calls_sleep(&process, false));
    }
    CHECK_EQ_I(send(TG_PROCESS_CALLS_FD, "words", 5, 0), 5);
    enum tg_call_taken taken;
    do
        taken = tg_process_take_call(&process, &one);
    while (taken == TG_CALL_TAKEN);
    CHECK_EQ_I(taken, TG_CALL_BAD);
    end();
}

TEST_MAIN()
