/* SPDX-License-Identifier: Apache-2.0 */
/* taskglass view --html: writes a page that shows a run in any browser. */
#include <stdlib.h>
#include <taskglass/workbench.h>

#include "cli/cli.h"
#include "cli/format.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/view.h"

static int on_step(void *context, uint64_t done, uint64_t total)
{
    cli_progress_show(context, done, total);
    return cli_interrupt_caught() != 0;
}

/* A page without all values is a page; which ones it lacks is said here and in it. */
static void print_page(const struct view *view, const struct tg_workbench_page *page)
{
    struct cli_text tensors, size, left;
    struct cli_shown shown;
    cli_print("%s: %s, %s\n", cli_show(&shown, view->html),
              cli_format_count(&tensors, page->tensors, "tensor"),
              cli_format_bytes(&size, page->bytes));
    if (page->left_out > 0)
        cli_print("  note: the values of %s did not fit; `taskglass serve` shows them\n",
                  cli_format_count(&left, page->left_out, "tensor"));
}

static int write_page(const struct view *view, const char *path)
{
    struct cli_progress progress;
    struct tg_workbench_page page;
    struct tg_error error;
    const struct tg_workbench_page_config config = {
        .overwrite = view->force, .progress = on_step, .context = &progress};
    cli_progress_init(&progress, "write", "step");
    cli_interrupt_catch_writing();
    tg_status status = tg_workbench_write_page(path, view->html, &config, &page, &error);
    cli_progress_erase(&progress);
    cli_interrupt_pass_on(); /* a signal may also show as a write that failed */
    if (status == TG_BAD_ARGUMENT)
        return cli_error("%s", error.text);
    if (status != TG_OK)
        return cli_fail(&error);
    print_page(view, &page);
    return CLI_OK;
}

int view_page(const struct view *view)
{
    struct tg_error error;
    char *path;
    if (cli_recording_find(view->dir, &path, &error) != TG_OK)
        return cli_fail(&error);
    int code = write_page(view, path);
    free(path);
    return code;
}
