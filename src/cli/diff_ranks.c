/* SPDX-License-Identifier: Apache-2.0 */
/* `taskglass diff` of runs with several ranks: rank by rank, and then where a difference began. */
#define _GNU_SOURCE 1
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/diff.h"
#include "cli/format.h"
#include "cli/print.h"
#include "cli/ranks.h"
#include "cli/recording.h"
#include "cli/term.h"

enum { DIFFERS = 1 };

/* What was typed, opened: NULL for a directory that has not several ranks. */
struct sides {
    struct tg_ranks *ranks[2];
};

/* ── one rank of both ──────────────────────────────────────────────────────────────────── */

/* Keeps a copy of the path until the end; NULL if memory ran out. */
static const char *keep(struct cli_diff *diff, const char *path)
{
    char **own = realloc(diff->own, (diff->n_own + 1) * sizeof *own);
    char *copy = own ? strdup(path) : NULL;
    diff->own = own ? own : diff->own;
    if (copy)
        diff->own[diff->n_own++] = copy;
    return copy;
}

static tg_status use_folder(struct cli_diff *diff, const struct tg_ranks *ranks, uint64_t number,
                            const char **dir, struct tg_error *error)
{
    struct tg_ranks_rank rank;
    tg_status status = cli_ranks_find(ranks, number, &rank, error);
    if (status != TG_OK)
        return status;
    *dir = keep(diff, rank.dir);
    if (*dir)
        return TG_OK;
    *error = (struct tg_error){TG_NO_MEMORY, "out of memory"};
    return TG_NO_MEMORY;
}

/* Good runs with several ranks give the noise of the same rank. */
static tg_status use_noise(struct cli_diff *diff, uint64_t number, struct tg_error *error)
{
    tg_status status = TG_OK;
    for (size_t i = 0; status == TG_OK && i < diff->n_noise; i++) {
        struct tg_ranks *ranks;
        status = cli_ranks_look(diff->noise[i], &ranks, error);
        if (status == TG_OK && ranks)
            status = use_folder(diff, ranks, number, &diff->noise[i], error);
        tg_ranks_close(ranks);
    }
    return status;
}

static int compare_rank(struct cli_diff *diff, const struct sides *sides, uint64_t number)
{
    struct tg_error error;
    tg_status status = TG_OK;
    for (int i = 0; status == TG_OK && i < 2; i++)
        if (sides->ranks[i])
            status = use_folder(diff, sides->ranks[i], number, &diff->dir[i], &error);
    if (status == TG_OK)
        status = use_noise(diff, number, &error);
    return status == TG_OK ? cli_diff_run(diff) : cli_recording_fail(NULL, diff->json, &error);
}

/* ── where it began ────────────────────────────────────────────────────────────────────── */

static const char *word_of(const struct tg_ranks_difference *d)
{
    if (d->verdict == TG_VERDICT_DIFFERS)
        return "differs";
    return d->verdict == TG_VERDICT_UNKNOWN ? "not known" : "equal";
}

static void print_list(const char *label, const struct tg_ranks_cause *cause, uint32_t n,
                       uint32_t more)
{
    for (uint32_t i = 0; i < n; i++)
        cli_print("  %-9s%s\n", i == 0 ? label : "", cause[i].text);
    if (more > 0)
        cli_print("  %-9sand %" PRIu32 " more\n", "", more);
}

static void print_difference(const struct tg_ranks_difference *d)
{
    uint64_t all = d->differ + d->equal + d->unknown;
    cli_print("%sall ranks%s: %s: %" PRIu64 " of %" PRIu64 " ranks differ, %" PRIu64 " equal",
              cli_color(stdout, CLI_BOLD), cli_color(stdout, CLI_PLAIN), word_of(d), d->differ, all,
              d->equal);
    if (d->unknown > 0)
        cli_print(", %" PRIu64 " not known", d->unknown);
    cli_print("\n");
    print_list("began", d->cause, d->n_causes > 0 ? 1 : 0, 0);
    if (d->n_causes > 1)
        print_list("also", d->cause + 1, d->n_causes - 1, d->more_causes);
    print_list("reached", d->reached, d->n_reached, d->more_reached);
    for (uint32_t i = 0; i < d->n_unknown; i++)
        cli_print("  %-9s%s\n", i == 0 ? "unknown" : "", d->missing[i]);
}

