/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which runs there are. A run is known by its key from the time it is first seen until the workbench is closed, so
 * that a link stays good and so that no request names a path. tg_runs_open finds the runs of Taskglass; directories
 * with recordings of another implementation are runs here too.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/text.h>
#include <taskglass/timing.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/grow.h"
#include "recording/reader.h"
#include "recording/record.h"
#include "workbench/bench.h"
#include "workbench/clock.h"

/* --- keys ----------------------------------------------------------------------------------- */

static const char *path_of(const struct tg_bench_entry *entry)
{
    return entry->path;
}

static const char *key_of(const struct tg_bench_entry *entry)
{
    return entry->key;
}

/* Where the text is among the sorted entries, or belongs. */
static size_t place_of(struct tg_bench_entry *const *sorted, size_t count,
                       const char *(*text_of)(const struct tg_bench_entry *), const char *text)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(text_of(sorted[middle]), text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct tg_bench_entry *tg_bench_entry_of(struct tg_workbench *bench, const char *key)
{
    size_t at = place_of(bench->by_key, bench->n_entries, key_of, key);
    return at < bench->n_entries && strcmp(bench->by_key[at]->key, key) == 0 ? bench->by_key[at]
                                                                             : NULL;
}

/* Writes NAME~number; true if a run has that key. */
static bool is_taken(struct tg_workbench *bench, const char *name, unsigned number, char *key)
{
    (void)snprintf(key, TG_BENCH_KEY, "%s~%u", name, number);
    return tg_bench_entry_of(bench, key) != NULL;
}

/* The name of the run's directory; a second run of that name becomes NAME~2. Long names may all begin alike, so a free
 * number is found in steps that double, and then by halves. */
static void choose_key(struct tg_workbench *bench, const char *folder, char *key)
{
    char real[PATH_MAX], last[TG_BENCH_KEY], clean[TG_BENCH_KEY - 16];
    tg_path_last(realpath(folder, real) ? real : folder, last, sizeof last);
    tg_text_clean(*last ? last : "run", clean, sizeof clean);
    (void)snprintf(key, TG_BENCH_KEY, "%s", clean);
    if (!tg_bench_entry_of(bench, key))
        return;
    unsigned taken = 1, available = 2;
    for (; is_taken(bench, clean, available, key); available *= 2)
        taken = available;
    while (available - taken > 1) {
        const unsigned middle = taken + (available - taken) / 2;
        if (is_taken(bench, clean, middle, key))
            taken = middle;
        else
            available = middle;
    }
    (void)snprintf(key, TG_BENCH_KEY, "%s~%u", clean, available);
}

static void insert(struct tg_bench_entry **sorted, size_t count, size_t at,
                   struct tg_bench_entry *entry)
{
    memmove((void *)(sorted + at + 1), (const void *)(sorted + at),
            (count - at) * sizeof(struct tg_bench_entry *));
    sorted[at] = entry;
}

struct tg_bench_entry *tg_bench_add_entry(struct tg_workbench *bench, const char *path,
                                          const char *folder, const char *key)
{
    size_t n = bench->n_entries, at = place_of(bench->by_path, n, path_of, path);
    if (at < n && strcmp(bench->by_path[at]->path, path) == 0)
        return bench->by_path[at];
    struct tg_bench_entry *entry = calloc(1, sizeof *entry);
    if (entry) {
        entry->path = strdup(path);
        entry->folder = strdup(folder);
    }
    if (!entry || !entry->path || !entry->folder ||
        !tg_grow(&bench->by_path, &bench->path_room, n + 1, sizeof(void *)) ||
        !tg_grow(&bench->by_key, &bench->key_room, n + 1, sizeof(void *))) {
        free(entry ? entry->path : NULL);
        free(entry ? entry->folder : NULL);
        free(entry);
        return NULL;
    }
    if (key)
        (void)snprintf(entry->key, sizeof entry->key, "%s", key);
    else
        choose_key(bench, folder, entry->key);
    insert(bench->by_path, n, at, entry);
    insert(bench->by_key, n, place_of(bench->by_key, n, key_of, entry->key), entry);
    bench->n_entries++;
    return entry;
}

/* --- what a path is ------------------------------------------------------------------------- */

static bool has_file(const char *dir, const char *name)
{
    enum tg_path_kind kind = TG_PATH_NOTHING;
    char *path = tg_path_join(dir, name);
    bool has = path && tg_path_look(path, &kind) == 0 && kind == TG_PATH_FILE;
    free(path);
    return has;
}

/* A directory that is no run of ours, but has a recording or the times of another implementation's. */
static bool is_others_run(const char *dir)
{
    struct tg_found found;
    bool is = tg_found_files(dir, &found, NULL) == TG_OK;
    tg_found_free(&found);
    return is || has_file(dir, TG_SWIMLANE_FILE);
}

static bool is_own_run(const char *dir)
{
    struct tg_runs *runs;
    struct tg_runs_entry run;
    if (tg_runs_open(dir, &runs, NULL) != TG_OK)
        return false;
    bool is = tg_runs_get(runs, 0, &run) && strcmp(run.path, dir) == 0;
    tg_runs_close(runs);
    return is;
}

/* A run's path and the directory of its files, both on the heap; both NULL if the path is none. */
struct place {
    char *path, *folder;
};

static void free_place(struct place *place)
{
    free(place->path);
    free(place->folder);
    *place = (struct place){0};
}

static tg_status set_place(struct place *place, char *path, char *folder, struct tg_error *error)
{
    *place = (struct place){path, folder};
    if (path && folder)
        return TG_OK;
    free_place(place);
    return tg_file_no_memory(error);
}

/* A journal or manifest. Opening it is the only way to know that it is one. */
static tg_status look_at_file(const char *path, struct place *place, struct tg_error *error)
{
    struct tg_recording *recording;
    char *folder = NULL;
    tg_status status = tg_recording_open(path, &recording, error);
    if (status != TG_OK)
        return status;
    int cause = tg_run_folder(recording->dir, &folder);
    if (cause == 0)
        status = set_place(place, strdup(path), folder ? folder : strdup(recording->dir), error);
    else
        status = tg_file_error(error, "read", path, cause);
    tg_recording_close(recording);
    return status;
}

static tg_status look_at_dir(const char *path, struct place *place, struct tg_error *error)
{
    struct tg_found found;
    char *folder = NULL;
    int cause = tg_run_folder(path, &folder);
    if (cause != 0)
        return tg_file_error(error, "read", path, cause);
    bool is_recording = folder && tg_found_files(path, &found, NULL) == TG_OK;
    if (is_recording) { /* the folder tensor_dump of a run */
        tg_found_free(&found);
        return set_place(place, strdup(folder), folder, error);
    }
    free(folder);
    if (!tg_bench_is_of_ranks(path) && !is_own_run(path) && !is_others_run(path))
        return TG_OK;
    return set_place(place, strdup(path), strdup(path), error);
}

static tg_status look_at(const char *path, struct place *place, struct tg_error *error)
{
    enum tg_path_kind kind;
    char real[PATH_MAX];
    struct stat info;
    *place = (struct place){0};
    int cause = tg_path_look(path, &kind);
    if (cause != 0)
        return tg_file_error(error, "read", path, cause);
    if (kind == TG_PATH_NOTHING)
        return tg_error_set(error, TG_NOT_FOUND, "there is no '%s'", path);
    if (kind == TG_PATH_FILE)
        return look_at_file(path, place, error);
    if (kind == TG_PATH_OTHER)
        return tg_error_set(error, TG_BAD_ARGUMENT, "'%s' is neither a directory nor a file", path);
    /* The list of runs does not follow links, but the user who names one means what it leads to. */
    if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode) && realpath(path, real))
        path = real;
    return look_at_dir(path, place, error);
}

