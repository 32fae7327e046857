/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "cli/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/text.h>

#include "cli/cli.h"
#include "cli/diff_words.h"
#include "cli/filters.h"
#include "cli/format.h"
#include "cli/outputs.h"
#include "cli/voice.h"
#include "cli/print.h"
#include "cli/term.h"

__attribute__((format(printf, 3, 4))) static tg_status
fail(struct tg_error *error, tg_status status, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    error->status = status;
    (void)vsnprintf(error->text, sizeof error->text, format, values);
    va_end(values);
    return status;
}

/* --- which recording --------------------------------------------------------------------------- */

static const struct cli_outputs_want recordings = {
    .folders = {"tensor_dump", "args_dump"},
    .missing = "no recording under outputs/; name one, or make one: taskglass run WORKLOAD "
               "--dump-tensor"};

tg_status cli_recording_newest(char **path, struct tg_error *error)
{
    return cli_outputs_newest(&recordings, path, error);
}

tg_status cli_recording_find(const char *dir, char **path, struct tg_error *error)
{
    if (!dir)
        return cli_outputs_newest(&recordings, path, error);
    *path = strdup(dir);
    return *path ? TG_OK : fail(error, TG_NO_MEMORY, "out of memory");
}

tg_status cli_recording_open(const char *dir, struct tg_recording **recording,
                             struct tg_error *error)
{
    char *path;
    tg_status status = cli_recording_find(dir, &path, error);
    if (status != TG_OK)
        return status;
    cli_detail("reads the recording in '%s'", path);
    status = tg_recording_open(path, recording, error);
    free(path);
    return status;
}

void cli_recording_name(const struct tg_recording_info *info, char *name, size_t room)
{
    struct tg_error error;
    if (tg_recording_name(info, name, room, &error) != TG_OK)
        cli_fault_of(&error);
}

int cli_recording_check_index(const struct tg_recording *recording, const struct tg_query *query)
{
    struct tg_error error;
    return tg_query_check_index(query, recording, &error) == TG_OK ? CLI_OK
                                                                   : cli_error("%s", error.text);
}

uint64_t cli_recording_lost(const struct tg_record_summary *summary)
{
    uint64_t lost = 0;
    for (int i = 0; i < TG_LOSS_CAUSES; i++)
        lost += summary->lost[i];
    return lost;
}

/* --- what a recording lacks -------------------------------------------------------------------- */

void cli_recording_print_notes(const struct tg_recording_info *info)
{
    struct tg_note note;
    for (unsigned i = 0; tg_recording_note(info, i, &note); i++)
        cli_print("  note: %s\n", note.text);
}

void cli_json_notes(struct tg_json *json, const struct tg_recording_info *info)
{
    struct tg_note note;
    for (unsigned i = 0; tg_recording_note(info, i, &note); i++)
        tg_json_string(json, note.text);
}

int cli_not_known(const struct tg_recording *recording, bool json, const char *reason)
{
    struct tg_recording_info info;
    struct tg_json out;
    if (!json)
        return cli_error("not known: %s", reason);
    tg_json_start(&out, stdout);
    tg_json_begin_object(&out);
    if (recording)
        cli_json_recording(&out, "recording", recording);
    tg_json_put_string(&out, "result", "not known");
    tg_json_put_string(&out, "reason", reason);
    tg_json_key(&out, "left_out");
    tg_json_begin_array(&out);
    if (recording) {
        tg_recording_get_info(recording, &info);
        cli_json_notes(&out, &info);
    }
    tg_json_end_array(&out);
    tg_json_end_object(&out);
    (void)tg_json_finish(&out); /* main reports errors of stdout */
    return CLI_USAGE;
}

int cli_json_loss(struct tg_json *json, const struct tg_recording *recording)
{
    struct tg_error error;
    if (tg_recording_check_files(recording, &error) == TG_OK)
        return CLI_OK;
    tg_json_put_string(json, "result", "not known");
    tg_json_put_string(json, "reason", error.text);
    return cli_fail(&error);
}

