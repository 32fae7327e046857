/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of communication in a graph that the host builds. */
#include "base/error.h"
#include "common/comm_call.h"
#include "host/comm_words.h"
#include "host/device_comm.h"
#include "host/graph.h"
#include <stdlib.h>
#include <taskglass/comm.h>

static tg_status want_counts(struct tg_graph *g, struct tg_error *error)
{
    if (g->comm_counts == NULL)
        g->comm_counts = calloc(TG_COMM_COUNTS, sizeof *g->comm_counts);
    if (g->comm_counts == NULL)
        return tg_error_set(error, TG_NO_MEMORY, "out of host memory");
    return TG_OK;
}

tg_status tg_graph_communicate(struct tg_graph *g, enum tg_comm_kind kind, int32_t peer,
                               int32_t tag, int32_t operation, const struct tg_args *args,
                               uint64_t *task, struct tg_error *error)
{
    TG_REFUSE_NULL_AS(error, g, "graph");
    TG_REFUSE_NULL(error, args);
    struct tg_module *module = g->module;
    struct tg_comm_asked asked = {.kind = (uint32_t)kind,
                                  .peer = peer,
                                  .tag = tag,
                                  .operation = operation,
                                  .rank = (int32_t)tg_device_rank(module->device),
                                  .ranks = (int32_t)tg_device_ranks(module->device)};
    uint32_t own = module->workload->n_kernels;
    uint32_t kernel[TG_PARTS] = {own + (uint32_t)kind, TG_NO_KERNEL, TG_NO_KERNEL};
    enum tg_comm_fault fault = TG_COMM_NOT_SAID;
    struct tg_args with;
    uint64_t number = 0;
    tg_status status = want_counts(g, error);
    if (status != TG_OK)
        return status;
    if (kind >= TG_COMM_KINDS)
        return tg_error_set(error, TG_BAD_ARGUMENT, "there is no call of number %u", asked.kind);
    if (tg_module_communicates(module))
        fault = tg_comm_check(&asked, args);
    if (fault == TG_COMM_GOOD && !tg_comm_number(g->comm_counts, &asked, &number))
        fault = TG_COMM_MANY;
    if (fault != TG_COMM_GOOD)
        return tg_comm_refuse(fault, &asked, args, error);
    tg_comm_fill(&with, args, &asked, number);
    g->calls = true;
    status = tg_graph_add_mix(g, kernel, &with, task, error);
    g->calls = false;
    g->has_calls |= status == TG_OK;
    return status;
}
