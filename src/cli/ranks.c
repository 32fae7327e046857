/* SPDX-License-Identifier: Apache-2.0 */
/* One verb, several ranks: which of them the command line means. */
#define _GNU_SOURCE 1
#include "cli/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/ranks_answers.h>

#include "cli/print.h"
#include "cli/recording.h"

static const char **text_at(void *request, size_t member)
{
    return (const char **)(void *)((char *)request + member);
}

/* ── pieces ────────────────────────────────────────────────────────────────────────────── */

tg_status cli_ranks_look(const char *dir, struct tg_ranks **ranks, struct tg_error *error)
{
    bool is;
    *ranks = NULL;
    tg_status status = tg_ranks_look(dir, &is, error);
    return status == TG_OK && is ? tg_ranks_open(dir, ranks, error) : status;
}

tg_status cli_ranks_find(const struct tg_ranks *ranks, uint64_t number, struct tg_ranks_rank *rank,
                         struct tg_error *error)
{
    struct tg_ranks_info info;
    tg_ranks_get_info(ranks, &info);
    error->status = TG_NOT_FOUND;
    if (number >= info.ranks || !tg_ranks_get(ranks, (uint32_t)number, rank)) {
        snprintf(error->text, sizeof error->text,
                 "there is no rank %llu: the run has ranks 0 to %u", (unsigned long long)number,
                 info.ranks - 1);
        return TG_NOT_FOUND;
    }
    if (rank->is_there)
        return tg_ranks_check_folder(ranks, (uint32_t)number, error);
    snprintf(error->text, sizeof error->text,
             "the folder '%s' of rank %u is not here%s%s; copy it, or ask on that machine",
             rank->folder, rank->rank, *rank->host ? ": it ran on " : "", rank->host);
    return TG_NOT_FOUND;
}

/* ── one rank ──────────────────────────────────────────────────────────────────────────── */

/* "run.npz" becomes "run.rank1.npz"; a name without an ending gets ".rank1". NULL if memory ran out. */
static char *output_of(const char *path, uint32_t rank)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    const char *end = dot && dot > name ? dot : name + strlen(name);
    char *made;
    int length = asprintf(&made, "%.*s.rank%u%s", (int)(end - path), path, rank, end);
    return length < 0 ? NULL : made;
}

/* Puts the rank's folder into the request; of all ranks, also its own outputs. */
static bool use_rank(const struct cli_verb *verb, void *request, const struct tg_ranks_rank *rank,
                     bool is_one_of_all, struct cli_ranks_use *use)
{
    bool is_good = (use->dir = strdup(rank->dir)) != NULL;
    for (int i = 0; is_good && is_one_of_all && i < 2; i++) {
        size_t member = verb->ranks->outputs[i];
        const char **path = member ? text_at(request, member) : NULL;
        if (!path || !*path)
            continue;
        is_good = (use->output[i] = output_of(*path, rank->rank)) != NULL;
        *path = use->output[i];
    }
    *text_at(request, verb->member) = use->dir;
    return is_good;
}

void cli_ranks_end(struct cli_ranks_use *use)
{
    free(use->dir);
    free(use->output[0]);
    free(use->output[1]);
}

/* ── all ranks ─────────────────────────────────────────────────────────────────────────── */

/* With --json the object that `together` writes goes into *text. */
static int say_together(const struct cli_verb *verb, struct cli *cli, void *request,
                        const struct tg_ranks *ranks, char **text)
{
    struct tg_json json;
    size_t size;
    if (!verb->ranks->together)
        return CLI_OK;
    if (!cli->has_data)
        return verb->ranks->together(cli, request, ranks, NULL);
    FILE *file = open_memstream(text, &size);
    if (!file)
        return cli_error("out of memory");
    tg_json_start(&json, file);
    int code = verb->ranks->together(cli, request, ranks, &json);
    (void)tg_json_finish(&json);
    return fclose(file) == 0 ? code : cli_error("out of memory");
}

