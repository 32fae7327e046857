/* SPDX-License-Identifier: Apache-2.0 */
/* Writes ranks.json: which ranks there are, where they ran, and how they ended. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <taskglass/json.h>

#include "host/job.h"

struct facts {
    const struct tg_ranks_info *info;
    const struct tg_ranks_rank *rank;
};

static void put_status(struct tg_json *json, bool is_running, bool has_status, tg_status status)
{
    tg_json_put_string(json, "status",
                       is_running   ? "RUNNING"
                       : has_status ? tg_status_name(status)
                                    : NULL);
}

/* A clock that is not known has no member. */
static void put_clock(struct tg_json *json, const struct tg_ranks_clock *clock)
{
    if (!clock->is_known)
        return;
    tg_json_key(json, "clock");
    tg_json_begin_line_object(json);
    tg_json_key(json, "offset_ns");
    tg_json_quoted_int(json, clock->offset_ns);
    tg_json_put_real(json, "drift", clock->drift);
    tg_json_key(json, "at_ns");
    tg_json_quoted_int(json, clock->at_ns);
    tg_json_key(json, "error_ns");
    tg_json_int(json, clock->error_ns);
    tg_json_put_uint(json, "samples", clock->samples);
    tg_json_end_object(json);
}

static void put_rank(struct tg_json *json, const struct tg_ranks_rank *rank)
{
    tg_json_begin_object(json);
    tg_json_put_uint(json, "rank", rank->rank);
    tg_json_put_string(json, "folder", rank->folder);
    tg_json_put_string(json, "host", rank->host);
    tg_json_put_uint(json, "pid", rank->pid);
    tg_json_put_uint(json, "local_rank", rank->local_rank);
    put_status(json, rank->is_running, rank->has_status, rank->status);
    tg_json_put_string(json, "error", rank->error);
    put_clock(json, &rank->clock);
    tg_json_end_object(json);
}

static void put_job(struct tg_json *json, const struct facts *facts)
{
    const struct tg_ranks_info *info = facts->info;
    tg_json_begin_object(json);
    tg_json_put_uint(json, "version", 1);
    tg_json_put_string(json, "workload", info->workload);
    tg_json_put_string(json, "case", info->case_name);
    tg_json_put_uint(json, "ranks", info->ranks);
    tg_json_put_string(json, "transport", info->transport);
    tg_json_put_string(json, "about", info->about);
    put_status(json, info->is_running, info->has_status, info->status);
    tg_json_key(json, "rank");
    tg_json_begin_array(json);
    for (uint32_t r = 0; r < info->ranks; r++)
        put_rank(json, &facts->rank[r]);
    tg_json_end_array(json);
    tg_json_end_object(json);
}

static int write_facts(FILE *file, void *facts)
{
    struct tg_json json;
    tg_json_start(&json, file);
    put_job(&json, facts);
    return tg_json_finish(&json) == TG_OK ? 0 : errno != 0 ? errno : EIO;
}

tg_status tg_ranks_json_write(const char *dir, const struct tg_ranks_info *info,
                              const struct tg_ranks_rank *rank, struct tg_error *error)
{
    struct facts facts = {info, rank};
    return tg_output_write(dir, TG_RANKS_FILE, write_facts, &facts, error);
}
