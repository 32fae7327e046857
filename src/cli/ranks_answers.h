/* SPDX-License-Identifier: Apache-2.0 */
/* What verbs say about all ranks together: for `together` of struct cli_ranks_way. */
#ifndef TG_CLI_RANKS_ANSWERS_H
#define TG_CLI_RANKS_ANSWERS_H

#include "cli/ranks.h"

/* verify: whether the messages fit. */
int cli_ranks_verify(struct cli *cli, void *request, const struct tg_ranks *ranks,
                     struct tg_json *json);
/* explain: who waits for whom, and who failed first. */
int cli_ranks_explain(struct cli *cli, void *request, const struct tg_ranks *ranks,
                      struct tg_json *json);
enum cli_rank_answer cli_ranks_explain_lacks(const void *context, const struct tg_ranks_rank *rank,
                                             struct tg_error *why);

#endif