static int worse(int a, int b)
{
    return a > b ? a : b;
}

/* True in the process of one rank. */
static bool ask_all(const struct cli_verb *verb, struct cli *cli, void *request,
                    const struct tg_ranks *ranks, struct cli_ranks_use *use, int *code)
{
    const struct cli_ranks_way *way = verb->ranks;
    struct tg_ranks_rank rank;
    char *text = NULL;
    int together = CLI_OK;
    if (cli->has_data)
        cli_ranks_json_begin();
    if (way->is_first)
        together = say_together(verb, cli, request, ranks, &text);
    if (way->is_first && !cli->has_data)
        cli_print("\n");
    if (cli_ranks_each(ranks, cli->has_data, way->lacks ? way->lacks : cli_ranks_lacks_folder,
                       ranks, &rank, code)) {
        free(text);
        if (use_rank(verb, request, &rank, true, use))
            return true;
        *code = cli_error("out of memory");
        return false;
    }
    if (!way->is_first && way->together && !cli->has_data)
        cli_print("\n");
    if (!way->is_first)
        together = say_together(verb, cli, request, ranks, &text);
    if (cli->has_data)
        cli_ranks_json_end(text ? way->key : NULL, text);
    free(text);
    *code = worse(*code, together);
    return false;
}

static bool ask(const struct cli_verb *verb, struct cli *cli, void *request,
                const struct tg_ranks *ranks, struct cli_ranks_use *use, int *code)
{
    const struct cli_ranks_way *way = verb->ranks;
    const struct cli_count *one = (void *)((char *)request + way->rank);
    const char *why = !one->given && way->refuse ? way->refuse(request) : NULL;
    struct tg_ranks_rank rank;
    struct tg_error error;
    *code = CLI_USAGE;
    if (why) {
        *code = cli_error("%s; choose a rank with --rank R", why);
        return false;
    }
    if (!one->given && way->whole && way->whole(cli, request, ranks, code))
        return false;
    if (!one->given && verb->prints_data && verb->prints_data(request)) {
        *code = cli_error("the data of several ranks do not go into one stream; choose a rank "
                          "with --rank R");
        return false;
    }
    if (!one->given)
        return ask_all(verb, cli, request, ranks, use, code);
    if (cli_ranks_find(ranks, one->number, &rank, &error) != TG_OK)
        *code = cli_recording_fail(NULL, cli->has_data, &error);
    else if (use_rank(verb, request, &rank, false, use))
        return true;
    else
        *code = cli_error("out of memory");
    return false;
}

/* The directory that the command line means, if it can be one of ranks. */
static bool find_directory(const struct cli_verb *verb, void *request, char **newest,
                           const char **dir)
{
    struct tg_error error;
    *newest = NULL;
    *dir = *text_at(request, verb->member);
    if (!*dir && verb->ranks->newest && verb->ranks->newest(newest, &error) == TG_OK)
        *dir = *newest;
    return *dir != NULL; /* if not, the verb itself says what is missing */
}

bool cli_ranks_start(const struct cli_verb *verb, struct cli *cli, void *request,
                     struct cli_ranks_use *use, int *code)
{
    struct tg_ranks *ranks;
    struct tg_error error;
    const char *dir;
    char *newest;
    bool runs = true;
    if (!verb->ranks || !find_directory(verb, request, &newest, &dir))
        return true;
    const struct cli_count *one = (void *)((char *)request + verb->ranks->rank);
    if (cli_ranks_look(dir, &ranks, &error) != TG_OK) {
        *code = cli_recording_fail(NULL, cli->has_data, &error);
        runs = false;
    } else if (ranks) {
        runs = ask(verb, cli, request, ranks, use, code);
    } else if (one->given) {
        *code = cli_error("--rank needs the directory of a run with several ranks; '%s' has no "
                          "ranks.json",
                          dir);
        runs = false;
    }
    tg_ranks_close(ranks);
    free(newest);
    return runs;
}
