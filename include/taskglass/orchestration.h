/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For people who write orchestration code: the function that turns the arguments of a run into
 * tasks. Depending on the runtime it runs on the host before launch or on the device while
 * tasks run, so it follows the rules of kernels (kernel.h): no libc, and only what C11 and C++17
 * share.
 *
 *     TG_ORCHESTRATION(my_graph)
 *     {
 *         struct tg_tensor tmp = tg_alloc(rt, TG_FLOAT32, 1, args->tensor[0].shape);
 *         struct tg_args first;
 *         tg_args_init(&first);
 *         tg_args_in(&first, args->tensor[0]);
 *         tg_args_out(&first, tmp);
 *         uint64_t producer = tg_submit(rt, K_SCALE, &first);
 *         …
 *     }
 *
 * Calls do not return errors. The runtime keeps the first error with its source line, later calls do
 * nothing and return TG_TASK_NONE or an invalid tensor, and the run ends with that error.
 */
#ifndef TASKGLASS_ORCHESTRATION_H
#define TASKGLASS_ORCHESTRATION_H

#include <taskglass/args.h>
#include <taskglass/target.h>
#include <taskglass/wire/comm.h>

struct tg_rt;

/* When the tasks of a scope may start: as soon as they are submitted, or when the scope ends. */
enum tg_scope_kind { TG_SCOPE_OPEN = 0, TG_SCOPE_HOLDS = 1 };

/* The functions of a runtime. Use the macros below, which add the source line. */
struct tg_rt_ops {
    uint64_t (*submit)(struct tg_rt *rt, const uint32_t kernel[TG_PARTS],
                       const struct tg_args *args, const char *site);
    void (*depend)(struct tg_rt *rt, uint64_t task, uint64_t after, const char *site);
    struct tg_tensor (*alloc)(struct tg_rt *rt, unsigned dtype, int ndim, const int64_t *shape,
                              const char *site);
    void (*scope_begin)(struct tg_rt *rt, enum tg_scope_kind kind, const char *site);
    void (*scope_end)(struct tg_rt *rt);
    void (*fail)(struct tg_rt *rt, const char *text, const char *site);
    struct tg_tensor (*output)(struct tg_rt *rt, uint64_t task, uint32_t argument,
                               const char *site);
    uint64_t (*read)(struct tg_rt *rt, const struct tg_tensor *tensor, uint64_t producer,
                     const char *site);
    uint64_t (*table)(struct tg_rt *rt, const struct tg_tensor *tensor, const int64_t *index,
                      uint32_t n, const char *site);
    int32_t (*rank)(struct tg_rt *rt);
    int32_t (*ranks)(struct tg_rt *rt);
    uint64_t (*communicate)(struct tg_rt *rt, enum tg_comm_kind kind, int32_t peer, int32_t tag,
                            int32_t operation, const struct tg_args *args, const char *site);
};

/* The runtime that an orchestration talks to. */
struct tg_rt {
    const struct tg_rt_ops *ops;
};

/* An orchestration. */
typedef void (*tg_orchestrate_fn)(struct tg_rt *rt, const struct tg_args *args);

/* Begins the definition, or the declaration, of an orchestration. */
#define TG_ORCHESTRATION(name) \
    TG_NAMED TG_FN void name(struct tg_rt *rt, const struct tg_args *args)

#define TG_SITE_TEXT_(line) #line
#define TG_SITE_LINE_(line) TG_SITE_TEXT_(line)
/* This source line, as messages name it. */
#define TG_SITE __FILE__ ":" TG_SITE_LINE_(__LINE__)

/* Submits a task of one kernel (its index in the workload's table) and returns the task's id. */
#define tg_submit(rt, kernel, args) tg_submit_one_at((rt), (kernel), (args), TG_SITE)

/* Submits a task of up to three kernels that start together on one block and share the arguments;
 * TG_NO_KERNEL for an empty part. */
