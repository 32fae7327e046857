/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_races.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/print.h"
#include "cli/voice.h"

/* `taskglass find race` tells all. */
enum { MOST = 10 };

__attribute__((format(printf, 1, 2))) static void warn(const char *format, ...)
{
    char text[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cli_print_to(stderr, "taskglass: warning: %s\n", text);
}

static void print_side(const struct tg_race_side *side)
{
    cli_print_to(stderr, "    task %" PRIu64 ":%" PRIu64 " (%s)%s%s %s %s\n", side->task_id >> 32,
                 side->task_id & UINT32_MAX, side->kernels, *side->line ? " from " : "", side->line,
                 side->writes ? side->reads ? "reads and writes" : "writes" : "reads",
                 *side->region ? side->region : "bytes of no known name");
}

int cli_run_races_tell(void *context, const struct tg_race *race)
{
    struct cli_run_races *races = context;
    if (races->told++ >= MOST)
        return 0;
    cli_progress_erase(races->progress);
    cli_print_to(stderr, "taskglass: race of %" PRIu64 " %s of tasks over the same bytes:\n",
                 race->pairs, race->pairs == 1 ? "pair" : "pairs");
    print_side(&race->first);
    print_side(&race->second);
    cli_print_to(stderr, "    to order them: %s\n", race->fix);
    return 0;
}

static void tell_notes(const struct tg_races_summary *summary)
{
    for (unsigned i = 0; i < summary->n_notes && i < TG_RACE_NOTES; i++)
        warn("races: %s", summary->note[i].text);
}

void cli_run_races_end(const struct cli_run_races *races, const char *mode,
                       const struct tg_execution_info *info)
{
    const char *when = info->races_before ? "before the graph ran" : "after the graph had run";
    if (strcmp(mode, "off") == 0)
        return;
    if (*info->races_unknown) {
        warn("races: not known: %s", info->races_unknown);
        return;
    }
    if (!info->races) {
        warn("races: not known: the run ended before they could be searched");
        return;
    }
    if (races->told > MOST)
        warn("races: %" PRIu64 " more groups are not shown", races->told - MOST);
    tell_notes(info->races);
    if (info->races->pairs > 0)
        warn("races: %s%" PRIu64 " %s of tasks, searched %s",
             info->races->is_exact ? "" : "at least ", info->races->pairs,
             info->races->pairs == 1 ? "pair" : "pairs", when);
    else
        cli_detail("races: %s, searched %s", info->races->result, when);
}
