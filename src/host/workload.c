/* SPDX-License-Identifier: Apache-2.0 */
/* Finds workload modules by name or path, and opens them. */
#define _GNU_SOURCE 1
#include "host/workload.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/execute.h>

#include "base/error.h"
#include "base/files.h"
#include "base/grow.h"
#include "host/module_open.h"
#include "host/paths.h"
#include "host/text.h"
#include "host/trust.h"

struct tg_workload_file {
    void *library;
    const struct tg_workload *workload;
    char *path;
    struct tg_module_file was; /* what was loaded */
};

/* A growing list of strings, which it owns. */
struct names {
    char **item;
    uint32_t count;
    size_t room;
};

static tg_status no_memory(struct tg_error *error)
{
    return tg_error_set(error, TG_NO_MEMORY, "out of host memory while looking for workloads");
}

/* Takes ownership of `text`, also on failure. NULL, from a failed allocation, is NO_MEMORY. */
static tg_status names_add(struct names *names, char *text, struct tg_error *error)
{
    if (!text ||
        !tg_grow(&names->item, &names->room, (size_t)names->count + 1, sizeof *names->item)) {
        free(text);
        return no_memory(error);
    }
    names->item[names->count++] = text;
    return TG_OK;
}

static bool names_have(const struct names *names, const char *text)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (strcmp(names->item[i], text) == 0)
            return true;
    return false;
}

