/* SPDX-License-Identifier: Apache-2.0 */
#include "race/race.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/grow.h"
#include "race/search.h"

/* Steps take some ten nanoseconds each, or a few where the graph fits in a cache. */
#define MOST_WORK UINT64_C(300000000)

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "no memory to search for races");
}

tg_status tg_race_search_new(uint32_t n_tasks, struct tg_race_search **search,
                             struct tg_error *error)
{
    *search = calloc(1, sizeof **search);
    if (!*search || n_tasks >= UINT32_MAX / 4) {
        free(*search);
        *search = NULL;
        return no_memory(error);
    }
    (*search)->n_tasks = n_tasks;
    return TG_OK;
}

void tg_race_search_free(struct tg_race_search *search)
{
    if (!search)
        return;
    free(search->edge);
    free(search->seen);
    free(search->gates.at);
    free(search->gates.edge);
    free(search->touch);
    free(search->first_touch);
    tg_race_table_free(&search->table);
    tg_race_order_free(&search->order);
    tg_race_histories_free(&search->histories);
    free(search->groups.group);
    free(search->groups.slot);
    free(search);
}

bool tg_race_add_edge(struct tg_race_search *search, uint32_t before, uint32_t after)
{
    if (before >= search->n_tasks || after >= search->n_tasks || before == after)
        return true;
    if (!tg_grow(&search->edge, &search->edge_room, (size_t)search->n_edges + 1,
                 sizeof *search->edge))
        return false;
    search->edge[search->n_edges++] = (struct tg_race_edge){before, after};
    return true;
}

bool tg_race_add_seen(struct tg_race_search *search, uint32_t seen, uint32_t task)
{
    if (task >= search->n_tasks || seen >= task)
        return true;
    if (!tg_grow(&search->seen, &search->seen_room, (size_t)search->n_seen + 1,
                 sizeof *search->seen))
        return false;
    search->seen[search->n_seen++] = (struct tg_race_edge){seen, task};
    return true;
}

bool tg_race_add_gate(struct tg_race_search *search, uint32_t at, uint32_t *gate)
{
    struct tg_race_gates *gates = &search->gates;
    if (gates->count >= UINT32_MAX / 4 ||
        !tg_grow(&gates->at, &search->gate_room, (size_t)gates->count + 1, sizeof *gates->at))
        return false;
    *gate = gates->count++;
    gates->at[*gate] = at;
    return true;
}

static bool add_gate_edge(struct tg_race_search *search, uint32_t task, uint32_t gate, bool opens)
{
    struct tg_race_gates *gates = &search->gates;
    if (task >= search->n_tasks || gate >= gates->count)
        return true;
    if (!tg_grow(&gates->edge, &search->gate_edge_room, (size_t)gates->n_edges + 1,
                 sizeof *gates->edge))
        return false;
    gates->edge[gates->n_edges++] = (struct tg_race_gate_edge){task, gate, opens};
    gates->n_open += opens;
    return true;
}

bool tg_race_gate_seen(struct tg_race_search *search, uint32_t gate, uint32_t seen)
{
    return add_gate_edge(search, seen, gate, false);
}

bool tg_race_gate_opens(struct tg_race_search *search, uint32_t gate, uint32_t task)
{
    return add_gate_edge(search, task, gate, true);
}

bool tg_race_add_access(struct tg_race_search *search, const struct tg_race_access *access)
{
    struct tg_race_region region;
    struct tg_race_touch touch = {access->task, 0, access->argument, access->reads, access->writes};
    if (access->task >= search->n_tasks || (!access->reads && !access->writes))
        return true;
    if (!tg_race_region_of(access->tensor, &region)) {
        search->left_out++;
        return true;
    }
    if (region.n == 0)
        return true;
    if (search->n_touches >= UINT32_MAX / 2 ||
        !tg_race_table_add(&search->table, access->space, &region, &touch.region) ||
        !tg_grow(&search->touch, &search->touch_room, (size_t)search->n_touches + 1, sizeof touch))
        return false;
    search->table.region[touch.region].has_writer |= access->writes;
    search->table.region[touch.region].has_reader |= !access->writes;
    search->touch[search->n_touches++] = touch;
    return true;
}

static tg_status run(struct tg_race_search *search, struct tg_error *error)
{
    const uint64_t most = search->config->work ? search->config->work : MOST_WORK;
    bool cancelled = false;
    enum tg_race_made made =
        tg_race_order_make(search->n_tasks, search->edge, search->n_edges, search->seen,
                           search->n_seen, &search->gates, &search->order);
    if (made == TG_RACE_CYCLE)
        return tg_error_set(error, TG_BAD_ARGUMENT, "tasks wait for each other in a circle");
    if (made != TG_RACE_MADE || !tg_race_prepare(search, most) || !tg_race_walk(search, &cancelled))
        return no_memory(error);
    if (cancelled || !tg_race_groups_tell(search))
        return tg_error_set(error, TG_CANCELLED, "the search for races was cancelled");
    search->result->groups = search->groups.count;
    search->result->left_out = search->left_out;
    if (search->is_cut || search->left_out > 0 || search->result->judged < search->n_tasks)
        search->result->is_exact = false;
    return TG_OK;
}

tg_status tg_race_search_run(struct tg_race_search *search, const struct tg_race_config *config,
                             struct tg_race_result *result, struct tg_error *error)
{
    *result = (struct tg_race_result){.is_exact = true};
    search->config = config;
    search->result = result;
    return run(search, error);
}
