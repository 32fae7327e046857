/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `taskglass find`. */
#ifndef TG_CLI_FIND_H
#define TG_CLI_FIND_H

#include <stdbool.h>
#include <taskglass/answers.h>

#include "cli/diff_words.h"
#include "cli/options.h"

struct cli_find {
    const char *what, *dir; /* dir NULL: the newest run */
    const char *module;     /* NULL: the one in run.json */
    enum tg_find_kind find_kind;
    struct tg_query *query; /* NULL: every record */
    struct cli_count limit;
    bool all, json;
    const struct tg_settings *settings;
    struct tg_recording *recording;
    struct tg_find *find;
    struct tg_find_answer *answer;
    struct tg_find_info info;
    struct tg_find_answer_info is;
};

/* These print on stdout. */
void cli_find_print(const struct cli_find *find);
void cli_find_print_json(const struct cli_find *find);

#endif
