/* SPDX-License-Identifier: Apache-2.0 */
#include "host/seconds.h"

#include "base/error.h"

tg_status tg_seconds_check(const char *name, double seconds, struct tg_error *error)
{
    if (seconds >= 0) /* false for a value that is not a number, too */
        return TG_OK;
    return tg_error_set(error, TG_BAD_ARGUMENT,
                        "%s is %g seconds; use 0 for the default, or more than 0", name, seconds);
}
