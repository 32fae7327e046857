/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that holds a GPU. The host's program contains no CUDA, and a kernel that traps or
 * spins ends only this process. Killing it frees the GPU, whatever the kernel does; the memory that
 * it shares with the host (control area, recording) stays.
 */
#include "platform/cuda/process/gpu_process.h"
#include "platform/process/device/link.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static void open_or_exit(struct tg_cuda_device *d, struct tg_process_message *message)
{
    char why[512] = "";
    tg_status status = tg_cuda_open(d, message, why, sizeof why);
    /* After the driver has started: it may need the setuid program nvidia-modprobe for that. */
    tg_link_enter_sandbox(TG_SANDBOX_FOR_GPU, message);
    if (status == TG_OK && (!tg_cuda_start_mover(d) || !tg_cuda_start_calls(d))) {
        status = TG_NO_MEMORY;
        snprintf(why, sizeof why, "cannot start threads");
    }
    tg_link_reply(message, TG_PROCESS_HELLO, status, "%s", status == TG_OK ? d->name : why);
    if (status != TG_OK)
        exit(TG_PROCESS_EXIT_USAGE);
}

static void load(struct tg_cuda_device *d, struct tg_process_message *message)
{
    char why[1024] = "out of memory";
    tg_status status = tg_cuda_load(d, message, why, sizeof why);
    tg_link_reply(message, TG_PROCESS_LOADED, status, "%s", status == TG_OK ? "" : why);
}

static void obey(struct tg_cuda_device *d, struct tg_process_message *message)
{
    switch (message->type) {
    case TG_PROCESS_LOAD:
        load(d, message);
        break;
    case TG_PROCESS_LAUNCH:
        tg_cuda_run(d, message);
        break;
    case TG_PROCESS_STOP:
        __atomic_store_n(&d->words->stop, 1u, __ATOMIC_RELEASE);
        tg_cuda_beside_stop(d);
        break;
    case TG_PROCESS_LOCATE:
        tg_cuda_beside_locate(d);
        break;
    default:
        tg_cuda_send_away(d); /* the driver would end it too, but may take longer */
        _exit(TG_PROCESS_EXIT_BYE);
    }
}

int main(void)
{
    static struct tg_cuda_device device;
    static struct tg_process_message message;
    int host = tg_link_open("taskglass-cuda", TG_PROCESS_MOVER_FD, &message);
    open_or_exit(&device, &message);
    (void)prctl(PR_SET_TIMERSLACK, 1UL); /* naps between looks as short as the system has */
    for (;;) {
        uint64_t patience = tg_cuda_patience(&device);
        if (patience == UINT64_MAX)
            tg_link_listen(host, &message);
        else if (patience == 0)
            sched_yield(); /* somebody who has to do with the run may need this CPU */
        if (patience == UINT64_MAX || tg_link_hear(host, &message, patience))
            obey(&device, &message);
        tg_cuda_look(&device);
    }
}
