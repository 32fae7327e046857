/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks: several processes, each with a device of its own, that run the same workload together and
 * talk to each other by tasks (tg_send, tg_all_reduce and so on, orchestration.h).
 *
 *     struct tg_comm *comm;
 *     tg_comm_open(NULL, &comm, &error);        all ranks of the job call it
 *     tg_device_join(device, comm, &error);     before a module is loaded
 *     … graphs run as always …
 *     tg_device_close(device);
 *     tg_comm_close(comm);
 *
 * A transport moves bytes between ranks. It is one const table, struct tg_comm_ops: the library has one
 * over shared memory, and loads the one over MPI (libtaskglass-mpi) if mpirun started the program.
 * Matching, collective operations, checks and reports are the library's and the same for all.
 */
#ifndef TASKGLASS_COMM_H
#define TASKGLASS_COMM_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/device.h>
#include <taskglass/status.h>
#include <taskglass/wire/comm.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of struct tg_comm_ops, and the name of the object that a plug-in exports. */
#define TG_COMM_ABI 1u
#define TG_COMM_SYMBOL "tg_comm_plugin"

/* The most bytes that a message's head has, and the most ranks of a job. */
enum { TG_COMM_HEAD = 512, TG_COMM_MAX_RANKS = 4096 };

/* What has happened on a transport. */
enum tg_comm_event_kind {
    TG_COMM_NOTHING = 0,
    TG_COMM_ARRIVAL = 1,  /* a message came from `peer`: its head, and how long its payload is */
    TG_COMM_RECEIVED = 2, /* the payload that `receive` with this token was to get is there */
    TG_COMM_SENT = 3,     /* the payload of the `send` with this token may be changed */
    TG_COMM_LOST = 4      /* `peer` is gone, or cannot be reached; `text` says what is known */
};

/* One such event. */
struct tg_comm_event {
    enum tg_comm_event_kind kind;
    uint32_t peer;
    uint64_t token;        /* RECEIVED, SENT */
    uint64_t message;      /* ARRIVAL: its number, for `receive`; 0 if the payload is empty */
    uint64_t payload_size; /* ARRIVAL */
    uint32_t head_size;
    uint8_t head[TG_COMM_HEAD];
    char text[120];
};

/*
 * A transport. One thread at a time uses an open one. Messages from one rank to another arrive in the
 * order in which they were sent. A rank never sends to itself. After LOST or `forget`, messages of that peer
 * are not asked for, nothing is sent to it, and its tokens may come or not.
 */
struct tg_comm_ops {
    uint32_t abi;  /* TG_COMM_ABI */
    uint32_t size; /* of this struct */
    const char *name;

    /* Joins the job that the environment describes. */
    tg_status (*open)(void **state, struct tg_error *error);
    /* Leaves it. `failed`: the job has failed, so do not wait for others. */
    void (*close)(void *state, bool failed);
    uint32_t (*rank)(const void *state);
    uint32_t (*ranks)(const void *state);
    /* This rank's number among those of its machine, and how many they are. */
    void (*local)(const void *state, uint32_t *rank, uint32_t *ranks);
    /* One line about it, for reports: "Open MPI v4.1.4". */
    const char *(*about)(const void *state);
    /*
     * Starts to send a message. The head is copied. The payload must stay as it is until a SENT event
     * with the token, which comes for every message with a payload and for no other. It never waits for
     * the receiver, and holds a payload of more than 64 KiB back until the receiver asks for it.
     */
    tg_status (*send)(void *state, uint32_t peer, const void *head, uint32_t head_size,
                      const void *payload, uint64_t payload_size, uint64_t token,
                      struct tg_error *error);
    /* Gets the payload of a message that has arrived; each is got once, or dropped with `to` NULL.
     * RECEIVED follows, also for a dropped one. */
    tg_status (*receive)(void *state, uint64_t message, void *to, uint64_t size, uint64_t token,
                         struct tg_error *error);
    /* Makes progress, and gives the next event; NOTHING if there is none. Never waits. */
    void (*poll)(void *state, struct tg_comm_event *event);
    /* A descriptor that is readable when `poll` has something to do, or -1: the caller polls. */
    int (*fd)(const void *state);
    /*
     * The caller has given this peer up, also before any LOST. From here on the transport neither reads nor
     * writes memory that `send` or `receive` got for its messages, whatever it does, and gives no event of it.
     * NULL: the transport cannot promise that; such memory stays until SENT or RECEIVED.
     */
    void (*forget)(void *state, uint32_t peer);
};

struct tg_comm;

/* How to open it. Zero means the default everywhere. */
struct tg_comm_config {
    const char *transport; /* "local", "mpi"; NULL or "auto": what the environment says */
    double timeout;        /* seconds to wait for the other ranks to come; 0: 60 */
};

/*
 * Joins the other ranks. In a process that neither mpirun nor `taskglass run --ranks` started, it is a
 * job of one rank. UNSUPPORTED: no plug-in for the MPI that started the program; the error names the
 * package. RANK_LOST: a rank did not come.
 */
TG_API tg_status tg_comm_open(const struct tg_comm_config *config, struct tg_comm **comm,
                              struct tg_error *error);
/* The same for `ranks` devices of one process: comms[i] is the end of rank i. Each may be used by
 * another thread. */
TG_API tg_status tg_comm_open_local(uint32_t ranks, struct tg_comm **comms, struct tg_error *error);
/* NULL is allowed. Close the devices that joined before. If tg_comm_open began MPI, this ends it, which waits until
 * all ranks that are there do so; not after a run that failed. */
TG_API void tg_comm_close(struct tg_comm *comm);

/* This process's rank, and how many there are. NULL: 0 and 1. */
TG_API uint32_t tg_comm_rank(const struct tg_comm *comm);
TG_API uint32_t tg_comm_ranks(const struct tg_comm *comm);

/*
 * The device's runs are this rank's part of the job from now on: tg_rank and tg_ranks say so, and calls
 * reach the other ranks. Call it before a module is loaded. A device that has joined nothing is a job of one rank.
 * All ranks start as many runs, in the same order. One whose start fails on a rank has failed on all.
 */
TG_API tg_status tg_device_join(struct tg_device *device, struct tg_comm *comm,
                                struct tg_error *error);

/* "tg_send" for TG_COMM_SEND: the name that the kernel of a call has. NULL for an unknown number. */
TG_API const char *tg_comm_kind_name(uint32_t kind);
/* "sum" for TG_SUM. NULL for an unknown number. */
TG_API const char *tg_reduction_name(uint32_t operation);

#ifdef __cplusplus
}
#endif
#endif
