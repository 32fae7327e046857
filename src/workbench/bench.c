/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workbench, and which runs are open. Opening a run takes time, so it happens without the lock of the workbench:
 * one thread opens, the others that want the same run wait for `opened`.
 */
#define _GNU_SOURCE 1
#include "workbench/bench.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "workbench/clock.h"

/* A run that grows is opened anew; that must not take more than a small part of the time. */
enum { REST_AFTER_OPENING = 10 };

/* --- the workbench -------------------------------------------------------------------------- */

tg_status tg_workbench_open(const struct tg_workbench_config *config, struct tg_workbench **bench,
                            struct tg_error *error)
{
    TG_REFUSE_NULL(error, bench);
    *bench = NULL;
    TG_REFUSE_NULL(error, config);
    if (config->other && !config->path)
        return tg_error_set(error, TG_BAD_ARGUMENT, "`other` needs a `path` to be compared with");
    const char *path = config->path ? config->path : "outputs";
    struct tg_workbench *made = calloc(1, sizeof *made);
    if (!made)
        return tg_file_no_memory(error);
    (void)pthread_mutex_init(&made->lock, NULL);
    (void)pthread_cond_init(&made->opened, NULL);
    made->root = strdup(path);
    tg_status status =
        made->root ? tg_bench_find(made, path, config->other, error) : tg_file_no_memory(error);
    if (status == TG_OK)
        *bench = made;
    else
        tg_workbench_close(made);
    return status;
}

void tg_workbench_close(struct tg_workbench *bench)
{
    if (!bench)
        return;
    for (struct tg_bench_run *run = bench->first, *next; run; run = next) {
        next = run->next;
        tg_bench_run_close(run);
    }
    for (size_t i = 0; i < bench->n_entries; i++) {
        free(bench->by_path[i]->path);
        free(bench->by_path[i]->folder);
        free(bench->by_path[i]);
    }
    free((void *)bench->by_path);
    free((void *)bench->by_key);
    (void)pthread_cond_destroy(&bench->opened);
    (void)pthread_mutex_destroy(&bench->lock);
    free(bench->root);
    free(bench);
}

/* --- which runs are open; the caller holds the lock ----------------------------------------- */

static void detach(struct tg_workbench *bench, struct tg_bench_run *run)
{
    struct tg_bench_run **at = &bench->first;
    while (*at != run)
        at = &(*at)->next;
    *at = run->next;
    run->next = NULL;
    run->entry->open = NULL;
    run->is_old = true;
}

/* The run that nobody uses and that was not used for longest; NULL while few and small enough ones are open. */
static struct tg_bench_run *find_idle(const struct tg_workbench *bench)
{
    struct tg_bench_run *idle = NULL;
    unsigned count = 0;
    size_t weight = 0;
    for (struct tg_bench_run *run = bench->first; run; run = run->next) {
        count++;
        weight += run->weight;
        if (run->users == 0 && run->used != bench->takes && (!idle || run->used < idle->used))
            idle = run;
    }
    return count > TG_BENCH_OPEN || weight > TG_BENCH_MOST ? idle : NULL;
}

/* Takes runs that must be closed out of the list: `run` if it is old and unused, and the one that is too many. The
 * caller closes them without the lock. */
static void take_out(struct tg_workbench *bench, struct tg_bench_run *run,
                     struct tg_bench_run *out[2])
{
    out[0] = run && run->is_old && run->users == 0 ? run : NULL;
    out[1] = find_idle(bench);
    if (out[1])
        detach(bench, out[1]);
}

static void close_both(struct tg_bench_run *out[2])
{
    tg_bench_run_close(out[0]);
    tg_bench_run_close(out[1]);
}

/* --- taking a run --------------------------------------------------------------------------- */

/* Looks up the key. New runs may have come since the folder was read. */
static struct tg_bench_entry *find_entry(struct tg_workbench *bench, const char *key)
{
    struct tg_bench_list list;
    pthread_mutex_lock(&bench->lock);
    struct tg_bench_entry *entry = tg_bench_entry_of(bench, key);
    bool look_again =
        !entry && bench->is_folder &&
        (bench->listed_at == 0 || tg_bench_now() - bench->listed_at >= TG_BENCH_SECOND);
    pthread_mutex_unlock(&bench->lock);
    if (!look_again)
        return entry ? entry : tg_bench_rank_entry(bench, key);
    (void)tg_bench_list(bench, &list, NULL); /* what it could not read has no entry */
    tg_bench_list_free(&list);
    pthread_mutex_lock(&bench->lock);
    entry = tg_bench_entry_of(bench, key);
    pthread_mutex_unlock(&bench->lock);
    return entry ? entry : tg_bench_rank_entry(bench, key);
}

