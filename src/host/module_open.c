/* SPDX-License-Identifier: Apache-2.0 */
#include "host/module_open.h"
#include "base/error.h"
#include "base/files.h"
#include "host/workload.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The loader tells why it failed by its text alone: at the end of it stands the text of an errno, or it
 * is one of those that it has for want of memory. NULL: the file is to blame. */
static const char *find_fault(const char *why)
{
    static const int causes[] = {ENOMEM, EMFILE, ENFILE, EIO, EAGAIN, EINTR, EACCES};
    static const char *const memory[] = {"out of memory", "cannot allocate", "cannot create",
                                         "failed to map segment", "cannot open shared object file"};
    size_t length = strlen(why);
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        size_t end = strlen(strerror(causes[i]));
        if (length >= end && strcmp(why + length - end, strerror(causes[i])) == 0)
            return "";
    }
    /* With another cause than memory, the last of these has the text of its errno behind it. */
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) {
        const char *found = strstr(why, memory[i]);
        if (found && !strchr(found, ':'))
            return i == 0 ? "" : ": out of memory";
    }
    return NULL;
}

/* What to do about a file that the linker refuses. */
static const char *find_advice(const char *why)
{
    if (strstr(why, "dynamically load") != NULL)
        return "; it is a program, and a module is linked with cc -shared -fPIC";
    if (strstr(why, "undefined symbol") != NULL)
        return "; link the source file or the library that defines it (-Wl,-z,defs names it when "
               "the module is linked)";
    return "";
}

static const char NOT_THERE[] = "cannot open shared object file: No such file or directory";

/* dlerror's text begins with the path; cut that, because our message has it already. */
static tg_status load_failed(const char *path, tg_status refusal, struct tg_error *error)
{
    const char *why = dlerror();
    size_t prefix = strlen(path);
    if (why == NULL)
        why = "out of memory"; /* even for the text */
    if (strncmp(why, path, prefix) == 0 && why[prefix] == ':') {
        why += prefix + 1 + (why[prefix + 1] == ' ');
        if (strcmp(why, NOT_THERE) == 0 && access(path, R_OK) == 0)
            why = "out of memory"; /* the loader could not even copy the path */
    }
    const char *fault = find_fault(why);
    return tg_error_set(error, fault ? TG_IO_ERROR : refusal, "cannot load module %s: %s%s", path,
                        why, fault ? fault : find_advice(why));
}

/* The linker opens the path once more. If it is another file by then, or one that somebody writes to,
 * the check was about something else. */
static tg_status load(const char *path, tg_status refusal, const struct tg_module_file *file,
                      void **handle, const struct tg_workload **workload, struct tg_error *error)
{
    *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*handle == NULL)
        return load_failed(path, refusal, error);
    if (!tg_module_file_is(file, path))
        return errno != 0
                   ? tg_file_error(error, "read module", path, errno)
                   : tg_error_set(
                         error, refusal,
                         "module %s changed while it was loaded; try again when it is complete",
                         path);
    *workload = dlsym(*handle, TG_WORKLOAD_SYMBOL);
    if (*workload == NULL)
        return tg_error_set(
            error, TG_BAD_ARGUMENT,
            "module %s has no workload: it does not export '%s'; define it with "
            "TG_WORKLOAD = {TG_WORKLOAD_HEAD, .name = ...}; in one source file of the "
            "module, and link that file too",
            path, TG_WORKLOAD_SYMBOL);
    return tg_workload_check(*workload, path, error);
}

tg_status tg_module_open(const char *path, tg_status refusal, void **handle,
                         const struct tg_workload **workload, struct tg_module_file *was,
                         struct tg_error *error)
{
    struct tg_module_file file;
    tg_status status = tg_module_file_open(path, &file, error);
    *handle = NULL;
    *workload = NULL;
    if (status == TG_BAD_ARGUMENT) {
        status = refusal;
        if (error != NULL)
            error->status = refusal;
    }
    if (status != TG_OK)
        return status;
    status = load(path, refusal, &file, handle, workload, error);
    if (status != TG_OK && *handle != NULL) {
        dlclose(*handle);
        *handle = NULL;
        *workload = NULL;
    }
    tg_module_file_close(&file);
    if (was != NULL)
        *was = file;
    return status;
}

struct opening {
    const char *path;
    void *handle;
    tg_status status;
    struct tg_error error;
};

static void open_module(void *argument)
{
    struct opening *opening = argument;
    const struct tg_workload *workload;
    opening->status = tg_module_open(opening->path, TG_NOT_FOUND, &opening->handle, &workload, NULL,
                                     &opening->error);
}

tg_status tg_module_open_guarded(const char *path, const struct tg_guard *guard, void **handle,
                                 struct tg_error *error)
{
    char *real = realpath(path, NULL); /* dlopen looks elsewhere for a name without a slash */
    struct opening opening = {.path = real};
    struct tg_workload_call call = {
        .function = "a constructor", .workload = path, .call = open_module, .argument = &opening};
    *handle = NULL;
    if (real == NULL)
        return tg_error_set(error, TG_NOT_FOUND, "cannot open module '%s': %s", path,
                            strerror(errno));
    tg_status status = tg_guard_call(guard, &call, error);
    free(real);
    if (status == TG_OK && opening.status != TG_OK)
        status = tg_error_set(error, opening.status, "%s", opening.error.text);
    *handle = opening.handle;
    return status;
}
