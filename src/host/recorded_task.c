/* SPDX-License-Identifier: Apache-2.0 */
#include "host/recorded_task.h"
#include "base/error.h"
#include "base/json_pull.h"
#include "host/recorded_task_check.h"
#include "host/task_records.h"
#include "host/text.h"
#include "recording/extents.h"
#include "recording/reader.h"

tg_status tg_recorded_task_read(const struct tg_recording *recording, uint64_t id, uint64_t allowed,
                                struct tg_recorded_task *task, struct tg_error *error)
{
    struct tg_task_reading reading;
    struct tg_recording_info info;
    struct tg_entry entry, call = {0};
    struct tg_error why;
    bool found = false;
    char name[32];
    tg_status status = TG_OK;
    tg_recording_get_info(recording, &info);
    tg_task_reading_begin(&reading, recording, id, task);
    reading.limit = tg_recording_memory_limit(recording);
    reading.limit = allowed > reading.limit ? allowed : reading.limit;
    for (uint64_t i = 0; i < info.records && status == TG_OK; i++) {
        if (!tg_recording_get(recording, i, &entry) || entry.record.task_id != id)
            continue;
        found = true;
        call = entry;
        status = tg_task_reading_add(&reading, i, &why);
    }
    if (!found)
        return tg_error_set(error, TG_NOT_FOUND,
                            "the recording has no task %s; `taskglass view` lists them",
                            tg_task_text(id, name));
    if (tg_entry_call(&call))
        return tg_error_set(error, TG_UNSUPPORTED,
                            "task %s is communication (%s): other ranks had a part in it, so it "
                            "cannot be computed again here",
                            tg_task_text(id, name), tg_entry_call(&call));
    if (status == TG_OK)
        status = tg_task_reading_end(&reading, &why);
    if (status == TG_OK)
        status = tg_recorded_task_lay_out(task, reading.limit, &why);
    if (status == TG_OK)
        return TG_OK;
    return tg_error_set(error, status, "task %s: %s", tg_task_text(id, name), why.text);
}

/* ── run.json of the recorded run ──────────────────────────────────────────────────────── */

void tg_recorded_run_value(const struct tg_recording *recording, const char *key, char *text,
                           size_t size)
{
    const struct tg_map *json = &recording->run_json;
    struct tg_pull pull;
    enum tg_pull_token token;
    text[0] = '\0';
    tg_pull_start(&pull, (const char *)json->bytes, json->size);
    while ((token = tg_pull_next(&pull)) > TG_PULL_END) {
        if (token != TG_PULL_KEY || pull.depth != 1)
            continue;
        bool wanted = tg_pull_is(&pull, key);
        if (tg_pull_next(&pull) == TG_PULL_STRING && wanted) {
            tg_pull_text(&pull, text, size);
            break;
        }
        if (!tg_pull_skip(&pull))
            break;
    }
}
