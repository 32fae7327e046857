/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/scope_advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The smallest values that the options accept. */
enum { LEAST = 4, LEAST_HEAP = 256 };

static const char *const options[TG_SCOPE_RESOURCES] = {"--ring-task-window", "--ring-heap",
                                                        "--ring-dep-pool", "--tensormap"};

/* The sum, or the largest number if it overflows. */
static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return value > UINT64_MAX - unit ? UINT64_MAX / unit * unit : (value + unit - 1) / unit * unit;
}

/* Rounds up to a size that the option accepts and that is short to write. */
static uint64_t settable(unsigned resource, uint64_t value)
{
    if (resource != TG_SCOPE_HEAP)
        return value < LEAST ? LEAST : value;
    return value < LEAST_HEAP ? LEAST_HEAP : round_up(value, value <= 1024 ? LEAST_HEAP : 1024);
}

/* --- the advice of a failed run --------------------------------------------------------------- */

static int unit_power(char unit)
{
    static const char units[] = "KMGT";
    const char *found = unit ? strchr(units, unit) : NULL;
    return found ? (int)(found - units) + 1 : 0;
}

/* The number in "--ring-heap 96M", which the device counted up to the end of the orchestration; 0
 * if the text is about another option. */
static uint64_t advised(const char *text, const char *option)
{
    size_t length = strlen(option);
    char *end;
    if (!text || strncmp(text, option, length) != 0 || (text[length] != ' ' && text[length] != '='))
        return 0;
    uint64_t number = strtoull(text + length + 1, &end, 10);
    int power = unit_power(*end);
    return number > UINT64_MAX >> (10 * power) ? 0 : number << (10 * power);
}

static uint64_t wanted_by_fatal(const struct tg_scope_fatal *fatal, unsigned resource,
                                uint32_t ring)
{
    if (!fatal->on || fatal->resource != resource ||
        (resource != TG_SCOPE_TENSORMAP && fatal->ring != ring))
        return 0;
    uint64_t counted = advised(fatal->advice, options[resource]);
    uint64_t asked = add(fatal->used, fatal->wanted);
    return counted > asked ? counted : asked;
}

/* --- need ------------------------------------------------------------------------------------ */

static enum tg_scope_verdict judge(const struct tg_scope_need *need, bool failed, bool partial)
{
    if (failed)
        return TG_SCOPE_TOO_SMALL;
    if (need->peak >= need->capacity)
        return TG_SCOPE_FULL;
    if (partial)
        return TG_SCOPE_SO_FAR;
    if (need->capacity > need->smallest)
        return TG_SCOPE_LARGER;
    return need->capacity == need->smallest ? TG_SCOPE_FITS : TG_SCOPE_TIGHT;
}

/* The most that may have been in use. Without measured peaks this is more than the samples saw, but
 * never more than the capacity. */
static uint64_t most_used(const struct tg_scope_stats *stats, unsigned resource, uint32_t ring,
                          const struct tg_scope_need *need)
{
    uint64_t bound = need->peak;
    if (resource != TG_SCOPE_TENSORMAP && stats->ends_with_peak == 0)
        bound = stats->tally.ring_bound[ring].of[resource];
    bound = bound < need->capacity ? bound : need->capacity;
    return bound > need->peak ? bound : need->peak;
}

static struct tg_scope_need find_need(const struct tg_scope_stats *stats, bool partial,
                                      unsigned resource, uint32_t ring)
{
    const struct tg_scope_tally *tally = &stats->tally;
    struct tg_scope_need need = {.capacity = tg_scope_capacity(&tally->limits, resource, ring),
                                 .verdict = TG_SCOPE_ABSENT};
    uint64_t wanted = wanted_by_fatal(&stats->guilty.fatal, resource, ring);
    need.peak = resource == TG_SCOPE_TENSORMAP ? tally->tensormap_peak
                                               : tally->ring_peak[ring].of[resource];
    if (need.capacity == 0 && need.peak == 0)
        return need;
    uint64_t safe = most_used(stats, resource, ring, &need);
    if (resource == TG_SCOPE_HEAP)
        safe = add(safe, tally->heap_step[ring]);
    need.smallest = settable(resource, wanted > safe ? wanted : safe);
    need.verdict = judge(&need, wanted > 0, partial);
    return need;
}

