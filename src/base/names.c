/* SPDX-License-Identifier: Apache-2.0 */
#include "base/names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/recording.h>

#include "base/utf8.h"

enum { FIRST_SLOTS = 64 };

void tg_name_clean(const char *text, size_t length, char *clean, size_t room)
{
    const unsigned char *from = (const unsigned char *)text;
    size_t at = 0, used = 0;
    while (at < length && from[at]) {
        if (from[at] >= ' ' && from[at] < 0x7f && used + 1 < room) { /* most characters */
            clean[used++] = (char)from[at++];
            continue;
        }
        size_t step = tg_utf8_inert_length(from + at, length - at), kept = step ? step : 1;
        if (used + kept >= room)
            break;
        if (step)
            memmove(clean + used, from + at, step);
        else
            clean[used] = '?';
        used += kept;
        at += kept;
    }
    clean[used] = '\0';
}

static char **find(char **slot, size_t n_slots, const char *name)
{
    size_t at = (size_t)tg_content_hash(name, strlen(name)) & (n_slots - 1);
    while (slot[at] && strcmp(slot[at], name) != 0)
        at = (at + 1) & (n_slots - 1);
    return &slot[at];
}

/* Keeps the table at most half full, so that every search is short and finds an empty slot. */
static bool make_room(struct tg_names *names)
{
    size_t n_slots = names->n_slots ? 2 * names->n_slots : FIRST_SLOTS;
    if (names->count < names->n_slots / 2)
        return true;
    char **slot = calloc(n_slots, sizeof *slot);
    if (!slot)
        return false;
    for (size_t i = 0; i < names->n_slots; i++)
        if (names->slot[i])
            *find(slot, n_slots, names->slot[i]) = names->slot[i];
    free(names->slot);
    names->slot = slot;
    names->n_slots = n_slots;
    return true;
}

const char *tg_names_add(struct tg_names *names, const char *text, size_t length)
{
    char name[TG_NAME_MAX + 1];
    if (!make_room(names)) {
        names->no_memory = true;
        return NULL;
    }
    tg_name_clean(text, length, name, sizeof name);
    char **slot = find(names->slot, names->n_slots, name);
    if (!*slot) {
        *slot = strdup(name);
        names->count += *slot != NULL;
        names->no_memory = names->no_memory || !*slot;
    }
    return *slot;
}

void tg_names_free(struct tg_names *names)
{
    for (size_t i = 0; i < names->n_slots; i++)
        free(names->slot[i]);
    free(names->slot);
    *names = (struct tg_names){0};
}
