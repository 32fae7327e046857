/* SPDX-License-Identifier: Apache-2.0 */
/* The accesses of a deps.json of any bytes, in the layout of the other implementation: they are read or refused,
 * and the search for races ends, with groups that add up to the pairs. */
#define _GNU_SOURCE 1
#include "fuzz/recording.h"

#include "analysis/deps.h"
#include "analysis/deps_peer_args.h"
#include "race/race.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int add_up(void *context, const struct tg_race_group *group)
{
    uint64_t *pairs = context;
    HOLDS(group->pairs > 0 && group->first.task < group->second.task && group->bytes > 0);
    HOLDS(group->first.writes || group->second.writes);
    *pairs += group->pairs;
    return 0;
}

static void search(const struct tg_deps *deps, const struct tg_peer_args *args)
{
    struct tg_race_search *search;
    struct tg_race_result result;
    struct tg_error error;
    uint64_t pairs = 0;
    const struct tg_race_config config = {.group = add_up, .context = &pairs, .work = 100000};
    HOLDS(tg_race_search_new(deps->n_tasks, &search, &error) == TG_OK);
    for (uint32_t i = 0; i < deps->n_tasks; i++)
        for (uint64_t k = 0; k < deps->task[i].n_edges; k++)
            HOLDS(tg_race_add_edge(search, deps->before[deps->task[i].first_edge + k], i));
    for (size_t i = 0; i < args->n_args; i++) {
        const struct tg_peer_arg *arg = &args->arg[i];
        HOLDS(arg->reads || arg->writes);
        HOLDS(tg_race_add_access(search, &(struct tg_race_access){.task = arg->task,
                                                                  .argument = arg->argument,
                                                                  .reads = arg->reads,
                                                                  .writes = arg->writes,
                                                                  .space = arg->tensor_id,
                                                                  .tensor = &arg->tensor}));
    }
    tg_status status = tg_race_search_run(search, &config, &result, &error);
    HOLDS(status == TG_BAD_ARGUMENT || (status == TG_OK && pairs == result.pairs));
    tg_race_search_free(search);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tg_peer_args args;
    struct tg_deps *deps;
    struct tg_error error;
    const char *problem = NULL;
    bool good = tg_peer_args_read((const char *)data, size, &args, &problem);
    HOLDS(good || problem);
    if (good && tg_deps_parse((const char *)data, size, "fuzz", &deps, &error) == TG_OK) {
        search(deps, &args);
        tg_deps_free(deps);
    }
    tg_peer_args_free(&args);
    return 0;
}
