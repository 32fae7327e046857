/* SPDX-License-Identifier: Apache-2.0 */
/* Scalars: the seed, and how many steps. Tensors: the buffers. Where edges are not found from tensors,
 * each task waits for the last one that used one of its buffers. */
#include "ranks.h"
#include "program.h"

struct own {
    struct tg_rt *rt;
    const struct tg_args *given;
    int32_t rank;
    uint64_t last[RANKS_BUFFERS]; /* the task that used the buffer last */
};

TG_FN static struct tg_tensor view(const struct own *own, uint32_t buffer, struct ranks_view v)
{
    return tg_tensor_slice(own->given->tensor[buffer], 0, v.start, v.start + v.count * v.step,
                           v.step);
}

TG_FN static struct tg_tensor whole(const struct own *own, uint32_t buffer)
{
    return own->given->tensor[buffer];
}

TG_FN static void begin(const struct own *own, struct tg_args *args, uint32_t a, uint32_t b)
{
    tg_args_init(args);
    tg_args_after(args, own->last[a]);
    tg_args_after(args, own->last[b]);
}

TG_FN static void two(const struct own *own, struct tg_args *args, const struct ranks_step *s,
                      struct tg_tensor in, struct tg_tensor out)
{
    begin(own, args, s->a, s->b);
    tg_args_in(args, in);
    tg_args_out(args, out);
}

TG_FN static void mix(struct own *own, const struct ranks_step *s)
{
    struct tg_args args;
    if (!(s->mask >> own->rank & 1))
        return;
    begin(own, &args, s->a, s->b);
    tg_args_inout(&args, whole(own, s->a));
    tg_args_in(&args, whole(own, s->b));
    tg_args_u64(&args, s->k);
    own->last[s->a] = own->last[s->b] = tg_submit(own->rt, RANKS_MIX, &args);
}

TG_FN static void pair(struct own *own, const struct ranks_step *s)
{
    struct tg_args args;
    if (own->rank == s->from) {
        begin(own, &args, s->a, s->a);
        tg_args_in(&args, view(own, s->a, s->left));
        own->last[s->a] = tg_send(own->rt, s->to, s->tag, &args);
    }
    if (own->rank == s->to) {
        begin(own, &args, s->b, s->b);
        tg_args_out(&args, view(own, s->b, s->right));
        own->last[s->b] = tg_recv(own->rt, s->from, s->tag, &args);
    }
}

TG_FN static uint64_t broadcast(struct own *own, const struct ranks_step *s)
{
    struct tg_args args;
    begin(own, &args, s->a, s->a);
    if (!s->roles)
        tg_args_inout(&args, whole(own, s->a));
    else if (own->rank == s->from)
        tg_args_in(&args, whole(own, s->a));
    else
        tg_args_out(&args, whole(own, s->a));
    return tg_broadcast(own->rt, s->from, &args);
}

TG_FN static void collective(struct own *own, const struct ranks_step *s)
{
    struct tg_args args;
    switch (s->kind) {
    case RANKS_REDUCE:
        begin(own, &args, s->a, s->a);
        tg_args_inout(&args, whole(own, s->a));
        own->last[s->a] = tg_all_reduce(own->rt, s->operation, &args);
        return;
    case RANKS_BROADCAST:
        own->last[s->a] = broadcast(own, s);
        return;
    case RANKS_REDUCE_TO:
        two(own, &args, s, whole(own, s->a), whole(own, s->b));
        own->last[s->a] = own->last[s->b] = tg_all_reduce(own->rt, s->operation, &args);
        return;
    case RANKS_SCATTER:
        two(own, &args, s, whole(own, s->a), view(own, s->b, s->right));
        own->last[s->a] = own->last[s->b] = tg_reduce_scatter(own->rt, s->operation, &args);
        return;
    case RANKS_GATHER:
        two(own, &args, s, view(own, s->a, s->left), whole(own, s->b));
        own->last[s->a] = own->last[s->b] = tg_all_gather(own->rt, &args);
        return;
    default:
        two(own, &args, s, whole(own, s->a), whole(own, s->b));
        own->last[s->a] = own->last[s->b] = tg_all_to_all(own->rt, &args);
    }
}

TG_ORCHESTRATION(ranks_orchestrate)
{
    uint64_t state = (uint64_t)tg_args_get_i64(args, 0);
    int64_t steps = tg_args_get_i64(args, 1);
    struct own own;
    own.rt = rt;
    own.given = args;
    own.rank = tg_rank(rt);
    for (uint32_t b = 0; b < RANKS_BUFFERS; b++)
        own.last[b] = TG_TASK_NONE;
    for (int64_t i = 0; i < steps; i++) {
        struct ranks_step s = ranks_draw(&state, tg_ranks(rt));
        if (s.kind == RANKS_KERNEL)
            mix(&own, &s);
        else if (s.kind == RANKS_PAIR)
            pair(&own, &s);
        else
            collective(&own, &s);
    }
}
