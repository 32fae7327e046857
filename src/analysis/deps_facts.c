/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1
#include "analysis/deps_facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static bool wrong(const char **problem, const char *why)
{
    *problem = why;
    return false;
}

/* --- seen ----------------------------------------------------------------------------------- */

static bool take_rings(struct tg_pull *pull, struct tg_deps_read_seen *seen, const char **problem)
{
    uint32_t ring = 0;
    memset(seen->done, 0, sizeof seen->done);
    if (tg_pull_next(pull) != TG_PULL_BEGIN_ARRAY)
        return wrong(problem, "\"rings\" has a value of the wrong kind; it takes a list of counts");
    while (tg_pull_next(pull) != TG_PULL_END_ARRAY) {
        if (pull->token == TG_PULL_ERROR)
            return false;
        if (ring == TG_RINGS)
            return wrong(problem, "\"rings\" has more than four counts");
        if (!tg_pull_u64(pull, &seen->done[ring++]))
            return wrong(problem, "\"rings\" has a value of the wrong kind; it takes counts");
    }
    return true;
}

static bool take_tasks(struct tg_pull *pull, struct tg_deps_read_seen *seen, const char **problem)
{
    seen->n_tasks = 0;
    if (tg_pull_next(pull) != TG_PULL_BEGIN_ARRAY)
        return wrong(problem, "\"tasks\" of \"seen\" has a value of the wrong kind; it takes a "
                              "list of task ids");
    while (tg_pull_next(pull) != TG_PULL_END_ARRAY) {
        if (pull->token == TG_PULL_ERROR ||
            !tg_grow(&seen->task, &seen->room, seen->n_tasks + 1, sizeof *seen->task))
            return false;
        if (!tg_pull_u64(pull, &seen->task[seen->n_tasks]))
            return wrong(problem, "\"tasks\" of \"seen\" has a value of the wrong kind; it takes "
                                  "task ids");
        seen->n_tasks++;
    }
    return true;
}

bool tg_deps_facts_seen(struct tg_pull *pull, struct tg_deps_read_seen *seen, const char **problem)
{
    memset(seen->done, 0, sizeof seen->done);
    seen->n_tasks = 0;
    seen->is_there = true;
    if (tg_pull_next(pull) != TG_PULL_BEGIN_OBJECT)
        return wrong(problem, "\"seen\" has a value of the wrong kind; it takes an object");
    while (tg_pull_next(pull) == TG_PULL_KEY) {
        bool good;
        if (tg_pull_is(pull, "rings"))
            good = take_rings(pull, seen, problem);
        else if (tg_pull_is(pull, "tasks"))
            good = take_tasks(pull, seen, problem);
        else
            good = tg_pull_next(pull) != TG_PULL_ERROR && tg_pull_skip(pull);
        if (!good)
            return false;
    }
    return pull->token == TG_PULL_END_OBJECT;
}

/* --- allocations ---------------------------------------------------------------------------- */

enum { HAS_ADDRESS = 1, HAS_BYTES = 2, HAS_RING = 4, HAS_GIVEN = 8, HAS_ALL = 15 };

/* Takes one member; *has gets the bit of a member that belongs to an allocation. */
static bool take_member(struct tg_pull *pull, struct tg_deps_allocation *to, unsigned *has)
{
    uint64_t ring, *number = NULL;
    unsigned bit = 0;
    if (tg_pull_is(pull, "address"))
        bit = HAS_ADDRESS, number = &to->address;
    else if (tg_pull_is(pull, "bytes"))
        bit = HAS_BYTES, number = &to->bytes;
    else if (tg_pull_is(pull, "given"))
        bit = HAS_GIVEN, number = &to->given;
    else if (tg_pull_is(pull, "ring"))
        bit = HAS_RING, number = &ring;
    if (tg_pull_next(pull) == TG_PULL_ERROR)
        return false;
    if (!number)
        return tg_pull_skip(pull);
    *has &= ~bit;
    if (tg_pull_u64(pull, number) && (bit != HAS_RING || ring < TG_RINGS))
        *has |= bit;
    if (*has & bit && bit == HAS_RING)
        to->ring = (uint32_t)ring;
    return tg_pull_skip(pull);
}

