/* SPDX-License-Identifier: Apache-2.0 */
/* Both ends of the live socket: any bytes as a request to a run, and as the answer of one. Whatever comes,
 * an answer's texts end, no terminal obeys them, and its lists are no longer than there is room for. */
#define _GNU_SOURCE 1
#include "fuzz/recording.h"

#include <ctype.h>

#include "fuzz/explained.h"

#include "host/live.h"
#include "host/live_reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t room)
{
    HOLDS(memchr(text, '\0', room) != NULL);
    for (const char *c = text; *c; c++)
        HOLDS(!iscntrl((unsigned char)*c));
}

#define CHECK_TEXT(member) check_text(member, sizeof(member))

static void check_status(const struct tg_live_status *s)
{
    CHECK_TEXT(s->workload);
    CHECK_TEXT(s->case_name);
    CHECK_TEXT(s->platform);
    CHECK_TEXT(s->runtime);
    CHECK_TEXT(s->level);
    CHECK_TEXT(s->policy);
    CHECK_TEXT(s->state);
    CHECK_TEXT(s->scope);
    CHECK_TEXT(s->waits_for);
    HOLDS(s->phase < TG_LIVE_PHASES && s->elapsed >= 0 && s->elapsed < 1e12);
    HOLDS(s->n_rings <= TG_LIVE_MAX_RINGS && s->n_cores <= TG_LIVE_MAX_CORES);
    HOLDS(s->n_waits <= TG_LIVE_MAX_WAITS && s->running <= s->n_cores);
    HOLDS((s->n_cores == 0) == (s->cores == NULL) && (s->n_waits == 0) == (s->waits == NULL));
    for (uint32_t i = 0; i < s->n_cores; i++) {
        CHECK_TEXT(s->cores[i].kind);
        CHECK_TEXT(s->cores[i].kernel);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tg_live_lists lists;
    struct tg_live_status status;
    struct tg_error error = {TG_OK, ""};
    const char *problem = NULL;
    uint32_t sections;
    if (!tg_live_parse_request((const char *)data, size, &sections, &problem))
        HOLDS(problem != NULL);
    HOLDS(sections >> TG_LIVE_SECTIONS == 0);
    if (tg_live_reply_read((const char *)data, size, &status, &lists, &error) != TG_OK)
        HOLDS(error.text[0] != '\0');
    check_status(&status);
    static struct tg_explanation explanation;
    bool late;
    memset(&explanation, 0, sizeof explanation);
    (void)tg_explanation_take_answer((const char *)data, size, &explanation, &late);
    explained_check(&explanation);
    return 0;
}
