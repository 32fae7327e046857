/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion: what the user may type next. The scripts in completions/ ask `taskglass complete`, which
 * answers from the tables that the command line itself is read with.
 *
 * Whoever presses Tab has not yet decided to run anything. So completion lists names, but loads a module
 * (for its cases and parameters) only if `taskglass list` would load it too, or this user has run it before.
 */
#ifndef TG_CLI_COMPLETE_H
#define TG_CLI_COMPLETE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/cli.h"

struct cli_completion {
    char *const *words; /* what stands before the word to complete, without "taskglass" */
    int n_words;
    const char *word; /* to complete; may be empty */
    /* Gets each candidate: the whole word, and a line about it, which may be empty. */
    void (*offer)(void *context, const char *candidate, const char *about);
    void *context;

    /* Set while candidates are collected. */
    const char *typed;            /* the end of `word` that is completed: "sm" of "--case=sm" */
    struct tg_settings *settings; /* with those of the command line that say where workloads are */
    const char *workload;         /* on the command line; NULL: none */
    const char *case_name;        /* likewise */
};

/* Offers every candidate. An error of the library means that there is nothing to offer. */
void cli_complete(struct cli_completion *completion);

/* For the parts: offers the word if it begins with what was typed. Words that would act on a terminal are
 * left out. `about` may be NULL. */
void cli_complete_offer(const struct cli_completion *completion, const char *word,
                        const char *about);

/* complete_values.c: what an option or an operand can be. */
void cli_complete_value(struct cli_completion *completion, enum cli_expects expects,
                        cli_choice_fn choice);

/* complete_files.c. Names of folders end with a slash. */
enum cli_complete_files {
    CLI_ALL_FILES,
    CLI_ONLY_FOLDERS,
    CLI_OTHER_FOLDERS, /* but outputs/ */
    CLI_ONLY_MODULES   /* and folders */
};
void cli_complete_files(const struct cli_completion *completion, enum cli_complete_files which);
/* The runs under outputs/, and other folders. */
void cli_complete_runs(const struct cli_completion *completion);

/* complete_line.c: a command line as bash has it, up to the cursor. It is split and unquoted, but nothing in
 * it is expanded. */
struct cli_line {
    char **words; /* without quotes */
    int n_words;  /* at least 1: the last is the one to complete */
    char quote;   /* the quote that the cursor is in; 0: none */
    size_t kept;  /* bytes of the last word before the part that readline replaces */
    bool
        is_open; /* the last word has an expansion, or comes after a redirection: leave it to the shell */
};
/* `breaks` are the characters that end a word for readline (COMP_WORDBREAKS). False if memory ran out. */
bool cli_line_split(const char *text, const char *breaks, struct cli_line *line);
void cli_line_free(struct cli_line *line);
/* Writes the candidate for the last word as the shell needs it there. False if it cannot be written in the
 * quotes that are open, or does not fit. */
bool cli_line_quote(const struct cli_line *line, const char *candidate, char *text, size_t room);

#endif
