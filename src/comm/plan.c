/* SPDX-License-Identifier: Apache-2.0 */
#include "comm/plan.h"

#include <stdlib.h>

#include "base/grow.h"

uint32_t tg_plan_add(struct tg_plan *plan, struct tg_action action)
{
    if (plan->count >= TG_NO_ACTION - 1 ||
        !tg_grow(&plan->action, &plan->room, plan->count + 1, sizeof *plan->action)) {
        plan->failed = true;
        return TG_NO_ACTION;
    }
    action.state = ACTION_WAITS;
    action.edges = action.same = TG_NO_ACTION;
    action.left = 0;
    plan->action[plan->count] = action;
    return (uint32_t)plan->count++;
}

void tg_plan_after(struct tg_plan *plan, uint32_t action, uint32_t before)
{
    if (action == TG_NO_ACTION || before == TG_NO_ACTION)
        return;
    if (!tg_grow(&plan->edge, &plan->edge_room, plan->n_edges + 1, sizeof *plan->edge)) {
        plan->failed = true;
        return;
    }
    plan->edge[plan->n_edges] = (struct tg_edge){action, plan->action[before].edges};
    plan->action[before].edges = (uint32_t)plan->n_edges++;
    plan->action[action].left++;
}

static uint32_t place(const struct tg_plan *plan, uint32_t peer, uint32_t step, uint32_t piece)
{
    const uint64_t mixed =
        (((uint64_t)step << 32 | piece) + peer) * UINT64_C(0x9e3779b97f4a7c15) + peer;
    return (uint32_t)(mixed >> 32) & plan->receive_mask;
}

bool tg_plan_finish(struct tg_plan *plan)
{
    size_t receives = 0, room = 1;
    for (size_t i = 0; i < plan->count; i++)
        receives += plan->action[i].kind >= ACTION_RECV;
    while (room < receives * 2)
        room *= 2;
    plan->left = plan->count;
    plan->receive = malloc(room * sizeof *plan->receive);
    if (!plan->receive || plan->failed)
        return false;
    plan->receive_mask = (uint32_t)(room - 1);
    for (size_t i = 0; i < room; i++)
        plan->receive[i] = TG_NO_ACTION;
    for (size_t i = 0; i < plan->count; i++) {
        struct tg_action *action = &plan->action[i];
        if (action->kind < ACTION_RECV)
            continue;
        uint32_t *first = &plan->receive[place(plan, action->peer, action->step, action->piece)];
        action->same = *first;
        *first = (uint32_t)i;
    }
    return true;
}

uint32_t tg_plan_find(const struct tg_plan *plan, uint32_t peer, uint32_t step, uint32_t piece)
{
    uint32_t at = plan->receive[place(plan, peer, step, piece)];
    while (at != TG_NO_ACTION && (plan->action[at].peer != peer || plan->action[at].step != step ||
                                  plan->action[at].piece != piece))
        at = plan->action[at].same;
    return at;
}

void tg_plan_free(struct tg_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        free(plan->action[i].temporary);
    free(plan->action);
    free(plan->edge);
    free(plan->receive);
    *plan = (struct tg_plan){0};
}
