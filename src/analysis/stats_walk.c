/* SPDX-License-Identifier: Apache-2.0 */
/* The records whose numbers `taskglass stats` shows. */
#include <taskglass/answers.h>
#include <taskglass/wire/record.h>

#include "base/error.h"

static bool names_index(const struct tg_query *query)
{
    uint64_t first, last;
    return tg_query_get_range(query, "index", 0, &first, &last);
}

static bool is_wanted(const struct tg_query *query, const struct tg_record *record)
{
    if (names_index(query))
        return true;
    if (record->kind == TG_KIND_SCALAR)
        return tg_query_has_word(query, "kind", "scalar") ||
               tg_query_has_word(query, "role", "scalar");
    return record->stage != TG_STAGE_ORCHESTRATION || tg_query_has_word(query, "stage", NULL);
}

static bool find_next(const struct tg_stats_walk *walk, uint64_t *index, struct tg_entry *entry)
{
    while (tg_query_next(walk->query, walk->recording, index, entry)) {
        if (is_wanted(walk->query, &entry->record))
            return true;
        ++*index;
    }
    return false;
}

tg_status tg_stats_walk_begin(const struct tg_recording *recording, const struct tg_query *query,
                              struct tg_stats_walk *walk, struct tg_error *error)
{
    struct tg_recording_info info;
    struct tg_entry entry;
    uint64_t first = 0;
    TG_REFUSE_NULL(error, recording);
    TG_REFUSE_NULL(error, walk);
    *walk = (struct tg_stats_walk){.recording = recording, .query = query};
    tg_status status = tg_query_check_index(query, recording, error);
    if (status != TG_OK)
        return status;
    const char *why = tg_recording_why_empty(recording);
    bool is_filtered = !tg_query_is_empty(query);
    if ((!why && !is_filtered) || find_next(walk, &first, &entry))
        return TG_OK;
    /* Files that lost bytes explain why nothing is there. */
    status = tg_recording_check_files(recording, error);
    if (status != TG_OK)
        return status;
    if (is_filtered)
        return tg_error_set(error, TG_NOT_FOUND, "no record matches the filters");
    tg_recording_get_info(recording, &info);
    return tg_error_set(error, TG_NOT_FOUND, "'%s' has no tensor of a task: %s", info.dir, why);
}

bool tg_stats_walk_next(struct tg_stats_walk *walk, uint64_t *index, struct tg_entry *entry)
{
    struct tg_recording_info info;
    if (walk == NULL || index == NULL || entry == NULL || walk->recording == NULL)
        return false;
    if (!find_next(walk, &walk->next, entry))
        return false;
    tg_recording_get_info(walk->recording, &info);
    tg_entry_allow(&info, &walk->used, entry);
    *index = walk->next++;
    return true;
}
