/* SPDX-License-Identifier: Apache-2.0 */
#include "host/case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "host/case_state.h"

/* The number of the case of that name (NULL: the first), or n_cases if there is none. */
static uint32_t find_case(const struct tg_workload *workload, const char *name)
{
    uint32_t i = 0;
    while (name && i < workload->n_cases && strcmp(workload->cases[i].name, name) != 0)
        i++;
    return i;
}

static tg_status no_case(const struct tg_workload *workload, const char *name,
                         struct tg_error *error)
{
    char known[300] = "";
    size_t used = 0;
    for (uint32_t i = 0; i < workload->n_cases && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 workload->cases[i].name);
    return tg_error_set(error, TG_NOT_FOUND, "workload '%s' has no case '%s'; its cases are %s",
                        workload->name, name, known);
}

tg_status tg_case_open(const struct tg_workload *workload, const char *name, const char *const *set,
                       uint32_t n_set, uint64_t memory_limit, struct tg_case_host **out,
                       struct tg_error *error)
{
    uint32_t number = find_case(workload, name);
    *out = NULL;
    if (number == workload->n_cases)
        return no_case(workload, name, error);
    struct tg_case_host *host = calloc(1, sizeof *host);
    if (!host)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory for the case");
    host->base.ops = &tg_case_host_ops;
    host->workload = workload;
    host->def = &workload->cases[number];
    host->memory_limit = memory_limit;
    host->ranks = 1;
    tg_status status = tg_case_params_parse(&host->params, host->def->params, error);
    for (uint32_t i = 0; i < n_set && status == TG_OK; i++)
        status = tg_case_params_set(&host->params, set[i], error);
    if (status != TG_OK) {
        tg_case_close(host);
        return status;
    }
    *out = host;
    return TG_OK;
}

void tg_case_set_rank(struct tg_case_host *host, uint32_t rank, uint32_t ranks)
{
    host->rank = rank;
    host->ranks = ranks;
}

void tg_case_close(struct tg_case_host *host)
{
    if (!host)
        return;
    for (uint32_t i = 0; i < host->n_tensors; i++) {
        struct tg_case_tensor *t = &host->tensor[i];
        free(t->name);
        free(t->bytes);
        free(t->output);
        free(t->expected);
        free(t->exact);
    }
    for (uint32_t i = 0; i < host->n_scalars; i++)
        free(host->scalar[i].name);
    tg_case_params_free(&host->params);
    free(host);
}

/* An operation that fails leaves the workload's function by longjmp (case_ops.c). */
static void enter(void *argument)
{
    struct tg_case_host *host = argument;
    void (*fn)(struct tg_case *) =
        host->stage == TG_CASE_IN_PREPARE ? host->workload->prepare : host->workload->golden;
    if (setjmp(host->leave) == 0)
        fn(&host->base);
}

static tg_status call(struct tg_case_host *host, enum tg_case_stage stage,
                      const struct tg_guard *guard, struct tg_error *error)
{
    struct tg_workload_call what = {.function = stage == TG_CASE_IN_PREPARE ? "prepare" : "golden",
                                    .workload = host->workload->name,
                                    .case_name = host->def->name,
                                    .call = enter,
                                    .argument = host,
                                    .code = host->workload};
    tg_status status;
    host->stage = stage;
    status = tg_guard_call(guard, &what, error);
    host->stage = TG_CASE_IDLE;
    if (status != TG_OK)
        return status;
    if (host->error.status != TG_OK && error)
        *error = host->error;
    return host->error.status;
}

tg_status tg_case_prepare(struct tg_case_host *host, const struct tg_guard *guard,
                          struct tg_error *error)
{
    return call(host, TG_CASE_IN_PREPARE, guard, error);
}

tg_status tg_case_golden(struct tg_case_host *host, const struct tg_guard *guard,
                         struct tg_error *error)
{
    tg_status status = call(host, TG_CASE_IN_GOLDEN, guard, error);
    for (uint32_t i = 0; i < host->n_tensors && status == TG_OK; i++) {
        const struct tg_case_tensor *t = &host->tensor[i];
        if (t->role != TG_IN && !t->expected && !t->exact)
            status = tg_error_set(error, TG_BAD_ARGUMENT,
                                  "workload '%s', case '%s': golden sets no expected values for "
                                  "output '%s'; call tg_case_expect(c, \"%s\", atol, rtol) there "
                                  "and fill in what it returns",
                                  host->workload->name, host->def->name, t->name, t->name);
    }
    return status;
}

const char *tg_case_name(const struct tg_case_host *host)
{
    return host->def->name;
}

uint32_t tg_case_param_count(const struct tg_case_host *host)
{
    return host->params.count;
}

const struct tg_case_param *tg_case_param(const struct tg_case_host *host, uint32_t i)
{
    return &host->params.item[i];
}

uint32_t tg_case_tensor_count(const struct tg_case_host *host)
{
    return host->n_tensors;
}

struct tg_case_tensor *tg_case_tensor_at(struct tg_case_host *host, uint32_t i)
{
    return &host->tensor[i];
}

uint32_t tg_case_scalar_count(const struct tg_case_host *host)
{
    return host->n_scalars;
}

const struct tg_case_scalar *tg_case_scalar_at(const struct tg_case_host *host, uint32_t i)
{
    return &host->scalar[i];
}
