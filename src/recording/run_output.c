/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps outputs away from the files of the run that they are made of. A path can lead to such a file in
 * two ways: it is another name for it (a link), or it is its name in the same folder, by whatever way.
 * So both are compared, by device and inode: what the path leads to, and the folder together with the
 * last part of the path. A name that a run would use is refused even if the run has no such file:
 * readers would take the output for the run's. What exists in one of the folders that only a recorder
 * writes to is refused whatever its name: a recording can give its payload file any.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <taskglass/scope_stats.h>

#include "base/error.h"
#include "base/files.h"
#include "recording/reader.h"
#include "recording/record.h"
#include "recording/run_folder.h"

/* What a path leads to, and where it is itself. */
struct output {
    const char *path;
    const char *last; /* its last part; of .NAME.tmp, which a run calls NAME at first, only NAME */
    size_t length;    /* of that */
    struct stat target, folder;
    bool exists;
    bool is_alias; /* `target` is set, and may have other names */
    bool has_folder;
};

static bool is_one(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static void set_last(struct output *output, const char *last)
{
    static const char end[] = ".tmp";
    size_t length = strlen(last), cut = sizeof end; /* with the dot at the beginning */
    bool is_temporary =
        length > cut && *last == '.' && strcmp(last + length - sizeof end + 1, end) == 0;
    output->last = is_temporary ? last + 1 : last;
    output->length = is_temporary ? length - cut : length;
}

static bool is_called(const struct output *output, const char *name)
{
    return strlen(name) == output->length && memcmp(name, output->last, output->length) == 0;
}

static tg_status look(const char *path, struct output *output, struct tg_error *error)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (!folder)
        return tg_file_no_memory(error);
    *output = (struct output){.path = path};
    set_last(output, slash ? slash + 1 : path);
    struct stat *target = &output->target;
    output->exists = lstat(path, target) == 0;
    if (output->exists && S_ISLNK(target->st_mode))
        output->is_alias = stat(path, target) == 0;
    else
        output->is_alias = S_ISREG(target->st_mode) && target->st_nlink > 1;
    output->has_folder = stat(folder, &output->folder) == 0;
    free(folder);
    return TG_OK;
}

static tg_status refuse(const struct output *output, struct tg_error *error)
{
    return tg_error_set(error, TG_BAD_ARGUMENT,
                        "'%s' is a file of the recording itself; name another", output->path);
}

static tg_status compare(const struct output *output, const char *folder, const char *name,
                         struct tg_error *error)
{
    struct stat info;
    bool same = output->has_folder && is_called(output, name) && stat(folder, &info) == 0 &&
                is_one(&info, &output->folder);
    if (output->is_alias && !same) {
        char *path = tg_path_join(folder, name);
        if (!path)
            return tg_file_no_memory(error);
        same = stat(path, &info) == 0 && is_one(&info, &output->target);
        free(path);
    }
    return same ? refuse(output, error) : TG_OK;
}

/* --- the folders of a run -------------------------------------------------------------------- */

static const char *const inner[] = {TG_DUMP_FOLDER, "args_dump", TG_SCOPE_FOLDER};
enum { INNER = sizeof inner / sizeof inner[0] };

/* Names of another implementation's files, besides those of tg_run_name_at. */
static const char *const others[] = {"args_dump.json", "args_dump.bin", "args.bin", "manifest.json",
                                     "chip_swimlane_records.json"};
enum { OTHERS = sizeof others / sizeof others[0] };

/* The files of a run whose names are known, as if they lay in `folder`. */
static tg_status compare_names(const struct output *output, const char *folder,
                               struct tg_error *error)
{
    const struct tg_run_name *name;
    tg_status status = TG_OK;
    for (unsigned i = 0; status == TG_OK && (name = tg_run_name_at(i)); i++)
        status = compare(output, folder, name->name, error);
    for (unsigned i = 0; status == TG_OK && i < OTHERS; i++)
        status = compare(output, folder, others[i], error);
    return status;
}

