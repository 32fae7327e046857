/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a bundle that describes its task (bundle_task.c). */
#ifndef TG_HOST_BUNDLE_H
#define TG_HOST_BUNDLE_H

#include "host/recorded_task.h"
#include <stdio.h>

/* BAD_ARGUMENT: a kernel's name comes from the recording and is no identifier of C. Names are written
 * into source, so nothing else may stand there. */
tg_status tg_bundle_check(const struct tg_recorded_task *task, struct tg_error *error);
/* Writes task.h. The caller looks for errors of the file. */
void tg_bundle_put_task(FILE *file, const struct tg_recorded_task *task);

#endif
