/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/deps_peer_args.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <taskglass/dtype.h>

#include "base/grow.h"
#include "base/json_pull.h"

enum { WORD = 32 };

struct reading {
    struct tg_pull pull;
    struct tg_peer_args *args;
    size_t arg_room, tensor_room;
    uint32_t task;
    const char *problem;
};

static bool wrong(struct reading *r, const char *problem)
{
    r->problem = problem;
    return false;
}

/* --- one argument ----------------------------------------------------------------------------- */

struct argument {
    struct tg_peer_arg arg;
    uint32_t n_shape, n_strides;
    bool has_tensor, is_strange;
};

/* The words of the other implementation; a type that is none of them says nothing about the access. */
static bool take_type(const struct tg_pull *pull, struct argument *argument)
{
    static const struct {
        const char *word;
        bool reads, writes;
    } types[] = {{"INPUT", true, false},
                 {"OUTPUT", false, true},
                 {"OUTPUT_EXISTING", false, true},
                 {"INOUT", true, true}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (tg_pull_is(pull, types[i].word)) {
            argument->arg.reads = types[i].reads;
            argument->arg.writes = types[i].writes;
            return true;
        }
    return false;
}

static unsigned dtype_of(const struct tg_pull *pull)
{
    char word[WORD];
    size_t length = tg_pull_text(pull, word, sizeof word);
    for (size_t i = 0; i < length && i < sizeof word; i++)
        word[i] = (char)tolower((unsigned char)word[i]);
    return tg_dtype_from_name(word);
}

static bool take_numbers(struct reading *r, int64_t *number, uint32_t *count)
{
    *count = 0;
    if (r->pull.token != TG_PULL_BEGIN_ARRAY)
        return wrong(r, "a value of the wrong kind where a shape belongs");
    while (tg_pull_next(&r->pull) != TG_PULL_END_ARRAY) {
        if (r->pull.token == TG_PULL_ERROR)
            return false;
        if (*count == TG_MAX_DIMS || !tg_pull_i64(&r->pull, &number[*count]))
            return wrong(r, "a shape or a stride that is no list of up to eight numbers");
        ++*count;
    }
    return true;
}

static bool take_member(struct reading *r, const struct tg_pull *key, struct argument *argument)
{
    struct tg_tensor *tensor = &argument->arg.tensor;
    uint64_t number;
    if (tg_pull_is(key, "shape"))
        return take_numbers(r, tensor->shape, &argument->n_shape);
    if (tg_pull_is(key, "strides"))
        return take_numbers(r, tensor->strides, &argument->n_strides);
    if (tg_pull_is(key, "tensor_id"))
        argument->has_tensor = tg_pull_u64(&r->pull, &argument->arg.tensor_id);
    else if (tg_pull_is(key, "idx") && tg_pull_u64(&r->pull, &number))
        argument->arg.argument = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
    else if (tg_pull_is(key, "start_offset") && !tg_pull_i64(&r->pull, &tensor->start))
        return wrong(r, "\"start_offset\" has a value of the wrong kind; it takes a number");
    else if (tg_pull_is(key, "dtype") && r->pull.token == TG_PULL_STRING)
        tensor->dtype = (uint8_t)dtype_of(&r->pull);
    else if (tg_pull_is(key, "type") && r->pull.token == TG_PULL_STRING)
        argument->is_strange |= !take_type(&r->pull, argument);
    return tg_pull_skip(&r->pull);
}

static bool keep_arg(struct reading *r, struct argument *argument)
{
    struct tg_peer_args *args = r->args;
    if (!argument->has_tensor)
        return true; /* a scalar */
    if (argument->is_strange || argument->arg.tensor.dtype == TG_DTYPE_NONE ||
        argument->n_shape != argument->n_strides ||
        (!argument->arg.reads && !argument->arg.writes)) {
        args->strange++;
        return true;
    }
    argument->arg.tensor.ndim = (uint8_t)argument->n_shape;
    if (!tg_grow(&args->arg, &r->arg_room, args->n_args + 1, sizeof *args->arg))
        return false;
    args->arg[args->n_args++] = argument->arg;
    return true;
}

static bool read_arg(struct reading *r)
{
    struct argument argument = {.arg = {.task = r->task, .tensor = tg_tensor_none()}};
    if (r->pull.token != TG_PULL_BEGIN_OBJECT)
        return wrong(r, "a value of the wrong kind where an argument belongs");
    while (tg_pull_next(&r->pull) == TG_PULL_KEY) {
        struct tg_pull key = r->pull;
        if (tg_pull_next(&r->pull) == TG_PULL_ERROR || !take_member(r, &key, &argument))
            return false;
    }
    return r->pull.token == TG_PULL_END_OBJECT && keep_arg(r, &argument);
}

static bool read_args(struct reading *r)
{
    if (r->pull.token != TG_PULL_BEGIN_ARRAY)
        return wrong(r, "a value of the wrong kind where arguments belong");
    r->args->is_peer = true;
    while (tg_pull_next(&r->pull) != TG_PULL_END_ARRAY)
        if (r->pull.token == TG_PULL_ERROR || !read_arg(r))
            return false;
    return true;
}

static bool read_task(struct reading *r)
{
    if (r->pull.token != TG_PULL_BEGIN_OBJECT)
        return wrong(r, "a value of the wrong kind where a task belongs");
    while (tg_pull_next(&r->pull) == TG_PULL_KEY) {
        bool is_args = tg_pull_is(&r->pull, "args");
        if (tg_pull_next(&r->pull) == TG_PULL_ERROR ||
            !(is_args ? read_args(r) : tg_pull_skip(&r->pull)))
            return false;
    }
    return r->pull.token == TG_PULL_END_OBJECT;
}

/* If there are several lists of tasks, the last one counts, as for the reader of the tasks. */
static bool read_tasks(struct reading *r)
{
    r->task = 0;
    r->args->n_args = 0;
    r->args->strange = 0;
    if (tg_pull_next(&r->pull) != TG_PULL_BEGIN_ARRAY)
        return wrong(r, "a value of the wrong kind where the tasks belong");
    for (; tg_pull_next(&r->pull) != TG_PULL_END_ARRAY; r->task++)
        if (r->pull.token == TG_PULL_ERROR || r->task == UINT32_MAX || !read_task(r))
            return false;
    return true;
}

/* --- tensors ---------------------------------------------------------------------------------- */

static bool read_tensor(struct reading *r)
{
    struct tg_peer_tensor tensor = {0};
    uint64_t numel = 0;
    unsigned dtype = TG_DTYPE_NONE;
    bool has_id = false;
    if (r->pull.token != TG_PULL_BEGIN_OBJECT)
        return wrong(r, "a value of the wrong kind where a tensor belongs");
    while (tg_pull_next(&r->pull) == TG_PULL_KEY) {
        struct tg_pull key = r->pull;
        enum tg_pull_token token = tg_pull_next(&r->pull);
        if (tg_pull_is(&key, "tensor_id"))
            has_id = tg_pull_u64(&r->pull, &tensor.id);
        else if (tg_pull_is(&key, "buffer_addr"))
            (void)tg_pull_u64(&r->pull, &tensor.address);
        else if (tg_pull_is(&key, "buffer_numel"))
            (void)tg_pull_u64(&r->pull, &numel);
        else if (tg_pull_is(&key, "dtype") && token == TG_PULL_STRING)
            dtype = dtype_of(&r->pull);
        if (token == TG_PULL_ERROR || !tg_pull_skip(&r->pull))
            return false;
    }
    if (numel < (uint64_t)TG_MAX_ELEMENTS)
        tensor.bytes = tg_bytes_of(dtype, (int64_t)numel);
    if (tensor.bytes > UINT64_MAX - tensor.address)
        tensor.bytes = 0;
    if (r->pull.token != TG_PULL_END_OBJECT || !has_id)
        return r->pull.token == TG_PULL_END_OBJECT;
    if (!tg_grow(&r->args->tensor, &r->tensor_room, r->args->n_tensors + 1, sizeof tensor))
        return false;
    r->args->tensor[r->args->n_tensors++] = tensor;
    return true;
}

static bool read_tensors(struct reading *r)
{
    r->args->n_tensors = 0;
    if (tg_pull_next(&r->pull) != TG_PULL_BEGIN_ARRAY)
        return wrong(r, "a value of the wrong kind where the tensors belong");
    while (tg_pull_next(&r->pull) != TG_PULL_END_ARRAY)
        if (r->pull.token == TG_PULL_ERROR || !read_tensor(r))
            return false;
    return true;
}

static int by_id(const void *a, const void *b)
{
    const struct tg_peer_tensor *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->address > y->address) - (x->address < y->address);
}

