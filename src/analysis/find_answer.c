/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/find_answer.h"

#include <stdlib.h>

#include "base/error.h"

enum { GOOD, FOUND, OPEN }; /* exit codes */

/* Takes over what the reference of the kernel said. Returns false if it cleared the task. */
static bool apply_verdict(const struct tg_find_verdict *verdict, struct tg_find_finding *finding)
{
    if (verdict->is == TG_FIND_ACCUSED) {
        finding->sign = TG_SIGN_REFERENCE;
        finding->is_proved = true;
        finding->count = verdict->count;
        finding->first = verdict->first;
    }
    return verdict->is != TG_FIND_CLEARED;
}

bool tg_find_answer_next(const struct tg_find_answer *answer, uint64_t *number,
                         struct tg_find_finding *finding, struct tg_entry *entry)
{
    if (answer == NULL || number == NULL || finding == NULL || entry == NULL)
        return false;
    for (; tg_find_get_finding(answer->find, *number, finding); ++*number)
        if ((!answer->verdict || apply_verdict(&answer->verdict[*number], finding)) &&
            tg_recording_get(answer->find->recording, finding->record, entry) &&
            tg_query_matches(answer->query, finding->record, entry))
            return true;
    return false;
}

static void count_findings(struct tg_find_answer *answer)
{
    struct tg_find_finding finding;
    struct tg_entry entry;
    for (uint64_t i = 0; tg_find_answer_next(answer, &i, &finding, &entry); i++) {
        answer->found++;
        answer->proved += finding.is_proved;
        answer->passed_on += finding.trace == TG_TRACE_INHERITED;
    }
    answer->possible = answer->found - answer->proved - answer->passed_on;
}

/* False if there are filters, and records, but none that they select. */
static bool selects_something(const struct tg_find_answer *answer)
{
    struct tg_entry entry;
    uint64_t first = 0;
    return !answer->has_records || tg_query_is_empty(answer->query) ||
           tg_query_next(answer->query, answer->find->recording, &first, &entry);
}

static tg_status judge(struct tg_find_answer *answer, const struct tg_reference_config *references,
                       struct tg_error *error)
{
    const struct tg_recording *recording = answer->find->recording;
    bool selects = selects_something(answer);
    tg_status status = tg_recording_check_files(recording, error);
    if (status == TG_OK && !selects)
        status = tg_error_set(error, TG_NOT_FOUND, "no record matches the filters");
    if (status == TG_OK && references && answer->find->find_kind == TG_FIND_UNWRITTEN)
        status = tg_find_ask_references(answer, references, error);
    if (status != TG_OK)
        return status;
    count_findings(answer);
    if (answer->find->find_kind == TG_FIND_STOMP && answer->found > 0) {
        answer->stomp = tg_stomp_open(answer->find);
        if (!answer->stomp)
            return tg_error_set(error, TG_NO_MEMORY, "no memory to look for suspects");
    }
    tg_find_see_what_was_searched(answer);
    tg_find_advise(answer);
    return tg_recording_check_files(recording, error);
}

tg_status tg_find_answer_open(struct tg_find *find, const struct tg_query *query,
                              const struct tg_reference_config *references,
                              struct tg_find_answer **answer, struct tg_error *error)
{
    struct tg_recording_info info;
    TG_REFUSE_NULL(error, find);
    TG_REFUSE_NULL(error, answer);
    *answer = NULL;
    struct tg_find_answer *made = calloc(1, sizeof *made);
    if (!made)
        return tg_error_set(error, TG_NO_MEMORY, "no memory to select findings");
    made->find = find;
    made->query = query;
    tg_find_get_info(find, &made->info);
    tg_recording_get_info(find->recording, &info);
    made->has_records = info.records > 0;
    tg_status status = judge(made, references, error);
    if (status == TG_OK)
        *answer = made;
    else
        tg_find_answer_close(made);
    return status;
}

void tg_find_answer_close(struct tg_find_answer *answer)
{
    if (!answer)
        return;
    tg_stomp_close(answer->stomp);
    free(answer->verdict);
    free(answer);
}

/* --- the result ------------------------------------------------------------------------------- */

static int exit_code_of(const struct tg_find_answer *answer)
{
    if (*answer->unknown)
        return OPEN;
    if (answer->found == 0 || answer->find->find_kind == TG_FIND_CONSTANT)
        return GOOD;
    return answer->find->find_kind != TG_FIND_UNWRITTEN || answer->proved > 0 ? FOUND : OPEN;
}

static bool is_whole(const struct tg_find_answer *answer)
{
    struct tg_recording_info info;
    struct tg_note note;
    tg_recording_get_info(answer->find->recording, &info);
    return !tg_find_answer_note(answer, 0, &note) && !tg_recording_note(&info, 0, &note);
}

static const char *result_of(const struct tg_find_answer *answer)
{
    if (*answer->unknown)
        return "not known";
    if (answer->found == 0)
        return is_whole(answer) ? "nothing found" : "nothing found in what was searched";
    if (answer->find->find_kind == TG_FIND_CONSTANT)
        return "listed";
    return exit_code_of(answer) == FOUND ? "found" : "possible";
}

void tg_find_answer_get(const struct tg_find_answer *answer, struct tg_find_answer_info *info)
{
    if (answer == NULL || info == NULL)
        return;
    *info =
        (struct tg_find_answer_info){.result = result_of(answer),
                                     .reason = *answer->advice ? answer->advice : answer->unknown,
                                     .no_reference = answer->no_reference,
                                     .exit_code = exit_code_of(answer),
                                     .found = answer->found,
                                     .proved = answer->proved,
                                     .possible = answer->possible,
                                     .passed_on = answer->passed_on,
                                     .looked_at = answer->info.looked_at,
                                     .not_stored = answer->info.not_stored};
}