static void put_list(struct tg_json *json, const char *key, const struct tg_ranks_cause *cause,
                     uint32_t n)
{
    tg_json_key(json, key);
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < n; i++) {
        tg_json_begin_line_object(json);
        tg_json_put_uint(json, "rank", cause[i].rank);
        cli_json_task_id(json, "task_a", cause[i].task_a != TG_TASK_NONE, cause[i].task_a);
        cli_json_task_id(json, "task_b", cause[i].task_b != TG_TASK_NONE, cause[i].task_b);
        tg_json_put_string(json, "kernel", cause[i].kernel);
        tg_json_put_string(json, "guilt", tg_guilt_name(cause[i].guilt));
        tg_json_key(json, "from");
        if (cause[i].has_from)
            tg_json_uint(json, cause[i].from);
        else
            tg_json_null(json);
        tg_json_put_string(json, "text", cause[i].text);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

static void put_difference(struct tg_json *json, const struct tg_ranks_difference *d)
{
    tg_json_begin_object(json);
    tg_json_put_string(json, "result", word_of(d));
    tg_json_put_uint(json, "ranks_that_differ", d->differ);
    tg_json_put_uint(json, "equal_ranks", d->equal);
    tg_json_put_uint(json, "unknown_ranks", d->unknown);
    put_list(json, "causes", d->cause, d->n_causes);
    tg_json_put_uint(json, "more_causes", d->more_causes);
    put_list(json, "reached", d->reached, d->n_reached);
    tg_json_put_uint(json, "more_reached", d->more_reached);
    tg_json_key(json, "unknown");
    tg_json_begin_array(json);
    for (uint32_t i = 0; i < d->n_unknown; i++)
        tg_json_string(json, d->missing[i]);
    tg_json_end_array(json);
    tg_json_end_object(json);
}

/* The object for --json; NULL if memory ran out. */
static char *write_difference(const struct tg_ranks_difference *d)
{
    struct tg_json json;
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file)
        return NULL;
    tg_json_start(&json, file);
    put_difference(&json, d);
    (void)tg_json_finish(&json);
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}

/* The ranks have said what differs; this says where it began. */
static int say_where(struct cli_diff *diff, const struct sides *sides)
{
    struct tg_ranks_difference *d = malloc(sizeof *d);
    struct tg_diff_options options;
    struct tg_error error;
    char *text = NULL;
    if (!d)
        return cli_error("out of memory");
    cli_diff_get_options(diff, &options);
    cli_progress_init(&diff->progress, "diff", NULL);
    tg_status status = tg_ranks_diff(sides->ranks[0], sides->ranks[1], &options, d, &error);
    cli_progress_erase(&diff->progress);
    if (status == TG_OK && diff->json)
        text = write_difference(d);
    else if (status == TG_OK) {
        cli_print("\n");
        print_difference(d);
    }
    if (diff->json)
        cli_ranks_json_end(text ? "together" : NULL, text);
    int code = status != TG_OK                    ? cli_fail(&error)
               : diff->json && !text              ? cli_error("out of memory")
               : d->verdict == TG_VERDICT_DIFFERS ? DIFFERS
               : d->verdict == TG_VERDICT_UNKNOWN ? CLI_USAGE
                                                  : CLI_OK;
    free(text);
    free(d);
    return code;
}

/* ── all ranks ─────────────────────────────────────────────────────────────────────────── */

