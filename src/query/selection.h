/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which records of a recording are meant: the options --task --stage --role --arg --kind --kernel
 * --index of the tools. A value is a comma list, of which one item must fit; an option that is
 * given again adds to its list; of different options, all must fit.
 *
 *     task    12, 0x10000000c, 1:12 (ring:index), and ranges: 1:0-1:99
 *     index   numbers of records, from 0 in the order of the file, and ranges
 *     arg     numbers and ranges
 *     stage   before[_dispatch], after[_completion], orchestration
 *     role    in[put], out[put], inout; scalar stands for the kind
 *     kind    tensor, scalar
 *     kernel  names with * and ?; a number is the kernel's number
 *
 * The functions are exported for the command line, and no part of the public interface.
 */
#ifndef TG_QUERY_SELECTION_H
#define TG_QUERY_SELECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <taskglass/recording.h>

/* Both inclusive. */
struct tg_span {
    uint64_t first, last;
};

struct tg_spans {
    struct tg_span *at; /* in order, apart from each other */
    size_t count;
};

/* Zero selects everything. The kernel patterns point into the texts that were added, which must
 * live as long. */
struct tg_selection {
    struct tg_spans task, index, arg;
    uint32_t stages;     /* bit s: enum tg_stage s; 0: any */
    uint32_t roles;      /* bit r: enum tg_role r; bit 0: scalars */
    uint32_t kinds;      /* bit k: enum tg_kind k */
    const char **kernel; /* comma lists */
    size_t n_kernels;
};

/* `option`: a word of the table above. BAD_ARGUMENT says what is wrong with the text. */
TG_API tg_status tg_selection_add(struct tg_selection *selection, const char *option,
                                  const char *text, struct tg_error *error);
TG_API void tg_selection_free(struct tg_selection *selection);

/* Nothing was asked for. */
TG_API bool tg_selection_is_empty(const struct tg_selection *selection);

TG_API bool tg_selection_match(const struct tg_selection *selection, uint64_t index,
                               const struct tg_entry *entry);

/* The first record from *index on that is selected and not damaged, without looking at those that
 * --index leaves out; false where there is none. `for (i = 0; tg_selection_next(s, r, &i, &e); i++)`. */
TG_API bool tg_selection_next(const struct tg_selection *selection,
                              const struct tg_recording *recording, uint64_t *index,
                              struct tg_entry *entry);

#endif