static tg_status add_fixed(struct tg_workbench *bench, const char *path, const struct place *place,
                           struct tg_error *error)
{
    if (!place->path)
        return tg_error_set(error, TG_BAD_ARGUMENT, "'%s' is not a run", path);
    struct tg_bench_entry *entry = tg_bench_add_entry(bench, place->path, place->folder, NULL);
    if (!entry)
        return tg_file_no_memory(error);
    bench->fixed[bench->n_fixed++] = entry;
    return TG_OK;
}

tg_status tg_bench_find(struct tg_workbench *bench, const char *path, const char *other,
                        struct tg_error *error)
{
    struct place place = {0}, second = {0};
    tg_status status = look_at(path, &place, error);
    if (status == TG_OK && other)
        status = look_at(other, &second, error);
    bench->is_folder = !place.path && !other;
    if (status == TG_OK && !bench->is_folder)
        status = add_fixed(bench, path, &place, error);
    if (status == TG_OK && other)
        status = add_fixed(bench, other, &second, error);
    free_place(&place);
    free_place(&second);
    return status;
}

/* --- the list ------------------------------------------------------------------------------- */

/* A run without run.json counts as interrupted. One of another implementation never has one, so that says nothing. */
static uint32_t state_of(const struct tg_runs_entry *run, const char *folder)
{
    if (run->state != TG_RECORDING_INTERRUPTED ||
        has_file(folder, TG_DUMP_FOLDER "/" TG_DUMP_JOURNAL))
        return run->state;
    return is_others_run(folder) ? TG_RECORDING_UNKNOWN : run->state;
}