/* Something in a folder that only a recorder writes to. */
static bool replaces_in(const struct output *output, const char *folder)
{
    struct stat info;
    return output->exists && output->has_folder && stat(folder, &info) == 0 &&
           is_one(&info, &output->folder);
}

/* A link to a folder of the run would be replaced too. */
static tg_status compare_run(const struct output *output, const char *run, struct tg_error *error)
{
    tg_status status = compare(output, run, ".", error);
    if (status == TG_OK)
        status = compare_names(output, run, error);
    for (unsigned i = 0; status == TG_OK && i < INNER; i++) {
        char *folder = tg_path_join(run, inner[i]);
        status = folder ? compare(output, folder, ".", error) : tg_file_no_memory(error);
        if (status == TG_OK)
            status = compare_names(output, folder, error);
        if (status == TG_OK && replaces_in(output, folder))
            status = refuse(output, error);
        free(folder);
    }
    return status;
}

/* Whether `dir` is one of the folders in a run's folder. If the system does not tell, it is taken for
 * one. */
static bool is_inner(const char *dir)
{
    char *real = realpath(dir, NULL), last[TG_NAME_MAX + 1];
    bool is = !real && tg_cause_is_fault(errno);
    tg_path_last(real ? real : dir, last, sizeof last);
    for (unsigned i = 0; i < INNER; i++)
        is = is || strcmp(last, inner[i]) == 0;
    free(real);
    return is;
}

/* An export of many files asks about each of them, so the common case costs no look at the run. */
static bool is_harmless(const struct output *output)
{
    const struct tg_run_name *name;
    bool is_known = false;
    for (unsigned i = 0; (name = tg_run_name_at(i)); i++)
        is_known = is_known || is_called(output, name->name);
    for (unsigned i = 0; i < OTHERS; i++)
        is_known = is_known || is_called(output, others[i]);
    return !output->exists && !is_known;
}

static tg_status check_run(const struct output *output, const char *dir, struct tg_error *error)
{
    if (is_harmless(output))
        return TG_OK;
    tg_status status = compare_run(output, dir, error);
    char *up = NULL;
    if (status == TG_OK && is_inner(dir)) {
        up = tg_path_join(dir, "..");
        status = up ? compare_run(output, up, error) : tg_file_no_memory(error);
    }
    free(up);
    return status;
}

/* --- what calls it --------------------------------------------------------------------------- */

/* `file` is a file of the run, with a name of any kind. */
static tg_status check_beside(const struct output *output, const char *file, struct tg_error *error)
{
    const char *slash = strrchr(file, '/');
    char *dir = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
    if (!dir)
        return tg_file_no_memory(error);
    tg_status status = compare(output, dir, slash ? slash + 1 : file, error);
    if (status == TG_OK)
        status = check_run(output, dir, error);
    free(dir);
    return status;
}

tg_status tg_run_check_output(const char *run, const char *path, struct tg_error *error)
{
    TG_REFUSE_NULL(error, run);
    TG_REFUSE_NULL(error, path);
    struct output output;
    struct stat info;
    tg_status status = look(path, &output, error);
    if (status != TG_OK)
        return status;
    return stat(run, &info) == 0 && !S_ISDIR(info.st_mode) ? check_beside(&output, run, error)
                                                           : check_run(&output, run, error);
}

/* The files that the recording names itself may have any name. */
tg_status tg_recording_check_output(const struct tg_recording *recording, const char *path,
                                    struct tg_error *error)
{
    const struct tg_recording_info *info = &recording->info;
    const char *const names[] = {info->journal, info->manifest, info->payload};
    struct output output;
    tg_status status = look(path, &output, error);
    for (unsigned i = 0; status == TG_OK && i < 3; i++)
        if (*names[i])
            status = compare(&output, info->dir, names[i], error);
    return status == TG_OK ? check_run(&output, info->dir, error) : status;
}