/* The open run, if its files are as they were. The lock is held; `now` is the time. */
static struct tg_bench_run *fresh_run(struct tg_workbench *bench, struct tg_bench_entry *entry,
                                      uint64_t now, struct tg_bench_run *out[2])
{
    struct tg_bench_run *run = entry->open;
    if (!run || now < run->look_at)
        return run;
    if (tg_bench_state_of(entry).files == entry->was.files) {
        run->look_at = now + TG_BENCH_SECOND;
        return run;
    }
    detach(bench, run);
    take_out(bench, run, out);
    return NULL;
}

/* Opens the run; the lock is held before and after, but not meanwhile. */
static tg_status open_run(struct tg_workbench *bench, struct tg_bench_entry *entry,
                          struct tg_error *error)
{
    struct tg_bench_run *run;
    entry->is_opening = true;
    pthread_mutex_unlock(&bench->lock);
    uint64_t began = tg_bench_now();
    struct tg_bench_state state =
        tg_bench_state_of(entry); /* before: what comes later is seen later */
    tg_status status = tg_bench_run_open(bench, entry, &run, error);
    uint64_t ended = tg_bench_now(), rest = REST_AFTER_OPENING * (ended - began);
    pthread_mutex_lock(&bench->lock);
    entry->is_opening = false;
    (void)pthread_cond_broadcast(&bench->opened);
    if (status != TG_OK)
        return status;
    run->look_at = ended + (rest > TG_BENCH_SECOND ? rest : TG_BENCH_SECOND);
    if (entry->generation == 0 || entry->was.files != state.files)
        entry->generation++;
    entry->was = state;
    run->generation = entry->generation;
    run->entry = entry;
    run->next = bench->first;
    bench->first = entry->open = run;
    return TG_OK;
}

tg_status tg_bench_take(struct tg_workbench *bench, const char *key, struct tg_bench_run **run,
                        struct tg_error *error)
{
    struct tg_bench_run *out[2] = {NULL, NULL}, *more[2] = {NULL, NULL};
    struct tg_bench_entry *entry = find_entry(bench, key);
    tg_status status = TG_OK;
    *run = NULL;
    if (!entry)
        return tg_error_set(error, TG_NOT_FOUND, "there is no run '%s'", key);
    pthread_mutex_lock(&bench->lock);
    while (entry->is_opening)
        (void)pthread_cond_wait(&bench->opened, &bench->lock);
    *run = fresh_run(bench, entry, tg_bench_now(), out);
    if (!*run) {
        status = open_run(bench, entry, error);
        *run = entry->open;
    }
    if (status == TG_OK) {
        (*run)->users++;
        (*run)->used = ++bench->takes;
        take_out(bench, NULL, more);
    }
    pthread_mutex_unlock(&bench->lock);
    close_both(out);
    close_both(more);
    return status;
}

void tg_bench_weigh(struct tg_bench_run *run, size_t bytes)
{
    pthread_mutex_lock(&run->bench->lock);
    run->weight += bytes;
    pthread_mutex_unlock(&run->bench->lock);
}

void tg_bench_keep(struct tg_bench_run *run)
{
    pthread_mutex_lock(&run->bench->lock);
    run->users++;
    pthread_mutex_unlock(&run->bench->lock);
}

void tg_bench_give_back(struct tg_bench_run *run)
{
    struct tg_bench_run *out[2];
    struct tg_workbench *bench = run->bench;
    pthread_mutex_lock(&bench->lock);
    run->users--;
    take_out(bench, run, out);
    pthread_mutex_unlock(&bench->lock);
    close_both(out);
}

const char *tg_workbench_run_path(struct tg_workbench *bench, const char *key)
{
    const struct tg_bench_entry *entry = bench && key ? find_entry(bench, key) : NULL;
    return entry ? entry->path : NULL;
}