int cli_recording_fail(const struct tg_recording *recording, bool json,
                       const struct tg_error *error)
{
    if (json)
        (void)cli_not_known(recording, true, error->text);
    return cli_fail(error);
}

/* --- the signs in these words ---------------------------------------------------------------- */

/* Which of them were written. A verb writes words for one report, which says in the end what they mean. */
static struct {
    bool star, plus, dash;
} signs;

void cli_legend_print(void)
{
    const char *dim = cli_color(stdout, CLI_DIM), *plain = cli_color(stdout, CLI_PLAIN);
    if (signs.star)
        cli_print(
            "%s*  not contiguous: the tensor is a view whose elements lie apart in memory%s\n", dim,
            plain);
    if (signs.plus)
        cli_print("%s+  joins the kernels of one task, which run together%s\n", dim, plain);
    if (signs.dash)
        cli_print("%s-  no task: what the orchestration was given or read%s\n", dim, plain);
}

/* --- words for a record --------------------------------------------------------------------- */

const char *cli_record_task(struct cli_words *words, uint64_t task)
{
    if (task == TG_TASK_NONE) {
        signs.dash = true;
        return "-";
    }
    if (task >> 32 == 0)
        snprintf(words->text, sizeof words->text, "%" PRIu64, task);
    else
        snprintf(words->text, sizeof words->text, "%" PRIu64 ":%" PRIu64, task >> 32,
                 task & UINT32_MAX);
    return words->text;
}

const char *cli_record_kernels(struct cli_words *words, const struct tg_entry *entry)
{
    size_t at = 0;
    words->text[0] = '\0';
    for (int part = 0; part < TG_PARTS; part++) {
        const char *name = entry->kernel[part], *plus = at > 0 ? "+" : "";
        size_t room = sizeof words->text - at;
        if (!name)
            continue;
        signs.plus |= at > 0;
        int length =
            *name
                ? snprintf(words->text + at, room, "%s%.*s", plus, cli_format_fit(name, 120), name)
                : snprintf(words->text + at, room, "%s#%" PRIu32, plus, entry->record.kernel[part]);
        at += (size_t)length;
    }
    return words->text;
}

const char *cli_record_shape(struct cli_words *words, const struct tg_record *record)
{
    size_t at = 1;
    if (record->kind == TG_KIND_SCALAR)
        return "scalar";
    snprintf(words->text, sizeof words->text, "(");
    for (int i = 0; i < record->ndim; i++)
        at += (size_t)snprintf(words->text + at, sizeof words->text - at, "%s%" PRId64,
                               i > 0 ? ", " : "", record->shape[i]);
    signs.star |= !(record->flags & TG_RECORD_CONTIGUOUS);
    snprintf(words->text + at, sizeof words->text - at, "%s)%s", record->ndim == 1 ? "," : "",
             record->flags & TG_RECORD_CONTIGUOUS ? "" : "*");
    return words->text;
}

const char *cli_record_stage(unsigned stage)
{
#define SHORT_NAME(constant, number, word, option, part) [number] = (part),
    static const char *const names[] = {TG_STAGE_MAP(SHORT_NAME)};
#undef SHORT_NAME
    return stage < TG_STAGES ? names[stage] : "?";
}

const char *cli_record_role(unsigned role)
{
#define SHORT_NAME(constant, number, word, option) [number] = (option),
    static const char *const names[] = {"?", TG_ROLE_MAP(SHORT_NAME)};
#undef SHORT_NAME
    return role < TG_ROLES ? names[role] : "?";
}

const char *cli_record_mark(const struct tg_record *record)
{
    if (record->flags & TG_RECORD_OVERWRITTEN)
        return "overwritten";
    if (record->flags & TG_RECORD_TRUNCATED)
        return "truncated";
    return record->flags & TG_RECORD_PARTIAL ? "partial" : "";
}
