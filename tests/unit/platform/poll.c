/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a run of a device that is a process, where the host looks without sleeping at first. */
#define _GNU_SOURCE 1
#include "platform/process/state.h"
#include "base/limit.h"
#include "test.h"
#include <sys/socket.h>
#include <unistd.h>

static int device; /* its end of the socket */

/* Of a run that has just begun, for which nobody would sleep before the test is over. */
static struct tg_process begin(void)
{
    struct tg_process process = {.pidfd = -1, .pid = getpid(), .eager_seconds = 1e9};
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    process.socket = ends[0];
    process.launched_at = tg_limit_now();
    device = ends[1];
    return process;
}

static void end(const struct tg_process *process)
{
    close(process->socket);
    close(device);
}

TEST(an_eager_wait_ends_in_time_too)
{
    struct tg_process process = begin();
    CHECK_EQ_I(tg_process_poll(&process, 0), TG_POLL_RUNNING);
    CHECK_EQ_I(tg_process_poll(&process, 3), TG_POLL_RUNNING);
    end(&process);
}

TEST(an_eager_wait_takes_what_has_come)
{
    struct tg_process process = begin();
    struct tg_process_message done = {.type = TG_PROCESS_DONE, .address = 5, .count = 1};
    REQUIRE(tg_process_send(device, &done) == 0);
    CHECK_EQ_I(tg_process_poll(&process, 0), TG_POLL_OVER);
    CHECK_EQ_U(process.begun.at, 5);
    CHECK(process.begun.lingered);
    REQUIRE(tg_process_send(device, &done) == 0);
    CHECK_EQ_I(tg_process_poll(&process, 1000000), TG_POLL_OVER);
    end(&process);
}

TEST_MAIN()
