/* SPDX-License-Identifier: Apache-2.0 */
#include "host/site_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "common/atomic.h"
#include "common/stream_word.h"

#define REPORT(member) \
    (offsetof(struct tg_orchestration, report) + offsetof(struct tg_orchestrator_report, member))

/* N1 (orchestrate/orchestrator.h): the device stores the count with release after the text of the
 * last site, so the texts below the count that this load sees are whole. */
static tg_status load_count(struct tg_device *device, uint64_t address, uint64_t *count)
{
    const uint64_t *mapped = tg_device_map(device, address, sizeof *mapped);
    uint64_t word = 0;
    if (mapped != NULL) {
        word = tg_load_acquire(mapped); /* N1 */
    } else {
        tg_status status = tg_device_copy_out(device, &word, address, sizeof word, NULL);
        if (status != TG_OK)
            return status;
        tg_fence_host(); /* N1: the copy acquires nothing */
    }
    /* A word that a copy caught half written does not open; neither does that of a device that has
     * named nothing yet. The next call reads it again. */
    if (!tg_word_open(word, count))
        *count = 0;
    return TG_OK;
}

/* True if the name is the end of a long path, and a site before this one has the same end. Equal
 * names of other sites are copies of one source line. */
static bool is_cut_like_another(const struct tg_site_names *names, uint32_t site)
{
    const char *text = names->text[site].text;
    if (strncmp(text, "...", 3) != 0)
        return false;
    for (uint32_t i = 0; i < site; i++)
        if (strcmp(names->text[i].text, text) == 0)
            return true;
    return false;
}

static tg_status copy_texts(struct tg_site_names *names, struct tg_device *device, uint64_t sites,
                            uint32_t n)
{
    uint64_t size = sizeof *names->text;
    tg_status status = tg_device_copy_out(device, names->text + names->n, sites + names->n * size,
                                          (n - names->n) * size, NULL);
    if (status != TG_OK)
        return status;
    for (; names->n < n; names->n++) {
        char *text = names->text[names->n].text;
        text[size - 1] = '\0';
        tg_name_clean(text, size - 1, text, size);
        names->twin[names->n] = is_cut_like_another(names, names->n);
    }
    return TG_OK;
}

tg_status tg_site_names_update(struct tg_site_names *names, struct tg_device *device, uint64_t at,
                               uint64_t sites)
{
    uint64_t word = 0;
    uint32_t others = 0;
    if (names->text == NULL)
        names->text = calloc(TG_MAX_SITES, sizeof *names->text);
    if (names->text == NULL)
        return TG_NO_MEMORY;
    tg_status status = load_count(device, at + REPORT(sites_word), &word);
    if (status != TG_OK)
        return status;
    /* A device that counts further has gone wrong. */
    uint32_t count = word <= TG_NUMBERED_SITES ? (uint32_t)word : names->n;
    if (count > names->numbered)
        names->numbered = count;
    if (count == TG_NUMBERED_SITES &&
        tg_device_copy_out(device, &others, at + REPORT(more_sites), sizeof others, NULL) == TG_OK)
        names->others = others != 0;
    count = count < TG_MAX_SITES ? count : TG_MAX_SITES;
    return count > names->n ? copy_texts(names, device, sites, count) : TG_OK;
}

const char *tg_site_name(const struct tg_site_names *names, uint32_t site, char name[TG_SITE_NAME])
{
    if (site >= TG_NUMBERED_SITES)
        snprintf(name, TG_SITE_NAME, "(other sites)");
    else if (site >= names->n)
        snprintf(name, TG_SITE_NAME, "(site %u)", (unsigned)site);
    else if (names->twin[site])
        snprintf(name, TG_SITE_NAME, "%s (site %u)", names->text[site].text, (unsigned)site);
    else
        snprintf(name, TG_SITE_NAME, "%s", names->text[site].text);
    return name;
}

uint32_t tg_site_names_missing(const struct tg_site_names *names)
{
    return names->numbered - names->n;
}

void tg_site_names_free(struct tg_site_names *names)
{
    free(names->text);
    *names = (struct tg_site_names){0};
}
