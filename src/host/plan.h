/* SPDX-License-Identifier: Apache-2.0 */
/* What the settings ask of a run, looked at before a device is opened. */
#ifndef TG_HOST_PLAN_H
#define TG_HOST_PLAN_H

#include <taskglass/execute.h>

struct tg_plan {
    struct tg_device_config device;
    struct tg_run_config run;       /* its recording, if any, is still without a folder */
    struct tg_record_config record; /* level TG_LEVEL_OFF: none */
    enum tg_runtime_kind runtime;
    const char *runtime_name;
    struct tg_rings rings;
    const char *output; /* "": a new directory */
    bool deps;
    bool scope_stats;
};

/* The strings are the settings'. NOT_FOUND (names those there are), UNSUPPORTED, BAD_ARGUMENT
 * (counts beyond the platform's). */
tg_status tg_plan_make(const struct tg_settings *settings, struct tg_plan *plan,
                       struct tg_error *error);

#endif
