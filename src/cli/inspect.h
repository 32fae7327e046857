/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks into a module in a process of its own. Loading a module runs its constructors, and `taskglass
 * list` loads every module of the search path: one that crashes, exits, loops or prints must cost the
 * list no more than its own line.
 */
#ifndef TG_CLI_INSPECT_H
#define TG_CLI_INSPECT_H

#include <stdbool.h>
#include <stdint.h>
#include <taskglass/settings.h>

/* A case of the workload. The texts are what the module wrote: show them with cli_show. */
struct cli_module_case {
    const char *name, *params, *summary;
};

struct cli_module {
    bool is_good; /* else `error` says why it cannot be opened */
    struct tg_error error;
    const char *path, *summary;
    uint32_t n_cases;
    struct cli_module_case *cases;
    char *bytes; /* the texts above */
};

/* `limit`: seconds that the module may take to load. Fills *module in every case; the caller frees it.
 * Only for a program without other threads, because it forks. */
void cli_module_inspect(const struct tg_settings *settings, const char *name, double limit,
                        struct cli_module *module);
void cli_module_free(struct cli_module *module);

#endif