void tg_scope_advise(const struct tg_scope_stats *stats, struct tg_scope_advice *advice)
{
    memset(advice, 0, sizeof *advice);
    advice->partial = stats->fatal || stats->guilty.known || stats->dropped > 0 ||
                      !tg_scope_stats_complete(stats);
    for (uint32_t ring = 0; ring < TG_SCOPE_RINGS; ring++)
        for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++) {
            struct tg_scope_need *need = &advice->need[resource][ring];
            if (resource == TG_SCOPE_TENSORMAP && ring > 0)
                continue;
            *need = find_need(stats, advice->partial, resource, ring);
            if (resource != TG_SCOPE_TENSORMAP && need->verdict != TG_SCOPE_ABSENT)
                advice->n_rings = ring + 1;
        }
}

/* --- words ----------------------------------------------------------------------------------- */

const char *tg_scope_verdict_name(unsigned verdict)
{
    static const char *const names[] = {"absent", "so_far", "larger",   "fits",
                                        "tight",  "full",   "too_small"};
    return verdict <= TG_SCOPE_TOO_SMALL ? names[verdict] : "?";
}

enum tg_scope_verdict tg_scope_overall(const struct tg_scope_advice *advice, unsigned resource)
{
    enum tg_scope_verdict worst = TG_SCOPE_ABSENT;
    bool larger = false;
    for (uint32_t ring = 0; ring < TG_SCOPE_RINGS; ring++) {
        enum tg_scope_verdict verdict = advice->need[resource][ring].verdict;
        larger = larger || verdict == TG_SCOPE_LARGER;
        worst = verdict > worst ? verdict : worst;
    }
    return worst == TG_SCOPE_FITS && larger ? TG_SCOPE_LARGER : worst;
}

static int put_size(char *text, size_t room, unsigned resource, uint64_t value)
{
    static const char units[] = "KMGT";
    int power = 0;
    while (resource == TG_SCOPE_HEAP && power < 4 && value > 0 && value % 1024 == 0) {
        value /= 1024;
        power++;
    }
    return power > 0 ? snprintf(text, room, "%" PRIu64 "%c", value, units[power - 1])
                     : snprintf(text, room, "%" PRIu64, value);
}

/* If some rings are present, an absent one gets the smallest value. */
static uint64_t setting_of(const struct tg_scope_advice *advice, unsigned resource, uint32_t ring)
{
    const struct tg_scope_need *need = &advice->need[resource][ring];
    if (advice->partial && need->capacity > need->smallest)
        return need->capacity;
    return need->verdict == TG_SCOPE_ABSENT ? settable(resource, 0) : need->smallest;
}

/* Writes one number, or one for each ring if they differ. */
static void put_values(struct tg_scope_option *option, int at, unsigned resource, uint32_t n,
                       const uint64_t *value)
{
    const size_t room = sizeof option->text;
    bool same = true;
    for (uint32_t ring = 1; ring < n; ring++)
        same = same && value[ring] == value[0];
    for (uint32_t ring = 0; ring < (same ? 1 : n); ring++) {
        at += snprintf(option->text + at, room - (size_t)at, "%s", ring > 0 ? "," : "");
        at += put_size(option->text + at, room - (size_t)at, resource, value[ring]);
    }
}

/* How many numbers a setting has. */
static uint32_t count_values(const struct tg_scope_advice *advice, unsigned resource)
{
    return resource == TG_SCOPE_TENSORMAP || advice->n_rings < 2 ? 1 : TG_SCOPE_RINGS;
}

const char *tg_scope_option(const struct tg_scope_advice *advice, unsigned resource,
                            struct tg_scope_option *option)
{
    uint64_t value[TG_SCOPE_RINGS];
    option->text[0] = '\0';
    if (tg_scope_overall(advice, resource) <= TG_SCOPE_SO_FAR)
        return option->text;
    for (uint32_t ring = 0; ring < TG_SCOPE_RINGS; ring++)
        value[ring] = setting_of(advice, resource, ring);
    int at = snprintf(option->text, sizeof option->text, "%s ", options[resource]);
    put_values(option, at, resource, count_values(advice, resource), value);
    return option->text;
}

const char *tg_scope_present(const struct tg_scope_advice *advice, unsigned resource,
                             struct tg_scope_option *option)
{
    uint64_t value[TG_SCOPE_RINGS];
    for (uint32_t ring = 0; ring < TG_SCOPE_RINGS; ring++)
        value[ring] = advice->need[resource][ring].capacity;
    put_values(option, 0, resource, count_values(advice, resource), value);
    return option->text;
}
