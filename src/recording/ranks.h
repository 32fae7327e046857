/* SPDX-License-Identifier: Apache-2.0 */
/* Reading ranks.json and comm.jsonl from memory: what opening a directory of ranks stands on, and what
 * the fuzzer calls. */
#ifndef TG_RECORDING_RANKS_H
#define TG_RECORDING_RANKS_H

#include <stddef.h>
#include <taskglass/ranks.h>

#include "base/names.h"

/* ranks.json has some hundred bytes for each rank; a line of comm.jsonl has fewer than a thousand. */
enum { TG_RANKS_MOST = 16 << 20, TG_CALLS_LINE_MOST = 64 << 10 };

/* How the error of a rank in ranks.json begins whose process ended and said nothing itself; src/host/job_complete.c
 * writes them. */
#define TG_RANKS_BY_SIGNAL "its process was ended by signal "
#define TG_RANKS_BY_EXIT "its process ended with exit code "
#define TG_RANKS_BY_LAUNCHER "it did not end after the others, so the launcher killed it"

struct tg_ranks {
    char *dir;
    struct tg_ranks_info info;
    struct tg_ranks_rank *rank; /* info.ranks of them */
};

struct tg_calls {
    struct tg_calls_info info;
    struct tg_call *call; /* in the order of the file */
    size_t room;
    bool has_end;          /* the last line was read */
    uint64_t calls_at_end; /* … and says that there are this many calls */
    struct tg_names sites;
    /* Numbers of calls, sorted: by task; by kind, peer, tag and number, where all kinds of collective
     * calls count as one. */
    uint64_t *by_task, *by_key;
};

/* The number of the call of this task, for tg_calls_get. False if the task is no call. */
bool tg_calls_index(const struct tg_calls *calls, uint64_t task, uint64_t *index);

/* `dir` is only copied, and no file in it is looked at: is_there stays false. */
tg_status tg_ranks_read(const char *dir, const char *text, size_t size, struct tg_ranks **ranks,
                        struct tg_error *error);
/* `name` is the file's, for messages. */
tg_status tg_calls_read(const char *name, const char *text, size_t size, struct tg_calls **calls,
                        struct tg_error *error);

#endif
