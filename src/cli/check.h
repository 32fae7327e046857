/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `taskglass check`. */
#ifndef TG_CLI_CHECK_H
#define TG_CLI_CHECK_H

#include <stdbool.h>
#include <taskglass/query.h>
#include <taskglass/json.h>
#include <taskglass/recording.h>
#include <taskglass/replay.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/term.h"

struct check_request { /* what the command line asks for */
    const char *dir;   /* NULL: the newest run */
    struct cli_count rank;
    const char *module;
    const char *against;    /* NULL: compare with the workload's references */
    struct tg_query *query; /* NULL: every record */
    bool has_atol, has_rtol;
    double atol, rtol;
    struct cli_count limit; /* wrong tasks to show */
    bool all, json;
};

struct check_kernel {
    char name[200];
    struct tg_reference_counts is;
};

/* A task without a verdict. */
struct check_failure {
    uint64_t task;
    size_t kernel; /* its number in the tally */
    char *why;
};

/* The first tasks without a verdict, for one kind of reason. */
struct check_failures {
    struct check_failure *list;
    size_t count, room;
};

/* What check_references counts while the tasks come in. */
struct check_tally {
    const struct check_request *request;
    const struct tg_recording *recording;
    struct tg_json json;
    struct cli_progress progress;
    struct tg_reference_counts all;
    uint64_t communication;      /* tasks in which other ranks had a part; not in `all` */
    struct check_kernel *kernel; /* in the order of their first tasks */
    size_t n_kernels, room_kernels, last;
    struct check_failures failed; /* their reference failed */
    struct check_failures left;   /* not recorded in full, damaged, or contradictory */
    bool out_of_memory;
};

/* check_kernels.c: the summary by kernel. */
void check_kernels_print(const struct check_tally *tally);
void check_kernels_put(const struct check_tally *tally, struct tg_json *json);

/* Each returns the exit code. */
int check_references(const struct cli *cli, const struct check_request *request,
                     const struct tg_recording *recording);
int check_against(const struct check_request *request, const struct tg_recording *recording);

#endif
