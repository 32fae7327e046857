/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This rank's end of a job, as the host's other code uses it.
 *
 *   the run (src/host)                the progress thread (src/comm)              other ranks
 *     port.take ────── calls ────────►  match, move, reduce  ◄──── transport ────►
 *     port.done ◄───── done ──────────
 *     port.failed ◄─── one error ─────  also when another rank fails, dies, or calls something else
 *
 * Between runs the thread goes on to answer others: hello, clock, who is alive.
 */
#ifndef TG_COMM_COMM_H
#define TG_COMM_COMM_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/comm.h>

enum { TG_COMM_SITE = 128 };

/* What a task asks for. The host has checked it: roles, sizes, peer and operation are possible. */
struct tg_comm_call {
    uint64_t task; /* id */
    uint32_t slot; /* names the call for port.done */
    uint32_t kind; /* enum tg_comm_kind */
    int32_t peer, tag, operation;
    uint64_t number;
    uint32_t n_tensors;
    uint32_t role[TG_COMM_TENSORS]; /* enum tg_role */
    struct tg_tensor tensor[TG_COMM_TENSORS];
    char site[TG_COMM_SITE]; /* source line of the call; "" if it is not known */
};

/* How the progress thread reaches the device of a run. It is the only thread that calls these. */
struct tg_comm_port {
    void *context;
    int fd; /* readable if `take` may have a call, while the thread sleeps */
    /* The next call; false if there is none now. */
    bool (*take)(void *context, struct tg_comm_call *call);
    /* The thread is about to wait for `fd`, or is back. False: it need not wait. NULL: nobody wants to know. */
    bool (*sleeps)(void *context, bool sleeps);
    /* True if the device has not heard yet of all calls that are done. NULL if `sleeps` is. */
    bool (*unheard)(void *context);
    /* Device memory in the host's address space; NULL, or a function that returns NULL: copy. */
    void *(*map)(void *context, uint64_t address, uint64_t size);
    tg_status (*copy_in)(void *context, uint64_t address, const void *bytes, uint64_t size,
                         struct tg_error *error);
    tg_status (*copy_out)(void *context, void *bytes, uint64_t address, uint64_t size,
                          struct tg_error *error);
    /* The outputs are in device memory: the task goes on. */
    tg_status (*done)(void *context, uint32_t slot, struct tg_error *error);
    /* The run cannot succeed: it must end with this error. Called at most once. */
    void (*failed)(void *context, const struct tg_error *error);
    /* True once the user has cancelled the run: the others are told even if nobody waits for this one.
     * NULL: never. */
    bool (*is_cancelled)(void *context);
    /* The same while tg_comm_end waits for others; that function's own thread asks it. NULL: never. */
    bool (*is_stopped)(void *context);
};

/* What a run wants of its communication besides that. */
struct tg_comm_run_config {
    const char *log; /* file for comm.jsonl; NULL: none */
};

/* Counts of a run, for run.json. */
struct tg_comm_result {
    uint64_t calls[TG_COMM_KINDS]; /* completed */
    uint64_t bytes_sent, bytes_received;
    uint64_t messages_sent, messages_received;
    uint64_t log_lost; /* lines of the log that could not be written */
    uint64_t waiting;  /* calls that had not completed when the run ended */
    tg_status status;  /* OK, COMM_MISMATCH, RANK_LOST, HANG … as given to port.failed */
    char text[500];
};

/* Begins this rank's next run: from here on calls are taken. Returns at once: it does not wait for
 * other ranks. */
tg_status tg_comm_begin(struct tg_comm *comm, const struct tg_comm_port *port,
                        const struct tg_comm_run_config *config, struct tg_error *error);
/*
 * The run's device has ended, with this status (and the error's text if that is not OK). Others learn
 * it: if it is not OK, their runs fail with it too; if it is, a call of theirs that waits for this rank
 * fails, because nothing can come any more. The port is not used after this returns, and port.failed not
 * after this is called: the result says it.
 *
 * After OK it waits until all ranks have ended the run, so that all give the same verdict: result->status
 * may be another rank's failure, or a send of this rank that nobody received. It waits as long as the host
 * of another rank waits for that one's run, which may compute for minutes. If none does, and no rank makes any
 * progress, it waits for 3 s: ranks that one thread ends one after the other need that. After a failure it
 * waits for a second at most, until the transport has let go of device memory.
 */
void tg_comm_end(struct tg_comm *comm, tg_status status, const char *text,
                 struct tg_comm_result *result);

/* A number that grows while any rank of the run still makes progress: tasks, calls, bytes. The host
 * adds its own progress with tg_comm_note_progress; a run is no hang while it grows. A host that waits for its
 * run calls that at least once a second, so that other ranks know. Any thread. */
uint64_t tg_comm_progress(struct tg_comm *comm);
void tg_comm_note_progress(struct tg_comm *comm, uint64_t finished_tasks);

/*
 * For a run that makes no progress: asks all ranks what they wait for, and says in one line (of at most
 * 500 characters) who waits for whom, and which call is missing or different on which rank. Waits a
 * second at most. Ranks tell their progress once a second without being asked; after this
 * tg_comm_progress has that of the moment, so a limit of less than a second is looked at again.
 */
void tg_comm_explain(struct tg_comm *comm, char text[500]);

/* ── of the whole job ──────────────────────────────────────────────────────────────────── */

/* Gives every rank the bytes of all, in the order of ranks: all->size bytes each, at most 64 KiB. All
 * ranks call it, in the same order, between runs. RANK_LOST if one is gone: the others' are there, and
 * lost[r] is true. Of one that died after it had sent its bytes they are there too; else they are zeros.
 * `lost` has a place for each rank. */
tg_status tg_comm_exchange(struct tg_comm *comm, const void *mine, uint32_t size, void *all,
                           bool *lost, double seconds, struct tg_error *error);

/* How this rank's clock (CLOCK_MONOTONIC) goes beside rank 0's:
 * time of rank 0 = own + offset_ns + drift * (own - at_ns), off by at most error_ns near at_ns. */
struct tg_comm_clock {
    int64_t offset_ns;
    double drift; /* 1e-6: a microsecond each second */
    int64_t at_ns;
    int64_t error_ns;
    uint64_t samples; /* 0: nothing is known */
};
void tg_comm_get_clock(struct tg_comm *comm, struct tg_comm_clock *clock);

/* This rank's number on its machine, and how many there are. */
void tg_comm_local_rank(const struct tg_comm *comm, uint32_t *rank, uint32_t *ranks);
/* "local", or the line of the transport. */
const char *tg_comm_about(const struct tg_comm *comm);
const char *tg_comm_transport(const struct tg_comm *comm);

/* ── a job of several processes over shared memory ─────────────────────────────────────── */

/* Makes the memory and sockets of a job. The launcher starts each rank with the descriptors of
 * tg_local_job_pass open and the text in the environment variable TASKGLASS_LOCAL_RANK, then closes the
 * job. */
struct tg_local_job;
tg_status tg_local_job_create(uint32_t ranks, struct tg_local_job **job, struct tg_error *error);
/* Fills in the descriptors that rank `rank` keeps (they are close-on-exec; the launcher clears that in
 * the child), and the text. Returns how many, at most `room`. */
uint32_t tg_local_job_pass(const struct tg_local_job *job, uint32_t rank, int *fds, uint32_t room,
                           char text[4096]);
void tg_local_job_destroy(struct tg_local_job *job);

#endif
