/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a search means: which findings the filters select, what the references of the kernels say of them,
 * and the result in words.
 *
 *   find_answer.c      the public functions, and the result
 *   find_reference.c   the references' say on outputs that are only possibly unwritten
 *   find_note.c        what was left out, and what to type to know more
 */
#ifndef TG_ANALYSIS_FIND_ANSWER_H
#define TG_ANALYSIS_FIND_ANSWER_H

#include <taskglass/answers.h>

#include "analysis/find.h"
#include "analysis/stomp.h"

/* What the reference of a kernel says of an output that may be unwritten. */
struct tg_find_verdict {
    enum { TG_FIND_OPEN, TG_FIND_CLEARED, TG_FIND_ACCUSED } is;
    uint64_t count, first; /* ACCUSED: elements that differ from the reference */
};

struct tg_find_answer {
    struct tg_find *find;
    const struct tg_query *query;
    struct tg_find_info info;        /* looked_at and not_stored are those of the answer */
    struct tg_find_verdict *verdict; /* one for each finding of UNWRITTEN; otherwise NULL */
    struct tg_stomp *stomp;          /* of STOMP, if there are findings; otherwise NULL */
    bool has_records;                /* the recording is not empty */
    uint64_t found, proved, possible, passed_on;
    char unknown[400];                          /* why nothing could be judged; "": something was */
    char advice[2100];                          /* UNWRITTEN: why not everything is proved; or "" */
    char no_reference[sizeof(struct tg_error)]; /* why no reference was asked; or "" */
};

/* Lets the references judge outputs that are possibly unwritten; answer->verdict has its room. CANCELLED and
 * NO_MEMORY; any other failure means that no reference could be asked. */
tg_status tg_find_ask_references(struct tg_find_answer *answer,
                                 const struct tg_reference_config *config, struct tg_error *error);

/* Sets `unknown` if nothing was searched: "nothing found" would say that something was. */
void tg_find_see_what_was_searched(struct tg_find_answer *answer);
/* Sets `advice`. */
void tg_find_advise(struct tg_find_answer *answer);

#endif
