/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading what a run of several ranks left: one directory with ranks.json and a folder for each rank,
 * which is a run's directory like any other, and in it comm.jsonl with the rank's communication.
 *
 *     struct tg_ranks *ranks;
 *     struct tg_ranks_rank rank;
 *     if (tg_ranks_open("outputs/mlp_20260101_120000", &ranks, &error) == TG_OK) {
 *         for (uint32_t i = 0; tg_ranks_get(ranks, i, &rank); i++)
 *             if (rank.is_there)
 *                 … rank.dir is a path for tg_recording_open, tg_calls_open and so on …
 *         tg_ranks_close(ranks);
 *     }
 *
 * The files are not trusted: they are checked before use, no number in them decides how much is
 * allocated, and texts are clean (text.h). What was opened is read-only; several threads may use it.
 */
#ifndef TASKGLASS_RANKS_H
#define TASKGLASS_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/api.h>
#include <taskglass/status.h>
#include <taskglass/wire/comm.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The file that makes a directory one of ranks, and a rank's file with its calls. */
#define TG_RANKS_FILE "ranks.json"
#define TG_CALLS_FILE "comm.jsonl"

/* ── the directory ─────────────────────────────────────────────────────────────────────── */

struct tg_ranks;

/* How a rank's clock (CLOCK_MONOTONIC of its machine) goes beside rank 0's. */
struct tg_ranks_clock {
    bool is_known;
    int64_t offset_ns, at_ns;
    double drift;     /* finite, and less than 1 either way */
    int64_t error_ns; /* a time of rank 0 that is computed near at_ns is off by at most this */
    uint64_t samples;
};

/* The whole run. */
struct tg_ranks_info {
    const char *dir; /* as given; not clean, because a program opens it */
    char workload[64], case_name[64];
    char transport[32], about[128]; /* "local", "shared memory" */
    uint32_t ranks;                 /* from 1 to TG_COMM_MAX_RANKS */
    bool is_running;                /* the file was written at the start and not again at the end */
    bool has_status;                /* it has the status that the run ended with */
    tg_status status;
};

/* One rank. */
struct tg_ranks_rank {
    uint32_t rank;
    const char *dir; /* of its run; lives as long as the struct tg_ranks */
    bool is_there;   /* the folder can be opened; else it may be on another machine's disk */
    bool is_listed;  /* ranks.json has this rank; else only its folder is known */
    char folder[64], host[128];
    uint64_t pid;
    uint32_t local_rank;
    bool is_running, has_status; /* as in struct tg_ranks_info */
    tg_status status;
    char error[500]; /* one line; "" if there is none */
    /* "ended_ns", which the file may have: when its run ended or failed, on its own CLOCK_MONOTONIC. It
     * tells which rank failed first. */
    bool has_end;
    int64_t ended_ns;
    struct tg_ranks_clock clock;
};

/* Sets *is if the directory has a ranks.json, whatever is in it. IO_ERROR, NO_MEMORY. */
TG_API tg_status tg_ranks_look(const char *dir, bool *is, struct tg_error *error);

/* `dir`: the directory with ranks.json. NOT_FOUND: there is none; BAD_ARGUMENT: it is too broken to read
 * (says where). The caller closes *ranks. */
TG_API tg_status tg_ranks_open(const char *dir, struct tg_ranks **ranks, struct tg_error *error);
TG_API void tg_ranks_close(struct tg_ranks *ranks);
TG_API void tg_ranks_get_info(const struct tg_ranks *ranks, struct tg_ranks_info *info);
/* False past the last rank. */
TG_API bool tg_ranks_get(const struct tg_ranks *ranks, uint32_t number, struct tg_ranks_rank *rank);

/* The time of rank 0 at which the rank's own clock had this time; cut to what an int64_t holds. A clock
 * that is not known gives the time back as it is. */
TG_API int64_t tg_ranks_time(const struct tg_ranks_clock *clock, int64_t own_ns);

/* ── the calls of one rank ─────────────────────────────────────────────────────────────── */

struct tg_calls;

/* How far a call is. */
enum tg_call_state { TG_CALL_DONE = 0, TG_CALL_WAITS = 1, TG_CALL_FAILED = 2, TG_CALL_STATES = 3 };

/* A time that is not known. */
#define TG_CALL_NEVER INT64_MIN

/* One call, as a line of comm.jsonl has it. Times are CLOCK_MONOTONIC of the rank. */
struct tg_call {
    uint64_t task;
    uint32_t kind;                /* enum tg_comm_kind */
    int32_t peer, tag, operation; /* TG_COMM_NONE if the call has none; else checked */
    uint64_t number;              /* see wire/comm.h */
    uint32_t dtype;               /* enum tg_dtype; TG_DTYPE_NONE if the file's is unknown */
    uint64_t elements, bytes;     /* of its first tensor */
    uint32_t state;               /* enum tg_call_state */
    int64_t posted_ns, matched_ns, done_ns; /* or TG_CALL_NEVER */
    const char *site; /* source line, clean; "" if it is not known; lives as long as the calls */
};

/* What the file says besides. */
struct tg_calls_info {
    uint32_t rank, ranks;
    uint64_t calls;
    /* Lines that are left out: torn, no call that this rank can have made, or one that another line has made
     * already. */
    uint64_t damaged;
    /* The file has its last line, and all calls that it tells of. Else the rank may have made more calls: it was
     * killed, its disk failed, or it goes on. */
    bool is_complete;
};

/* The calls of the run in this directory. NOT_FOUND: it has no comm.jsonl; BAD_ARGUMENT: its first line
 * is not that of such a file. IO_ERROR, NO_MEMORY. The caller closes *calls. */
TG_API tg_status tg_calls_open(const char *dir, struct tg_calls **calls, struct tg_error *error);
TG_API void tg_calls_close(struct tg_calls *calls);
TG_API void tg_calls_get_info(const struct tg_calls *calls, struct tg_calls_info *info);
/* In the order of the file; false past the last. */
TG_API bool tg_calls_get(const struct tg_calls *calls, uint64_t index, struct tg_call *call);

/* Find a call by its task. False if there is none; `call` may be NULL. */
TG_API bool tg_calls_of_task(const struct tg_calls *calls, uint64_t task, struct tg_call *call);
/* The send or receive with this peer, tag and number. */
TG_API bool tg_calls_find(const struct tg_calls *calls, uint32_t kind, int32_t peer, int32_t tag,
                          uint64_t number, struct tg_call *call);
/* The call of all ranks with this number, whatever its kind. */
TG_API bool tg_calls_collective(const struct tg_calls *calls, uint64_t number,
                                struct tg_call *call);
/* The call on the other side of a send or receive of rank `rank`: looks in the calls of rank call->peer. */
TG_API bool tg_calls_other_side(const struct tg_calls *peers, uint32_t rank,
                                const struct tg_call *call, struct tg_call *other);

/* True for a send or receive; the other kinds are calls of all ranks. */
static inline bool tg_call_is_message(uint32_t kind)
{
    return kind == TG_COMM_SEND || kind == TG_COMM_RECV;
}
/* "done", "waits", "failed"; "unknown" for a number that is none. */
TG_API const char *tg_call_state_name(unsigned state);

#ifdef __cplusplus
}
#endif
#endif
