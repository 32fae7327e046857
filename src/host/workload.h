/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the workload that a module exports, before any other code relies on it. */
#ifndef TG_HOST_WORKLOAD_H
#define TG_HOST_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <taskglass/status.h>
#include <taskglass/workload.h>

/* No module has more; a larger count means that the bytes are not a workload. */
enum { TG_WORKLOAD_MAX_KERNELS = 4096, TG_WORKLOAD_MAX_CASES = 4096 };

/* ABI_MISMATCH or BAD_ARGUMENT; the message names the module and what is wrong with it. */
tg_status tg_workload_check(const struct tg_workload *workload, const char *path,
                            struct tg_error *error);

struct tg_workload_file;
/* Notes that the user runs this module, so that recordings of it may load it later. An error says why
 * they may not; the run is as good without. */
tg_status tg_workload_note(const struct tg_workload_file *file, struct tg_error *error);

/* workload_hint.c: what the user meant who typed the name of something else than a module: "there is
 * ./mine.so: taskglass run ./mine.so". False: nothing comes to mind. */
bool tg_workload_hint(const char *typed, char *text, size_t size);

#endif
