/* SPDX-License-Identifier: Apache-2.0 */
/* What a search left out, why nothing could be judged, and what to type to know more. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <taskglass/wire/stream.h>

#include "analysis/find_answer.h"

static bool is_by_memory(const struct tg_find_answer *answer)
{
    return answer->find->find_kind == TG_FIND_UNWRITTEN || answer->find->find_kind == TG_FIND_STOMP;
}

static bool put(struct tg_note *note, const char *text)
{
    snprintf(note->text, sizeof note->text, "%s", text);
    return true;
}

static bool put_count(struct tg_note *note, uint64_t count, const char *noun, const char *text)
{
    snprintf(note->text, sizeof note->text, "%" PRIu64 " %s%s %s", count, noun,
             count == 1 ? "" : "s", text);
    return true;
}

static const char *why_not_searched(const struct tg_find_answer *answer)
{
    struct tg_recording_info info;
    tg_recording_get_info(answer->find->recording, &info);
    if (info.excess > 0)
        return "could not be searched: not stored whole, or not read because other records have the "
               "same bytes or they are holes";
    return is_by_memory(answer) ? "could not be searched: neither stored whole nor hashed"
                                : "could not be searched: not stored whole";
}

bool tg_find_answer_note(const struct tg_find_answer *answer, unsigned number, struct tg_note *note)
{
    if (answer == NULL || note == NULL)
        return false;
    const struct tg_find_info *info = &answer->info;
    if (info->not_stored > 0 && number-- == 0)
        return put_count(note, info->not_stored, "record", why_not_searched(answer));
    if (is_by_memory(answer) && info->looked_at == 0 && info->not_stored == 0 &&
        answer->has_records && number-- == 0)
        return put(note, answer->find->find_kind == TG_FIND_STOMP
                             ? "no tensor was recorded twice, so that there was nothing to compare"
                             : "no task has an output that is not an input too");
    if (info->only_hashed > 0 && number-- == 0)
        return put_count(note, info->only_hashed, "output",
                         "judged as a whole: by a hash, parts that were not written do not show");
    if (info->unfinished > 0 && number-- == 0)
        return put_count(note, info->unfinished, "output", "left out: the task had not finished");
    if (info->unrecorded > 0 && number-- == 0)
        return put_count(note, info->unrecorded, "task", "without a record");
    return *info->deps_error && number == 0 && put(note, info->deps_error);
}

/* --- nothing could be judged ------------------------------------------------------------------ */

/* True if the record has no content to search. What the orchestration was given is only listed. */
static bool has_no_content(const struct tg_record *record)
{
    return record->stage == TG_STAGE_ORCHESTRATION ||
           (record->kind == TG_KIND_TENSOR && record->bytes > 0 && record->stored == 0 &&
            !(record->flags & TG_RECORD_HASHED));
}

/* True if there are filters, and they select only such records; *count is then how many. */
static bool selects_no_content(const struct tg_find_answer *answer, uint64_t *count)
{
    struct tg_entry entry;
    *count = 0;
    if (tg_query_is_empty(answer->query))
        return false;
    for (uint64_t i = 0; tg_query_next(answer->query, answer->find->recording, &i, &entry);
         i++, ++*count)
        if (!has_no_content(&entry.record))
            return false;
    return *count > 0;
}

/* True if something that could have been searched was left out. */
static bool left_something_out(const struct tg_find_answer *answer)
{
    const struct tg_find_info *info = &answer->info;
    struct tg_recording_info recording;
    struct tg_note note;
    tg_recording_get_info(answer->find->recording, &recording);
    return info->not_stored > 0 || info->unfinished > 0 || info->unrecorded > 0 ||
           recording.level == TG_LEVEL_MARKED || tg_recording_note(&recording, 0, &note);
}

void tg_find_see_what_was_searched(struct tg_find_answer *answer)
{
    struct tg_recording_info info;
    struct tg_note note;
    uint64_t count;
    if (answer->found > 0)
        return;
    if (selects_no_content(answer, &count)) {
        answer->info.looked_at = 0;
        answer->info.not_stored = count;
        snprintf(answer->unknown, sizeof answer->unknown,
                 "the filters select %" PRIu64 " record%s, of which none has content to search: "
                 "arguments of the orchestration, or tensors that were not stored",
                 count, count == 1 ? "" : "s");
    } else if (answer->has_records && answer->info.looked_at == 0 &&
               (is_by_memory(answer) ? left_something_out(answer) : answer->info.not_stored > 0)) {
        tg_recording_get_info(answer->find->recording, &info);
        note.text[0] = '\0';
        (void)tg_find_answer_note(answer, 0, &note);
        snprintf(answer->unknown, sizeof answer->unknown, "nothing was searched: %.300s%s",
                 note.text, info.excess > 0 ? "" : "; record with --dump-tensor=full");
    }
}

/* --- not everything is proved ----------------------------------------------------------------- */

static bool has_sign(const struct tg_find_answer *answer, enum tg_sign sign)
{
    struct tg_find_finding finding;
    struct tg_entry entry;
    for (uint64_t i = 0; tg_find_answer_next(answer, &i, &finding, &entry); i++)
        if (!finding.is_proved && finding.sign == sign)
            return true;
    return false;
}

/* True if whatever is possible is what calls of communication left. */
static bool only_calls(const struct tg_find_answer *answer)
{
    struct tg_find_finding finding;
    struct tg_entry entry;
    for (uint64_t i = 0; tg_find_answer_next(answer, &i, &finding, &entry); i++) {
        uint32_t row = tg_tasks_find(&answer->find->tasks, entry.record.task_id);
        if (!finding.is_proved && finding.trace != TG_TRACE_INHERITED &&
            (row == TG_NO_ROW || !tg_find_is_call(answer->find, &answer->find->tasks.row[row])))
            return false;
    }
    return true;
}

void tg_find_advise(struct tg_find_answer *answer)
{
    struct tg_recording_info info;
    char command[2000];
    char *text = answer->advice;
    const size_t room = sizeof answer->advice;
    bool is_open = answer->find->find_kind == TG_FIND_UNWRITTEN &&
                   answer->possible + answer->passed_on > 0 &&
                   (answer->possible > 0 || answer->proved == 0);
    if (!is_open)
        return;
    tg_recording_get_info(answer->find->recording, &info);
    if (answer->possible == 0)
        snprintf(
            text, room,
            "the pattern came in with inputs, so the tasks may have copied it; no task is known "
            "that should have written these");
    else if (info.poison)
        snprintf(text, room, "%s",
                 has_sign(answer, TG_SIGN_SAME)
                     ? "the pattern shows only what no task wrote at all; give the kernels "
                       "references to know more (taskglass-check(1))"
                 : only_calls(answer)
                     ? "other ranks may have sent the pattern: search their recordings for what "
                       "was given to their calls"
                     : "record every argument with --dump-tensor=full to know more");
    else if (tg_recording_command(answer->find->recording, "--poison", command, sizeof command))
        snprintf(text, room, "record again to know: %s", command);
    else
        snprintf(text, room, "record again with taskglass run --dump-tensor --poison to know");
}
