/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "host/paths.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "host/text.h"

/* The folder of a file, with symbolic links followed; NULL if the file does not exist. */
static char *folder_of(const char *file)
{
    char *path = realpath(file, NULL);
    char *slash = path ? strrchr(path, '/') : NULL;
    if (slash)
        slash[slash == path] = '\0';
    return path;
}

/* dladdr tells which file this function was loaded from, wherever that file is installed. */
static char *library_folder(void)
{
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)&tg_paths_find, &info) || !info.dli_fname)
        return NULL;
    return folder_of(info.dli_fname);
}

/* NULL if the path does not exist. Running out of memory also gives NULL: the caller treats both
 * alike. */
static char *existing(const char *folder, const char *between, const char *name)
{
    if (!folder)
        return NULL;
    char *path = tg_text_format("%s%s/taskglass/%s", folder, between, name);
    if (path && access(path, F_OK) == 0)
        return path;
    free(path);
    return NULL;
}

tg_status tg_paths_find_in(const char *library_dir, const char *program_dir, const char *name,
                           char **path, struct tg_error *error)
{
    *path = existing(library_dir, "", name);
    if (!*path)
        *path = existing(program_dir, "/../lib", name);
    if (*path)
        return TG_OK;
    return tg_error_set(error, TG_NOT_FOUND,
                        "'%s' is neither in %s/taskglass nor in %s/../lib/taskglass: "
                        "the installation is incomplete; install Taskglass again",
                        name, library_dir ? library_dir : "?", program_dir ? program_dir : "?");
}

tg_status tg_paths_find(const char *name, char **path, struct tg_error *error)
{
    char *library_dir = library_folder();
    char *program_dir = folder_of("/proc/self/exe");
    tg_status status = tg_paths_find_in(library_dir, program_dir, name, path, error);
    free(library_dir);
    free(program_dir);
    return status;
}

tg_status tg_paths_find_beside(const char *sibling, const char *name, char **path,
                               struct tg_error *error)
{
    char *folder = sibling && *sibling ? folder_of(sibling) : NULL;
    *path = folder ? tg_text_format("%s/%s", folder, name) : NULL;
    free(folder);
    if (*path && access(*path, F_OK) == 0)
        return TG_OK;
    free(*path);
    return tg_paths_find(name, path, error);
}
