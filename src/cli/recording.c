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

static bool is_folder_of_recording(const char *name)
{
    return strcmp(name, "tensor_dump") == 0 || strcmp(name, "args_dump") == 0;
}

void cli_recording_name(const struct tg_recording_info *info, char *name, size_t room)
{
    char path[PATH_MAX];
    name[0] = '\0';
    if (*info->run_dir && !is_folder_of_recording(info->run_dir)) {
        snprintf(name, room, "%s", info->run_dir);
        return;
    }
    if (!realpath(info->dir, path)) {
        cli_fault("find the run's directory", errno);
        return;
    }
    char *slash = strrchr(path, '/');
    if (slash && is_folder_of_recording(slash + 1)) {
        *slash = '\0';
        slash = strrchr(path, '/');
    }
    tg_text_clean(slash ? slash + 1 : path, name, room);
}

/* Reports a number past the last record as an error; a range may reach past it. */
int cli_recording_check_index(const struct tg_recording_info *info, const struct tg_query *query)
{
    uint64_t highest = 0, last;
    for (size_t i = 0; tg_query_get_range(query, "index", i, &highest, &last);)
        i++;
    if (highest < info->records || !cli_query_has_index(query))
        return CLI_OK;
    if (info->records == 0)
        return cli_error("there is no record %" PRIu64 "; the recording is empty", highest);
    return cli_error("there is no record %" PRIu64 "; the recording has 0 to %" PRIu64, highest,
                     info->records - 1);
}

uint64_t cli_recording_lost(const struct tg_record_summary *summary)
{
    uint64_t lost = 0;
    for (int i = 0; i < TG_LOSS_CAUSES; i++)
        lost += summary->lost[i];
    return lost;
}

void cli_entry_allow(const struct tg_recording_info *info, uint64_t *used, struct tg_entry *entry)
{
    const uint64_t holes = UINT64_C(16) << 30; /* reading more takes very long */
    const uint64_t most = info->payload_bytes < holes ? info->payload_bytes : holes;
    struct tg_record *record = &entry->record;
    if (!(record->flags & TG_RECORD_EXCESS) || record->stored > most - *used)
        return;
    record->flags &= (uint16_t)~TG_RECORD_EXCESS;
    *used += record->stored;
}

/* --- what a recording lacks -------------------------------------------------------------------- */

/* NULL for a run that ended by itself. */
static const char *state_words(const struct tg_recording_info *info)
{
    switch ((enum tg_recording_state)info->state) {
    case TG_RECORDING_RUNNING:
        return "the run is still running; this is what it has recorded so far";
    case TG_RECORDING_CANCELLED:
        return "the run was cancelled; tasks that had not begun are not in the recording";
    case TG_RECORDING_FAILED:
        return "the run failed; tasks that had not begun are not in the recording";
    case TG_RECORDING_INTERRUPTED:
        return "the recording was interrupted: the process that wrote it died, and what came later "
               "is not known";
    case TG_RECORDING_FINISHED:
    case TG_RECORDING_UNKNOWN:
    case TG_RECORDING_STATES:
        break;
    }
    return info->complete ? NULL : "the recording is incomplete; what came later is not known";
}

static const char *lost_words(struct cli_words *words, const struct tg_record_summary *summary)
{
    struct cli_text count;
    size_t at = (size_t)snprintf(words->text, sizeof words->text, "the run lost %s",
                                 cli_format_count(&count, cli_recording_lost(summary), "record"));
    const char *separator = ": ";
    for (unsigned i = 0; i < TG_LOSS_CAUSES; i++) {
        if (summary->lost[i] == 0)
            continue;
        at += (size_t)snprintf(words->text + at, sizeof words->text - at, "%s%" PRIu64 " %s",
                               separator, summary->lost[i], tg_loss_name(i));
        separator = ", ";
    }
    return words->text;
}

static const char *damage_words(struct cli_words *words, const struct tg_recording_info *info)
{
    struct cli_text count;
    snprintf(words->text, sizeof words->text,
             "%s damaged and left out; 'taskglass verify' says where",
             cli_format_count(&count, info->damaged, "record"));
    return words->text;
}

static const char *excess_words(struct cli_words *words, const struct tg_recording_info *info)
{
    struct cli_text count;
    snprintf(words->text, sizeof words->text,
             "%s not read with the others: they share bytes, or are holes of the payload file",
             cli_format_count(&count, info->excess, "record"));
    return words->text;
}

const char *cli_recording_note(struct cli_words *words, const struct tg_recording_info *info,
                               unsigned number)
{
    const char *state = state_words(info);
    if (state && number-- == 0)
        return state;
    if (cli_recording_lost(&info->summary) > 0 && number-- == 0)
        return lost_words(words, &info->summary);
    if (info->damaged > 0 && number-- == 0)
        return damage_words(words, info);
    if (info->excess > 0 && number-- == 0)
        return excess_words(words, info);
    return NULL;
}

void cli_recording_print_notes(const struct tg_recording_info *info)
{
    struct cli_words words;
    const char *note;
    for (unsigned i = 0; (note = cli_recording_note(&words, info, i)) != NULL; i++)
        cli_print("  note: %s\n", note);
}

void cli_json_notes(struct tg_json *json, const struct tg_recording_info *info)
{
    struct cli_words words;
    const char *note;
    for (unsigned i = 0; (note = cli_recording_note(&words, info, i)) != NULL; i++)
        tg_json_string(json, note);
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
