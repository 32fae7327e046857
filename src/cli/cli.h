/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs of the command line share. One file is one verb. */
#ifndef TG_CLI_CLI_H
#define TG_CLI_CLI_H

#include <stddef.h>
#include <taskglass/settings.h>
#include <taskglass/status.h>

enum { CLI_OK = 0, CLI_USAGE = 2 }; /* exit codes; the others come with a tg_status */

struct cli_option;

/* The words that something is one of, by number; NULL past the last. */
typedef const char *(*cli_choice_fn)(unsigned number);

/* Takes the value of an option (NULL for a flag) into the verb's request. Gives the exit code: CLI_OK,
 * or what cli_error gives. The usual ones are in cli/options.h. */
typedef int (*cli_take_fn)(void *request, const struct cli_option *option, const char *value);

/* One option of a verb's own. Every setting is an option besides. */
struct cli_option {
    const char *name;  /* "case": --case */
    const char *value; /* what it takes, for the help; NULL: a flag */
    const char *help;
    cli_take_fn take;
    size_t member;        /* where in the request the usual ones put the value */
    cli_choice_fn choice; /* the words it takes, which the help lists; NULL: others */
};

/* The command line as it came, and the settings that its options change. */
struct cli {
    int argc;
    char **argv;
    int first; /* the first argument behind the verb */
    struct tg_settings *settings;
};

/*
 * A verb. Its request is what the command line asks for: memory of the size that the verb says, zero
 * at first, which its options and operands are taken into. Then the verb runs, unless the command
 * line made no sense or wanted the help, and at last the request ends, whatever came of it.
 */
struct cli_verb {
    const char *name;
    int rank;          /* its place in the help: lower ones first */
    const char *usage; /* behind "taskglass run" */
    const char *summary;
    const struct cli_option *options;
    size_t n_options;
    size_t request_size;
    /* Takes a word that is no option, as cli_take_fn does. */
    int (*operand)(const struct cli_verb *verb, void *request, const char *word);
    const char *noun;                           /* for cli_take_one: what the word names */
    size_t member;                              /* for cli_take_one: where it goes */
    int (*run)(struct cli *cli, void *request); /* gives the exit code */
    void (*end)(void *request);                 /* frees what the request owns; may be NULL */
};

/* Every cli_verb_NAME of a file verb_NAME.c, and a NULL at the end. The build writes this table, so
 * that a new verb is a new file and nothing else. */
extern const struct cli_verb *const cli_verbs[];

/* In the order of their ranks; NULL past the end. */
const struct cli_verb *cli_verb_at(size_t number);
const struct cli_verb *cli_verb_named(const char *name);

/* Reads the command line and runs the verb, or shows its help. Gives the exit code. */
int cli_verb_start(const struct cli_verb *verb, struct cli *cli);

/* On stdout. */
int cli_help(void);
int cli_help_verb(const struct cli_verb *verb, const struct tg_settings *settings);
int cli_version(void);

/* One line on stderr: "taskglass: …". Gives CLI_USAGE. */
__attribute__((format(printf, 1, 2))) int cli_error(const char *format, ...);
/* The same for what the library says, with the status' name in front. Gives its exit code. */
int cli_fail(const struct tg_error *error);

#endif
