/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/platform.h"
#include <string.h>
#include <taskglass/device.h>

/* Each NAME is the object tg_platform_NAME in src/platform/NAME/NAME.c; in the order in which they
 * are listed. A new platform needs its row here. */
#define PLATFORMS(X) \
    X(a2a3sim)       \
    X(a5sim)         \
    X(cuda)

#define DECLARE(name) extern const struct tg_platform_ops tg_platform_##name;
#define ROW(name) &tg_platform_##name,

PLATFORMS(DECLARE)

static const struct tg_platform_ops *const platforms[] = {PLATFORMS(ROW)};

const struct tg_platform_ops *tg_platform_number(uint32_t number)
{
    return number < tg_platform_count() ? platforms[number] : NULL;
}

const struct tg_platform_ops *tg_platform_named(const char *name)
{
    for (uint32_t i = 0; i < tg_platform_count(); i++)
        if (strcmp(platforms[i]->name, name) == 0)
            return platforms[i];
    return NULL;
}

uint32_t tg_platform_count(void)
{
    return sizeof platforms / sizeof platforms[0];
}

bool tg_platform_get(uint32_t number, struct tg_platform_info *info)
{
    if (info == NULL)
        return false;
    const struct tg_platform_ops *ops = tg_platform_number(number);
    if (ops == NULL)
        return false;
    *info = (struct tg_platform_info){
        .name = ops->name,
        .summary = ops->summary,
        .max_blocks = ops->max_blocks,
        .max_schedulers = ops->max_schedulers,
        .host_sees_memory = tg_platform_shows_memory(ops),
        .available = ops->probe == NULL || ops->probe(NULL) == TG_OK,
    };
    return true;
}
