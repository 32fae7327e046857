/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestrate/waits.h"
#include "orchestrate/calls.h"

TG_FN static struct tg_wait *table_of(const struct tg_orchestrator *self)
{
    return TG_DEVICE_PTR(struct tg_wait, self->o->waits);
}

TG_FN void tg_waits_clear(struct tg_orchestrator *self)
{
    struct tg_wait *table = table_of(self);
    for (uint32_t i = 0; table && i < TG_WAITS; i++) {
        table[i].resource = TG_RESOURCE_NONE;
        table[i].count = table[i].ns = 0;
    }
}

/* The entry of that place. A new place takes an empty entry, or the one with the least time: its time
 * may be too long by that much, so a place that waits often is never missed. */
TG_FN static struct tg_wait *entry_of(struct tg_wait *table, const struct tg_wait *place)
{
    struct tg_wait *least = &table[0];
    for (uint32_t i = 0; i < TG_WAITS; i++) {
        struct tg_wait *at = &table[i];
        if (at->resource == place->resource && at->ring == place->ring &&
            at->scope == place->scope && at->line == place->line)
            return at;
        if (at->ns < least->ns)
            least = at;
    }
    least->resource = place->resource;
    least->ring = place->ring;
    least->scope = place->scope;
    least->line = place->line;
    least->count = 0;
    return least;
}

TG_FN void tg_waited(struct tg_orchestrator *self, enum tg_resource resource, uint64_t nanoseconds)
{
    struct tg_wait place, *entry;
    self->report->wait_ns[resource] += nanoseconds;
    if (resource < TG_RESOURCE_SLOTS || resource > TG_RESOURCE_MAP)
        return;
    tg_scope_waited(self, resource, &self->ring[self->want_ring], nanoseconds);
    if (self->o->waits == 0)
        return;
    place.resource = resource;
    place.ring = self->want_ring;
    place.scope = tg_current_scope(self)->site;
    place.line = tg_orchestrator_site(self, self->line);
    entry = entry_of(table_of(self), &place);
    entry->count++;
    entry->ns += nanoseconds;
}
