/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the files that this installation needs at run time. The layout is the same in a build tree
 * and when installed:
 *
 *     bin/taskglass
 *     lib/libtaskglass.so
 *     lib/taskglass/taskglass-device
 *     lib/taskglass/workloads/vector_add.so
 */
#ifndef TG_HOST_PATHS_H
#define TG_HOST_PATHS_H

#include <taskglass/status.h>

/*
 * The path of `name` ("workloads", "taskglass-device"). Looks in the taskglass folder beside the
 * library, then in ../lib/taskglass seen from the program, for a library that is linked into the
 * program. The caller frees *path. NOT_FOUND names both places.
 */
tg_status tg_paths_find(const char *name, char **path, struct tg_error *error);

/* The same, but looks first in the folder of the file `sibling`, unless that is NULL or "". */
tg_status tg_paths_find_beside(const char *sibling, const char *name, char **path,
                               struct tg_error *error);

/* The same for given folders of the library and of the program, so that a test can choose them.
 * Either may be NULL. */
tg_status tg_paths_find_in(const char *library_dir, const char *program_dir, const char *name,
                           char **path, struct tg_error *error);

#endif
