/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/trust.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/text.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "host/paths.h"
#include "host/recorded_task.h"
#include "host/text.h"
#include "host/trust_notes.h"
#include "recording/reader.h"

/* Room in a message for the words around a reason and a path. */
enum { REFUSAL_WORDS = 120 };

/* ── is it installed? ──────────────────────────────────────────────────────────────────── */

/* If false, *cause may say why the system would not tell.
 * `path` has no symbolic links left, so one in the folder of the workloads that leads elsewhere does not
 * count, and neither does "workloads/../../elsewhere.so". */
static bool is_installed(const char *path, int *cause)
{
    char *found = NULL, *folder = NULL;
    bool is = false;
    errno = 0;
    if (tg_paths_find("workloads", &found, NULL) == TG_OK)
        folder = realpath(found, NULL);
    *cause = !folder && tg_cause_is_fault(errno) ? errno : 0;
    if (folder) {
        size_t length = strlen(folder);
        is = strncmp(path, folder, length) == 0 && path[length] == '/' &&
             strchr(path + length + 1, '/') == NULL;
    }
    free(found);
    free(folder);
    return is;
}

/* ── was it run? ───────────────────────────────────────────────────────────────────────── */

/* True if a user other than this one and root can replace the file, or a folder on the way to it. In a
 * folder like /tmp only the owner of a file can. A group that is this user's own one is harmless. */
static bool others_can_replace(const char *path)
{
    char part[PATH_MAX];
    struct stat is;
    snprintf(part, sizeof part, "%s", path);
    for (bool is_folder = false;; is_folder = true) {
        if (stat(*part ? part : "/", &is) != 0)
            return true;
        bool is_sticky = is_folder && (is.st_mode & S_ISVTX) != 0;
        bool others = (is.st_mode & S_IWOTH) != 0 ||
                      ((is.st_mode & S_IWGRP) != 0 && is.st_gid != getegid() && is.st_gid != 0);
        if ((is.st_uid != geteuid() && is.st_uid != 0) || (others && !is_sticky))
            return true;
        if (*part == '\0')
            return false;
        *strrchr(part, '/') = '\0';
    }
}

/* Why a module is not known. */
struct doubt {
    char why[400]; /* "": it is known */
    bool is_fault; /* the system was short of something, so that nothing could be found out */
};

static bool is_shortage(int cause)
{
    return tg_cause_is_fault(cause) && cause != EACCES && cause != EPERM;
}

static void judge_notes(const struct tg_trust_notes *notes, const struct tg_module_file *file,
                        const char *path, struct doubt *doubt)
{
    char *why = doubt->why;
    const size_t size = sizeof doubt->why;
    struct tg_trust_match match;
    tg_trust_notes_find(notes, file, path, &match);
    *why = '\0';
    if (match.content_here)
        return;
    doubt->is_fault = is_shortage(notes->cause) || is_shortage(match.cause);
    if (*notes->why_not)
        snprintf(why, size, "%s", notes->why_not);
    else if (match.cause != 0)
        snprintf(why, size, "it cannot be compared with what you have run: %s",
                 strerror(match.cause));
    else if (match.content && file->looks_beside)
        snprintf(why, size, "you have run it elsewhere, and it loads libraries from beside itself");
    else if (match.content && others_can_replace(path))
        snprintf(why, size, "you have run it elsewhere, and here another user can replace it");
    else if (match.other_here)
        snprintf(why, size, "it has changed since you ran it");
    else if (!match.content)
        snprintf(why, size,
                 "you have not run it on this machine, or no note of that could be kept");
}

/* Opens the kernels for a GPU, NAME.cubin beside NAME.so. NOT_FOUND: there are none. */
static tg_status open_image(const char *path, char image[PATH_MAX], struct tg_module_file *file,
                            struct tg_error *error)
{
    size_t length = strlen(path);
    length -= length > 3 && strcmp(path + length - 3, ".so") == 0 ? 3 : 0;
    if (snprintf(image, PATH_MAX, "%.*s.cubin", (int)length, path) >= PATH_MAX)
        return TG_NOT_FOUND;
    return tg_module_file_open_other(image, file, error);
}

