/* SPDX-License-Identifier: Apache-2.0 */
#include "host/replay_belief.h"
#include <stdio.h>
#include <string.h>
#include <taskglass/guard.h>

bool tg_replay_accuses(const struct tg_replay_verdict *verdict)
{
    return verdict->is != TG_REPLAY_SAME && verdict->is != TG_REPLAY_NOT_KNOWN;
}

static uint32_t first_finding(const struct tg_replay_verdict *verdict)
{
    return verdict->n_findings > 0 ? verdict->finding[0].kind : TG_GUARD_KINDS;
}

/* NULL: there is none. Called with the lock. */
static struct tg_replay_belief *find(struct tg_replay_beliefs *beliefs,
                                     const struct tg_replay_verdict *verdict)
{
    for (uint32_t i = 0; i < beliefs->count; i++) {
        struct tg_replay_belief *b = &beliefs->list[i];
        if (b->is == verdict->is && b->argument == verdict->output.argument &&
            b->finding == first_finding(verdict) && strcmp(b->kernel, verdict->kernel) == 0)
            return b;
    }
    return NULL;
}

/* NULL: there is no room for another one. Called with the lock. */
static struct tg_replay_belief *find_or_make(struct tg_replay_beliefs *beliefs,
                                             const struct tg_replay_verdict *verdict)
{
    struct tg_replay_belief *b = find(beliefs, verdict);
    if (b != NULL || beliefs->count == TG_MOST_BELIEFS)
        return b;
    b = &beliefs->list[beliefs->count++];
    *b = (struct tg_replay_belief){
        .is = verdict->is, .argument = verdict->output.argument, .finding = first_finding(verdict)};
    snprintf(b->kernel, sizeof b->kernel, "%s", verdict->kernel);
    return b;
}

bool tg_replay_believes(struct tg_replay_beliefs *beliefs, const struct tg_replay_verdict *verdict)
{
    pthread_mutex_lock(&beliefs->lock);
    const struct tg_replay_belief *b = find(beliefs, verdict);
    bool is_believed = b != NULL && b->confirmed >= TG_BELIEVED_AFTER && !b->is_doubted;
    pthread_mutex_unlock(&beliefs->lock);
    return is_believed;
}

void tg_replay_confirm(struct tg_replay_beliefs *beliefs, const struct tg_replay_verdict *before,
                       const struct tg_replay_verdict *fresh)
{
    struct tg_replay_belief *b = NULL, *old = NULL;
    pthread_mutex_lock(&beliefs->lock);
    if (tg_replay_accuses(fresh))
        b = find_or_make(beliefs, fresh);
    if (before != NULL)
        old = find_or_make(beliefs, before);
    if (b != NULL)
        b->confirmed++;
    if (old != NULL && old != b)
        old->is_doubted = true;
    pthread_mutex_unlock(&beliefs->lock);
}

bool tg_replay_hangs(struct tg_replay_beliefs *beliefs, const char *kernel)
{
    uint32_t hangs = 0;
    pthread_mutex_lock(&beliefs->lock);
    for (uint32_t i = 0; i < beliefs->count; i++)
        if (beliefs->list[i].is == TG_REPLAY_HANGS && strcmp(beliefs->list[i].kernel, kernel) == 0)
            hangs += beliefs->list[i].confirmed;
    pthread_mutex_unlock(&beliefs->lock);
    return hangs >= TG_MOST_HANGS;
}