#define tg_submit_mix(rt, aic, aiv0, aiv1, args) \
    tg_submit_mix_at((rt), (aic), (aiv0), (aiv1), (args), TG_SITE)

/* Makes `task` wait for `after`, for edges that are not known at the submit (tg_args_after). On
 * runtimes that start tasks while the orchestration runs, `task` must belong to a TG_SCOPE_HELD that
 * has not ended, and `after` must have been submitted before it. */
#define tg_depend(rt, task, after) ((rt)->ops->depend((rt), (task), (after), TG_SITE))

/* Allocates device memory for an intermediate tensor. The runtime frees it after the run (or, on
 * runtimes with a ring heap, after the scope). Its content is undefined until a task writes it. */
#define tg_alloc(rt, dtype, ndim, shape) ((rt)->ops->alloc((rt), (dtype), (ndim), (shape), TG_SITE))

/* Tensor argument `argument` of a task whose scope has not ended; use it to get an output of
 * tg_args_out_new. If the scope has ended, it is an error. On aicpu_build_graph, whose scopes do not own
 * slots, this works only while fewer tasks than the ring has slots were submitted after the task. */
#define tg_output(rt, task, argument) ((rt)->ops->output((rt), (task), (argument), TG_SITE))

/* Returns the value of a tensor with one element. It first waits for `producer` and, if the runtime
 * finds dependencies itself (tensormap_and_ringbuffer), for all tasks that write the tensor; other
 * tasks run meanwhile. On host_build_graph, where no task has run yet, it is an error to name a
 * producer; with TG_TASK_NONE it reads as tg_table_i64 does. */
#define tg_read_i64(rt, tensor, producer) tg_read_i64_at((rt), (tensor), (producer), TG_SITE)
/* The same as a double, for any type of the tensor. */
#define tg_read_real(rt, tensor, producer) tg_read_real_at((rt), (tensor), (producer), TG_SITE)

/*
 * Returns one element of a tensor that the orchestration was given as an input, or of a view of it:
 * a shape, a block table, lengths, routing. After the tensor come its indices, one for each
 * dimension:
 *
 *     int64_t block = tg_table_i64(rt, args->tensor[3], sequence, number);
 *
 * It works on every runtime and platform and never waits: it reads what the run was given
 * (host_build_graph: what the memory holds while the graph is built). Once a task that writes the
 * tensor (`out` or `inout`, any part of it) has been submitted, it is an error on every runtime; so
 * are an output of the run, memory that the orchestration was not given, and an index outside of the
 * shape. Do not follow the address of a tensor instead: where the orchestration runs on the host, it
 * is not an address of its memory.
 */
#define tg_table_i64(rt, ...) \
    tg_table_i64_at((rt), TG_TABLE_COUNT_(__VA_ARGS__), TG_TABLE_ARGS_(__VA_ARGS__), TG_SITE)
/* The same as a double. Both work for any type: see numeric.h for the conversions. */
#define tg_table_real(rt, ...) \
    tg_table_real_at((rt), TG_TABLE_COUNT_(__VA_ARGS__), TG_TABLE_ARGS_(__VA_ARGS__), TG_SITE)
/* The number of indices after the tensor, and the tensor with eight indices, zeros where none is. More
 * than eight do not compile. */
#define TG_TABLE_COUNT_(...) \
    TG_TABLE_MOST_(TG_TABLE_PICK_(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0))
#define TG_TABLE_MOST_(n) ((uint32_t)(n) + 0 * (uint32_t)sizeof(char[(n) <= TG_MAX_DIMS ? 1 : -1]))
#define TG_TABLE_PICK_(t, a, b, c, d, e, f, g, h, i, j, k, l, n, ...) n
#define TG_TABLE_ARGS_(...) TG_TABLE_NINE_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0)
#define TG_TABLE_NINE_(t, a, b, c, d, e, f, g, h, ...)                                          \
    (t), tg_table_indices((int64_t)(a), (int64_t)(b), (int64_t)(c), (int64_t)(d), (int64_t)(e), \
                          (int64_t)(f), (int64_t)(g), (int64_t)(h))

