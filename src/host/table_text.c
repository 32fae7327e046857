/* SPDX-License-Identifier: Apache-2.0 */
/* The words for what common/given.h refuses. The numbers may come from device memory: the caller gives
 * counts within their limits, and this only prints the rest. */
#include "base/error.h"
#include "host/tables.h"
#include "host/task_check.h"
#include "host/text.h"
#include <stdio.h>
#include <string.h>

/* "(2, 7)", "(2,)"; as long as a list of TG_MAX_DIMS numbers can be. */
struct list {
    char text[200];
};

static const char *list_of(const int64_t *numbers, uint32_t n, struct list *list)
{
    size_t used = 0, size = sizeof list->text;
    for (uint32_t i = 0; i < n && i < TG_MAX_DIMS; i++)
        used += (size_t)snprintf(list->text + used, size - used, "%s%lld", i ? ", " : "(",
                                 (long long)numbers[i]);
    snprintf(list->text + used, size - used, "%s", n == 0 ? "()" : n == 1 ? ",)" : ")");
    return list->text;
}

/* "argument 3 'block_table'", and whether it is a view of it that was read. */
static void put_name(char *text, size_t size, const struct tg_args *given, const char *const *names,
                     uint32_t argument, const struct tg_tensor *tensor)
{
    const struct tg_tensor *whole = &given->tensor[argument];
    bool is_view = tensor->ndim != whole->ndim || tensor->start != whole->start ||
                   memcmp(tensor->shape, whole->shape, tensor->ndim * sizeof whole->shape[0]) != 0;
    bool named = names != NULL && names[argument] != NULL;
    snprintf(text, size, "%sargument %u%s%.100s%s", is_view ? "a view of " : "", argument,
             named ? " '" : "", named ? names[argument] : "", named ? "'" : "");
}

tg_status tg_table_explain(enum tg_table_fault fault, const struct tg_args *given,
                           const char *const *names, uint32_t argument, uint64_t writer,
                           const struct tg_tensor *tensor, const int64_t *index, uint32_t n,
                           struct tg_error *error)
{
    char why[400];
    char name[160] = "", task[32];
    struct list asked, shape;
    uint32_t ndim = tensor->ndim <= TG_MAX_DIMS ? tensor->ndim : 0;
    if (given != NULL && argument < given->n_tensors && tensor->ndim <= TG_MAX_DIMS)
        put_name(name, sizeof name, given, names, argument, tensor);
    switch (fault) {
    case TG_TABLE_OUTPUT:
        return tg_error_set(
            error, TG_BAD_ARGUMENT,
            "tg_table: %s is an output of the run, and an output has no value before "
            "a task writes it; declare it TG_IN or TG_INOUT, or read what a task "
            "wrote with tg_read_i64",
            name);
    case TG_TABLE_WRITTEN:
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "tg_table: %s is written by task %s, which was submitted before this "
                            "line; read it before that submit, or read what the task wrote with "
                            "tg_read_i64 and the task's id",
                            name, tg_task_text(writer, task));
    case TG_TABLE_RANK:
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "tg_table: %u %s for %s, which has %u dimension%s and shape %s", n,
                            n == 1 ? "index" : "indices", name, ndim, ndim == 1 ? "" : "s",
                            list_of(tensor->shape, ndim, &shape));
    case TG_TABLE_RANGE:
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "tg_table: index %s is outside of %s, whose shape is %s",
                            list_of(index, n, &asked), name, list_of(tensor->shape, ndim, &shape));
    case TG_TABLE_NOT_GIVEN:
        return tg_error_set(error, TG_BAD_ARGUMENT,
                            "tg_table: this tensor is not in memory that the orchestration was "
                            "given; read what a task wrote with tg_read_i64 and the task's id");
    default:
        if (tensor->reserved == TG_TENSOR_MISSING)
            return tg_error_set(
                error, TG_BAD_ARGUMENT,
                "tg_table: this is args->tensor[%lld] of the orchestration, which was "
                "given %u tensor%s only",
                (long long)tensor->start, tensor->owner, tensor->owner == 1 ? "" : "s");
        tg_tensor_none_text(tensor, why, sizeof why);
        return tg_error_set(error, TG_BAD_ARGUMENT, "tg_table: %s", why);
    }
}
