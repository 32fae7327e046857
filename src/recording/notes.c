/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording is called, and what it lacks, in words: every answer from it says so. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/recording.h>
#include <taskglass/text.h>
#include <taskglass/wire/stream.h>

#include "base/error.h"
#include "base/files.h"
#include "recording/record.h"

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

static void put_count(struct tg_note *note, const char *before, uint64_t records, const char *after)
{
    snprintf(note->text, sizeof note->text, "%s%" PRIu64 " record%s%s", before, records,
             records == 1 ? "" : "s", after);
}

static void put_lost(struct tg_note *note, const struct tg_record_summary *summary)
{
    const char *separator = ": ";
    put_count(note, "the run lost ", tg_record_lost(summary), "");
    for (unsigned i = 0; i < TG_LOSS_CAUSES; i++) {
        size_t at = strnlen(note->text, sizeof note->text);
        if (summary->lost[i] == 0)
            continue;
        snprintf(note->text + at, sizeof note->text - at, "%s%" PRIu64 " %s", separator,
                 summary->lost[i], tg_loss_name(i));
        separator = ", ";
    }
}

bool tg_recording_note(const struct tg_recording_info *info, unsigned number, struct tg_note *note)
{
    if (info == NULL || note == NULL)
        return false;
    const char *state = state_words(info);
    note->text[0] = '\0';
    if (state && number-- == 0)
        snprintf(note->text, sizeof note->text, "%s", state);
    else if (tg_record_lost(&info->summary) > 0 && number-- == 0)
        put_lost(note, &info->summary);
    else if (info->damaged > 0 && number-- == 0)
        put_count(note, "", info->damaged, " damaged and left out; 'taskglass verify' says where");
    else if (info->excess > 0 && number-- == 0)
        put_count(note, "", info->excess,
                  " not read with the others: they share bytes, or are holes of the payload file");
    return note->text[0] != '\0';
}

static bool is_folder_of_recording(const char *name)
{
    return strcmp(name, "tensor_dump") == 0 || strcmp(name, "args_dump") == 0;
}

tg_status tg_recording_name(const struct tg_recording_info *info, char *name, size_t room,
                            struct tg_error *error)
{
    char path[PATH_MAX];
    TG_REFUSE_NULL(error, info);
    TG_REFUSE_NULL(error, name);
    if (room == 0 || !info->dir)
        return tg_error_set(error, TG_BAD_ARGUMENT, "no room for the name, or no recording");
    name[0] = '\0';
    if (info->run_dir && *info->run_dir && !is_folder_of_recording(info->run_dir)) {
        snprintf(name, room, "%s", info->run_dir);
        return TG_OK;
    }
    if (!realpath(info->dir, path))
        return tg_file_error(error, "find", info->dir, errno);
    char *slash = strrchr(path, '/');
    if (slash && is_folder_of_recording(slash + 1)) {
        *slash = '\0';
        slash = strrchr(path, '/');
    }
    tg_text_clean(slash ? slash + 1 : path, name, room);
    return TG_OK;
}

void tg_entry_allow(const struct tg_recording_info *info, uint64_t *used, struct tg_entry *entry)
{
    const uint64_t holes = UINT64_C(16) << 30; /* reading more takes very long */
    if (info == NULL || used == NULL || entry == NULL)
        return;
    const uint64_t most = info->payload_bytes < holes ? info->payload_bytes : holes;
    struct tg_record *record = &entry->record;
    if (!(record->flags & TG_RECORD_EXCESS) || *used > most || record->stored > most - *used)
        return;
    record->flags &= (uint16_t)~TG_RECORD_EXCESS;
    *used += record->stored;
}
