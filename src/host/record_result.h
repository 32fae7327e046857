/* SPDX-License-Identifier: Apache-2.0 */
/* What a run says about files that it could not write. The run itself goes on. */
#ifndef TG_HOST_RECORD_RESULT_H
#define TG_HOST_RECORD_RESULT_H

#include <taskglass/run.h>

/* Appends to the result's text, which stays one line. */
void tg_record_result_say(struct tg_record_result *result, const char *text);

/* Says that `file` was not written. The first such error is said in full and becomes the result's
 * status. Later ones nearly always have the same cause, so only their file is named. */
void tg_record_result_fail(struct tg_record_result *result, const char *file,
                           const struct tg_error *error);

#endif
