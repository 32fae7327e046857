/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of several ranks. A rank's key is made of its run's, so links to it stay good, and it is known as soon as
 * somebody asks for it. */
#define _GNU_SOURCE 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/ranks.h>
#include <taskglass/ranks_answers.h>

#include "base/lock.h"
#include "workbench/bench.h"

bool tg_bench_is_of_ranks(const char *dir)
{
    bool is = false;
    return tg_ranks_look(dir, &is, NULL) == TG_OK && is;
}

bool tg_bench_rank_key(const char *whole, uint32_t rank, char key[TG_BENCH_KEY])
{
    int n = snprintf(key, TG_BENCH_KEY, "%s@%u", whole, rank);
    return n > 0 && n < TG_BENCH_KEY;
}

/* Splits NAME@RANK; false if it is no such key. */
static bool split(const char *key, char whole[TG_BENCH_KEY], uint32_t *rank)
{
    const char *at = strrchr(key, '@');
    if (!at || at == key || strlen(key) >= TG_BENCH_KEY)
        return false;
    size_t digits = strspn(at + 1, "0123456789");
    if (digits == 0 || digits > 4 || at[1 + digits] != '\0' || (digits > 1 && at[1] == '0'))
        return false;
    *rank = (uint32_t)strtoul(at + 1, NULL, 10);
    memcpy(whole, key, (size_t)(at - key));
    whole[at - key] = '\0';
    return true;
}

struct tg_bench_entry *tg_bench_rank_entry(struct tg_workbench *bench, const char *key)
{
    char whole[TG_BENCH_KEY];
    uint32_t number;
    struct tg_ranks *ranks;
    struct tg_ranks_rank rank;
    struct tg_bench_entry *made = NULL;
    if (!split(key, whole, &number))
        return NULL;
    pthread_mutex_lock(&bench->lock);
    struct tg_bench_entry *of = tg_bench_entry_of(bench, whole);
    pthread_mutex_unlock(&bench->lock);
    if (!of || of->whole || tg_ranks_open(of->folder, &ranks, NULL) != TG_OK)
        return NULL;
    if (tg_ranks_get(ranks, number, &rank) && tg_ranks_check_folder(ranks, number, NULL) == TG_OK) {
        pthread_mutex_lock(&bench->lock);
        made = tg_bench_entry_of(bench, key);
        if (!made)
            made = tg_bench_add_entry(bench, rank.dir, rank.dir, key);
        /* A path that is known by another key is a run that was named by itself. */
        if (made && strcmp(made->key, key) == 0) {
            made->whole = of;
            made->rank = number;
        }
        pthread_mutex_unlock(&bench->lock);
    }
    tg_ranks_close(ranks);
    return made;
}

/* ranks.json says that the run goes on until it is written again. If its host was killed, no rank holds the lock of
 * its folder; ranks of another machine are not seen, so the first ones have to do. */
static bool goes_on(const struct tg_ranks *ranks)
{
    enum { LOOKED_AT = 64 };
    struct tg_ranks_rank rank;
    for (uint32_t i = 0; i < LOOKED_AT && tg_ranks_get(ranks, i, &rank); i++) {
        enum tg_lock lock = TG_LOCK_UNKNOWN;
        if (rank.is_there && tg_lock_look(rank.dir, &lock) == 0 && lock == TG_LOCK_BUSY)
            return true;
    }
    return false;
}

void tg_bench_describe_ranks(struct tg_bench_row *row, const char *folder)
{
    struct tg_ranks *ranks;
    struct tg_ranks_info info;
    if (tg_ranks_open(folder, &ranks, NULL) != TG_OK)
        return;
    tg_ranks_get_info(ranks, &info);
    row->ranks = info.ranks;
    memcpy(row->run.workload, info.workload, sizeof row->run.workload);
    memcpy(row->run.case_name, info.case_name, sizeof row->run.case_name);
    row->run.has_status = info.has_status;
    row->run.status = info.status;
    if (info.is_running)
        row->run.state = goes_on(ranks) ? TG_RECORDING_RUNNING : TG_RECORDING_INTERRUPTED;
    else
        row->run.state =
            info.has_status && info.status == TG_OK ? TG_RECORDING_FINISHED : TG_RECORDING_FAILED;
    tg_ranks_close(ranks);
}
