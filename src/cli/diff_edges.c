/* SPDX-License-Identifier: Apache-2.0 */
/* Edges that only one of two graphs has, as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/diff.h"
#include "cli/diff_words.h"
#include "cli/format.h"
#include "cli/print.h"

enum { LABEL = 12, NAMED = 5 };

/* "3 step": the task as the side that has the edge calls it. */
static const char *name_task(const struct cli_diff *diff, struct cli_words *words, uint64_t number,
                             bool of_a)
{
    struct tg_diff_task task;
    struct cli_words id;
    tg_diff_get_task(diff->diff, number, &task);
    const char *kernel = of_a ? task.kernel : task.kernel_b;
    snprintf(words->text, sizeof words->text, "%.60s %.*s",
             cli_record_task(&id, of_a ? task.id_a : task.id_b), cli_format_fit(kernel, 200),
             kernel);
    return words->text;
}

static void put_side(const struct cli_diff *diff, bool of_a)
{
    struct tg_diff_edge edge;
    struct cli_words before, after;
    struct cli_text text;
    uint64_t count = 0, named = 0;
    for (uint64_t i = 0; tg_diff_get_edge(diff->diff, i, &edge); i++)
        count += edge.in_a == of_a;
    if (count == 0)
        return;
    cli_print("  %-*s%s only in %s: ", LABEL, "edges", cli_format_count(&text, count, "edge"),
              of_a ? "A" : "B");
    for (uint64_t i = 0; tg_diff_get_edge(diff->diff, i, &edge) && named < NAMED; i++)
        if (edge.in_a == of_a)
            cli_print("%s%s > %s", named++ > 0 ? ", " : "",
                      name_task(diff, &before, edge.before, of_a),
                      name_task(diff, &after, edge.after, of_a));
    if (count > named)
        cli_print(" and %" PRIu64 " more", count - named);
    cli_print("\n");
}

static void put_races(const struct cli_diff *diff)
{
    struct tg_diff_edge edge;
    struct cli_words before, after;
    uint64_t count = 0;
    for (uint64_t i = 0; tg_diff_get_edge(diff->diff, i, &edge); i++) {
        if (!edge.race || count++ >= NAMED)
            continue;
        bool of_a = !edge.in_a;
        cli_print("  %s%-*s%sin %s tasks %s and %s use the same bytes in no order\n",
                  cli_color(stdout, CLI_RED), LABEL, "warning", cli_color(stdout, CLI_PLAIN),
                  of_a ? "A" : "B", name_task(diff, &before, edge.before, of_a),
                  name_task(diff, &after, edge.after, of_a));
    }
    if (count > NAMED)
        cli_print("  %-*sand %" PRIu64 " more such pairs of tasks\n", LABEL, "", count - NAMED);
}

void cli_diff_print_edges(const struct cli_diff *diff)
{
    put_side(diff, true);
    put_side(diff, false);
    put_races(diff);
}

static void put_list(const struct cli_diff *diff, struct tg_json *json, const char *key, bool of_a)
{
    struct tg_diff_edge edge;
    struct tg_diff_task before, after;
    tg_json_key(json, key);
    tg_json_begin_array(json);
    for (uint64_t i = 0; tg_diff_get_edge(diff->diff, i, &edge); i++) {
        if (edge.in_a != of_a)
            continue;
        tg_diff_get_task(diff->diff, edge.before, &before);
        tg_diff_get_task(diff->diff, edge.after, &after);
        tg_json_begin_line_object(json);
        tg_json_put_hex(json, "before_a", before.id_a);
        tg_json_put_hex(json, "before_b", before.id_b);
        tg_json_put_hex(json, "after_a", after.id_a);
        tg_json_put_hex(json, "after_b", after.id_b);
        tg_json_put_bool(json, "race", edge.race);
        tg_json_end_object(json);
    }
    tg_json_end_array(json);
}

void cli_diff_json_edges(const struct cli_diff *diff, struct tg_json *json)
{
    bool is_compared = diff->edges_reason && !*diff->edges_reason;
    tg_json_key(json, "edges");
    tg_json_begin_object(json);
    tg_json_put_bool(json, "compared", is_compared);
    tg_json_put_string(json, "reason", is_compared ? NULL : diff->edges_reason);
    put_list(diff, json, "only_a", true);
    put_list(diff, json, "only_b", false);
    tg_json_end_object(json);
}
