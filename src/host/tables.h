/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an orchestration that runs on the host reads of the tensors that it was given (tg_table).
 * Where the host sees device memory it reads in place. Elsewhere it copies a tensor when it is first
 * read, so that a table of any length costs one copy; of a large tensor it copies the part around
 * the element. One thread uses it, while the graph is built.
 */
#ifndef TG_HOST_TABLES_H
#define TG_HOST_TABLES_H

#include "common/given.h"
#include "host/device.h"

/* Bytes of device memory that the host can read. */
struct tg_table_window {
    uint64_t from, size; /* device addresses [from, from + size); size 0: none yet */
    const char *bytes;
    char *own; /* if it is a copy: the memory of it */
};

struct tg_tables {
    struct tg_device *device;
    struct tg_given given;
    struct tg_table_window window[TG_MAX_TENSORS];
};

void tg_tables_init(struct tg_tables *tables, struct tg_device *device, const struct tg_args *args);
void tg_tables_free(struct tg_tables *tables);

/* The bits of the element `offset` elements after the tensor's address; tg_given_look has just
 * allowed it. */
tg_status tg_tables_load(struct tg_tables *tables, const struct tg_tensor *tensor, int64_t offset,
                         uint64_t *bits, struct tg_error *error);

/* The error for a refused tg_table: which element of which argument, and what would be right. `names`
 * are those of the arguments, or NULL; `writer` is the task that writes the argument. */
tg_status tg_table_explain(enum tg_table_fault fault, const struct tg_args *given,
                           const char *const *names, uint32_t argument, uint64_t writer,
                           const struct tg_tensor *tensor, const int64_t *index, uint32_t n,
                           struct tg_error *error);

#endif