static tg_status add_row(struct tg_workbench *bench, struct tg_bench_list *list, const char *path,
                         const char *folder, const struct tg_runs_entry *run,
                         struct tg_error *error)
{
    struct stat info;
    if (!tg_grow(&list->row, &list->room, list->count + 1, sizeof *list->row))
        return tg_file_no_memory(error);
    pthread_mutex_lock(&bench->lock);
    const struct tg_bench_entry *entry = tg_bench_add_entry(bench, path, folder, NULL);
    pthread_mutex_unlock(&bench->lock);
    if (!entry)
        return tg_file_no_memory(error);
    struct tg_bench_row *row = &list->row[list->count++];
    *row = (struct tg_bench_row){.entry = entry, .is_counted = run != NULL};
    if (run)
        row->run = *run;
    else if (stat(folder, &info) == 0)
        row->run.began = (int64_t)info.st_mtime;
    row->run.state = run ? state_of(run, folder) : TG_RECORDING_UNKNOWN;
    row->run.path = entry->path;
    if (!run || !bench->is_folder)
        tg_text_clean(entry->key, row->run.name, sizeof row->run.name);
    if (tg_bench_is_of_ranks(folder))
        tg_bench_describe_ranks(row, folder);
    return TG_OK;
}

static tg_status list_fixed(struct tg_workbench *bench, struct tg_bench_list *list,
                            struct tg_error *error)
{
    tg_status status = TG_OK;
    for (unsigned i = 0; status == TG_OK && i < bench->n_fixed; i++) {
        const struct tg_bench_entry *entry = bench->fixed[i];
        struct tg_runs *runs = NULL;
        struct tg_runs_entry run;
        bool is_run = tg_runs_open(entry->folder, &runs, NULL) == TG_OK &&
                      tg_runs_get(runs, 0, &run) && strcmp(run.path, entry->folder) == 0;
        status = add_row(bench, list, entry->path, entry->folder, is_run ? &run : NULL, error);
        tg_runs_close(runs);
    }
    return status;
}

static int compare_paths(const void *a, const void *b)
{
    const struct tg_bench_row *x = a, *y = b;
    return strcmp(x->run.path, y->run.path);
}

/* Directories that tg_runs_open does not take for runs. The first `n_own` rows are sorted by path. */
static tg_status list_others(struct tg_workbench *bench, struct tg_bench_list *list, size_t n_own,
                             struct tg_error *error)
{
    const struct dirent *name;
    struct stat info;
    tg_status status = TG_OK;
    DIR *names = opendir(bench->root);
    if (!names)
        return errno == ENOENT ? TG_OK : tg_file_error(error, "read", bench->root, errno);
    while (status == TG_OK && (errno = 0, name = readdir(names))) {
        struct tg_bench_row row = {0};
        char *path = name->d_name[0] == '.' ? NULL : tg_path_join(bench->root, name->d_name);
        row.run.path = path;
        if (path && lstat(path, &info) == 0 && S_ISDIR(info.st_mode) &&
            !bsearch(&row, list->row, n_own, sizeof row, compare_paths) &&
            (is_others_run(path) || tg_bench_is_of_ranks(path)))
            status = add_row(bench, list, path, path, NULL, error);
        free(path);
    }
    closedir(names);
    return status;
}

static tg_status list_folder(struct tg_workbench *bench, struct tg_bench_list *list,
                             struct tg_error *error)
{
    struct tg_runs *runs;
    struct tg_runs_entry run;
    tg_status status = tg_runs_open(bench->root, &runs, error);
    if (status != TG_OK)
        return status;
    for (uint64_t i = 0; status == TG_OK && tg_runs_get(runs, i, &run); i++)
        status = add_row(bench, list, run.path, run.path, &run, error);
    list->unread = tg_runs_unread(runs, NULL);
    tg_runs_close(runs);
    if (status == TG_OK && list->count > 0)
        qsort(list->row, list->count, sizeof *list->row, compare_paths);
    return status == TG_OK ? list_others(bench, list, list->count, error) : status;
}

static int live_then_newest(const void *a, const void *b)
{
    const struct tg_bench_row *x = a, *y = b;
    bool x_lives = x->run.state == TG_RECORDING_RUNNING;
    if (x_lives != (y->run.state == TG_RECORDING_RUNNING))
        return x_lives ? -1 : 1;
    if (x->run.began != y->run.began)
        return x->run.began > y->run.began ? -1 : 1;
    return strcmp(y->run.path, x->run.path);
}

tg_status tg_bench_list(struct tg_workbench *bench, struct tg_bench_list *list,
                        struct tg_error *error)
{
    *list = (struct tg_bench_list){0};
    tg_status status =
        bench->is_folder ? list_folder(bench, list, error) : list_fixed(bench, list, error);
    if (bench->is_folder && list->count > 0)
        qsort(list->row, list->count, sizeof *list->row, live_then_newest);
    pthread_mutex_lock(&bench->lock);
    bench->listed_at = tg_bench_now();
    pthread_mutex_unlock(&bench->lock);
    return status;
}

void tg_bench_list_free(struct tg_bench_list *list)
{
    free(list->row);
    *list = (struct tg_bench_list){0};
}
