/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder as the other implementation writes it, member for member, so that its dump_viewer and
 * deps_viewer read it:
 *
 *   export_simpler.c       the folder; args_dump/args_dump.json, args_dump/args.bin
 *   export_simpler_deps.c  deps.json
 */
#ifndef TG_EXPORT_EXPORT_SIMPLER_H
#define TG_EXPORT_EXPORT_SIMPLER_H

#include <taskglass/json.h>

#include "export/export_job.h"

/* Writes deps.json to the file if the run has one. Without one, *written is false and nothing is
 * written: an empty list would say that no task waited for another. */
tg_status tg_simpler_put_deps(struct tg_export_job *job, const char *path, bool *written);

/* "FLOAT32"; "UNKNOWN" if it is not a type. */
void tg_simpler_put_dtype(struct tg_json *json, const char *key, unsigned dtype);
void tg_simpler_put_list(struct tg_json *json, const char *key, const int64_t *number, int count);

/* IO_ERROR with the system's cause, for a document that could not be written. */
tg_status tg_simpler_json_status(struct tg_json *json, struct tg_error *error);

#endif
