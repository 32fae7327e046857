/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Calls of communication between the host and a device's process: see protocol.h. */
#include "base/error.h"
#include "platform/process/state.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

int tg_process_calls_fd(void *state)
{
    const struct tg_process *process = state;
    return process->calls;
}

enum tg_call_taken tg_process_take_call(void *state, struct tg_comm_post *post)
{
    const struct tg_process *process = state;
    ssize_t got;
    int tries = 0;
    do
        got = recv(process->calls, post, sizeof *post, MSG_DONTWAIT | MSG_TRUNC);
    while (got < 0 && tg_process_try_again(errno, &tries));
    if (got <= 0)
        return TG_CALL_NONE;
    return got == (ssize_t)sizeof *post ? TG_CALL_TAKEN : TG_CALL_BAD;
}

tg_status tg_process_call_done(void *state, uint32_t slot, struct tg_error *error)
{
    const struct tg_process *process = state;
    struct tg_process_call call = {.run = __atomic_load_n(&process->launches, __ATOMIC_ACQUIRE),
                                   .slot = slot};
    ssize_t sent;
    int tries = 0;
    do
        sent = send(process->calls, &call, sizeof call, MSG_NOSIGNAL);
    while (sent < 0 && tg_process_try_again(errno, &tries));
    if (sent == (ssize_t)sizeof call)
        return TG_OK;
    return tg_error_set(error, TG_DEVICE_LOST, "the device cannot be told that a call is done: %s",
                        strerror(errno));
}
