/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `taskglass find`. */
#ifndef TG_CLI_FIND_H
#define TG_CLI_FIND_H

#include <stdbool.h>
#include <taskglass/query.h>

#include "cli/diff_words.h"
#include "cli/options.h"

/* What the reference of a kernel says of an output that may be unwritten. */
struct cli_find_verdict {
    enum { CLI_FIND_OPEN, CLI_FIND_CLEARED, CLI_FIND_ACCUSED } is;
    uint64_t count, first; /* ACCUSED: elements that differ from the reference */
};

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
    struct tg_find_info info;
    struct cli_find_verdict *verdict; /* of each finding of UNWRITTEN; otherwise NULL */
    bool has_records;                 /* the recording is not empty */
    char unknown[400];                /* why nothing could be judged; "": something was */
    uint64_t found;                   /* findings that the filters select */
    /* of UNWRITTEN: those that accuse a task, those that may, and those that a task was given */
    uint64_t proved, possible, passed_on;
};

/* True if nothing was left out: there are no notes. */
bool cli_find_is_whole(const struct cli_find *find);
/* The exit code for what was found: 0 nothing (or facts that accuse nobody), 1 something, 2 only what
 * is possible, or nothing was judged. The same in words: "nothing found", with "in what was searched" if
 * something was left out; "listed"; "found"; "possible"; "not known". */
int cli_find_exit_code(const struct cli_find *find);
const char *cli_find_result(const struct cli_find *find);
/* Why the result is "possible", and what to type to know more. */
void cli_find_advice(const struct cli_find *find, char *text, size_t room);

/* What was not searched, and why: note `number`, from 0; NULL past the last. */
const char *cli_find_note(const struct cli_find *find, unsigned number, struct cli_words *words);

/* Lets the references of the kernels judge outputs that are possibly unwritten. False if memory ran
 * out. */
bool cli_find_ask_references(struct cli_find *find);

/* Moves *number to the next finding, from *number on, that the filters select. False past the last. */
bool cli_find_next(const struct cli_find *find, uint64_t *number, struct tg_find_finding *finding,
                   struct tg_entry *entry);

/* These print on stdout. */
void cli_find_print(const struct cli_find *find);
void cli_find_print_json(const struct cli_find *find);

#endif