static enum cli_rank_answer lacks(const void *context, const struct tg_ranks_rank *rank,
                                  struct tg_error *why)
{
    const struct sides *sides = context;
    struct tg_ranks_rank folder;
    char text[sizeof why->text];
    for (int i = 0; i < 2; i++)
        if (cli_ranks_find(sides->ranks[i], rank->rank, &folder, why) != TG_OK) {
            snprintf(text, sizeof text, "in %c %.480s", i == 0 ? 'A' : 'B', why->text);
            memcpy(why->text, text, sizeof text);
            return CLI_RANK_IS_UNKNOWN;
        }
    return CLI_RANK_ANSWERS;
}

static int compare_all(struct cli_diff *diff, const struct sides *sides)
{
    struct tg_ranks_info a, b;
    struct tg_ranks_rank rank;
    int code;
    tg_ranks_get_info(sides->ranks[0], &a);
    tg_ranks_get_info(sides->ranks[1], &b);
    if (a.ranks != b.ranks)
        return cli_error("A has %u ranks and B has %u; compare one rank of each (taskglass diff "
                         "A/rank0 B/rank0), or one device with many by --shard",
                         a.ranks, b.ranks);
    if (diff->json)
        cli_ranks_json_begin();
    if (cli_ranks_each(sides->ranks[0], diff->json, lacks, sides, &rank, &code))
        return compare_rank(diff, sides, rank.rank);
    int where = say_where(diff, sides);
    if (where == DIFFERS && code == CLI_USAGE) /* another rank is not known */
        return DIFFERS;
    return code > where ? code : where;
}

/* A run with --ranks 1 is one device, too. */
static int compare_one_with_many(struct cli_diff *diff, const struct sides *sides)
{
    struct tg_ranks_info info;
    struct tg_error error;
    if (diff->n_shards > 0 && sides->ranks[0] && sides->ranks[1]) {
        tg_ranks_get_info(sides->ranks[0], &info);
        if (info.ranks > 1)
            return cli_error("--shard compares one device with many; A has %u ranks", info.ranks);
        if (use_folder(diff, sides->ranks[0], 0, &diff->dir[0], &error) != TG_OK)
            return cli_recording_fail(NULL, diff->json, &error);
    }
    if (diff->n_shards == 0)
        return cli_error(
            "%c is a run with several ranks and the other is not; say with --shard how "
            "tensors lie on the ranks, or choose a rank with --rank R",
            sides->ranks[0] ? 'A' : 'B');
    if (!sides->ranks[1])
        return cli_error("--shard compares one device with many: taskglass diff ONE MANY --shard "
                         "SPEC; exchange the two");
    return cli_diff_shards(diff, sides->ranks[1]);
}

static int choose(struct cli_diff *diff, const struct sides *sides)
{
    bool has_a = sides->ranks[0] != NULL, has_b = sides->ranks[1] != NULL;
    if (diff->across)
        return has_a ? cli_diff_across(diff, sides->ranks[0])
                     : cli_error("--across needs the directory of a run with several ranks; '%s' "
                                 "has no ranks.json",
                                 diff->dir[0]);
    if (!has_a && !has_b && (diff->rank.given || diff->n_shards > 0))
        return cli_error("--%s needs a run with several ranks; neither directory has a ranks.json",
                         diff->rank.given ? "rank" : "shard");
    if (!has_a && !has_b)
        return cli_diff_run(diff);
    if (diff->rank.given)
        return compare_rank(diff, sides, diff->rank.number);
    if (has_a != has_b || diff->n_shards > 0)
        return compare_one_with_many(diff, sides);
    return compare_all(diff, sides);
}

int cli_diff_ranks(struct cli *cli, struct cli_diff *diff)
{
    struct sides sides = {0};
    struct tg_error error;
    tg_status status = TG_OK;
    (void)cli;
    for (int i = 0; status == TG_OK && i < diff->n_dirs; i++)
        status = cli_ranks_look(diff->dir[i], &sides.ranks[i], &error);
    int code =
        status == TG_OK ? choose(diff, &sides) : cli_recording_fail(NULL, diff->json, &error);
    tg_ranks_close(sides.ranks[0]);
    tg_ranks_close(sides.ranks[1]);
    return code;
}
