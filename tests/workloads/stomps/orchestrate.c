/* SPDX-License-Identifier: Apache-2.0 */
#include "stomps.h"

/* Of the arena, in elements. */
enum { LEFT = 0, VICTIM = N, RIGHT = 2 * N, ROOM = 3 * N };

TG_FN static struct tg_tensor vector(struct tg_rt *rt, int64_t n)
{
    return tg_alloc(rt, TG_FLOAT32, 1, &n);
}

TG_FN static struct tg_tensor part(struct tg_tensor arena, int64_t begin)
{
    return tg_tensor_slice(arena, 0, begin, begin + N, 1);
}

TG_FN static uint64_t look_at(struct tg_rt *rt, struct tg_tensor victim, struct tg_tensor sum,
                              uint64_t flag, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, victim);
    tg_args_out(&task, sum);
    tg_args_u64(&task, flag);
    tg_args_after(&task, after);
    return tg_submit(rt, LOOK, &task);
}

TG_FN static uint64_t one(struct tg_rt *rt, uint32_t kernel, struct tg_tensor x, struct tg_tensor y,
                          int64_t stray, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_in(&task, x);
    tg_args_out(&task, y);
    if (kernel == STRAY || kernel == STRAY_BEFORE)
        tg_args_i64(&task, stray);
    tg_args_after(&task, after);
    return tg_submit(rt, kernel, &task);
}

/* A task that takes addresses and no tensor, apart from an output where `out` has elements. */
TG_FN static uint64_t flags(struct tg_rt *rt, uint32_t kernel, const struct tg_tensor *out,
                            uint64_t first, uint64_t second, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    if (out)
        tg_args_out(&task, *out);
    tg_args_u64(&task, first);
    if (kernel == SLOW_WRITER)
        tg_args_u64(&task, second);
    tg_args_after(&task, after);
    return tg_submit(rt, kernel, &task);
}

/* Tasks that write parts of one large tensor; one of them writes to the victim instead. */
TG_FN static uint64_t crowd(struct tg_rt *rt, struct tg_tensor x, struct tg_tensor victim,
                            uint64_t after)
{
    struct tg_tensor all = vector(rt, CROWD_TASKS * (int64_t)N);
    uint64_t tasks[CROWD_TASKS], last;
    struct tg_args task;
    for (int64_t i = 0; i < CROWD_TASKS; i++) {
        struct tg_tensor y = part(all, i * N);
        int64_t stray = ((int64_t)victim.addr - (int64_t)y.addr) / 4 + victim.start - y.start + 9;
        tasks[i] = one(rt, i == CROWD_GUILTY ? STRAY : INNOCENT, x, y, stray, after);
    }
    tg_args_init(&task);
    tg_args_in(&task, part(all, 0));
    tg_args_out(&task, vector(rt, N));
    tg_args_after_all(&task, tasks, CROWD_TASKS);
    last = tg_submit(rt, STEP, &task);
    return last;
}

TG_FN static uint64_t fill_all(struct tg_rt *rt, struct tg_tensor y, uint64_t after)
{
    struct tg_args task;
    tg_args_init(&task);
    tg_args_out(&task, y);
    tg_args_after(&task, after);
    return tg_submit(rt, FILL, &task);
}

/* Arguments: sums[2]; scalars: the scene. */
TG_ORCHESTRATION(stomps)
{
    struct tg_tensor arena = vector(rt, ROOM), other = vector(rt, N);
    struct tg_tensor written = vector(rt, 1), seen = vector(rt, 1), last = vector(rt, 1);
    struct tg_tensor victim = part(arena, VICTIM), sums = args->tensor[0];
    uint64_t address = victim.addr + (uint64_t)victim.start * 4, done, one_of_two;
    int64_t scene = tg_args_get_i64(args, 0);
    done = fill_all(rt, arena, TG_TASK_NONE);
    done = fill_all(rt, other, done);
    done = fill_all(rt, seen, fill_all(rt, written, done)); /* flags that are not set */
    done = look_at(rt, victim, tg_tensor_slice(sums, 0, 0, 1, 1), 0, done);
    switch (scene) {
    case CHAIN:
        done = one(rt, STEP, part(arena, LEFT), other, 0, done);
        done = one(rt, STRAY, other, part(arena, LEFT), N + 3, done);
        done = one(rt, STEP, part(arena, LEFT), part(arena, RIGHT), 0, done);
        break;
    case SNEAK:
        done = one(rt, INNOCENT, part(arena, RIGHT), part(arena, LEFT), 0, done);
        done = flags(rt, SNEAKS, 0, address + 12, 0, done);
        break;
    case TWICE:
        one_of_two = one(rt, STRAY, part(arena, RIGHT), part(arena, LEFT), N + 3, done);
        done = one(rt, STRAY_BEFORE, other, part(arena, RIGHT), -N + 3, one_of_two);
        break;
    case RACE:
        flags(rt, SLOW_WRITER, &victim, written.addr, seen.addr, done);
        done = flags(rt, WAITS, &last, written.addr, 0, done);
        break;
    case ALONE:
        done = one(rt, STRAY, victim, part(arena, LEFT), N + 3, done);
        break;
    default:
        done = crowd(rt, part(arena, LEFT), victim, done);
    }
    look_at(rt, victim, tg_tensor_slice(sums, 0, 1, 2, 1), scene == RACE ? seen.addr : 0, done);
}
