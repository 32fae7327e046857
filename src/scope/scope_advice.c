/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/scope_advice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ring_limits.h"

static const char *const options[TG_SCOPE_RESOURCES] = {"--ring-task-window", "--ring-heap",
                                                        "--ring-dep-pool", "--tensormap"};
/* The largest values that they accept, and the values without the option. */
static const uint64_t most[TG_SCOPE_RESOURCES] = {TG_MOST_SLOTS, TG_MOST_HEAP, TG_MOST_DEPS,
                                                  TG_MOST_MAP};
static const uint64_t defaults[TG_SCOPE_RESOURCES] = {TG_DEFAULT_SLOTS, TG_DEFAULT_HEAP,
                                                      TG_DEFAULT_DEPS, TG_DEFAULT_MAP};
/* Memory is advised in such steps, which leave room for what else a run allocates. */
#define MEMORY_STEP (UINT64_C(64) << 20)

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
        return value < TG_LEAST_ENTRIES ? TG_LEAST_ENTRIES : value;
    return value < TG_LEAST_HEAP ? TG_LEAST_HEAP
                                 : round_up(value, value <= 1024 ? TG_LEAST_HEAP : 1024);
}

/* --- the advice of a failed run --------------------------------------------------------------- */

static int unit_power(char unit)
{
    static const char units[] = "KMGT";
    const char *found = unit ? strchr(units, unit) : NULL;
    return found ? (int)(found - units) + 1 : 0;
}

static uint64_t number_at(const char *text, const char **end)
{
    char *after;
    uint64_t number = strtoull(text, &after, 10);
    int power = unit_power(*after);
    *end = after + (power > 0);
    return number > UINT64_MAX >> (10 * power) ? 0 : number << (10 * power);
}

/* The text after the option in "--ring-task-window 20 --ring-heap 4K,1M,4K,4K"; NULL: it is not
 * there. */
static const char *find_option(const char *text, const char *option)
{
    size_t length = strlen(option);
    for (; text && (text = strstr(text, option)) != NULL; text += length)
        if (text[length] == ' ' || text[length] == '=')
            return text + length + 1;
    return NULL;
}

/* The size that the advice of the failed run gives to the ring, which the device counted up to the end
 * of the orchestration; 0: it gives none. *same: it gives one size to all rings. */
static uint64_t advised(const char *text, const char *option, uint32_t ring, bool *same)
{
    const char *at = find_option(text, option), *end;
    *same = true;
    if (!at)
        return 0;
    uint64_t number = number_at(at, &end);
    *same = *end != ',';
    for (; ring > 0 && *end == ','; ring--)
        number = number_at(end + 1, &end);
    return number;
}

static uint64_t wanted_by_fatal(const struct tg_scope_fatal *fatal, unsigned resource,
                                uint32_t ring, uint64_t capacity)
{
    bool same;
    if (!fatal->on || fatal->resource >= TG_SCOPE_RESOURCES)
        return 0;
    uint64_t counted = advised(fatal->advice, options[resource], ring, &same);
    if (fatal->resource != resource)
        return counted > capacity ? counted : 0;
    if (resource != TG_SCOPE_TENSORMAP && fatal->ring != ring)
        return counted > capacity && !same ? counted : 0;
    uint64_t asked = add(fatal->used, fatal->wanted);
    return counted > asked ? counted : asked;
}

/* --- need ------------------------------------------------------------------------------------ */

static enum tg_scope_verdict judge(const struct tg_scope_need *need, bool failed, bool partial)
{
    if (failed)
        return TG_SCOPE_TOO_SMALL;
    if (need->waits > 0 || need->peak >= need->capacity)
        return TG_SCOPE_FULL;
    if (partial)
        return TG_SCOPE_SO_FAR;
    if (need->capacity > need->smallest)
        return TG_SCOPE_LARGER;
    return need->capacity == need->smallest ? TG_SCOPE_FITS : TG_SCOPE_TIGHT;
}

/* All that the run ever took of the resource, or asked for: with as much room it never waits. *exact:
 * a run like this one asks for no more. */
