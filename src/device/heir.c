/* SPDX-License-Identifier: Apache-2.0 */
#include "device/heir.h"
#include "device/core.h"
#include "device/worker.h"

TG_FN uint32_t tg_heir_wait(struct tg_engine *e, struct tg_worker *w, uint32_t heir)
{
    struct tg_task_desc *desc = &TG_TARGET_NEAR(e, desc)[heir];
    uint32_t fanin = desc->fanin, classes = TG_TARGET_NEAR(w, takes);
    for (uint32_t glance = 0;; glance++) {
        for (uint32_t look = 0; look < TG_CORE_LOOKS; look++) {
            if ((tg_load_acquire(&desc->pending) & TG_HEIR_MOST) == 0) { /* D1 */
                tg_store_relaxed(&desc->pending, fanin);                 /* for the next run */
                return heir;
            }
            if (glance > e->patience.spin)
                tg_target_yield();
        }
        if (tg_worker_sees(e, classes & ~TG_TAKES(TG_CLASS_MIX)))
            break;
        if (glance == 0) /* a hang would be blamed on the task before otherwise */
            tg_target_say_idle(w->status, TG_TARGET_NEAR(w, finished));
        else if (tg_core_must_leave(e, w, classes, glance))
            break;
    }
    return tg_heir_leave(desc, fanin) ? heir : TG_NO_TASK;
}
