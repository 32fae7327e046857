/* SPDX-License-Identifier: Apache-2.0 */
/* What `run --races` says of the races of a graph: each group when it is found, then what it comes to. */
#ifndef CLI_RUN_RACES_H
#define CLI_RUN_RACES_H

#include <taskglass/execute.h>

#include "cli/progress.h"

/* Zeros but for `progress`, whose line it erases before it prints. */
struct cli_run_races {
    struct cli_progress *progress;
    uint64_t told;
};

/* A tg_race_fn; the context is a struct cli_run_races. */
int cli_run_races_tell(void *context, const struct tg_race *race);
/* After the run. `mode`: the setting. */
void cli_run_races_end(const struct cli_run_races *races, const char *mode,
                       const struct tg_execution_info *info);

#endif
