/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the summary, but takes only the end of the run from it, because everything else is in the
 * samples too. */
#include <string.h>

#include "base/json_pull.h"
#include "base/names.h"
#include "scope/scope_parse.h"

static unsigned resource_called(const struct tg_pull *pull)
{
    unsigned resource = 0;
    while (resource < TG_SCOPE_RESOURCES &&
           (pull->token != TG_PULL_STRING || !tg_pull_is(pull, tg_scope_resource_name(resource))))
        resource++;
    return resource;
}

/* Stores the text; anything that is not a string stores "". */
static const char *take_text(const struct tg_pull *pull, char text[256])
{
    text[0] = '\0';
    if (pull->token == TG_PULL_STRING) {
        size_t length = tg_pull_text(pull, text, 256);
        tg_name_clean(text, length, text, 256);
    }
    return *text ? text : NULL;
}

static bool take_guilty_value(struct tg_pull *pull, struct tg_scope_guilty *guilty)
{
    struct tg_scope_fatal *fatal = &guilty->fatal;
    uint64_t number = 0;
    struct tg_pull key = *pull;
    tg_pull_next(pull);
    (void)tg_pull_u64(pull, &number);
    if (tg_pull_is(&key, "error"))
        fatal->error = take_text(pull, guilty->error);
    else if (tg_pull_is(&key, "site"))
        fatal->site = take_text(pull, guilty->site);
    else if (tg_pull_is(&key, "advice"))
        fatal->advice = take_text(pull, guilty->advice);
    else if (tg_pull_is(&key, "resource"))
        fatal->resource = resource_called(pull);
    else if (tg_pull_is(&key, "ring"))
        fatal->ring = number < TG_SCOPE_RINGS ? (uint32_t)number : 0;
    else if (tg_pull_is(&key, "used"))
        fatal->used = number;
    else if (tg_pull_is(&key, "capacity"))
        fatal->capacity = number;
    else if (tg_pull_is(&key, "wanted"))
        fatal->wanted = number;
    return tg_pull_skip(pull);
}

static void take_guilty(struct tg_pull *pull, struct tg_scope_guilty *guilty)
{
    if (tg_pull_next(pull) != TG_PULL_BEGIN_OBJECT) {
        (void)tg_pull_skip(pull);
        return;
    }
    memset(guilty, 0, sizeof *guilty);
    guilty->known = guilty->fatal.on = true;
    guilty->fatal.resource = TG_SCOPE_RESOURCES;
    while (tg_pull_next(pull) == TG_PULL_KEY)
        if (!take_guilty_value(pull, guilty))
            return;
}

const char *tg_scope_guilty_parse(const void *bytes, size_t size, struct tg_scope_guilty *guilty)
{
    struct tg_pull pull;
    memset(guilty, 0, sizeof *guilty);
    tg_pull_start(&pull, bytes, size);
    if (tg_pull_next(&pull) != TG_PULL_BEGIN_OBJECT)
        return pull.problem ? pull.problem : "not an object";
    while (!pull.problem && tg_pull_next(&pull) == TG_PULL_KEY) {
        if (tg_pull_is(&pull, "fatal")) {
            take_guilty(&pull, guilty);
        } else {
            tg_pull_next(&pull);
            (void)tg_pull_skip(&pull);
        }
    }
    if (!pull.problem)
        tg_pull_next(&pull);
    if (pull.problem)
        guilty->known = false;
    return pull.problem;
}
