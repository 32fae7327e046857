/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/paths.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/files.h"
#include "host/text.h"

/* The folder of a file, with symbolic links followed; NULL if the file does not exist. Returns 0, or a
 * cause that is a fault. */
static int folder_of(const char *file, char **folder)
{
    *folder = realpath(file, NULL);
    if (!*folder)
        return tg_cause_is_fault(errno) ? errno : 0;
    char *slash = strrchr(*folder, '/');
    if (slash)
        slash[slash == *folder] = '\0';
    return 0;
}

/* dladdr tells which file this function was loaded from, wherever that file is installed. */
static int library_folder(char **folder)
{
    Dl_info info;
    *folder = NULL;
    if (!dladdr((void *)(uintptr_t)&tg_paths_find, &info) || !info.dli_fname)
        return 0;
    return folder_of(info.dli_fname, folder);
}

/* Takes the path, and gives it back in *found if it leads to something. Returns 0, or a cause that is a
 * fault. */
static int take_existing(char *path, char **found)
{
    enum tg_path_kind kind = TG_PATH_NOTHING;
    int cause = path ? tg_path_look(path, &kind) : ENOMEM;
    *found = kind == TG_PATH_NOTHING ? NULL : path;
    if (!*found)
        free(path);
    return cause;
}

static int existing(const char *folder, const char *between, const char *name, char **found)
{
    *found = NULL;
    return folder ? take_existing(tg_text_format("%s%s/taskglass/%s", folder, between, name), found)
                  : 0;
}

tg_status tg_paths_find_in(const char *library_dir, const char *program_dir, const char *name,
                           char **path, struct tg_error *error)
{
    int cause = existing(library_dir, "", name, path);
    if (cause == 0 && !*path)
        cause = existing(program_dir, "/../lib", name, path);
    if (cause != 0)
        return tg_file_error(error, "look for", name, cause);
    if (*path)
        return TG_OK;
    return tg_error_set(error, TG_NOT_FOUND,
                        "'%s' is neither in %s/taskglass nor in %s/../lib/taskglass: "
                        "the installation is incomplete; install Taskglass again",
                        name, library_dir ? library_dir : "?", program_dir ? program_dir : "?");
}

tg_status tg_paths_find(const char *name, char **path, struct tg_error *error)
{
    char *library_dir, *program_dir = NULL;
    int cause = library_folder(&library_dir);
    if (cause == 0)
        cause = folder_of("/proc/self/exe", &program_dir);
    *path = NULL;
    tg_status status = cause != 0 ? tg_file_error(error, "look for", name, cause)
                                  : tg_paths_find_in(library_dir, program_dir, name, path, error);
    free(library_dir);
    free(program_dir);
    return status;
}

tg_status tg_paths_find_beside(const char *sibling, const char *name, char **path,
                               struct tg_error *error)
{
    char *folder = NULL;
    int cause = sibling && *sibling ? folder_of(sibling, &folder) : 0;
    *path = NULL;
    if (cause == 0 && folder)
        cause = take_existing(tg_text_format("%s/%s", folder, name), path);
    free(folder);
    if (cause != 0)
        return tg_file_error(error, "look for", name, cause);
    return *path ? TG_OK : tg_paths_find(name, path, error);
}
