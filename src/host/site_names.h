/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of an orchestration's source lines ("sites"), which the device publishes one by one
 * while it runs. The host copies only names that the device has published whole, and gives every
 * site a name of its own: a scope at one line is never taken for a scope at another.
 *
 *     "examples/bgemm/orchestrate.c:31"   as the device wrote it
 *     "...FILE:12"                        a long path: its end
 *     "...FILE:12 (site 7)"               a second long path with the same end
 *     "(site 2100)"                       the device has no room for its name
 *     "(other sites)"                     the device has no room for its number either
 */
#ifndef TG_HOST_SITE_NAMES_H
#define TG_HOST_SITE_NAMES_H

#include <taskglass/wire/orchestration.h>

#include "host/device.h"

enum { TG_SITE_NAME = sizeof(struct tg_site) + 24 };

/* All zeros: no names yet. */
struct tg_site_names {
    struct tg_site *text;    /* TG_MAX_SITES, owned; below `n` they are whole and end with a zero */
    bool twin[TG_MAX_SITES]; /* a site before it is cut to the same text */
    uint32_t n;
    uint32_t numbered; /* sites that the device has told apart */
    bool others;       /* there were more than it can tell apart */
};

/* Copies the names that the device has published since the last call. `at` is the address of the
 * device's struct tg_orchestration. NO_MEMORY, or the error of the copy; what was known stays. */
tg_status tg_site_names_update(struct tg_site_names *names, struct tg_device *device, uint64_t at,
                               uint64_t sites);
/* The name of a site, in `name`. Of a site that the device has not published: "(site N)". */
const char *tg_site_name(const struct tg_site_names *names, uint32_t site, char name[TG_SITE_NAME]);
/* How many sites the device numbered and could not name. */
uint32_t tg_site_names_missing(const struct tg_site_names *names);
void tg_site_names_free(struct tg_site_names *names);

#endif