/*
 * Several devices that run the same workload are ranks 0 to tg_ranks(rt) - 1 of a job (comm.h); a device
 * alone is rank 0 of 1. The workload says that it communicates (struct tg_workload).
 *
 * Communication is tasks. Each of these submits one and returns its id; it starts when what it waits for
 * has completed, no core waits for it, and tasks that wait for it start when its data are there. The
 * tensors may be views; `args` has no scalars.
 *
 *     tg_send             in           to rank `peer`; to the rank itself is allowed
 *     tg_recv             out          from rank `peer`: the send with the same tag; among several, in the order
 *                                      in which the orchestrations submitted them
 *     tg_broadcast        in on root, out on the others, or inout on all
 *     tg_all_reduce       inout, or in and out of the same shape
 *     tg_reduce_scatter   in of ranks · n elements, out of n: rank r gets piece r of the result
 *     tg_all_gather       in of n elements, out of ranks · n: piece r is rank r's
 *     tg_all_to_all       in, out of ranks · n elements: piece r goes to rank r, piece r came from there
 *
 * In and out of one call must not share memory, nor may the elements of one lie between those of the other. Two
 * exceptions: the same view twice for tg_all_reduce, and piece r of out as in of tg_all_gather on rank r.
 *
 * A piece is one of `ranks` equal runs of elements in row-major order of the view. All ranks submit
 * the same calls of the last five in the same order, with the same type, number of elements, operation
 * and root; a rank that does not is named, with the source lines on both sides. Sends and receives
 * match by peer and tag, whatever else is submitted in between. Tags are 0 or more.
 */
#define tg_rank(rt) ((rt)->ops->rank((rt)))
#define tg_ranks(rt) ((rt)->ops->ranks((rt)))
#define tg_send(rt, peer, tag, args) \
    tg_communicate_((rt), TG_COMM_SEND, (peer), (tag), TG_COMM_NONE, (args))
#define tg_recv(rt, peer, tag, args) \
    tg_communicate_((rt), TG_COMM_RECV, (peer), (tag), TG_COMM_NONE, (args))
#define tg_broadcast(rt, root, args) \
    tg_communicate_((rt), TG_COMM_BROADCAST, (root), TG_COMM_NONE, TG_COMM_NONE, (args))
/* `operation` is one of enum tg_reduction. */
#define tg_all_reduce(rt, operation, args) \
    tg_communicate_((rt), TG_COMM_ALL_REDUCE, TG_COMM_NONE, TG_COMM_NONE, (operation), (args))
#define tg_reduce_scatter(rt, operation, args) \
    tg_communicate_((rt), TG_COMM_REDUCE_SCATTER, TG_COMM_NONE, TG_COMM_NONE, (operation), (args))
#define tg_all_gather(rt, args) \
    tg_communicate_((rt), TG_COMM_ALL_GATHER, TG_COMM_NONE, TG_COMM_NONE, TG_COMM_NONE, (args))
#define tg_all_to_all(rt, args) \
    tg_communicate_((rt), TG_COMM_ALL_TO_ALL, TG_COMM_NONE, TG_COMM_NONE, TG_COMM_NONE, (args))
#define tg_communicate_(rt, kind, peer, tag, operation, args)                                    \
    ((rt)->ops->communicate((rt), (kind), (int32_t)(peer), (int32_t)(tag), (int32_t)(operation), \
                            (args), TG_SITE))

/* Ends the orchestration with the error `text`, a string literal. */
#define tg_fail(rt, text) ((rt)->ops->fail((rt), (text), TG_SITE))

/* TG_SCOPE(rt) { … }: tasks submitted inside belong to this source line. On runtimes with rings,
 * memory allocated inside is freed once they have finished. Leave the scope only at its end: no
 * break, goto or return out of it. */
