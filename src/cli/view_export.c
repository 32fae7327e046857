/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass view --to: writes the selected records as txt, npy or npz. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/export.h"
#include "cli/view.h"

/* Text goes to standard output, unless --output names a file. */
static tg_status choose_path(const struct view *view, struct tg_export_path *made,
                             const char **path, struct tg_error *error)
{
    *path = view->out ? view->out : "-";
    if (view->out || strcmp(view->export, "txt") == 0)
        return TG_OK;
    *path = made->text;
    return tg_export_default_path(view->recording, view->export, made, error);
}

int view_export(const struct view *view)
{
    struct tg_export_path made;
    struct tg_error error;
    const char *path;
    if (view->limit.number == 0)
        return cli_error("nothing to export: --limit is 0");
    if (choose_path(view, &made, &path, &error) != TG_OK)
        return cli_fail(&error);
    return cli_export(&(struct cli_export){.recording = view->recording,
                                           .query = view->query,
                                           .format = view->export,
                                           .path = path,
                                           .limit = view->limit.number,
                                           .force = view->force});
}