static uint64_t all_of(const struct tg_scope_tally *tally, unsigned resource, uint32_t ring,
                       bool *exact)
{
    const struct tg_scope_sample *first = &tally->first[ring], *last = &tally->last[ring];
    *exact = true;
    switch (resource) {
    case TG_SCOPE_TASK_WINDOW:
        return last->task_window_end - first->task_window_start;
    case TG_SCOPE_HEAP:
        return last->heap_end - first->heap_start;
    case TG_SCOPE_DEP_POOL:
        /* The tensor map forgets tasks that have completed, so another run may find more of them. */
        *exact = tally->limits.tensormap == 0;
        return *exact ? tally->asked_dep_pool[ring]
                      : add(tally->asked_dep_pool[ring], tally->asked_dep_pool[ring]);
    default:
        return tally->asked_tensormap;
    }
}

/* The size to try because the orchestration waited. */
static void enlarge(const struct tg_scope_tally *tally, unsigned resource, uint32_t ring,
                    struct tg_scope_need *need)
{
    uint64_t twice = add(need->capacity, need->capacity);
    uint64_t affordable = twice > defaults[resource] ? twice : defaults[resource];
    uint64_t all = all_of(tally, resource, ring, &need->never);
    if (all <= need->capacity || all > affordable)
        need->never = false;
    need->larger = all <= need->capacity ? twice : all < affordable ? all : affordable;
    need->larger = settable(resource, need->larger);
    if (need->larger > most[resource]) {
        need->larger = most[resource];
        need->never = false;
    }
    if (need->larger < need->capacity)
        need->larger = need->capacity;
}

/* With more room for what was waited for, the run would fill this resource next. */
static void enlarge_next(const struct tg_scope_tally *tally, unsigned resource, uint32_t ring,
                         struct tg_scope_need *need)
{
    bool exact;
    uint64_t all = all_of(tally, resource, ring, &exact);
    if (need->verdict == TG_SCOPE_ABSENT || need->verdict == TG_SCOPE_TOO_SMALL)
        return;
    if ((exact ? all : all / 2) > need->capacity)
        enlarge(tally, resource, ring, need);
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
    uint64_t wanted = wanted_by_fatal(&stats->guilty.fatal, resource, ring, need.capacity);
    need.peak = resource == TG_SCOPE_TENSORMAP ? tally->tensormap_peak
                                               : tally->ring_peak[ring].of[resource];
    if (need.capacity == 0 && need.peak == 0)
        return need;
    uint64_t safe = most_used(stats, resource, ring, &need);
    if (resource == TG_SCOPE_HEAP)
        safe = add(safe, tally->heap_step[ring]);
    need.smallest = settable(resource, wanted > safe ? wanted : safe);
    need.waits_known = tally->ends_with_waits > 0;
    need.waits = tally->waits[ring][resource];
    if (need.waits > 0 && need.peak < need.capacity)
        need.peak = need.capacity; /* what it held and what was asked for were more */
    if (need.waits > 0 && wanted == 0)
        enlarge(tally, resource, ring, &need);
    need.verdict = judge(&need, wanted > 0, partial);
    return need;
}

static bool has_waited(const struct tg_scope_tally *tally)
{
    for (uint32_t ring = 0; ring < TG_SCOPE_RINGS; ring++)
        for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++)
            if (tally->waits[ring][resource] > 0)
                return true;
    return false;
}

/* If some rings are present, an absent one gets the smallest value. */
static uint64_t setting_of(const struct tg_scope_advice *advice, unsigned resource, uint32_t ring)
{
    const struct tg_scope_need *need = &advice->need[resource][ring];
    if (need->larger > 0)
        return need->larger;
    if (need->verdict != TG_SCOPE_ABSENT &&
        ((advice->partial && need->capacity > need->smallest) || need->verdict == TG_SCOPE_FULL))
        return need->capacity > need->smallest ? need->capacity : need->smallest;
    return need->verdict == TG_SCOPE_ABSENT ? settable(resource, 0) : need->smallest;
}

