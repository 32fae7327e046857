/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass view --to: writes the selected records as txt, npy or npz. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/export.h"
#include "cli/view.h"

/* Text goes to standard output, unless --output names a file. */
static const char *choose_path(const struct view *view, struct tg_export_path *path)
{
    if (view->out)
        return view->out;
    if (strcmp(view->export, "txt") == 0)
        return "-";
    return tg_export_default_path(view->recording, view->export, path);
}

int view_export(const struct view *view)
{
    struct tg_export_path path;
    if (view->limit.number == 0)
        return cli_error("nothing to export: --limit is 0");
    return cli_export(&(struct cli_export){.recording = view->recording,
                                           .query = view->query,
                                           .format = view->export,
                                           .path = choose_path(view, &path),
                                           .limit = view->limit.number,
                                           .force = view->force});
}
