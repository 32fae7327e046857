/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The questions that the page can ask, and the commands that they become. A command is made of words of the tables in
 * questions.c, of the path of a run that the workbench names, and of values that stand behind an option's '='; no
 * shell reads it. An option that could load or run something (--module, --device-program) is in no table.
 */
#ifndef TG_SERVE_QUESTIONS_H
#define TG_SERVE_QUESTIONS_H

#include "serve/query.h"
#include <stdio.h>

enum { SERVE_MOST_WORDS = 24, SERVE_MOST_COMMAND = 16384 };

/* A command. It must not be moved: argv points into `room`. */
struct serve_command {
    char *argv[SERVE_MOST_WORDS + 1]; /* "taskglass", "find", … and NULL at the end */
    unsigned n;
    unsigned limit; /* rows of each table of the answer, at most; 0: all of them are in it */
    char text[SERVE_MOST_COMMAND]; /* what a user pastes into a terminal */
    char room[SERVE_MOST_COMMAND];
    size_t used;
};

/* The path of a run; NULL: there is no such run. */
typedef const char *(*serve_path_fn)(void *context, const char *key);

/* Makes the command of "verb=find&what=nan&run=KEY&kernel=add". BAD_ARGUMENT: the question is not in the table, or a value
 * is not of its form; NOT_FOUND: there is no such run. */
tg_status serve_question_make(const struct serve_query *query, serve_path_fn path, void *context,
                              struct serve_command *command, struct tg_error *error);

/* Writes the table as a JSON array. Returns the writer's status. */
tg_status serve_questions_write(FILE *file);

#endif
