/* SPDX-License-Identifier: Apache-2.0 */
/* Anyone may write a module, so this checks once everything that later code relies on. */
#include <string.h>

#include "base/error.h"
#include "host/text.h"
#include "host/workload.h"

static tg_status check_head(const struct tg_workload *w, const char *path, struct tg_error *error)
{
    if (w->abi != TG_WORKLOAD_ABI)
        return tg_error_set(error, TG_ABI_MISMATCH,
                            "module %s has workload ABI %u, this library has %u; rebuild it", path,
                            w->abi, TG_WORKLOAD_ABI);
    if (w->size < sizeof *w)
        return tg_error_set(error, TG_ABI_MISMATCH,
                            "module %s has a workload of %u bytes, this library needs %zu; "
                            "rebuild it",
                            path, w->size, sizeof *w);
    if (!w->name || !tg_text_is_name(w->name))
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "module %s: the workload's name must be letters, digits, '_', '-', "
                            "'.' or '+', at most 100",
                            path);
    if (!w->orchestrate || !w->prepare || !w->golden)
        return tg_error_set(error, TG_BAD_ARGUMENT, "module %s: workload '%s' has no %s function",
                            path, w->name,
                            !w->orchestrate ? "orchestrate"
                            : !w->prepare   ? "prepare"
                                            : "golden");
    return TG_OK;
}

static tg_status check_kernel(const struct tg_workload *w, uint32_t i, const char *path,
                              struct tg_error *error)
{
    const struct tg_kernel_def *k = &w->kernels[i];
    if (!k->name || !tg_text_is_name(k->name))
        return tg_error_set(error, TG_BAD_ARGUMENT, "module %s: kernel %u has no valid name", path,
                            i);
    if (!k->fn)
        return tg_error_set(error, TG_BAD_ARGUMENT, "module %s: kernel '%s' has no function", path,
                            k->name);
    if (k->core >= TG_CORE_KINDS)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "module %s: kernel '%s' has unknown core kind %u; use TG_AIC, TG_AIV "
                            "or TG_EITHER",
                            path, k->name, k->core);
    for (uint32_t j = 0; j < i; j++)
        if (strcmp(w->kernels[j].name, k->name) == 0)
            return tg_error_set(error, TG_BAD_ARGUMENT, "module %s: two kernels are named '%s'",
                                path, k->name);
    return TG_OK;
}

static tg_status check_case(const struct tg_workload *w, uint32_t i, const char *path,
                            struct tg_error *error)
{
    const struct tg_case_def *c = &w->cases[i];
    if (!c->name || !tg_text_is_name(c->name))
        return tg_error_set(error, TG_BAD_ARGUMENT, "module %s: case %u has no valid name", path,
                            i);
    for (uint32_t j = 0; j < i; j++)
        if (strcmp(w->cases[j].name, c->name) == 0)
            return tg_error_set(error, TG_BAD_ARGUMENT, "module %s: two cases are named '%s'", path,
                                c->name);
    return TG_OK;
}

tg_status tg_workload_check(const struct tg_workload *w, const char *path, struct tg_error *error)
{
    tg_status status = check_head(w, path, error);
    if (status != TG_OK)
        return status;
    if (w->n_kernels > TG_WORKLOAD_MAX_KERNELS || (w->n_kernels > 0 && !w->kernels))
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "module %s: a table of %u kernels is not valid; use 0 to %d", path,
                            w->n_kernels, TG_WORKLOAD_MAX_KERNELS);
    if (w->n_cases == 0)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "module %s: a table of 0 cases leaves nothing to run; add one to its "
                            "TG_WORKLOAD: .cases = cases, .n_cases = 1",
                            path);
    if (w->n_cases > TG_WORKLOAD_MAX_CASES || !w->cases)
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "module %s: a table of %u cases is not valid; use 1 to %d", path,
                            w->n_cases, TG_WORKLOAD_MAX_CASES);
    for (uint32_t i = 0; i < w->n_kernels && status == TG_OK; i++)
        status = check_kernel(w, i, path, error);
    for (uint32_t i = 0; i < w->n_cases && status == TG_OK; i++)
        status = check_case(w, i, path, error);
    return status;
}
