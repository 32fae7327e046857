/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the transport of a job: by its name, or by what the launcher left in the environment. */
#define _GNU_SOURCE 1
#include "comm/plugin.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "comm/local.h"

/* Which variables each launcher sets in the processes that it starts. */
struct launcher {
    const char *variable, *plugin, *package;
};

static const struct launcher launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "taskglass-mpi-openmpi.so", "Open MPI"},
    {"PMIX_RANK", "taskglass-mpi-openmpi.so", "Open MPI"},
    {"PMI_RANK", "taskglass-mpi-mpich.so", "MPICH"},
    {"PMI_SIZE", "taskglass-mpi-mpich.so", "MPICH"},
    {"MPI_LOCALNRANKS", "taskglass-mpi-mpich.so", "MPICH"},
};

static const struct launcher *find_launcher(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (secure_getenv(launchers[i].variable))
            return &launchers[i];
    return NULL;
}

/* The library's own folder has a folder of its private files; a program that is linked with the library's
 * objects (a test) has it beside its bin. */
static bool find_beside(const char *name, char path[PATH_MAX])
{
    static const char *const between[] = {"", "/../lib", "/../../lib"};
    Dl_info info;
    char file[PATH_MAX];
    if (!dladdr((void *)(uintptr_t)&tg_plugin_find, &info) || !info.dli_fname ||
        !realpath(info.dli_fname, file))
        return false;
    char *slash = strrchr(file, '/');
    if (slash)
        *slash = '\0';
    for (size_t i = 0; i < sizeof between / sizeof *between; i++) {
        const int length = snprintf(path, PATH_MAX, "%s%s/taskglass/%s", file, between[i], name);
        if (length > 0 && length < PATH_MAX && access(path, R_OK) == 0)
            return true;
    }
    return false;
}

tg_status tg_plugin_load(const char *path, const struct tg_comm_ops **ops, void **library,
                         struct tg_error *error)
{
    const struct tg_comm_ops *(*get)(void);
    void *opened = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!opened)
        return tg_error_set(error, TG_UNSUPPORTED, "cannot load the transport: %s", dlerror());
    void *symbol = dlsym(opened, TG_COMM_SYMBOL);
    memcpy(&get, &symbol, sizeof get);
    const struct tg_comm_ops *found = symbol ? get() : NULL;
    if (!found || found->abi != TG_COMM_ABI || found->size < sizeof *found || !found->name ||
        !found->open || !found->close || !found->rank || !found->ranks || !found->local ||
        !found->about || !found->send || !found->receive || !found->poll || !found->fd) {
        dlclose(opened);
        return tg_error_set(error, TG_ABI_MISMATCH,
                            "'%s' is no transport of this version of Taskglass; install both from "
                            "the same release",
                            path);
    }
    *ops = found;
    *library = opened;
    return TG_OK;
}

static tg_status load_mpi(const struct launcher *launcher, const struct tg_comm_ops **ops,
                          void **library, struct tg_error *error)
{
    char path[PATH_MAX];
    const char *named = secure_getenv("TASKGLASS_COMM_PLUGIN");
    if (named && *named)
        return tg_plugin_load(named, ops, library, error);
    if (!launcher)
        return tg_error_set(error, TG_UNSUPPORTED,
                            "no mpirun started this process; use `mpirun -n N taskglass run …`");
    if (!find_beside(launcher->plugin, path))
        return tg_error_set(error, TG_UNSUPPORTED,
                            "%s started this process, and Taskglass was built without it: there is "
                            "no %s; install its development package and build again",
                            launcher->package, launcher->plugin);
    return tg_plugin_load(path, ops, library, error);
}

tg_status tg_plugin_find(const char *transport, const struct tg_comm_ops **ops, void **library,
                         struct tg_error *error)
{
    const bool is_auto = !transport || !*transport || strcmp(transport, "auto") == 0;
    const struct launcher *launcher = find_launcher();
    *ops = NULL;
    *library = NULL;
    if (is_auto && secure_getenv(TG_LOCAL_VARIABLE))
        transport = "local";
    else if (is_auto && launcher)
        transport = "mpi";
    else if (is_auto)
        return TG_OK;
    if (strcmp(transport, "local") == 0) {
        if (secure_getenv(TG_LOCAL_VARIABLE)) /* else it is a job of one rank */
            *ops = &tg_comm_local;
        return TG_OK;
    }
    if (strcmp(transport, "mpi") == 0)
        return load_mpi(launcher, ops, library, error);
    return tg_error_set(error, TG_BAD_ARGUMENT,
                        "unknown transport '%s'; transports are auto, local, mpi", transport);
}
