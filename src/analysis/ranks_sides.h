/* SPDX-License-Identifier: Apache-2.0 */
/* The recordings of all ranks, open at the same time, and the records of their calls. */
#ifndef TG_ANALYSIS_RANKS_SIDES_H
#define TG_ANALYSIS_RANKS_SIDES_H

#include <taskglass/ranks_answers.h>
#include <taskglass/recording.h>

/* The records of one call: TG_NONE if there is none. */
struct tg_rank_call {
    uint64_t in;  /* what the task was given: a tensor before it was dispatched */
    uint64_t out; /* what it left: a tensor after it completed */
};

/* One rank. If its folder has the files of another rank, or of another run, nothing of it is open, and
 * rank.is_there is false. */
struct tg_rank_side {
    struct tg_ranks_rank rank;
    struct tg_recording *recording; /* NULL: there is none, or it cannot be read */
    struct tg_calls *calls;         /* NULL likewise */
    uint64_t n_calls, damaged;
    struct tg_rank_call *call; /* of each call; NULL without a recording */
    struct tg_error why,
        why_no_calls; /* why recording or calls are NULL; status OK: they are not */
};

struct tg_rank_sides {
    uint32_t n;
    struct tg_rank_side *side;
};

/* Opens what there is. `recordings` false: only the calls. Close them in every case. */
tg_status tg_rank_sides_open(const struct tg_ranks *ranks, bool recordings,
                             struct tg_rank_sides *sides, struct tg_error *error);
void tg_rank_sides_close(struct tg_rank_sides *sides);
/* Asks every recording whether its files are still what they were. */
tg_status tg_rank_sides_check(const struct tg_rank_sides *sides, struct tg_error *error);

/* True if the rank has no comm.jsonl because it called nothing, as its run.json says. */
bool tg_rank_made_no_calls(const struct tg_rank_side *side);

/* True if the recording says nothing that it lacks: then the n-th record that is selected is the n-th that was made. */
bool tg_recording_is_whole(const struct tg_recording *recording);

/* "tg_recv", "sum"; "?" for a number that is none. */
const char *tg_call_name(uint32_t kind);
const char *tg_operation_name(int32_t operation);

enum { TG_CALL_WORDS = 320 };
/* "tg_recv from rank 1, tag 5 (number 2) of 1024 float32 at orchestrate.c:30": a call in words. */
const char *tg_call_describe(const struct tg_call *call, char words[TG_CALL_WORDS]);
/* "12", "1:12": a task as --task takes it. */
const char *tg_task_words(uint64_t task, char words[48]);

#endif
