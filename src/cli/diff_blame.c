/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the text report that names the tasks that caused the differences. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/diff.h"
#include "cli/diff_words.h"
#include "cli/format.h"

enum { SUSPECTS = 5, STEPS = 6 };

static const char *graph_words(const char *graph)
{
    static const struct {
        const char *graph, *words;
    } known[] = {
        {"deps_a", "edges from the deps.json of A"},
        {"deps_b", "edges from the deps.json of B"},
        {"memory_a", "no deps.json; edges from the memory that tasks of A wrote and read"},
        {"memory_b", "no deps.json; edges from the memory that tasks of B wrote and read"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(graph, known[i].graph) == 0)
            return known[i].words;
    return "neither deps.json nor addresses: no edges, each task judged by its own arguments";
}

static void put_task(const struct tg_diff_task *task)
{
    struct cli_words a, b;
    printf("%s%s%s", task->id_a == TG_TASK_NONE ? "" : cli_record_task(&a, task->id_a),
           *task->kernel ? " " : "", task->kernel);
    if (task->in_b && task->id_a != task->id_b)
        printf(" (B: %s)", cli_record_task(&b, task->id_b));
}

/* Leaves out the middle of a long path, unless --blame asks for all of it. */
static void put_path(const struct cli_diff *diff, const struct tg_suspect *suspect)
{
    struct tg_diff_task task;
    size_t most = diff->blame_only ? SIZE_MAX : STEPS;
    if (suspect->n_path < 2)
        return;
    printf("       then ");
    for (size_t i = 1; i < suspect->n_path; i++) {
        bool is_hidden = suspect->n_path - 1 > most && i > most - 2 && i < suspect->n_path - 1;
        if (is_hidden && i > most - 1)
            continue;
        if (i > 1)
            printf(" > ");
        if (is_hidden) {
            printf("… %zu more …", suspect->n_path - most);
            continue;
        }
        tg_diff_get_task(diff->diff, suspect->path[i], &task);
        put_task(&task);
    }
    putchar('\n');
}

static void put_evidence(const struct cli_diff *diff, const struct tg_suspect *suspect)
{
    struct tg_diff_pair pair;
    struct tg_entry entry;
    struct cli_words argument;
    enum tg_verdict verdict;
    if (!tg_diff_get_pair(diff->diff, suspect->pair, &pair) || pair.record_a == TG_NONE ||
        !tg_recording_get(diff->recording[0], pair.record_a, &entry))
        return;
    printf("       %s, record %" PRIu64 ": ", cli_argument_words(&argument, &entry.record),
           pair.record_a);
    enum tg_reason reason = tg_diff_reason(diff->diff, suspect->pair, &verdict);
    if (reason == TG_REASON_VALUES && isfinite(suspect->error))
        printf("relative error %.3g\n", suspect->error);
    else if (reason == TG_REASON_VALUES)
        printf("relative error not finite: NaN, Inf, or only zeros in B\n");
    else
        printf("%s\n", tg_reason_text(reason));
}

static const char *phrase(enum tg_guilt guilt)
{
    switch (guilt) {
    case TG_GUILT_INTRODUCED:
        return "introduced it";
    case TG_GUILT_GIVEN:
        return "received it from outside";
    case TG_GUILT_CHANGED:
        return "read memory that changed";
    case TG_GUILT_REWIRED:
        return "read another tensor";
    default:
        return "may have introduced it";
    }
}

static void put_suspect(const struct cli_diff *diff, uint64_t number)
{
    struct tg_suspect suspect;
    struct tg_diff_task task;
    tg_blame_get_suspect(diff->blame, number, &suspect);
    tg_diff_get_task(diff->diff, suspect.task, &task);
    printf("  %2" PRIu64 ". %stask ", number + 1, cli_color(stdout, CLI_BOLD));
    put_task(&task);
    printf("%s %s: %s\n", cli_color(stdout, CLI_PLAIN), phrase(suspect.guilt),
           tg_guilt_text(suspect.guilt));
    put_evidence(diff, &suspect);
    put_path(diff, &suspect);
}

void cli_diff_print_blame(const struct cli_diff *diff)
{
    uint64_t most = diff->blame_only || diff->all ? UINT64_MAX : SUSPECTS;
    struct tg_blame_info info;
    struct cli_text wrong;
    tg_blame_get_info(diff->blame, &info);
    printf("%sblame%s  %s with outputs that differ, %" PRIu64 " of them inherited; %s\n",
           cli_color(stdout, CLI_BOLD), cli_color(stdout, CLI_PLAIN),
           cli_format_count(&wrong, info.wrong, "task"), info.inherited, graph_words(info.graph));
    for (uint64_t i = 0; i < info.suspects && i < most; i++)
        put_suspect(diff, i);
    if (info.suspects > most)
        printf("      and %" PRIu64 " more; --blame shows them\n", info.suspects - most);
    if (info.suspects == 0)
        puts("      none: the inputs of each task explain why its outputs differ");
    putchar('\n');
}
