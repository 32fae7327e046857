/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export.h"
#include "export/export_job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/export.h>
#include <taskglass/text.h>

#include "base/error.h"

/* A set of (task, stage, argument), open addressing, at most half full. */
struct key {
    uint64_t task;
    uint32_t rest; /* stage and argument; 0: an empty slot */
};

struct tg_export_names {
    struct key *key;
    size_t room; /* a power of two */
    size_t count;
};

enum { FIRST_ROOM = 256 };

struct tg_export_names *tg_export_names_create(void)
{
    struct tg_export_names *names = calloc(1, sizeof *names);
    if (!names)
        return NULL;
    names->room = FIRST_ROOM;
    names->key = calloc(names->room, sizeof *names->key);
    if (names->key)
        return names;
    free(names);
    return NULL;
}

void tg_export_names_destroy(struct tg_export_names *names)
{
    if (names)
        free(names->key);
    free(names);
}

/* The slot of the key, or the free slot where it belongs. */
static struct key *find(struct key *table, size_t room, const struct key *key)
{
    uint64_t hash = (key->task ^ (uint64_t)key->rest << 40) * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (size_t)(hash >> 20) & (room - 1);
    while (table[at].rest != 0 && (table[at].task != key->task || table[at].rest != key->rest))
        at = (at + 1) & (room - 1);
    return &table[at];
}

static bool grow(struct tg_export_names *names)
{
    size_t room = 2 * names->room;
    struct key *table = calloc(room, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < names->room; i++)
        if (names->key[i].rest != 0)
            *find(table, room, &names->key[i]) = names->key[i];
    free(names->key);
    names->key = table;
    names->room = room;
    return true;
}

static const char *short_stage(unsigned stage)
{
#define STAGE(constant, number, word, option, shortest) [number] = (shortest),
    static const char *const words[] = {TG_STAGE_MAP(STAGE)};
    return words[stage < TG_STAGES ? stage : TG_STAGE_ORCHESTRATION];
}

bool tg_export_names_make(struct tg_export_names *names, uint64_t index,
                          const struct tg_entry *entry, struct tg_export_name *name)
{
    if (names == NULL || entry == NULL || name == NULL)
        return false;
    const struct tg_record *record = &entry->record;
    struct key key = {record->task_id, 1u << 31 | (uint32_t)record->stage << 8 | record->arg_index};
    if (2 * names->count >= names->room && !grow(names))
        return false;
    struct key *place = find(names->key, names->room, &key);
    bool is_taken = place->rest != 0 && !(record->flags & TG_RECORD_READ);
    int length;
    if (record->flags & TG_RECORD_READ)
        length = snprintf(name->text, sizeof name->text, "orchestration_read%" PRIu64, index);
    else if (record->stage == TG_STAGE_ORCHESTRATION && record->task_id == TG_TASK_NONE)
        length = snprintf(name->text, sizeof name->text, "orchestration_arg%u", record->arg_index);
    else
        length = snprintf(name->text, sizeof name->text, "task_%" PRIu64 "_%" PRIu64 "_%s_arg%u",
                          record->task_id >> 32, record->task_id & UINT32_MAX,
                          short_stage(record->stage), record->arg_index);
    if (is_taken)
        snprintf(name->text + length, sizeof name->text - (size_t)length, "_record%" PRIu64, index);
    else
        names->count++;
    *place = key;
    return true;
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

bool tg_export_is_perfetto(const char *path)
{
    return ends_in(path, ".pftrace") || ends_in(path, ".perfetto-trace");
}

const char *tg_export_format_of(const char *path)
{
    struct tg_export_format_info format;
    for (uint32_t i = 0; path && tg_export_format_get(i, &format); i++)
        if (*format.ending && ends_in(path, format.ending))
            return format.name;
    if (path && tg_export_is_perfetto(path))
        return "trace";
    return path && ends_in(path, ".db") ? "sqlite" : NULL;
}

/* The recording says how its run was named, and may say "../../x". */
tg_status tg_export_default_path(const struct tg_recording *recording, const char *format,
                                 struct tg_export_path *path, struct tg_error *error)
{
    struct tg_export_format_info known;
    struct tg_recording_info info;
    char name[256], file[TG_FILE_NAME_MAX + 1];
    TG_REFUSE_NULL(error, recording);
    TG_REFUSE_NULL(error, format);
    TG_REFUSE_NULL(error, path);
    tg_recording_get_info(recording, &info);
    tg_status status = tg_recording_name(&info, name, sizeof name, error);
    if (status != TG_OK)
        return status;
    bool has_name = name[strspn(name, "./")] != '\0';
    for (uint32_t i = 0; tg_export_format_get(i, &known); i++)
        if (strcmp(known.name, format) == 0) {
            (void)snprintf(path->text, sizeof path->text, "%s%s",
                           tg_name_to_file(has_name ? name : "recording", file, sizeof file),
                           strcmp(format, "npy") == 0 ? "_npy" : known.ending);
            return TG_OK;
        }
    return tg_error_set(error, TG_BAD_ARGUMENT, "there is no export format '%s'", format);
}
