/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs of the command line share. Each verb has its own file. */
#ifndef TG_CLI_CLI_H
#define TG_CLI_CLI_H

#include <stddef.h>
#include <taskglass/settings.h>
#include <taskglass/status.h>

enum { CLI_OK = 0, CLI_USAGE = 2 }; /* exit codes; tg_status_exit_code returns the others */

struct cli_option;

/* The words that an option accepts, by number; NULL past the last. */
typedef const char *(*cli_choice_fn)(unsigned number);

/* Stores the value of an option (NULL for a flag) in the verb's request. Returns the exit code:
 * CLI_OK, or that of cli_error. cli/options.h has the usual ones. */
typedef int (*cli_take_fn)(void *request, const struct cli_option *option, const char *value);

/* One option of a verb. Every setting is also an option of every verb. */
struct cli_option {
    const char *name;  /* "case": --case */
    const char *value; /* a word for its value, for the help; NULL: a flag */
    const char *help;
    cli_take_fn take;
    size_t member;        /* offset in the request, for the functions of cli/options.h */
    cli_choice_fn choice; /* the words it accepts, which the help lists; NULL: any text */
};

/* The command line, and the settings that its options change. */
struct cli {
    int argc;
    char **argv;
    int first; /* index of the first argument after the verb */
    struct tg_settings *settings;
};

/*
 * A verb. Its request holds what the command line asks for: cli_verb_start allocates request_size zero
 * bytes, and the options and operands fill them. Then the verb runs, unless the command line is wrong
 * or asks for help. At the end `end` is called in every case.
 */
struct cli_verb {
    const char *name;
    int rank;          /* its place in the help: the lowest comes first */
    const char *usage; /* what the help prints after "taskglass NAME" */
    const char *summary;
    const struct cli_option *options;
    size_t n_options;
    size_t request_size;
    /* Stores an argument that is not an option, as cli_take_fn does. */
    int (*operand)(const struct cli_verb *verb, void *request, const char *word);
    const char *noun; /* for cli_take_one: what the argument is, for messages */
    size_t member;    /* for cli_take_one: its offset in the request */
    int (*run)(struct cli *cli, void *request); /* returns the exit code */
    void (*end)(void *request);                 /* frees what the request owns; may be NULL */
    void (*more_help)(void); /* prints a part of the help of its own, on stdout; may be NULL */
};

/* The cli_verb_NAME of every file verb_NAME.c, and a NULL at the end. The build writes this table, so
 * that a new verb needs only its file. */
extern const struct cli_verb *const cli_verbs[];

/* The verbs in the order of their ranks; NULL past the end. */
const struct cli_verb *cli_verb_at(size_t number);
const struct cli_verb *cli_verb_named(const char *name);

/* Reads the command line and runs the verb, or shows its help. Returns the exit code. */
int cli_verb_start(const struct cli_verb *verb, struct cli *cli);

/* These print on stdout and return CLI_OK. */
int cli_help(void);
int cli_help_verb(const struct cli_verb *verb, const struct tg_settings *settings);
int cli_version(void);

/* Prints one line on stderr, "taskglass: …", and returns CLI_USAGE. */
__attribute__((format(printf, 1, 2))) int cli_error(const char *format, ...);
/* For code that prints and has nobody to return an error to: "cannot WHAT: CAUSE", once, with the text of
 * an errno. Whatever the verb returns, the program then exits with CLI_USAGE: what it printed may not be
 * all. */
void cli_fault(const char *what, int cause);
void cli_fault_of(const struct tg_error *error);
bool cli_has_fault(void);
/* True if one of these functions has printed its line. */
bool cli_has_spoken(void);
/* The same for an error of the library, after the name of its status. Returns the status' exit code. */
int cli_fail(const struct tg_error *error);

#endif
