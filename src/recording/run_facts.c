/* SPDX-License-Identifier: Apache-2.0 */
/* What run.json beside a recording says of the run. The file may be missing, and is not trusted. */
#include <stdlib.h>
#include <string.h>

#include <taskglass/text.h>
#include <taskglass/wire/stream.h>

#include "recording/reader.h"

static bool start(const struct tg_recording *recording, struct tg_pull *pull)
{
    const struct tg_map *map = &recording->run_json;
    if (map->size > 0)
        tg_pull_start(pull, (const char *)map->bytes, map->size);
    return map->size > 0;
}

/* Goes to the first token of the value of this key in the object that the last token began. */
static bool find_key(struct tg_pull *pull, const char *key)
{
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        bool is_it = tg_pull_is(pull, key);
        if (tg_pull_next(pull) == TG_PULL_ERROR)
            return false;
        if (is_it)
            return true;
        if (!tg_pull_skip(pull))
            return false;
    }
    return false;
}

bool tg_recording_was_filtered(const struct tg_recording *recording)
{
    struct tg_pull facts, *pull = &facts;
    if (!start(recording, pull))
        return false;
    return tg_pull_next(pull) == TG_PULL_BEGIN_OBJECT && find_key(pull, "options") &&
           pull->token == TG_PULL_BEGIN_OBJECT && find_key(pull, "dump-filter") &&
           pull->token == TG_PULL_BEGIN_OBJECT && find_key(pull, "value") &&
           pull->token == TG_PULL_STRING && pull->length > 0;
}

const char *tg_recording_why_empty(const struct tg_recording *recording)
{
    if (recording == NULL)
        return NULL;
    const struct tg_recording_info *info = &recording->info;
    uint64_t lost = 0;
    for (int cause = 0; cause < TG_LOSS_CAUSES; cause++)
        lost += info->summary.lost[cause];
    if (lost > 0)
        return "its records were lost";
    if (info->damaged > 0)
        return "its records are damaged";
    if (info->state == TG_RECORDING_RUNNING)
        return "its run has only begun";
    if (!info->complete)
        return "it ends before the first of them";
    if (info->level == TG_LEVEL_MARKED)
        return "its level is marked, and the orchestration marked none; record with "
               "--dump-tensor=full";
    if (info->foreign && info->summary.orchestration > 0)
        return "it lists what the orchestration was given, and no task";
    if (tg_recording_was_filtered(recording))
        return "its filter let none through; record without --dump-filter";
    return NULL;
}

/* --- the command ------------------------------------------------------------------------------ */

struct line {
    char *text;
    size_t room, used; /* used == room: it did not fit */
};

/* Quotes what a shell would change. */
static void put_word(struct line *line, const char *word)
{
    if (line->used > 0 && line->used + 1 < line->room)
        line->text[line->used++] = ' ';
    if (line->used < line->room &&
        tg_text_shell_word(word, line->text + line->used, line->room - line->used))
        line->used += strlen(line->text + line->used);
    else
        line->used = line->room;
}

/* The new recording would replace the old one in the same folder, so --output is left out: a run then
 * makes a folder of its own. */
static bool put_command(struct tg_pull *pull, struct line *line)
{
    static const char output[] = "--output";
    bool is_value = false; /* of --output */
    char word[4096];
    if (tg_pull_next(pull) != TG_PULL_BEGIN_OBJECT || !find_key(pull, "command_line") ||
        pull->token != TG_PULL_BEGIN_ARRAY)
        return false;
    while (tg_pull_next(pull) == TG_PULL_STRING) {
        if (tg_pull_text(pull, word, sizeof word) + 1 >= sizeof word)
            return false;
        tg_name_clean(word, sizeof word, word, sizeof word); /* the line is shown */
        bool is_output = !is_value && strncmp(word, output, sizeof output - 1) == 0;
        char after = is_output ? word[sizeof output - 1] : 'x';
        if (!is_value && after != '\0' && after != '=')
            put_word(line, word);
        is_value = after == '\0';
    }
    return pull->token == TG_PULL_END_ARRAY && line->used > 0;
}

bool tg_recording_command(const struct tg_recording *recording, const char *option, char *text,
                          size_t room)
{
    struct line line = {.text = text, .room = room};
    struct tg_pull facts;
    if (text == NULL)
        return false;
    if (room > 0)
        text[0] = '\0';
    if (!recording || room == 0 || !start(recording, &facts))
        return false;
    bool good = put_command(&facts, &line);
    if (good && option)
        put_word(&line, option);
    good = good && line.used < room;
    text[good ? line.used : 0] = '\0';
    return good;
}
