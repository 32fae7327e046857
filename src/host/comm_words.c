/* SPDX-License-Identifier: Apache-2.0 */
#include "host/comm_words.h"
#include "base/error.h"
#include <stdio.h>
#include <taskglass/comm.h>
#include <taskglass/dtype.h>

/* What each kind takes, as orchestration.h says. */
static const char *wants(uint32_t kind)
{
    static const char *const words[TG_COMM_KINDS] = {
        "one tensor, in",
        "one tensor, out",
        "one tensor, in on the root and out on the others, or inout on all",
        "one inout tensor, or an in and an out of the same shape",
        "an in of ranks times as many elements as its out",
        "an out of ranks times as many elements as its in",
        "an in and an out of the same number of elements",
    };
    return kind < TG_COMM_KINDS ? words[kind] : "";
}

static long long elements(const struct tg_args *args, uint32_t i)
{
    return args->n_tensors > i && tg_tensor_valid(&args->tensor[i])
               ? (long long)tg_tensor_numel(&args->tensor[i])
               : -1;
}

static const char *type_name(const struct tg_args *args, uint32_t i)
{
    const char *name = args->n_tensors > i ? tg_dtype_name(args->tensor[i].dtype) : NULL;
    return name ? name : "none";
}

tg_status tg_comm_refuse(enum tg_comm_fault fault, const struct tg_comm_asked *asked,
                         const struct tg_args *args, struct tg_error *error)
{
    const char *name = tg_comm_kind_name(asked->kind);
    uint32_t last = args->n_tensors > 0 ? args->n_tensors - 1u : 0;
    name = name ? name : "communication";
    switch (fault) {
    case TG_COMM_NOT_SAID:
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "%s: the workload does not say that it communicates; set "
                            ".communicates = 1 in its struct tg_workload",
                            name);
    case TG_COMM_NO_ARGS:
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "%s: more arguments than a task can have, or tg_args_init was not "
                            "called",
                            name);
    case TG_COMM_HAS_SCALARS:
        return tg_error_set(error, TG_BAD_ARGUMENT, "%s takes no scalars", name);
    case TG_COMM_NO_PEER:
        return tg_error_set(error, TG_BAD_ARGUMENT, "%s: there is no rank %d; ranks are 0 to %d",
                            name, asked->peer, asked->ranks - 1);
    case TG_COMM_NO_TAG:
        return tg_error_set(error, TG_BAD_ARGUMENT, "%s: the tag is %d; tags are 0 or more", name,
                            asked->tag);
    case TG_COMM_NO_OPERATION:
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "%s: there is no operation %d; use TG_SUM, TG_PRODUCT, TG_MIN or "
                            "TG_MAX",
                            name, asked->operation);
    case TG_COMM_TYPES:
        return tg_error_set(error, TG_BAD_ARGUMENT, "%s: its input is %s and its output %s", name,
                            type_name(args, 0), type_name(args, last));
    case TG_COMM_SIZES:
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "%s on %d ranks: its input has %lld elements and its output %lld; it "
                            "takes %s",
                            name, asked->ranks, elements(args, 0), elements(args, last),
                            wants(asked->kind));
    case TG_COMM_PIECES:
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "%s: %lld elements of %s have no %d equal pieces of whole bytes", name,
                            elements(args, 0), type_name(args, 0), asked->ranks);
    case TG_COMM_OVERLAP:
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "%s: in and out share memory, and data come while others are still "
                            "sent; give it an output of its own%s",
                            name, asked->kind == TG_COMM_ALL_REDUCE ? ", or one inout tensor" : "");
    case TG_COMM_MANY:
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "%s: the orchestration uses more than %d pairs of peer and tag; use "
                            "fewer tags: calls with the same tag match in the order of their "
                            "submits",
                            name, TG_COMM_COUNTS);
    default:
        return tg_error_set(error, TG_BAD_ARGUMENT, "%s takes %s", name, wants(asked->kind));
    }
}
