/* SPDX-License-Identifier: Apache-2.0 */
#include "host/tables.h"
#include "base/error.h"
#include <stdlib.h>

/* A tensor of at most MOST_WHOLE bytes is copied as a whole, a larger one in pieces of PIECE. */
enum { MOST_WHOLE = 16 << 20, PIECE = 64 << 10 };

void tg_tables_init(struct tg_tables *tables, struct tg_device *device, const struct tg_args *args)
{
    *tables = (struct tg_tables){.device = device};
    tg_given_init(&tables->given, args);
}

void tg_tables_free(struct tg_tables *tables)
{
    for (uint32_t i = 0; i < TG_MAX_TENSORS; i++)
        free(tables->window[i].own);
}

static bool shows(const struct tg_table_window *w, uint64_t address, uint64_t size)
{
    return address >= w->from && address - w->from <= w->size &&
           size <= w->size - (address - w->from);
}

/* Moves the window of an argument so that it shows the address. */
static tg_status move(struct tg_tables *tables, uint32_t argument, uint64_t address,
                      struct tg_error *error)
{
    const struct tg_tensor *t = &tables->given.args->tensor[argument];
    struct tg_table_window *w = &tables->window[argument];
    uint64_t end = t->addr + t->storage_bytes;
    w->size = 0;
    w->from = t->addr;
    if (t->storage_bytes > MOST_WHOLE) /* an element may begin at any byte, and has up to 8 */
        w->from += (address - t->addr) / (PIECE / 2) * (PIECE / 2);
    uint64_t size = t->storage_bytes > MOST_WHOLE && end - w->from > PIECE ? PIECE : end - w->from;
    w->bytes = tg_device_map(tables->device, w->from, size);
    if (w->bytes == NULL) {
        if (w->own == NULL)
            w->own = malloc(t->storage_bytes > MOST_WHOLE ? PIECE : size);
        if (w->own == NULL)
            return tg_error_set(error, TG_NO_MEMORY, "tg_table: out of host memory");
        tg_status status = tg_device_copy_out(tables->device, w->own, w->from, size, error);
        if (status != TG_OK)
            return status;
        w->bytes = w->own;
    }
    w->size = size;
    return TG_OK;
}

tg_status tg_tables_load(struct tg_tables *tables, const struct tg_tensor *tensor, int64_t offset,
                         uint64_t *bits, struct tg_error *error)
{
    unsigned width = tg_bits_of(tensor->dtype);
    uint64_t address = tensor->addr + (uint64_t)offset * width / 8;
    uint32_t argument = tables->given.found;
    const struct tg_table_window *w = &tables->window[argument];
    tg_status status = TG_OK;
    if (!shows(w, address, (width + 7) / 8))
        status = move(tables, argument, address, error);
    if (status != TG_OK)
        return status;
    /* Of a byte with two elements, the odd one is in the upper half. */
    *bits = tg_load_bits(tensor->dtype, w->bytes + (address - w->from), width < 8 ? offset & 1 : 0);
    return TG_OK;
}