static void sort_tensors(struct tg_peer_args *args)
{
    size_t kept = 0;
    if (args->n_tensors > 0)
        qsort(args->tensor, args->n_tensors, sizeof *args->tensor, by_id);
    for (size_t i = 0; i < args->n_tensors; i++)
        if (kept == 0 || args->tensor[kept - 1].id != args->tensor[i].id)
            args->tensor[kept++] = args->tensor[i];
    args->n_tensors = kept;
}

/* --- the document ----------------------------------------------------------------------------- */

static bool read_document(struct reading *r)
{
    if (tg_pull_next(&r->pull) != TG_PULL_BEGIN_OBJECT)
        return wrong(r, "a value of the wrong kind where an object belongs");
    while (tg_pull_next(&r->pull) == TG_PULL_KEY) {
        bool good;
        if (tg_pull_is(&r->pull, "tasks"))
            good = read_tasks(r);
        else if (tg_pull_is(&r->pull, "tensors"))
            good = read_tensors(r);
        else
            good = tg_pull_next(&r->pull) != TG_PULL_ERROR && tg_pull_skip(&r->pull);
        if (!good)
            return false;
    }
    return r->pull.token == TG_PULL_END_OBJECT;
}

bool tg_peer_args_read(const char *text, size_t size, struct tg_peer_args *args,
                       const char **problem)
{
    struct reading r = {.args = args};
    *args = (struct tg_peer_args){0};
    tg_pull_start(&r.pull, text, size);
    bool good = read_document(&r);
    if (r.pull.token == TG_PULL_ERROR && !r.problem)
        r.problem = r.pull.problem ? r.pull.problem : "the file ends too early";
    *problem = r.problem;
    if (good)
        sort_tensors(args);
    return good;
}

const struct tg_peer_tensor *tg_peer_args_tensor(const struct tg_peer_args *args, uint64_t id)
{
    const struct tg_peer_tensor key = {.id = id};
    size_t low = 0, high = args->n_tensors;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (args->tensor[middle].id < key.id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < args->n_tensors && args->tensor[low].id == id ? &args->tensor[low] : NULL;
}

void tg_peer_args_free(struct tg_peer_args *args)
{
    free(args->arg);
    free(args->tensor);
    *args = (struct tg_peer_args){0};
}
