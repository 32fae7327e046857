/* SPDX-License-Identifier: Apache-2.0 */
#include "device/heir.h"
#include "device/core.h"
#include "device/worker.h"

/* True if there is a task for the core in its own deques, or in the device's queues. */
TG_FN static bool sees_task(const struct tg_engine *e, const struct tg_worker *w, uint32_t classes)
{
    for (uint32_t c = 0; c < TG_CLASS_MIX; c++)
        if ((classes & TG_TAKES(c)) &&
            tg_load_relaxed(&w->deque[c].head) != tg_load_relaxed(&w->deque[c].tail))
            return true;
    return tg_worker_sees(e, classes & ~TG_TAKES(TG_CLASS_MIX));
}

TG_FN uint32_t tg_heir_wait_on(struct tg_engine *e, struct tg_worker *w, uint32_t heir)
{
    struct tg_task_desc *desc = &TG_TARGET_NEAR(e, desc)[heir];
    uint32_t fanin = desc->fanin, classes = TG_TARGET_NEAR(w, takes), spin = e->patience.spin;
    for (uint32_t glance = 0;; glance++) {
        if (sees_task(e, w, classes) || tg_core_must_leave(e, w, classes, glance + 1))
            break;
        if (glance == 0) /* a hang would be blamed on the task before otherwise */
            tg_target_say_idle(w->status, TG_TARGET_NEAR(w, finished));
        for (uint32_t look = 0; look < TG_CORE_LOOKS; look++) {
            if (tg_heir_look(desc, fanin))
                return heir;
            if (glance > spin)
                tg_target_yield();
        }
    }
    return tg_heir_leave(desc, fanin) ? heir : TG_NO_TASK;
}
