/* SPDX-License-Identifier: Apache-2.0 */
/* A ranks.json and a comm.jsonl of any bytes: reading them must end, and what they give must be within
 * bounds, clean, and found again. */
#define _GNU_SOURCE 1
#include "fuzz/recording.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <taskglass/comm.h>
#include <taskglass/dtype.h>
#include <taskglass/ranks_answers.h>

#include "recording/ranks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t room)
{
    HOLDS(strnlen(text, room) < room);
    for (const char *c = text; *c; c++)
        HOLDS(!iscntrl((unsigned char)*c));
}

static void check_clock(const struct tg_ranks_clock *clock)
{
    HOLDS(isfinite(clock->drift) && fabs(clock->drift) < 1 && clock->error_ns >= 0);
    (void)tg_ranks_time(clock, INT64_MIN);
    (void)tg_ranks_time(clock, INT64_MAX);
}

static void read_ranks(const char *text, size_t size)
{
    struct tg_ranks *ranks;
    struct tg_ranks_info info;
    struct tg_ranks_rank rank;
    struct tg_error error = {0};
    if (tg_ranks_read("dir", text, size, &ranks, &error) != TG_OK) {
        check_text(error.text, sizeof error.text);
        return;
    }
    tg_ranks_get_info(ranks, &info);
    HOLDS(info.ranks >= 1 && info.ranks <= TG_COMM_MAX_RANKS);
    check_text(info.workload, sizeof info.workload);
    check_text(info.about, sizeof info.about);
    for (uint32_t i = 0; tg_ranks_get(ranks, i, &rank); i++) {
        HOLDS(rank.rank == i && !strchr(rank.folder, '/') && strcmp(rank.folder, "..") != 0);
        check_text(rank.folder, sizeof rank.folder);
        check_text(rank.host, sizeof rank.host);
        check_text(rank.error, sizeof rank.error);
        check_clock(&rank.clock);
    }
    HOLDS(!tg_ranks_get(ranks, info.ranks, &rank));
    tg_ranks_close(ranks);
}

static void check_call(const struct tg_calls *calls, const struct tg_calls_info *info,
                       const struct tg_call *call)
{
    struct tg_call found;
    HOLDS(call->kind < TG_COMM_KINDS && call->state < TG_CALL_STATES && call->dtype < TG_DTYPE_END);
    HOLDS(call->peer >= TG_COMM_NONE && (call->peer < 0 || (uint32_t)call->peer < info->ranks));
    HOLDS(call->operation >= TG_COMM_NONE && call->operation < TG_REDUCTIONS);
    check_text(call->site, 512);
    HOLDS(tg_calls_of_task(calls, call->task, &found) && found.task == call->task);
    if (tg_call_is_message(call->kind))
        HOLDS(tg_calls_find(calls, call->kind, call->peer, call->tag, call->number, &found) &&
              found.peer == call->peer && found.tag == call->tag);
    else
        HOLDS(tg_calls_collective(calls, call->number, &found));
    HOLDS(found.number == call->number);
}

static void read_calls(const char *text, size_t size)
{
    struct tg_calls *calls;
    struct tg_calls_info info;
    struct tg_call call;
    struct tg_error error = {0};
    if (tg_calls_read("comm.jsonl", text, size, &calls, &error) != TG_OK)
        return;
    tg_calls_get_info(calls, &info);
    HOLDS(info.rank < info.ranks && info.ranks <= TG_COMM_MAX_RANKS);
    HOLDS(info.calls + info.damaged <= size);
    for (uint64_t i = 0; tg_calls_get(calls, i, &call); i++)
        check_call(calls, &info, &call);
    tg_calls_close(calls);
}

/* A shard comes from the command line, but its text may be pasted from anywhere. */
static void read_shard(const char *bytes, size_t size)
{
    char text[512];
    struct tg_shard shard;
    size_t length = size < sizeof text - 1 ? size : sizeof text - 1;
    memcpy(text, bytes, length);
    text[length] = '\0';
    if (tg_shard_parse(text, &shard, NULL) != TG_OK)
        return;
    HOLDS(shard.ndim <= TG_MAX_DIMS && shard.argument[0] < TG_MAX_TENSORS);
    for (int d = 0; d < shard.ndim; d++)
        HOLDS(shard.divide[d] == 0 || shard.modulo[d] > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_ranks((const char *)data, size);
    read_calls((const char *)data, size);
    if (size > 0)
        read_shard((const char *)data, size);
    return 0;
}
