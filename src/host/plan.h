/* SPDX-License-Identifier: Apache-2.0 */
/* The run that the settings ask for, checked before a device is opened. */
#ifndef TG_HOST_PLAN_H
#define TG_HOST_PLAN_H

#include <taskglass/execute.h>

struct tg_plan {
    struct tg_device_config device;
    struct tg_run_config run;       /* `record` is not set yet: it needs an output folder */
    struct tg_record_config record; /* level TG_LEVEL_OFF: no recording */
    enum tg_runtime_kind runtime;
    const char *runtime_name;
    struct tg_rings rings;
    const char *output; /* "": a new directory */
    bool deps;
    enum tg_races_mode races;
    bool scope_stats;
    bool live; /* answer questions about the run */
};

/* The plan's strings belong to the settings. NOT_FOUND lists the platforms or runtimes that exist;
 * UNSUPPORTED; BAD_ARGUMENT for a number that the platform does not allow. */
tg_status tg_plan_make(const struct tg_settings *settings, struct tg_plan *plan,
                       struct tg_error *error);

#endif
