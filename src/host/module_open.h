/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a module into this process. */
#ifndef TG_HOST_MODULE_OPEN_H
#define TG_HOST_MODULE_OPEN_H

#include "base/module_file.h"
#include "host/guard.h"
#include <taskglass/workload.h>

/* Loads the file after it proved to be a shared object, which runs its constructors, and checks the
 * workload that it exports. The caller closes *handle with dlclose. `was`, which may be NULL: the file
 * that was loaded, already closed, for tg_module_file_is. `refusal` is the status for a file that cannot
 * be loaded; others are BAD_ARGUMENT and ABI_MISMATCH, for what the module exports. */
tg_status tg_module_open(const char *path, tg_status refusal, void **handle,
                         const struct tg_workload **workload, struct tg_module_file *was,
                         struct tg_error *error);

/* The same in a guard, for a caller that looks at the workload later. NOT_FOUND: it cannot be loaded;
 * or the guard's status. */
tg_status tg_module_open_guarded(const char *path, const struct tg_guard *guard, void **handle,
                                 struct tg_error *error);

#endif
