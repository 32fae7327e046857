/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of tasks that race: the first to be suspected. */
#include <stdlib.h>
#include <string.h>
#include <taskglass/race.h>

#include "base/error.h"
#include "base/files.h"
#include "base/grow.h"
#include "shake/session.h"

struct collection {
    struct tg_shake_session *session;
    size_t room;
    bool is_cut, no_memory;
};

static int collect(void *context, uint64_t first, uint64_t second)
{
    struct collection *c = context;
    struct tg_shake_session *s = c->session;
    struct tg_order pair = {tg_outcome_find(&s->baseline, first),
                            tg_outcome_find(&s->baseline, second)};
    if (pair.first == UINT32_MAX || pair.second == UINT32_MAX)
        return 0;
    c->is_cut = s->n_suspects >= TG_SHAKE_SUSPECTS;
    c->no_memory = !c->is_cut && !tg_grow(&s->suspect, &c->room, s->n_suspects + 1, sizeof pair);
    if (c->is_cut || c->no_memory)
        return 1;
    s->suspect[s->n_suspects++] = pair;
    return 0;
}

static tg_status search(struct tg_shake_session *s, const struct tg_recording *recording,
                        struct tg_error *error)
{
    struct collection collection = {.session = s};
    struct tg_races_config config = {.each = collect, .each_context = &collection};
    struct tg_races_summary summary;
    memset(&summary, 0, sizeof summary);
    tg_status status = tg_races_find(recording, &config, NULL, NULL, &summary, error);
    if (collection.no_memory || status == TG_NO_MEMORY)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the races of a run");
    s->knows_races = status == TG_OK && summary.is_proof && summary.is_exact && !collection.is_cut;
    s->shake->info.races = status == TG_OK ? summary.pairs : 0;
    return TG_OK;
}

tg_status tg_session_suspect(struct tg_shake_session *s, struct tg_error *error)
{
    struct tg_recording *recording = NULL;
    char *path = tg_path_join(s->folder, "baseline");
    if (!path)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the name of a folder");
    tg_status status = tg_recording_open(path, &recording, error);
    if (status == TG_OK)
        status = search(s, recording, error);
    tg_recording_close(recording);
    free(path);
    return status;
}

uint32_t tg_session_races(const struct tg_shake_session *s, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < s->n_suspects; i++) {
        const struct tg_order *pair = &s->suspect[i];
        if ((pair->first == a && pair->second == b) || (pair->first == b && pair->second == a))
            return 1;
    }
    return s->knows_races ? 0 : 2;
}
