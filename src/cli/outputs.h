/* SPDX-License-Identifier: Apache-2.0 */
/* The directories that runs leave under outputs/. */
#ifndef TG_CLI_OUTPUTS_H
#define TG_CLI_OUTPUTS_H

#include <stddef.h>
#include <taskglass/status.h>

/* What a verb reads: the folders of a run, of which one is enough, and the message if no run has
 * any. */
struct cli_outputs_want {
    const char *folders[4]; /* NULL after the last */
    const char *missing;    /* "no recording under outputs/; …" */
};

/* The newest directory under outputs/ that has one of the folders; the caller frees *path. */
tg_status cli_outputs_newest(const struct cli_outputs_want *want, char **path,
                             struct tg_error *error);

#endif
