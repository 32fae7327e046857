/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's guard around the functions of a workload that run in this process. */
#ifndef TG_HOST_GUARD_H
#define TG_HOST_GUARD_H

#include <taskglass/execute.h>

struct tg_guard {
    tg_guard_fn fn; /* NULL: call the function directly */
    void *context;
};

/* NULL is a guard without a function. */
static inline tg_status tg_guard_call(const struct tg_guard *guard,
                                      const struct tg_workload_call *call, struct tg_error *error)
{
    if (guard != NULL && guard->fn != NULL)
        return guard->fn(guard->context, call, error);
    call->call(call->argument);
    return TG_OK;
}

#endif
