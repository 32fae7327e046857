/* SPDX-License-Identifier: Apache-2.0 */
#include "hangs.h"

TG_FN static struct tg_tensor value(struct tg_tensor all, int64_t i)
{
    return tg_tensor_slice(all, 0, i, i + 1, 1);
}

TG_FN static struct tg_args on(struct tg_tensor tensor)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_inout(&task, tensor);
    return task;
}

TG_FN static uint64_t step(struct tg_rt *rt, struct tg_tensor tensor, const uint64_t *after,
                           uint32_t n)
{
    struct tg_args task = on(tensor);
    tg_args_after_all(&task, after, n);
    return tg_submit(rt, HANGS_STEP, &task);
}

TG_FN static uint64_t spin(struct tg_rt *rt, struct tg_tensor tensor)
{
    struct tg_args task = on(tensor);
    return tg_submit(rt, HANGS_SPIN, &task);
}

/* Both AIV cores of a block spin, so the parts of the mix that need them never begin: the gate lets the mix wait
 * until they do. For runtimes that find no edges themselves, and three cores. */
TG_FN static void mix_core(struct tg_rt *rt, struct tg_tensor all)
{
    struct tg_args gate = on(all), task = on(value(all, 2));
    spin(rt, value(all, 0));
    spin(rt, value(all, 1));
    tg_args_after(&task, tg_submit(rt, HANGS_GATE, &gate));
    tg_submit_mix(rt, HANGS_PART_AIC, HANGS_PART_AIV, HANGS_PART_AIV, &task);
}

TG_FN static void result(struct tg_rt *rt, struct tg_tensor all)
{
    uint64_t last = spin(rt, value(all, 0));
    last = step(rt, value(all, 1), &last, 1);
    (void)tg_read_i64(rt, value(all, 1), last); /* line: read */
}

TG_FN static void join(struct tg_rt *rt, struct tg_tensor all)
{
    uint64_t both[2];
    both[0] = step(rt, value(all, 0), 0, 0);
    both[1] = spin(rt, value(all, 1));
    step(rt, value(all, 2), both, 2);
}

/* The schedule decides whether the first task gets its turn. */
TG_FN static void beside(struct tg_rt *rt, struct tg_tensor all)
{
    uint64_t first = step(rt, value(all, 0), 0, 0);
    spin(rt, value(all, 1));
    (void)tg_read_i64(rt, value(all, 0), first);
}

TG_FN static void compute(struct tg_rt *rt)
{
    /* Read from memory, so that no compiler can know the value; no task writes there. */
    const struct tg_rt_ops *const volatile *ops =
        (const struct tg_rt_ops *const volatile *)&rt->ops;
    while (*ops) {
    }
}

TG_ORCHESTRATION(hangs)
{
    struct tg_tensor all = args->tensor[0];
    switch (args->scalar[0].bits) {
    case HANGS_mix_core:
        mix_core(rt, all);
        break;
    case HANGS_result:
        result(rt, all);
        break;
    case HANGS_join:
        join(rt, all);
        break;
    case HANGS_beside:
        beside(rt, all);
        break;
    case HANGS_both: {
        uint64_t first = step(rt, value(all, 0), 0, 0);
        struct tg_tensor read = value(all, 0);
        (void)tg_read_i64(rt, read, first); /* so that the cores are awake */
        spin(rt, value(all, 1));
        compute(rt);
        break;
    }
    default:
        step(rt, value(all, 0), 0, 0);
    }
}
