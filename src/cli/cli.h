/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs of the command line share. Each verb has its own file. */
#ifndef TG_CLI_CLI_H
#define TG_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <taskglass/settings.h>
#include <taskglass/status.h>

enum { CLI_OK = 0, CLI_USAGE = 2 }; /* exit codes; tg_status_exit_code returns the others */

struct cli_option;
struct cli_ranks_way;

/* The words that an option accepts, by number; NULL past the last. */
typedef const char *(*cli_choice_fn)(unsigned number);

/* Stores the value of an option (NULL for a flag) in the verb's request. Returns the exit code:
 * CLI_OK, or that of cli_error. cli/options.h has the usual ones. */
typedef int (*cli_take_fn)(void *request, const struct cli_option *option, const char *value);

/* What the value of an option, or an operand, is. Completion offers what there is of it. */
enum cli_expects {
    CLI_ANY,    /* a text that nobody but the user knows */
    CLI_WORDS,  /* one of the words of `choice`, or several of them with commas */
    CLI_FILE,   /* a file, or a folder */
    CLI_FOLDER, /* a folder */
    CLI_RUN,    /* the directory of a run */
    CLI_WORKLOAD,
    CLI_CASE,      /* a case of the workload on the same command line */
    CLI_PARAMETER, /* KEY=VALUE: a parameter of that case */
    CLI_VERB       /* the name of a verb */
};

/* One option of a verb. cli/options.h has macros for the usual ones. */
struct cli_option {
    const char *name;  /* "case": --case */
    const char *value; /* a word for its value, for the help; NULL: a flag */
    const char *help;
    cli_take_fn take;
    size_t member;        /* offset in the request, for the functions of cli/options.h */
    cli_choice_fn choice; /* the words it accepts, which the help lists; NULL: any text */
    const char *range;    /* "from 0 to 9", for the help; NULL: none */
    const char *fallback; /* the default, for the help; NULL: nothing, or not set */
    char letter;          /* 'o': -o is the same; 0: there is none */
    enum cli_expects expects;
    bool is_data;   /* what it prints on stdout is for programs, so --quiet does not hide it */
    bool is_hidden; /* an older name, which scripts may use: accepted, but not shown */
};

/* What the user wants to do with a verb: the sections of the help. */
enum cli_section { CLI_KEEP, CLI_DO, CLI_LOOK, CLI_ANSWER, CLI_SECTIONS };

/* A command that shows how a verb is used. */
struct cli_example {
    const char *command; /* what follows "taskglass VERB"; NULL ends the list */
    const char *what;    /* what it does, in one sentence */
};

/* The command line, and the settings that its options change. */
struct cli {
    int argc;
    char **argv;
    int first; /* index of the first argument after the verb */
    struct tg_settings *settings;
    bool is_quiet, is_verbose;
    bool has_data; /* an option with is_data was given */
};

/*
 * A verb. Its request holds what the command line asks for: cli_verb_start allocates request_size zero
 * bytes, and the options and operands fill them. Then the verb runs, unless the command line is wrong
 * or asks for help. At the end `end` is called in every case.
 */
struct cli_verb {
    const char *name;
    int rank;                 /* its place in the help: the lowest comes first */
    enum cli_section section; /* the section of the help in which it stands */
    bool is_hidden;           /* for programs: not in the help */
    const char *usage;        /* what the help prints after "taskglass NAME" */
    const char *summary;
    const struct cli_option *options;
    size_t n_options;
    /* The settings that the verb uses, and so takes as options: their names with spaces between them;
     * CLI_ALL_SETTINGS; NULL: none. Variables of the environment are accepted by all verbs. */
    const char *settings;
    size_t request_size;
    /* Stores an argument that is not an option, as cli_take_fn does. */
    int (*operand)(const struct cli_verb *verb, void *request, const char *word);
    const char *noun;         /* for cli_take_one: what the argument is, for messages */
    size_t member;            /* for cli_take_one: its offset in the request */
    enum cli_expects expects; /* what its operands are */
    cli_choice_fn choice; /* the words that the first operand may be; NULL: it is like the others */
    int (*run)(struct cli *cli, void *request); /* returns the exit code */
    /* True if the request makes it print data on stdout, which --quiet leaves alone; may be NULL. */
    bool (*prints_data)(const void *request);
    void (*end)(void *request); /* frees what the request owns; may be NULL */
    /* For a verb that reads the directory of a run, `member`: how it takes one of several ranks
     * (cli/ranks.h). NULL: it does not. */
    const struct cli_ranks_way *ranks;
    void (*more_help)(void); /* prints a part of the help of its own, on stdout; may be NULL */
    const struct cli_example *examples; /* may be NULL */
};

#define CLI_ALL_SETTINGS "*"

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
int cli_version(bool json);

/* Prints one line on stderr, "taskglass: …", and returns CLI_USAGE. */
__attribute__((format(printf, 1, 2))) int cli_error(const char *format, ...);
/* For code that prints and has nobody to return an error to: "cannot WHAT: CAUSE", once, with the text of
 * an errno. Whatever the verb returns, the program then exits with CLI_USAGE: what it printed may not be
 * all. */
void cli_fault(const char *what, int cause);
void cli_fault_of(const struct tg_error *error);
bool cli_has_fault(void);
/* Puts a text in front of every later message, such as "rank 1: ". */
void cli_error_set_subject(const char *subject);
/* True if one of these functions has printed its line. */
bool cli_has_spoken(void);
/* The same for an error of the library, after the name of its status. Returns the status' exit code. */
int cli_fail(const struct tg_error *error);

#endif
