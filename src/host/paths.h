/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where this installation keeps what it needs at run time. The layout is the same in a build
 * tree and when installed:
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
 * The path of `name` ("workloads", "taskglass-device") in the taskglass folder beside the library
 * in use or, where the library is linked into the program, in ../lib beside the program. The
 * caller frees *path. NOT_FOUND names the places.
 */
tg_status tg_paths_find(const char *name, char **path, struct tg_error *error);

/* The same, but first in the folder of `sibling`; NULL or "": there is none. */
tg_status tg_paths_find_beside(const char *sibling, const char *name, char **path,
                               struct tg_error *error);

/* The same with the places given, so that it can be tested: the folder of the library and that
 * of the program, either may be NULL. */
tg_status tg_paths_find_in(const char *library_dir, const char *program_dir, const char *name,
                           char **path, struct tg_error *error);

#endif