void tg_workload_names_free(char **names, uint32_t count)
{
    if (names == NULL)
        return;
    for (uint32_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* The folders to search: the user's own come first, so that they can replace an example. */
static tg_status folders(const struct tg_settings *settings, struct names *found,
                         struct tg_error *error)
{
    const char *rest = tg_settings_text(settings, "workload-path");
    tg_status status = TG_OK;
    char *installed;
    while (*rest && status == TG_OK) {
        size_t length = strcspn(rest, ":");
        if (length > 0)
            status = names_add(found, strndup(rest, length), error);
        rest += length + (rest[length] == ':');
    }
    if (status != TG_OK)
        return status;
    status = tg_paths_find("workloads", &installed, error);
    if (status == TG_NOT_FOUND) /* then only the user's own */
        return TG_OK;
    return status == TG_OK ? names_add(found, installed, error) : status;
}

static bool is_module_name(const char *file)
{
    size_t length = strlen(file);
    return length > 3 && file[0] != '.' && strcmp(file + length - 3, ".so") == 0;
}

/* Adds "vector_add" for "vector_add.so", once. */
static tg_status add_module(struct names *found, const char *file, struct tg_error *error)
{
    char *name = strndup(file, strlen(file) - 3);
    if (!name || !names_have(found, name))
        return names_add(found, name, error);
    free(name);
    return TG_OK;
}

static tg_status scan(const char *folder, struct names *found, struct tg_error *error)
{
    tg_status status = TG_OK;
    struct dirent *entry;
    DIR *dir = opendir(folder);
    if (!dir)
        return tg_error_set(error, tg_cause_is_fault(errno) ? TG_IO_ERROR : TG_NOT_FOUND,
                            "cannot look for workloads in '%s': %s", folder, strerror(errno));
    errno = 0;
    while (status == TG_OK && (entry = readdir(dir))) {
        if (is_module_name(entry->d_name))
            status = add_module(found, entry->d_name, error);
        errno = 0;
    }
    if (status == TG_OK && errno != 0)
        status = tg_file_error(error, "look for workloads in", folder, errno);
    closedir(dir);
    return status;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static tg_status scan_all(const struct names *places, struct names *found, struct tg_error *error)
{
    tg_status status = TG_OK;
    for (uint32_t i = 0; i < places->count && status == TG_OK; i++)
        status = scan(places->item[i], found, error);
    if (found->count > 0)
        qsort(found->item, found->count, sizeof *found->item, by_text);
    return status;
}

tg_status tg_workload_names(const struct tg_settings *settings, char ***names, uint32_t *count,
                            struct tg_error *error)
{
    TG_REFUSE_NULL(error, settings);
    TG_REFUSE_NULL(error, names);
    TG_REFUSE_NULL(error, count);
    struct names places = {0}, found = {0};
    tg_status status = folders(settings, &places, error);
    if (status == TG_OK)
        status = scan_all(&places, &found, error);
    tg_workload_names_free(places.item, places.count);
    if (status != TG_OK) {
        tg_workload_names_free(found.item, found.count);
        found = (struct names){0};
    }
    *names = found.item;
    *count = found.count;
    return status;
}

/* The names as "a, b, c"; the caller frees the text. */
static char *joined(const struct names *names)
{
    char *text = strdup(names->count ? names->item[0] : "nothing");
    for (uint32_t i = 1; i < names->count && text; i++) {
        char *longer = tg_text_format("%s, %s", text, names->item[i]);
        free(text);
        text = longer;
    }
    return text;
}

static tg_status not_found(const struct names *places, const char *name, struct tg_error *error)
{
    struct names found = {0};
    char hint[400];
    if (tg_workload_hint(name, hint, sizeof hint))
        return tg_error_set(error, TG_NOT_FOUND, "no workload '%s'; %s", name, hint);
    tg_status status = scan_all(places, &found, error);
    if (status == TG_OK) {
        char *where = joined(places), *what = joined(&found);
        status = where && what ? tg_error_set(error, TG_NOT_FOUND, "no workload '%s'; %s has: %s",
                                              name, where, what)
                               : no_memory(error);
        free(where);
        free(what);
    }
    tg_workload_names_free(found.item, found.count);
    return status;
}

/* Searches the folders for the module's file; `name` is not a path. */
static tg_status search(const struct tg_settings *settings, const char *name, char **path,
                        struct tg_error *error)
{
    struct names places = {0};
    tg_status status = folders(settings, &places, error);
    *path = NULL;
    for (uint32_t i = 0; i < places.count && status == TG_OK && !*path; i++) {
        enum tg_path_kind kind = TG_PATH_NOTHING;
        *path = tg_text_format("%s/%s.so", places.item[i], name);
        int cause = *path ? tg_path_look(*path, &kind) : ENOMEM;
        if (cause != 0)
            status = tg_file_error(error, "look for", *path ? *path : name, cause);
        if (kind == TG_PATH_NOTHING) {
            free(*path);
            *path = NULL;
        }
    }
    if (status == TG_OK && !*path)
        status = not_found(&places, name, error);
    tg_workload_names_free(places.item, places.count);
    return status;
}

static bool is_path(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 3 && strcmp(name + length - 3, ".so") == 0);
}

/* Gives an absolute path: the device opens the same file from another process, and dlopen would
 * look for a name without a slash among the system's libraries. */
static tg_status locate(const struct tg_settings *settings, const char *name, char **path,
                        struct tg_error *error)
{
    char *found = NULL;
    tg_status status = TG_OK;
    if (!is_path(name))
        status = search(settings, name, &found, error);
    if (status != TG_OK)
        return status;
    *path = realpath(found ? found : name, NULL);
    if (!*path)
        status = tg_error_set(error, tg_cause_is_fault(errno) ? TG_IO_ERROR : TG_NOT_FOUND,
                              "cannot open module '%s': %s", found ? found : name, strerror(errno));
    free(found);
    return status;
}

/* Adds what the user probably meant to the message about a path. */
static tg_status add_hint(const char *name, tg_status status, struct tg_error *error)
{
    char hint[400];
    if (is_path(name) && (status == TG_NOT_FOUND || status == TG_BAD_ARGUMENT) && error != NULL &&
        tg_workload_hint(name, hint, sizeof hint))
        return tg_error_set(error, status, "%.*s; %s", (int)(sizeof error->text - strlen(hint) - 3),
                            error->text, hint);
    return status;
}

tg_status tg_workload_open(const struct tg_settings *settings, const char *name,
                           struct tg_workload_file **file, struct tg_error *error)
{
    TG_REFUSE_NULL(error, settings);
    TG_REFUSE_NULL(error, name);
    TG_REFUSE_NULL(error, file);
    *file = NULL;
    struct tg_workload_file *opened = calloc(1, sizeof *opened);
    if (!opened)
        return no_memory(error);
    tg_status status = locate(settings, name, &opened->path, error);
    if (status == TG_OK)
        status = tg_module_open(opened->path, TG_BAD_ARGUMENT, &opened->library, &opened->workload,
                                &opened->was, error);
    if (status != TG_OK) {
        tg_workload_close(opened);
        return add_hint(name, status, error);
    }
    *file = opened;
    return TG_OK;
}

void tg_workload_close(struct tg_workload_file *file)
{
    if (!file)
        return;
    if (file->library)
        dlclose(file->library);
    free(file->path);
    free(file);
}

const struct tg_workload *tg_workload_get(const struct tg_workload_file *file)
{
    if (file == NULL)
        return NULL;
    return file->workload;
}

const char *tg_workload_path(const struct tg_workload_file *file)
{
    if (file == NULL)
        return "";
    return file->path;
}

tg_status tg_workload_note(const struct tg_workload_file *file, struct tg_error *error)
{
    return tg_trust_note_loaded(file->path, &file->was, error);
}