/* Of a module that is known: its kernels for a GPU must be, too. */
static void judge_image(const struct tg_trust_notes *notes, const char *path, struct doubt *doubt)
{
    struct tg_module_file file;
    struct tg_error error;
    char image[PATH_MAX];
    tg_status status = open_image(path, image, &file, &error);
    if (status == TG_OK) {
        judge_notes(notes, &file, image, doubt);
        tg_module_file_close(&file);
    } else if (status != TG_NOT_FOUND) {
        snprintf(doubt->why, sizeof doubt->why, "its kernels for the GPU: %.300s", error.text);
    }
}

static enum tg_trust look(const char *path, const struct tg_module_file *file, struct doubt *doubt)
{
    struct tg_trust_notes notes;
    int cause;
    *doubt = (struct doubt){0};
    if (is_installed(path, &cause))
        return TG_TRUST_INSTALLED;
    tg_trust_notes_read(&notes);
    judge_notes(&notes, file, path, doubt);
    if (*doubt->why && cause != 0) {
        snprintf(doubt->why, sizeof doubt->why, "cannot look for the installed workloads: %s",
                 strerror(cause));
        doubt->is_fault = true;
    }
    if (*doubt->why == '\0')
        judge_image(&notes, path, doubt);
    tg_trust_notes_free(&notes);
    return *doubt->why ? TG_TRUST_NONE : TG_TRUST_RUN_BEFORE;
}

/* ── the public functions ──────────────────────────────────────────────────────────────── */

static tg_status resolve(const char *module, char path[PATH_MAX], struct tg_module_file *file,
                         struct tg_error *error)
{
    if (realpath(module, path) == NULL)
        return tg_error_set(error, TG_NOT_FOUND, "cannot open module '%s': %s", module,
                            strerror(errno));
    return tg_module_file_open(path, file, error);
}

tg_status tg_trust_look(const char *module, enum tg_trust *trust, struct tg_error *error)
{
    TG_REFUSE_NULL(error, module);
    TG_REFUSE_NULL(error, trust);
    char path[PATH_MAX];
    struct doubt doubt;
    struct tg_module_file file;
    tg_status status = resolve(module, path, &file, error);
    *trust = TG_TRUST_NONE;
    if (status != TG_OK)
        return status;
    *trust = look(path, &file, &doubt);
    tg_module_file_close(&file);
    return doubt.is_fault ? tg_error_set(error, TG_IO_ERROR, "%s", doubt.why) : TG_OK;
}

static tg_status note(const char *path, const struct tg_module_file *file, struct tg_error *error)
{
    struct tg_module_file image_file;
    char image[PATH_MAX];
    int cause;
    if (is_installed(path, &cause))
        return TG_OK;
    tg_status status = tg_trust_notes_add(file, path, error);
    if (status != TG_OK)
        return status;
    status = open_image(path, image, &image_file, error);
    if (status != TG_OK)
        return status == TG_NOT_FOUND ? TG_OK : status;
    status = tg_trust_notes_add(&image_file, image, error);
    tg_module_file_close(&image_file);
    return status;
}

tg_status tg_trust_note(const char *module, struct tg_error *error)
{
    TG_REFUSE_NULL(error, module);
    char path[PATH_MAX];
    struct tg_module_file file;
    tg_status status = resolve(module, path, &file, error);
    if (status != TG_OK)
        return status;
    status = note(path, &file, error);
    tg_module_file_close(&file);
    return status;
}

tg_status tg_trust_note_loaded(const char *path, const struct tg_module_file *was,
                               struct tg_error *error)
{
    struct tg_module_file file;
    struct doubt doubt;
    int cause;
    if (is_installed(path, &cause))
        return TG_OK;
    tg_status status = tg_module_file_open(path, &file, error);
    if (status != TG_OK)
        return status;
    if (tg_module_file_is(was, path))
        status = note(path, &file, error);
    else
        status =
            tg_error_set(error, TG_IO_ERROR, "module '%s' was replaced after it was loaded", path);
    if (status != TG_OK && look(path, &file, &doubt) != TG_TRUST_NONE)
        status = TG_OK;
    tg_module_file_close(&file);
    return status;
}

