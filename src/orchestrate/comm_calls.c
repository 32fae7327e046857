/* SPDX-License-Identifier: Apache-2.0 */
#include "common/comm_call.h"
#include "orchestrate/calls.h"

TG_FN int32_t tg_call_rank(struct tg_rt *rt)
{
    const struct tg_comm_setup *comm = tg_of_rt(rt)->e->comm;
    return comm ? (int32_t)comm->rank : 0;
}

TG_FN int32_t tg_call_ranks(struct tg_rt *rt)
{
    const struct tg_comm_setup *comm = tg_of_rt(rt)->e->comm;
    return comm ? (int32_t)comm->ranks : 1;
}

TG_FN void tg_comm_counts_clear(const struct tg_engine *e)
{
    struct tg_comm_count *counts =
        e->comm ? TG_DEVICE_PTR(struct tg_comm_count, e->comm->counts) : 0;
    for (uint32_t i = 0; counts && i < TG_COMM_COUNTS; i++)
        counts[i].used = 0;
}

/* Ends the orchestration: stores what the call was given, so that the host can say what is wrong. */
TG_FN static uint64_t refuse(struct tg_orchestrator *self, const struct tg_comm_asked *asked,
                             const struct tg_args *args, enum tg_comm_fault fault, const char *site)
{
    self->report->table = fault;
    self->report->kernel[0] = asked->kind;
    tg_comm_fill_refused(TG_DEVICE_PTR(struct tg_args, self->o->refused), args, asked);
    tg_orchestrator_fail(self, TG_BAD_ARGUMENT, TG_FAULT_CALL, site);
    return TG_TASK_NONE;
}

TG_FN uint64_t tg_call_communicate(struct tg_rt *rt, enum tg_comm_kind kind, int32_t peer,
                                   int32_t tag, int32_t operation, const struct tg_args *args,
                                   const char *site)
{
    struct tg_orchestrator *self = tg_of_rt(rt);
    const struct tg_comm_setup *comm = self->e->comm;
    struct tg_comm_asked asked = {(uint32_t)kind,   peer, tag, operation, tg_call_rank(rt),
                                  tg_call_ranks(rt)};
    uint32_t kernel[TG_PARTS] = {self->o->n_own_kernels + (uint32_t)kind, TG_NO_KERNEL,
                                 TG_NO_KERNEL};
    enum tg_comm_fault fault = TG_COMM_GOOD;
    struct tg_args none, with;
    uint64_t number = 0, task;
    if (!args) {
        tg_args_init(&none);
        args = &none;
    }
    if (!tg_runs(self))
        return tg_call_submit(rt, kernel, args, site); /* which only counts, if anything */
    if (!comm || self->o->n_own_kernels == self->o->n_kernels)
        fault = TG_COMM_NOT_SAID;
    else
        fault = tg_comm_check(&asked, args);
    if (fault == TG_COMM_GOOD &&
        !tg_comm_number(TG_DEVICE_PTR(struct tg_comm_count, comm->counts), &asked, &number))
        fault = TG_COMM_MANY;
    if (fault != TG_COMM_GOOD)
        return refuse(self, &asked, args, fault, site);
    tg_comm_fill(&with, args, &asked, number);
    self->call_line = tg_orchestrator_site(self, site) + 1;
    self->calls = true;
    task = tg_call_submit(rt, kernel, &with, site);
    self->calls = false;
    return task;
}