/* The memory for all settings that grow, whichever of them the user takes. */
static void advise_memory(const struct tg_scope_memory *memory, struct tg_scope_advice *advice)
{
    const uint64_t each[TG_SCOPE_RESOURCES] = {memory->task, 1, memory->dep, memory->entry};
    uint64_t more = 0;
    advice->memory = memory->size;
    for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++)
        for (uint32_t ring = 0; ring < TG_SCOPE_RINGS; ring++) {
            uint64_t now = advice->need[resource][ring].capacity;
            uint64_t then = setting_of(advice, resource, ring);
            uint64_t grows = then > now && then <= most[resource] ? then - now : 0;
            bool present = advice->need[resource][ring].verdict != TG_SCOPE_ABSENT;
            if (present && each[resource] > 0)
                more = add(more, grows > UINT64_MAX / each[resource] ? UINT64_MAX
                                                                     : grows * each[resource]);
        }
    uint64_t wanted = add(memory->used, more);
    if (memory->size > 0 && more > 0 && wanted > memory->size)
        advice->more_memory =
            wanted < TG_MOST_MEMORY ? round_up(wanted, MEMORY_STEP) : TG_MOST_MEMORY;
}

void tg_scope_advise(const struct tg_scope_stats *stats, struct tg_scope_advice *advice)
{
    bool waited = has_waited(&stats->tally);
    bool cut = stats->fatal || stats->guilty.known || stats->dropped > 0 ||
               !tg_scope_stats_complete(stats);
    memset(advice, 0, sizeof *advice);
    /* While the orchestration waited for one resource it asked for no other, so their peaks would be
     * higher without the waiting. */
    advice->partial = cut || waited;
    for (uint32_t ring = 0; ring < TG_SCOPE_RINGS; ring++)
        for (unsigned resource = 0; resource < TG_SCOPE_RESOURCES; resource++) {
            struct tg_scope_need *need = &advice->need[resource][ring];
            if (resource == TG_SCOPE_TENSORMAP && ring > 0)
                continue;
            /* Samples of a ring bound what was in use between them; those of the map do not. */
            bool unknown = resource == TG_SCOPE_TENSORMAP && stats->ends_with_peak == 0;
            *need = find_need(stats, advice->partial || unknown, resource, ring);
            if (resource != TG_SCOPE_TENSORMAP && need->verdict != TG_SCOPE_ABSENT)
                advice->n_rings = ring + 1;
            if (waited && need->larger == 0)
                enlarge_next(&stats->tally, resource, ring, need);
            need->never &= !cut;
        }
    advise_memory(&stats->tally.limits.memory, advice);
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
    bool grows = false;
    option->text[0] = '\0';
    for (uint32_t ring = 0; ring < TG_SCOPE_RINGS; ring++)
        grows |= advice->need[resource][ring].larger > 0;
    if (!grows && tg_scope_overall(advice, resource) <= TG_SCOPE_SO_FAR)
        return option->text;
    for (uint32_t ring = 0; ring < TG_SCOPE_RINGS; ring++) {
        value[ring] = setting_of(advice, resource, ring);
        if (value[ring] > most[resource])
            return option->text; /* no setting is large enough */
    }
    int at = snprintf(option->text, sizeof option->text, "%s ", options[resource]);
    put_values(option, at, resource, count_values(advice, resource), value);
    return option->text;
}

const char *tg_scope_bytes(uint64_t bytes, struct tg_scope_option *option)
{
    put_size(option->text, sizeof option->text, TG_SCOPE_HEAP, bytes);
    return option->text;
}

const char *tg_scope_memory_option(const struct tg_scope_advice *advice,
                                   struct tg_scope_option *option)
{
    option->text[0] = '\0';
    if (advice->more_memory > 0) {
        int at = snprintf(option->text, sizeof option->text, "--device-memory ");
        put_size(option->text + at, sizeof option->text - (size_t)at, TG_SCOPE_HEAP,
                 advice->more_memory);
    }
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