/* ── the module of a recording ─────────────────────────────────────────────────────────── */

/* The path may be pasted into a shell, so that a part of it would be worse than none. */
static tg_status refuse(const struct tg_trust_question *question, bool was_asked,
                        struct tg_error *error)
{
    char path[sizeof error->text];
    size_t used = was_asked ? 0 : strlen(question->why), room = sizeof path - REFUSAL_WORDS;
    bool fits = tg_text_shell_word(question->module, path, room > used ? room - used : 1);
    if (was_asked)
        return tg_error_set(error, TG_NOT_TRUSTED,
                            "the module that run.json names was not loaded; --module %s loads it",
                            fits ? path : "with its path");
    return tg_error_set(error, TG_NOT_TRUSTED,
                        "run.json names a module, and loading it would run its code: %s; if you "
                        "trust it, give --module %s",
                        question->why, fits ? path : "with its path");
}

static tg_status decide(const struct tg_recording *recording, const struct tg_trusted *module,
                        tg_trust_fn ask, void *context, struct tg_error *error)
{
    struct tg_recording_info info;
    char clean[400], *run_json = NULL;
    struct doubt doubt;
    if (look(module->path, &module->file, &doubt) != TG_TRUST_NONE)
        return TG_OK;
    tg_text_clean(doubt.why, clean, sizeof clean);
    if (doubt.is_fault)
        return tg_error_set(error, TG_IO_ERROR,
                            "cannot find out whether you have run the module %s: %s", module->path,
                            clean);
    tg_recording_get_info(recording, &info);
    int cause = tg_run_file(info.dir, "run.json", &run_json);
    if (cause != 0)
        return tg_file_error(error, "look for", "run.json", cause);
    const struct tg_trust_question question = {module->path, run_json, clean};
    tg_status status =
        ask && ask(context, &question) ? TG_OK : refuse(&question, ask != NULL, error);
    free(run_json);
    return status;
}

static tg_status no_module(const struct tg_recording *recording, struct tg_error *error)
{
    static const char advice[] = "give the workload's file with --module";
    int cause = recording->no_run_json;
    if (cause == 0 || cause == ENOENT)
        return tg_error_set(error, TG_NOT_FOUND,
                            "no run.json beside the recording names its workload; %s", advice);
    return tg_error_set(error, TG_NOT_FOUND, "run.json beside the recording cannot be read: %s; %s",
                        tg_cause_text(cause), advice);
}

tg_status tg_trust_choose(const struct tg_recording *recording, const char *given, tg_trust_fn ask,
                          void *context, struct tg_trusted *module, struct tg_error *error)
{
    char word[PATH_MAX];
    tg_status status;
    *module = (struct tg_trusted){.file = {.fd = -1}};
    if (given && *given) {
        if ((size_t)snprintf(module->path, sizeof module->path, "%s", given) < sizeof module->path)
            return TG_OK;
        return tg_error_set(error, TG_BAD_ARGUMENT, "the path of the module is too long");
    }
    tg_recorded_run_value(recording, "module", word, sizeof word);
    if (*word == '\0')
        return no_module(recording, error);
    module->is_recorded = true;
    status = resolve(word, module->path, &module->file, error);
    if (status != TG_OK)
        return status;
    status = decide(recording, module, ask, context, error);
    tg_module_file_close(&module->file);
    return status;
}

tg_status tg_trust_still(const struct tg_trusted *module, struct tg_error *error)
{
    if (!module->is_recorded || tg_module_file_is(&module->file, module->path))
        return TG_OK;
    if (errno != 0)
        return tg_file_error(error, "read module", module->path, errno);
    return tg_error_set(error, TG_NOT_TRUSTED,
                        "module %s was replaced while it was about to be loaded; try again",
                        module->path);
}
