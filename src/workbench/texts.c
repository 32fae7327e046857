/* SPDX-License-Identifier: Apache-2.0 */
#include "workbench/texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/spread.h"

enum { FIRST_SLOTS = 64 };

static size_t place_of(const struct tg_texts *texts, const char *text)
{
    size_t at = (size_t)tg_spread_text(text) & (texts->n_slots - 1);
    while (texts->slot[at] && strcmp(texts->text[texts->slot[at] - 1], text) != 0)
        at = (at + 1) & (texts->n_slots - 1);
    return at;
}

static bool grow_slots(struct tg_texts *texts)
{
    if (2 * ((size_t)texts->count + 1) <= texts->n_slots)
        return true;
    size_t n_slots = texts->n_slots > 0 ? 2 * texts->n_slots : FIRST_SLOTS;
    uint32_t *slot = texts->count < UINT32_MAX / 2 ? calloc(n_slots, sizeof *slot) : NULL;
    if (!slot)
        return false;
    free(texts->slot);
    texts->slot = slot;
    texts->n_slots = n_slots;
    for (uint32_t i = 0; i < texts->count; i++)
        slot[place_of(texts, texts->text[i])] = i + 1;
    return true;
}

bool tg_texts_add(struct tg_texts *texts, const char *text, uint32_t *number)
{
    *number = texts->last;
    if (texts->count > 0 && strcmp(texts->text[texts->last], text) == 0)
        return true;
    if (!grow_slots(texts))
        return false;
    size_t at = place_of(texts, text);
    if (!texts->slot[at]) {
        if (!tg_grow(&texts->text, &texts->room, (size_t)texts->count + 1, sizeof *texts->text))
            return false;
        char *copy = strdup(text);
        if (!copy)
            return false;
        texts->text[texts->count++] = copy;
        texts->slot[at] = texts->count;
    }
    texts->last = *number = texts->slot[at] - 1;
    return true;
}

void tg_texts_free(struct tg_texts *texts)
{
    for (uint32_t i = 0; i < texts->count; i++)
        free(texts->text[i]);
    free((void *)texts->text);
    free(texts->slot);
    *texts = (struct tg_texts){0};
}
