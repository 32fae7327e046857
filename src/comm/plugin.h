/* SPDX-License-Identifier: Apache-2.0 */
/* Which transport a process has: its own, or that of a plug-in. */
#ifndef TG_COMM_PLUGIN_H
#define TG_COMM_PLUGIN_H

#include <stdbool.h>
#include <taskglass/comm.h>

/* "local", "mpi", or what the environment says ("auto", NULL). *ops is NULL for a job of one rank; *library
 * is for dlclose, or NULL. */
tg_status tg_plugin_find(const char *transport, const struct tg_comm_ops **ops, void **library,
                         struct tg_error *error);
/* Loads a file and checks what it exports. */
tg_status tg_plugin_load(const char *path, const struct tg_comm_ops **ops, void **library,
                         struct tg_error *error);

#endif
