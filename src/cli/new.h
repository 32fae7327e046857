/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `taskglass new`: the name, the place of the program, the files. */
#ifndef TG_CLI_NEW_H
#define TG_CLI_NEW_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    NEW_MOST_NAME = 60,
    NEW_FILES = 7,
    NEW_COMMANDS = 5,
};

/* What stands in the files in place of the template's words. */
struct new_words {
    char name[NEW_MOST_NAME + 1];  /* the workload's: a C identifier */
    char upper[NEW_MOST_NAME + 1]; /* the same in capitals, for constants */
    char configure[2 * PATH_MAX];  /* the command that configures the build */
    char program[2 * PATH_MAX];    /* how to call taskglass: a word for a shell */
    char run[4 * PATH_MAX];        /* the command that runs the workload */
};

/* Fills name and upper. Returns the exit code; a name that cannot be used is already reported. */
int new_name_read(const char *typed, struct new_words *words);

/* Fills configure, program and run for the program that runs now: a shell may not find it by its name, and
 * CMake may not find its package. The runtime is NULL for the default. Returns the exit code. */
int new_place_read(const char *runtime, struct new_words *words);

/* The files of the template, by number. */
struct new_file {
    const char *name;
    const char *about;
    const unsigned char *text; /* ends in a 0 */
};
extern const struct new_file new_files[NEW_FILES];

/* Writes every file into the folder, which is empty. If one cannot be written, it removes those that it has
 * written, prints why, and returns the exit code. */
int new_files_write(const char *folder, const struct new_words *words);

#endif
