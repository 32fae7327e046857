/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks that race: a task that writes this memory, and that nothing keeps in order with its readers, is a
 * better explanation than a stray write. */
#include <stdlib.h>
#include <taskglass/race.h>

#include "analysis/stomp.h"
#include "base/grow.h"

enum { MOST_RACES = 1 << 20 };

static int take(void *context, uint64_t first, uint64_t second)
{
    struct tg_stomp *stomp = context;
    if (stomp->n_races >= MOST_RACES)
        return 1; /* the pairs that are known count */
    stomp->no_memory =
        !tg_grow(&stomp->race, &stomp->race_room, stomp->n_races + 1, sizeof *stomp->race);
    if (stomp->no_memory)
        return 1;
    stomp->race[stomp->n_races++] = first < second ? (struct tg_stomp_race){first, second}
                                                   : (struct tg_stomp_race){second, first};
    return 0;
}

static int compare(const void *a, const void *b)
{
    const struct tg_stomp_race *left = a, *right = b;
    if (left->a != right->a)
        return left->a < right->a ? -1 : 1;
    return (left->b > right->b) - (left->b < right->b);
}

bool tg_stomp_find_races(struct tg_stomp *stomp, const struct tg_recording *recording)
{
    struct tg_races_config config = {.each = take, .each_context = stomp};
    struct tg_races_summary summary;
    struct tg_error error;
    if (stomp->knows_races)
        return true;
    stomp->n_races = 0;
    tg_status status = tg_races_find(recording, &config, NULL, NULL, &summary, &error);
    if (status == TG_NO_MEMORY || stomp->no_memory)
        return false;
    stomp->knows_races = true;
    if (stomp->n_races > 0)
        qsort(stomp->race, stomp->n_races, sizeof *stomp->race, compare);
    return true;
}

bool tg_stomp_do_race(const struct tg_stomp *stomp, uint64_t a, uint64_t b)
{
    struct tg_stomp_race wanted = {a < b ? a : b, a < b ? b : a};
    return stomp->n_races > 0 &&
           bsearch(&wanted, stomp->race, stomp->n_races, sizeof wanted, compare) != NULL;
}
