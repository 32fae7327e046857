/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the runtimes to users of the library. */
#include "host/runtime_ops.h"
#include <taskglass/execute.h>

bool tg_runtime_get(uint32_t number, struct tg_runtime_info *info)
{
    if (info == NULL)
        return false;
    const struct tg_runtime_ops *ops = tg_runtime_number(number);
    if (ops == NULL)
        return false;
    *info = (struct tg_runtime_info){ops->name, ops->summary, true};
    return true;
}
