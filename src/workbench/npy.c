/* SPDX-License-Identifier: Apache-2.0 */
/* `npy`: a tensor as a file of NumPy. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "query/npy_write.h"
#include "workbench/requests.h"
#include "workbench/shown.h"

/* A 4-bit tensor is unpacked in memory; a larger one can be exported from a terminal. */
enum { MOST_UNPACKED = 64 << 20 };

/* "matmul_small_record_5.npy", with characters that every system has in names. */
static void name_file(const struct tg_shown *shown, char *name, size_t room)
{
    (void)snprintf(name, room, "%.200s_record_%llu.npy", shown->run->key,
                   (unsigned long long)shown->index);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
            *c = '_';
    if (name[0] == '.')
        name[0] = '_';
}

struct copy {
    unsigned char *bytes;
    size_t used;
};

static bool take_piece(void *context, const void *bytes, size_t size)
{
    struct copy *copy = context;
    memcpy(copy->bytes + copy->used, bytes, size);
    copy->used += size;
    return true;
}

static tg_status answer_unpacked(struct tg_answer *answer, const struct tg_shown *shown,
                                 const char *name, struct tg_error *error)
{
    if (shown->array.elements > MOST_UNPACKED)
        return tg_error_set(
            error, TG_UNSUPPORTED,
            "the page unpacks 4-bit tensors of at most %d Mi elements; use taskglass export",
            MOST_UNPACKED >> 20);
    struct copy copy = {.bytes = malloc((size_t)tg_npy_size(&shown->array))};
    if (!copy.bytes)
        return tg_error_set(error, TG_NO_MEMORY, "out of memory");
    (void)tg_npy_pieces(&shown->array, take_piece, &copy);
    tg_status status =
        tg_answer_file(answer, name, copy.bytes, copy.used, shown->run, NULL, 0, error);
    free(copy.bytes);
    return status;
}

/* The bytes behind the head are those of the recording, except for a scalar, whose bytes are in the entry. */
static tg_status answer_mapped(struct tg_answer *answer, const struct tg_shown *shown,
                               const char *name, struct tg_error *error)
{
    struct tg_npy_head head;
    const struct tg_array *array = &shown->array;
    tg_npy_head_make(array, &head);
    if (shown->entry.record.kind != TG_KIND_SCALAR)
        return tg_answer_file(answer, name, head.bytes, head.size, shown->run, array->bytes,
                              (size_t)array->size, error);
    char bytes[sizeof head.bytes + sizeof(uint64_t)];
    memcpy(bytes, head.bytes, head.size);
    memcpy(bytes + head.size, array->bytes, (size_t)array->size);
    return tg_answer_file(answer, name, bytes, head.size + (size_t)array->size, shown->run, NULL, 0,
                          error);
}

tg_status tg_request_npy(struct tg_request_context *context, struct tg_error *error)
{
    struct tg_shown shown;
    char name[256];
    tg_status status = tg_shown_take(context->run, context->ask, "record", &shown, error);
    if (status == TG_OK)
        status = tg_ask_check_all_used(context->ask, error);
    if (status == TG_OK)
        status = tg_shown_need(&shown, error);
    if (status != TG_OK)
        return status;
    name_file(&shown, name, sizeof name);
    return tg_npy_unpacks(shown.array.dtype) ? answer_unpacked(context->answer, &shown, name, error)
                                             : answer_mapped(context->answer, &shown, name, error);
}