static bool take_allocation(struct tg_pull *pull, struct tg_deps_allocations *list,
                            const char **problem)
{
    struct tg_deps_allocation taken = {0};
    unsigned has = 0;
    if (pull->token != TG_PULL_BEGIN_OBJECT)
        return wrong(problem, "\"allocations\" has a value of the wrong kind; it takes objects");
    while (tg_pull_next(pull) == TG_PULL_KEY)
        if (!take_member(pull, &taken, &has))
            return false;
    if (pull->token != TG_PULL_END_OBJECT)
        return false;
    if (has != HAS_ALL)
        return wrong(problem, "an allocation needs \"address\", \"bytes\", \"ring\" (0 to 3) and "
                              "\"given\"");
    if (taken.bytes == 0 || taken.bytes > UINT64_MAX - taken.address)
        return wrong(problem, "an allocation that is empty or reaches beyond the last address");
    if (list->count > 0 && taken.given < list->at[list->count - 1].given)
        return wrong(problem, "an allocation that was given out before the one listed before it");
    if (!tg_grow(&list->at, &list->room, list->count + 1, sizeof *list->at))
        return false;
    list->at[list->count++] = taken;
    return true;
}

bool tg_deps_facts_allocations(struct tg_pull *pull, struct tg_deps_allocations *list,
                               const char **problem)
{
    list->count = 0;
    list->is_there = true;
    if (tg_pull_next(pull) != TG_PULL_BEGIN_ARRAY)
        return wrong(problem, "\"allocations\" has a value of the wrong kind; it takes a list");
    while (tg_pull_next(pull) != TG_PULL_END_ARRAY)
        if (pull->token == TG_PULL_ERROR || !take_allocation(pull, list, problem))
            return false;
    return true;
}

/* --- released ------------------------------------------------------------------------------- */

struct release {
    struct tg_deps_release is;
    struct tg_deps_read_seen held, seen;
    bool has_at;
};

static bool take_release_member(struct tg_pull *pull, struct release *release, const char **problem)
{
    if (tg_pull_is(pull, "tasks"))
        return take_tasks(pull, &release->held, problem);
    if (tg_pull_is(pull, "seen"))
        return tg_deps_facts_seen(pull, &release->seen, problem);
    bool is_at = tg_pull_is(pull, "at");
    if (tg_pull_next(pull) == TG_PULL_ERROR)
        return false;
    if (is_at)
        release->has_at = tg_pull_u64(pull, &release->is.at);
    return tg_pull_skip(pull);
}

static bool keep_release(struct tg_deps_releases *list, struct release *release)
{
    struct tg_deps_release *is = &release->is;
    is->n_seen = release->seen.n_tasks;
    is->n_held = release->held.n_tasks;
    if (!tg_grow(&list->at, &list->room, list->count + 1, sizeof *list->at) ||
        !tg_grow(&list->id, &list->id_room, list->n_ids + is->n_seen + is->n_held,
                 sizeof *list->id))
        return false;
    memcpy(is->done, release->seen.done, sizeof is->done);
    for (size_t i = 0; i < is->n_seen; i++)
        list->id[list->n_ids++] = release->seen.task[i];
    for (size_t i = 0; i < is->n_held; i++)
        list->id[list->n_ids++] = release->held.task[i];
    list->at[list->count++] = *is;
    return true;
}

static bool read_release(struct tg_pull *pull, struct tg_deps_releases *list,
                         struct release *release, const char **problem)
{
    release->is = (struct tg_deps_release){0};
    release->held.n_tasks = release->seen.n_tasks = 0;
    memset(release->seen.done, 0, sizeof release->seen.done);
    release->has_at = false;
    if (pull->token != TG_PULL_BEGIN_OBJECT)
        return wrong(problem, "\"released\" has a value of the wrong kind; it takes objects");
    while (tg_pull_next(pull) == TG_PULL_KEY)
        if (!take_release_member(pull, release, problem))
            return false;
    if (pull->token != TG_PULL_END_OBJECT)
        return false;
    if (!release->has_at)
        return wrong(problem, "tasks that were released need \"at\"");
    if (list->count > 0 && release->is.at < list->at[list->count - 1].at)
        return wrong(problem, "tasks that were released before those listed before them");
    return keep_release(list, release);
}

bool tg_deps_facts_releases(struct tg_pull *pull, struct tg_deps_releases *list,
                            const char **problem)
{
    struct release release = {0};
    bool good = true;
    list->count = list->n_ids = 0;
    if (tg_pull_next(pull) != TG_PULL_BEGIN_ARRAY)
        return wrong(problem, "\"released\" has a value of the wrong kind; it takes a list");
    while (good && tg_pull_next(pull) != TG_PULL_END_ARRAY)
        good = pull->token != TG_PULL_ERROR && read_release(pull, list, &release, problem);
    free(release.held.task);
    free(release.seen.task);
    return good;
}
