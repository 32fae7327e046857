/* SPDX-License-Identifier: Apache-2.0 */
/* How a run ended, for those who followed it: what run.json says. The file may be anybody's. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/live.h>
#include <taskglass/text.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json_pull.h"

/* A run writes some kilobytes. */
enum { MOST = 16 << 20 };

/* A value of run.json: the object that it is in, its key, and where it goes. */
struct fact {
    const char *object, *key;
    enum { TEXT, COUNT, REAL, CODE } kind;
    size_t at, room;
};
#define FACT(object, key, kind, member)                          \
    {                                                            \
        object, key, kind, offsetof(struct tg_live_end, member), \
            sizeof(((struct tg_live_end *)0)->member)            \
    }
static const struct fact facts[] = {
    FACT("result", "status", TEXT, result),
    FACT("result", "exit_code", CODE, exit_code),
    FACT("error", "text", TEXT, error),
    FACT("counters", "tasks", COUNT, tasks),
    FACT("counters", "finished", COUNT, finished),
    FACT("times", "total_seconds", REAL, seconds),
};
enum { FACTS = sizeof facts / sizeof facts[0] };

static void take(const struct tg_pull *pull, const struct fact *fact, struct tg_live_end *end)
{
    char *to = (char *)end + fact->at, text[600];
    uint64_t count = 0;
    double real = 0;
    switch (fact->kind) {
    case TEXT:
        if (pull->token == TG_PULL_STRING) {
            tg_pull_text(pull, text, sizeof text);
            tg_text_clean(text, to, fact->room);
        }
        break;
    case COUNT:
        if (tg_pull_u64(pull, &count))
            memcpy(to, &count, sizeof count);
        break;
    case CODE:
        if (tg_pull_u64(pull, &count) && count < 256)
            end->exit_code = (int)count;
        break;
    case REAL:
        if (tg_pull_double(pull, &real) && real >= 0 && real < 1e12)
            memcpy(to, &real, sizeof real);
        break;
    }
}

/* Reads the object that the last token began. */
static bool read_object(struct tg_pull *pull, const char *object, struct tg_live_end *end)
{
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        const struct fact *found = NULL;
        for (unsigned i = 0; i < FACTS && !found; i++)
            if (strcmp(facts[i].object, object) == 0 && tg_pull_is(pull, facts[i].key))
                found = &facts[i];
        if (tg_pull_next(pull) == TG_PULL_ERROR)
            return false;
        if (found)
            take(pull, found, end);
        if (!tg_pull_skip(pull))
            return false;
    }
    return pull->token == TG_PULL_END_OBJECT;
}

static bool read_all(struct tg_pull *pull, struct tg_live_end *end)
{
    char key[16];
    if (tg_pull_next(pull) != TG_PULL_BEGIN_OBJECT)
        return false;
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        tg_pull_text(pull, key, sizeof key);
        if (tg_pull_next(pull) == TG_PULL_BEGIN_OBJECT ? !read_object(pull, key, end)
                                                       : !tg_pull_skip(pull))
            return false;
    }
    return pull->token == TG_PULL_END_OBJECT && end->result[0] != '\0';
}

tg_status tg_live_get_end(const char *dir, struct tg_live_end *end, struct tg_error *error)
{
    TG_REFUSE_NULL(error, dir);
    TG_REFUSE_NULL(error, end);
    struct tg_map map;
    struct tg_pull pull;
    memset(end, 0, sizeof *end);
    char *path = tg_path_join(dir, "run.json");
    if (path == NULL)
        return tg_file_no_memory(error);
    int cause = tg_map_load(path, MOST, &map);
    if (cause == ENOENT || cause == ENOTDIR) {
        free(path);
        return tg_error_set(error, TG_NOT_FOUND, "'%s' has no run.json", dir);
    }
    tg_status status = TG_OK;
    if (cause != 0) {
        status =
            tg_error_set(error, TG_IO_ERROR, "cannot read '%s': %s", path, tg_cause_text(cause));
    } else {
        tg_pull_start(&pull, (const char *)map.bytes, map.size);
        if (!read_all(&pull, end))
            status = tg_error_set(error, TG_IO_ERROR, "'%s' is not a run.json of a run", path);
        tg_map_close(&map);
    }
    free(path);
    return status;
}