#define TG_SCOPE(rt) TG_SCOPE_OF_(rt, TG_SCOPE_OPEN)
/* The same, but its tasks start only when it ends, so that tg_depend can add edges until then. */
#define TG_SCOPE_HELD(rt) TG_SCOPE_OF_(rt, TG_SCOPE_HOLDS)
#define TG_SCOPE_OF_(rt, kind)                                                                    \
    for (int tg_scope_once_ = ((rt)->ops->scope_begin((rt), (kind), TG_SITE), 1); tg_scope_once_; \
         tg_scope_once_ = ((rt)->ops->scope_end((rt)), 0))

/* An element's bits as a whole number: a float is rounded toward zero and saturates, and NaN is 0, so
 * that every device gets the same. */
TG_INLINE int64_t tg_bits_to_i64(unsigned dtype, uint64_t bits)
{
    switch (dtype) {
    case TG_INT64:
    case TG_UINT64:
        return (int64_t)bits;
    case TG_INT32:
        return (int32_t)(uint32_t)bits;
    case TG_INT16:
        return (int16_t)(uint16_t)bits;
    case TG_INT8:
        return (int8_t)(uint8_t)bits;
    default:
        return tg_to_signed(64, tg_decode(dtype, bits));
    }
}

/* Behind tg_read_i64. */
TG_INLINE int64_t tg_read_i64_at(struct tg_rt *rt, struct tg_tensor tensor, uint64_t producer,
                                 const char *site)
{
    return tg_bits_to_i64(tensor.dtype, rt->ops->read(rt, &tensor, producer, site));
}

/* Behind tg_read_real. */
TG_INLINE double tg_read_real_at(struct tg_rt *rt, struct tg_tensor tensor, uint64_t producer,
                                 const char *site)
{
    return tg_decode(tensor.dtype, rt->ops->read(rt, &tensor, producer, site));
}

/* The indices that the macros of tables gather. */
struct tg_table_index {
    int64_t at[TG_MAX_DIMS];
};

/* Gathers indices; those that a macro does not name are 0. */
TG_INLINE struct tg_table_index tg_table_indices(int64_t a, int64_t b, int64_t c, int64_t d,
                                                 int64_t e, int64_t f, int64_t g, int64_t h)
{
    struct tg_table_index index;
    index.at[0] = a;
    index.at[1] = b;
    index.at[2] = c;
    index.at[3] = d;
    index.at[4] = e;
    index.at[5] = f;
    index.at[6] = g;
    index.at[7] = h;
    return index;
}

/* Behind the macros that read tables. */
TG_INLINE int64_t tg_table_i64_at(struct tg_rt *rt, uint32_t n, struct tg_tensor tensor,
                                  struct tg_table_index index, const char *site)
{
    return tg_bits_to_i64(tensor.dtype, rt->ops->table(rt, &tensor, index.at, n, site));
}

/* The same as a double. */
TG_INLINE double tg_table_real_at(struct tg_rt *rt, uint32_t n, struct tg_tensor tensor,
                                  struct tg_table_index index, const char *site)
{
    return tg_decode(tensor.dtype, rt->ops->table(rt, &tensor, index.at, n, site));
}

/* Behind tg_submit_mix. */
TG_INLINE uint64_t tg_submit_mix_at(struct tg_rt *rt, uint32_t aic, uint32_t aiv0, uint32_t aiv1,
                                    const struct tg_args *args, const char *site)
{
    uint32_t kernel[TG_PARTS];
    kernel[TG_PART_AIC] = aic;
    kernel[TG_PART_AIV0] = aiv0;
    kernel[TG_PART_AIV1] = aiv1;
    return rt->ops->submit(rt, kernel, args, site);
}

/* The runtime moves a lone kernel to the part of its kind. */
TG_INLINE uint64_t tg_submit_one_at(struct tg_rt *rt, uint32_t kernel, const struct tg_args *args,
                                    const char *site)
{
    return tg_submit_mix_at(rt, kernel, TG_NO_KERNEL, TG_NO_KERNEL, args, site);
}

#endif
