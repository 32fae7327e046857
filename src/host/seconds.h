/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of time that a program gives. */
#ifndef TG_HOST_SECONDS_H
#define TG_HOST_SECONDS_H

#include <taskglass/status.h>

/* BAD_ARGUMENT, with the member's name, for a limit that is negative or not a number. 0 means the
 * default, and infinity that there is no limit. */
tg_status tg_seconds_check(const char *name, double seconds, struct tg_error *error);

#endif
