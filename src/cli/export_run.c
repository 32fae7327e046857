/* SPDX-License-Identifier: Apache-2.0 */
/* Exporting. Notes on what was left out or changed go to stderr, because the export may go to stdout. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <taskglass/dtype.h>
#include <taskglass/json.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/export.h"
#include "cli/format.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/recording.h"
#include "cli/term.h"

static bool is(const char *format, const char *name)
{
    return strcmp(format, name) == 0;
}

static int on_progress(void *context, uint64_t done, uint64_t total)
{
    /* The steps of an export are records, which some formats read several times, so percents are shown. */
    cli_progress_show(context, total > 0 ? (uint64_t)((double)done / (double)total * 100) : 0, 100);
    return cli_interrupt_caught();
}

static void put_type_notes(const char *format, uint32_t as_bits)
{
    for (unsigned dtype = 1; dtype < TG_DTYPE_END; dtype++) {
        if (!(as_bits >> dtype & 1))
            continue;
        if (is(format, "safetensors"))
            cli_print_to(stderr,
                         "taskglass: safetensors has no %s; stored as bytes of two elements each; "
                         "__metadata__ has the type and the shape\n",
                         tg_dtype_name((int)dtype));
        else
            cli_print_to(stderr, "taskglass: NumPy has no %s; stored as %s, bit for bit\n",
                         tg_dtype_name((int)dtype), tg_export_type(dtype));
    }
}

/* Records that the other implementation's format cannot mark as what they are. */
static void put_left_out(const struct tg_export_result *result)
{
    struct cli_text text;
    cli_print_to(stderr, "taskglass: left out %s of %s, which the format cannot mark\n",
                 cli_format_count(&text, result->missing, "record"),
                 result->missing == 1 ? "a task that had not finished"
                                      : "tasks that had not finished");
}

static bool has_deps(const struct cli_export *export)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/deps.json", export->path);
    /* What the system does not tell is taken for there: the note about it would be a guess. */
    return length >= (int)sizeof path || access(path, F_OK) == 0 || errno != ENOENT;
}

static uint64_t damaged_records(const struct cli_export *export)
{
    struct tg_recording_info info;
    tg_recording_get_info(export->recording, &info);
    return info.damaged;
}

static void put_notes(const struct cli_export *export, const struct tg_export_result *result)
{
    struct tg_recording_info info;
    struct tg_note note;
    struct cli_text text;
    put_type_notes(export->format, result->as_bits);
    if (result->truncated > 0 && !is(export->format, "sqlite") && !is(export->format, "simpler"))
        cli_print_to(stderr,
                     "taskglass: %s truncated: exported the stored elements in one dimension\n",
                     result->truncated == 1 ? "1 record is" : "some records are");
    if (result->missing > 0 && is(export->format, "simpler"))
        put_left_out(result);
    else if (result->missing > 0)
        cli_print_to(stderr, "taskglass: left out %s without values\n",
                     cli_format_count(&text, result->missing, "record"));
    tg_recording_get_info(export->recording, &info);
    for (unsigned i = 0; tg_recording_note(&info, i, &note); i++)
        cli_print_to(stderr, "taskglass: %s\n", note.text);
}

static void print_json(const struct cli_export *export, const struct tg_export_result *result)
{
    struct tg_recording_info info;
    struct tg_json json;
    tg_json_start(&json, stdout);
    tg_json_begin_object(&json);
    tg_json_put_string(&json, "format", export->format);
    tg_json_put_string(&json, "path", export->path);
    tg_json_put_uint(&json, "written", result->written);
    tg_json_put_uint(&json, "missing", result->missing);
    tg_json_put_uint(&json, "truncated", result->truncated);
    tg_json_put_uint(&json, "damaged", damaged_records(export));
    tg_json_key(&json, "as_bits");
    tg_json_begin_line_array(&json);
    for (unsigned dtype = 1; dtype < TG_DTYPE_END; dtype++)
        if (result->as_bits >> dtype & 1)
            tg_json_string(&json, tg_dtype_name((int)dtype));
    tg_json_end_array(&json);
    tg_recording_get_info(export->recording, &info);
    tg_json_key(&json, "left_out");
    tg_json_begin_array(&json);
    cli_json_notes(&json, &info);
    tg_json_end_array(&json);
    tg_json_end_object(&json);
    (void)tg_json_finish(&json); /* main reports errors of stdout */
}

static void print_report(const struct cli_export *export, const struct tg_export_result *result)
{
    struct cli_text text;
    struct cli_shown path;
    put_notes(export, result);
    if (!is(export->path, "-"))
        cli_print("%s in %s\n",
                  cli_format_count(&text, result->written,
                                   is(export->format, "trace") ? "task" : "record"),
                  cli_show(&path, export->path));
    if (is(export->format, "simpler") && !has_deps(export))
        cli_print("It has no deps.json, because the run has none.\n");
}

/* BAD_ARGUMENT is an error in the command line, and NOT_FOUND means that there is nothing to export; both
 * read better without the name of the status. */
static int fail(const struct cli_export *export, const struct tg_error *error)
{
    cli_interrupt_pass_on(); /* a signal may also show as a write that failed */
    if (error->status == TG_IO_ERROR && is(export->path, "-") &&
        tg_recording_check_files(export->recording, NULL) == TG_OK)
        return CLI_OK; /* main reports errors of stdout */
    if (error->status == TG_NOT_FOUND && export->json)
        return cli_not_known(export->recording, true, error->text);
    return error->status == TG_BAD_ARGUMENT || error->status == TG_NOT_FOUND
               ? cli_error("%s", error->text)
               : cli_recording_fail(export->recording, export->json, error);
}

int cli_export(const struct cli_export *export)
{
    struct tg_export_result result;
    struct cli_progress progress;
    struct tg_error error;
    const struct tg_export_config config = {.format = export->format,
                                            .path = export->path,
                                            .query = export->query,
                                            .limit = export->limit,
                                            .overwrite = export->force,
                                            .oversize = export->force,
                                            .progress = on_progress,
                                            .progress_context = &progress};
    cli_progress_init(&progress, "export", "%");
    cli_interrupt_catch_writing();
    tg_status status = tg_recording_export(export->recording, &config, &result, &error);
    cli_progress_erase(&progress);
    if (status != TG_OK)
        return fail(export, &error);
    if (export->json)
        print_json(export, &result);
    else
        print_report(export, &result);
    cli_interrupt_pass_on();
    return CLI_OK;
}
